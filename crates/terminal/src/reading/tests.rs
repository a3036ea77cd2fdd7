//! Screens as the programs draw them, and what they mean.

use std::time::Instant;

use super::*;
use crate::screen::Screen;

const RAW: Tty = Tty {
    foreground: true,
    canonical: false,
    echo: false,
};

fn seen(output: &str) -> Seen {
    let now = Instant::now();
    let mut screen = Screen::new(24, 80, now);
    screen.feed(output.replace('\n', "\r\n").as_bytes(), now);
    screen.seen().expect("a screen")
}

fn state(profile: &Profile, output: &str) -> State {
    Reading::new(profile, &seen(output), RAW).state()
}

fn claude(above: &str, line: &str, below: &str) -> String {
    let rule = "─".repeat(80);
    format!("{above}\n\n{rule}{line}\n{rule}{below}")
}

#[test]
fn claude_is_idle_with_an_empty_composer_and_its_hint() {
    let idle = claude("● Done.", "❯ ", "  ? for shortcuts");
    assert_eq!(state(&Profile::CLAUDE, &idle), State::Idle);
    let hinted = claude(
        "",
        "❯ \x1b[2mTry \"fix the oven\"\x1b[0m",
        "  ? for shortcuts",
    );
    assert_eq!(state(&Profile::CLAUDE, &hinted), State::Idle);
    let unsure = claude("", "❯ ", "  something new");
    assert_eq!(state(&Profile::CLAUDE, &unsure), State::Unknown);
}

#[test]
fn a_draft_is_not_idle() {
    let draft = claude("", "❯ my own words", "");
    assert_eq!(state(&Profile::CLAUDE, &draft), State::Draft);
    let two = claude("", "❯ first\n  second", "  ? for shortcuts");
    assert_eq!(state(&Profile::CLAUDE, &two), State::Draft);
    assert_eq!(
        state(&Profile::CODEX, "\n› my own words\n\n  model"),
        State::Draft
    );
}

#[test]
fn working_is_not_idle() {
    let busy = claude("✻ Baking…", "❯ ", "  esc to interrupt");
    assert_eq!(state(&Profile::CLAUDE, &busy), State::Busy);
    let codex =
        "• Working (1s • esc to interrupt)\n\n› Ask Codex to do anything\n\n  ? for shortcuts";
    assert_eq!(state(&Profile::CODEX, codex), State::Busy);
    let title = "\x1b]0;⠦ bakery\x07› Ask Codex to do anything\n\n  ? for shortcuts";
    assert_eq!(state(&Profile::CODEX, title), State::Busy);
}

#[test]
fn codex_is_idle_with_its_placeholder() {
    let idle = "› bake\n\n• Done.\n\n› Ask Codex to do anything\n\n  ? for shortcuts";
    assert_eq!(state(&Profile::CODEX, idle), State::Idle);
}

#[test]
fn a_dialog_is_a_dialog_whatever_is_around_it() {
    let claude_asks =
        "● Bash(rm)\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel";
    assert_eq!(state(&Profile::CLAUDE, claude_asks), State::Dialog);
    let trusts = "Do you trust the files in this folder?\n\n ❯ No, exit\n   Yes";
    assert_eq!(state(&Profile::CLAUDE, trusts), State::Dialog);
    let framed = claude("", "❯ 1. Yes\n  2. No", "  ? for shortcuts");
    assert_eq!(state(&Profile::CLAUDE, &framed), State::Dialog);
    let codex = "Allow the understory MCP server to run tool \"post\"?\n\n› 1. Allow\n  2. Deny";
    assert_eq!(state(&Profile::CODEX, codex), State::Dialog);
}

#[test]
fn words_of_a_dialog_in_the_conversation_are_no_dialog() {
    let said = claude(
        "● Do you want to proceed? I can.",
        "❯ ",
        "  ? for shortcuts",
    );
    assert_eq!(state(&Profile::CLAUDE, &said), State::Idle);
}

#[test]
fn a_shell_is_idle_at_its_prompt() {
    assert_eq!(state(&Profile::GENERIC, "user@host:~$ "), State::Idle);
    assert_eq!(state(&Profile::GENERIC, "bash-5.2# "), State::Idle);
    assert_eq!(state(&Profile::GENERIC, ">>> "), State::Idle);
    for other in [
        "",
        "user@host:~$ ls",
        "> ",
        "Continue? ",
        "building …\n",
        "\x1b[?1049h$ ",
    ] {
        assert_eq!(state(&Profile::GENERIC, other), State::Unknown, "{other:?}");
    }
}

#[test]
fn a_shell_is_busy_while_something_else_reads() {
    let tty = Tty {
        foreground: false,
        ..RAW
    };
    let reading = Reading::new(&Profile::GENERIC, &seen("$ "), tty);
    assert_eq!(reading.state(), State::Busy);
}

#[test]
fn passwords_and_yes_or_no_are_dialogs() {
    let tty = Tty {
        canonical: true,
        ..RAW
    };
    let reading = Reading::new(&Profile::GENERIC, &seen("$ "), tty);
    assert_eq!(reading.state(), State::Dialog);
    assert_eq!(
        state(&Profile::GENERIC, "Overwrite? [y/N] > "),
        State::Dialog
    );
}

#[test]
fn a_text_is_found_wrapped_indented_or_folded_up() {
    let text = "Understory: ada wrote in th_001: the oven is 👩‍🍳 hot, go ahead";
    let tail = tail(text);
    let find = |output: &str| {
        let seen = seen(output);
        let reading = Reading::new(&Profile::CLAUDE, &seen, RAW);
        Presence::new(&Profile::CLAUDE, &seen, &reading, &tail)
    };
    let before = find(&claude(text, "❯ ", ""));
    let wrapped = find(&claude(
        "",
        "❯ Understory: ada wrote in th_001: the\n  oven is 👩‍🍳 hot, go ahe\n  ad",
        "",
    ));
    let folded = find(&claude("", "❯ [Pasted text #1 +12 lines]", ""));
    assert!(
        !before.appeared(&before),
        "it was there before, in the conversation"
    );
    assert!(wrapped.appeared(&before) && folded.appeared(&before));
    assert!(before.gone(&wrapped) && !wrapped.gone(&wrapped));
}

/// A screen of 120 columns and 40 rows, as tmux recorded it, after the title of its window.
fn recorded(profile: &Profile, recording: &str) -> (State, Option<String>) {
    let now = Instant::now();
    let mut screen = Screen::new(40, 120, now);
    let rows = recording.trim_end_matches('\n').replace('\n', "\r\n");
    screen.feed(rows.as_bytes(), now);
    let reading = Reading::new(profile, &screen.seen().expect("a screen"), RAW);
    (reading.state(), reading.composer)
}

#[test]
fn recorded_screens_of_gemini_are_read() {
    let state = |recording| recorded(&Profile::GEMINI, recording).0;
    assert_eq!(
        state(include_str!("screens/gemini-idle.ans")),
        State::Idle,
        "at its start"
    );
    assert_eq!(
        state(include_str!("screens/gemini-idle-after.ans")),
        State::Idle,
        "after a turn"
    );
    assert_eq!(state(include_str!("screens/gemini-busy.ans")), State::Busy);
    assert_eq!(
        state(include_str!("screens/gemini-dialog.ans")),
        State::Dialog
    );
    let drafts = [
        (include_str!("screens/gemini-draft.ans"), "a half line"),
        (
            include_str!("screens/gemini-pasted.ans"),
            "[Pasted Text: 966 chars]",
        ),
    ];
    for (recording, text) in drafts {
        let (state, composer) = recorded(&Profile::GEMINI, recording);
        assert_eq!((state, composer.as_deref()), (State::Draft, Some(text)));
    }
}

#[test]
fn recorded_screens_of_copilot_are_read() {
    let state = |recording| recorded(&Profile::COPILOT, recording).0;
    assert_eq!(
        state(include_str!("screens/copilot-idle.ans")),
        State::Idle,
        "with an emptied composer"
    );
    assert_eq!(
        state(include_str!("screens/copilot-idle-after.ans")),
        State::Idle,
        "after a turn"
    );
    assert_eq!(state(include_str!("screens/copilot-busy.ans")), State::Busy);
    assert_eq!(
        state(include_str!("screens/copilot-dialog.ans")),
        State::Dialog
    );
    let (state, composer) = recorded(&Profile::COPILOT, include_str!("screens/copilot-draft.ans"));
    assert_eq!(
        (state, composer.as_deref()),
        (State::Draft, Some("a half line"))
    );
    let (state, composer) = recorded(
        &Profile::COPILOT,
        include_str!("screens/copilot-pasted.ans"),
    );
    assert_eq!(state, State::Draft);
    let composer = composer.expect("a composer");
    assert!(composer.ends_with("the end of it"), "{composer}");
}

#[test]
fn a_client_without_its_marks_is_not_at_a_prompt() {
    // What another version draws differently is not taken for a prompt.
    for (profile, recording, mark) in [
        (
            Profile::GEMINI,
            include_str!("screens/gemini-idle.ans"),
            "? for shortcuts",
        ),
        (
            Profile::COPILOT,
            include_str!("screens/copilot-idle.ans"),
            "? ",
        ),
    ] {
        assert!(recording.contains(mark));
        let other = recording
            .replace("? for shortcuts", "keys: ?")
            .replace("help", "keys");
        assert_ne!(recorded(&profile, &other).0, State::Idle);
    }
}
