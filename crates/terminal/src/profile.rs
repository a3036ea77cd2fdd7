//! What programs look like: the marks by which a screen is read, as data.
//!
//! A profile only ever adds caution or evidence. A program whose marks have changed is read as
//! "not at a prompt", and nothing is delivered to it.

/// How to read the screen of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub name: &'static str,
    pub composer: Composer,
    /// Words that are on the screen while the program works.
    pub busy: &'static [&'static str],
    /// Beginnings of a window title while the program works, such as the frames of a spinner.
    pub busy_titles: &'static [char],
    /// Words of a question that a key would answer.
    pub dialogs: &'static [&'static str],
    /// Words that are on the screen only while the composer is empty, below it.
    pub idle: &'static [&'static str],
    /// So many rows above the composer they may stand instead.
    pub above: usize,
    /// What an empty composer shows instead of nothing.
    pub placeholders: &'static [&'static str],
    /// What the composer shows instead of a long text that was pasted.
    pub pasted: &'static [&'static str],
    /// First characters that make a prompt something else than a prompt.
    pub commands: &'static [char],
    /// Whether it takes any text for a prompt. A shell would run it.
    pub reads_text: bool,
}

/// Where the program takes its next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Composer {
    /// After a mark at the beginning of a row; further rows are indented. With rules, a horizontal
    /// line stands above and below.
    Marked { mark: char, rules: bool },
    /// At the cursor, after a row that ends like a prompt.
    Cursor { ends: &'static [char] },
}

/// The frames of the spinner that agents show in the window title.
const SPINNER: &[char] = &['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏', '⠐', '⠂'];

impl Profile {
    pub const CLAUDE: Profile = Profile {
        name: "claude",
        composer: Composer::Marked {
            mark: '❯',
            rules: true,
        },
        busy: &["esc to interrupt", "ctrl+c to interrupt"],
        busy_titles: SPINNER,
        dialogs: &[
            "Do you want to",
            "Do you trust",
            "Would you like to",
            "Enter to confirm",
            "Enter to select",
            "Esc to cancel",
            "Esc to exit",
            "No, exit",
        ],
        idle: &["? for shortcuts"],
        above: 0,
        placeholders: &["Try \""],
        pasted: &["[Pasted text #"],
        commands: &['/', '!', '#', '&'],
        reads_text: true,
    };

    pub const CODEX: Profile = Profile {
        name: "codex",
        composer: Composer::Marked {
            mark: '›',
            rules: false,
        },
        busy: &["esc to interrupt"],
        busy_titles: SPINNER,
        dialogs: &[
            "Allow ",
            "Do you trust",
            "Would you like to",
            "Hooks need review",
            "Press enter to confirm",
            "Press enter to continue",
            "esc to cancel",
            "esc to go back",
        ],
        idle: &["? for shortcuts"],
        above: 0,
        placeholders: &["Ask Codex to do anything"],
        pasted: &["[Pasted Content "],
        commands: &['/', '!', '$'],
        reads_text: true,
    };

    /// As seen of Gemini CLI 0.61.0.
    pub const GEMINI: Profile = Profile {
        name: "gemini",
        composer: Composer::Marked {
            mark: '>',
            rules: false,
        },
        busy: &["(esc to cancel"],
        busy_titles: &['✦'],
        dialogs: &["Allow execution of", "● 1. ", "(esc)"],
        idle: &["? for shortcuts"],
        above: 5,
        placeholders: &["Type your message or @path/to/file"],
        pasted: &["[Pasted Text: "],
        commands: &['/', '!', '@', '?'],
        reads_text: true,
    };

    /// As seen of Copilot CLI 1.0.102.
    pub const COPILOT: Profile = Profile {
        name: "copilot",
        composer: Composer::Marked {
            mark: '❯',
            rules: true,
        },
        busy: &["esc edit prompt"],
        busy_titles: &[],
        dialogs: &[
            "Do you want to",
            "Do you trust",
            "enter to select",
            "esc to cancel",
        ],
        idle: &["? help"],
        above: 0,
        placeholders: &[],
        pasted: &["[Paste #"],
        commands: &['/', '!', '@', '#', '?', '&'],
        reads_text: true,
    };

    /// Any other program: a shell, an interpreter.
    pub const GENERIC: Profile = Profile {
        name: "generic",
        composer: Composer::Cursor {
            ends: &['$', '#', '%', '>', '❯', '›', '»', 'λ'],
        },
        busy: &[],
        busy_titles: &[],
        dialogs: &[
            "[y/N]",
            "[Y/n]",
            "[y/n]",
            "(y/n)",
            "(y/N)",
            "(Y/n)",
            "(yes/no",
            "assword",
            "assphrase",
        ],
        idle: &[],
        above: 0,
        placeholders: &[],
        pasted: &[],
        commands: &[],
        reads_text: false,
    };

    /// The profile for a program, by the last part of its path.
    pub fn of(program: &str) -> Profile {
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        match name.trim_end_matches(".exe") {
            "claude" => Profile::CLAUDE,
            "codex" => Profile::CODEX,
            "gemini" => Profile::GEMINI,
            "copilot" => Profile::COPILOT,
            _ => Profile::GENERIC,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_wherever_it_is() {
        assert_eq!(Profile::of("/usr/local/bin/claude").name, "claude");
        for name in ["codex", "gemini", "copilot"] {
            assert_eq!(Profile::of(name).name, name);
        }
        assert_eq!(Profile::of("claude-squad").name, "generic");
    }
}
