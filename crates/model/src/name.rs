//! What may name an agent, a session, a workspace or a project.

use crate::limits;

/// Whether a text may be such a name.
pub fn is_name(text: &str) -> bool {
    (1..=limits::IDENTITY_CHARS).contains(&text.len())
        && text.chars().all(is_name_char)
        && text.contains(|letter: char| letter.is_ascii_alphanumeric())
}

pub fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-')
}

/// What a name has to be, for whoever gave another.
pub fn rule() -> String {
    format!(
        "use 1 to {} of A-Z a-z 0-9 . _ -, at least one a letter or digit",
        limits::IDENTITY_CHARS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in [
            "a",
            "claude-code",
            "x.y_z-1",
            &"n".repeat(limits::IDENTITY_CHARS),
        ] {
            assert!(is_name(name), "{name}");
        }
        for wrong in [
            "",
            "-",
            "a b",
            "é",
            "a\n",
            &"n".repeat(limits::IDENTITY_CHARS + 1),
        ] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
