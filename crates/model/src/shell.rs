//! A command as one line that a POSIX shell reads back as exactly these words.
//!
//! For people to copy. Nothing here or elsewhere gives such a line to a shell: programs are started
//! with their words as they are.

/// The words, quoted where a shell would read more into them than they say.
pub fn line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn only_what_needs_quotes_has_them() {
        assert_eq!(
            line(["codex", "exec", "resume", "s_1"]),
            "codex exec resume s_1"
        );
        assert_eq!(
            line(["a b", "", "it's", "$(x)", "a\nb"]),
            "'a b' '' 'it'\\''s' '$(x)' 'a\nb'"
        );
        assert_eq!(line(["~", "*", "#", "é"]), "'~' '*' '#' 'é'");
    }

    #[test]
    fn a_shell_reads_the_words_back() {
        let words = [
            "printf", "%s|", "it's", "a\tb", "`id`", "$HOME", "\\", "\"", "!x", "ü", "-n",
        ];
        let shell = std::process::Command::new("sh")
            .arg("-c")
            .arg(line(words))
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(shell.stdout).unwrap(),
            words[2..].join("|") + "|"
        );
    }
}
