//! What may name an agent, a session, a workspace or a project.

/// The longest name.
pub const MAX_NAME: usize = 64;

/// Whether a text may be such a name.
pub fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len())
        && text.chars().all(is_name_char)
        && text.contains(|letter: char| letter.is_ascii_alphanumeric())
}

pub fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-')
}

/// What a name has to be, for whoever gave another.
pub fn rule() -> String {
    format!("use 1 to {MAX_NAME} of A-Z a-z 0-9 . _ -, at least one a letter or digit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["a", "claude-code", "x.y_z-1", &"n".repeat(MAX_NAME)] {
            assert!(is_name(name), "{name}");
        }
        for wrong in ["", "-", "a b", "é", "a\n", &"n".repeat(MAX_NAME + 1)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
