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

/// What a name has to be, for an error.
pub fn rule() -> String {
    format!(
        "use 1 to {} of A-Z a-z 0-9 . _ -, at least one a letter or digit",
        limits::IDENTITY_CHARS
    )
}

/// What clients call themselves over MCP, and what people call the agent that works in them.
const CLIENTS: [(&str, &str); 3] = [
    ("codex-mcp-client", "codex"),
    ("gemini-cli-mcp-client", "gemini"),
    ("copilot-cli", "copilot"),
];

/// The name of the agent that works in a client: the client's own, without what no person says. A
/// number stays, such as that of the second session at a time.
pub fn of_client(client: &str) -> String {
    for (long, short) in CLIENTS {
        let number = client.strip_prefix(long).filter(|rest| {
            let digits = rest.strip_prefix('-').unwrap_or_default();
            rest.is_empty() || (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        });
        if let Some(number) = number {
            return format!("{short}{number}");
        }
    }
    client.to_owned()
}

/// Whether two names can mean one agent: they differ by the case of their letters, or one is what
/// its client calls itself and the other what people say.
pub fn is_like(one: &str, other: &str) -> bool {
    let plain = |name: &str| of_client(&name.to_ascii_lowercase());
    plain(one) == plain(other)
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

    #[test]
    fn a_client_gives_its_agent_a_short_name() {
        for (client, agent) in [
            ("codex-mcp-client", "codex"),
            ("codex-mcp-client-2", "codex-2"),
            ("gemini-cli-mcp-client", "gemini"),
            ("copilot-cli", "copilot"),
            ("claude-code", "claude-code"),
            ("codex-mcp-client-x", "codex-mcp-client-x"),
            ("copilot-cli-", "copilot-cli-"),
            ("newcomer", "newcomer"),
        ] {
            assert_eq!(of_client(client), agent);
        }
        assert!(is_like("Codex", "codex-mcp-client"));
        assert!(is_like("codex-mcp-client-2", "codex-2"));
        assert!(!is_like("codex", "codex-2"));
        assert!(!is_like("claude", "claude-code"));
    }
}
