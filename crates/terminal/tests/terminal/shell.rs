//! Bash under a supervisor: a program that nobody has a profile for.

use crate::helpers::{Bare, Courier, PROBE, Tmux, quoted, scratch};

const INNER: &str = "env PS1='inner$ ' bash --norc --noprofile -i";

fn bash(tmux: &Tmux, courier: &Courier) {
    let run = format!(
        "{} run --control {} -- {INNER}",
        quoted(PROBE),
        quoted(courier.path())
    );
    tmux.enter(&run);
    tmux.wait_for("\ninner$");
}

#[test]
fn a_shell_is_delivered_to_at_its_prompt() {
    let tmux = Tmux::new();
    let mut courier = Courier::new(tmux.folder());
    bash(&tmux, &courier);
    assert_eq!(
        courier.result(1, "echo $((6 * 7))=answer", false),
        "1 delivered"
    );
    tmux.wait_for("\n42=answer");
}

#[test]
fn a_half_typed_command_is_never_touched() {
    let tmux = Tmux::new();
    let mut courier = Courier::new(tmux.folder());
    bash(&tmux, &courier);
    tmux.types("echo mine");
    tmux.wait_for("inner$ echo mine");
    assert_eq!(
        courier.result(1, "echo yours", false),
        "1 gave_up human_input_busy"
    );
    tmux.press("Enter");
    tmux.wait_for("\nmine");
    assert!(!tmux.screen().contains("yours"));
}

#[test]
fn a_command_from_the_history_is_never_touched() {
    let tmux = Tmux::new();
    let mut courier = Courier::new(tmux.folder());
    bash(&tmux, &courier);
    tmux.enter("echo once");
    tmux.wait_for("\nonce");
    tmux.press("Up");
    tmux.wait_for("once\ninner$ echo once");
    assert_eq!(
        courier.result(1, "echo yours", false),
        "1 gave_up not_at_a_prompt"
    );
    assert!(!tmux.screen().contains("yours"));
}

#[test]
fn a_shell_that_runs_something_is_busy() {
    let tmux = Tmux::new();
    let mut courier = Courier::new(tmux.folder());
    bash(&tmux, &courier);
    tmux.enter("printf 'fake$ '; cat");
    tmux.wait_for("\nfake$");
    assert_eq!(
        courier.result(1, "echo yours", false),
        "1 gave_up agent_busy"
    );
    assert!(!tmux.screen().contains("yours"));
}

#[test]
fn a_question_in_a_shell_is_not_answered() {
    let tmux = Tmux::new();
    let mut courier = Courier::new(tmux.folder());
    bash(&tmux, &courier);
    tmux.enter("read -r -s -p 'secret$ ' x");
    tmux.wait_for("\nsecret$");
    assert_eq!(courier.result(1, "guess", true), "1 gave_up dialog_open");
    tmux.press("Enter");
    tmux.enter("echo \"<$x>\"");
    tmux.wait_for("\n<>");
}

#[test]
fn several_lines_are_refused_by_a_program_that_takes_no_pastes() {
    let folder = scratch();
    let mut courier = Courier::new(folder.path());
    let script = "printf 'ask$ '; read -r x; echo \"got <$x>\"";
    let terminal = Bare::start(&["--control", courier.path(), "--", "sh", "-c", script]);
    terminal.wait_for(b"ask$ ");
    assert_eq!(
        courier.result(1, "one\ntwo", false),
        "1 refused SeveralLines"
    );
    assert_eq!(courier.result(2, "one für alle", false), "2 delivered");
    terminal.wait_for("got <one für alle>".as_bytes());
}

#[test]
fn reports_of_the_terminal_do_not_keep_a_delivery_waiting() {
    let folder = scratch();
    let mut courier = Courier::new(folder.path());
    let control = courier.path().to_owned();
    let bash = ["env", "PS1=ask$ ", "bash", "--norc", "-i"];
    let terminal = Bare::start(&[&["--control", &control, "--"][..], &bash].concat());
    terminal.wait_for(b"ask$ ");
    terminal.write(b"\x1b[I\x1b[O");
    assert_eq!(
        courier.result(1, "echo $((1 + 1))=two", false),
        "1 delivered"
    );
    terminal.wait_for(b"2=two");
}
