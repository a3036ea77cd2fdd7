//! Every way to end leaves a usable terminal and no process behind.

use rustix::process::Signal;

use crate::helpers::{Bare, Office, alive, children, kill, pair, supervisor, wait_for};

/// The processes of a supervisor: the leader and the program.
fn family(supervisor: i32) -> Vec<i32> {
    wait_for("a leader and a program", || {
        let leader = *children(supervisor).first()?;
        let program = *children(leader).first()?;
        Some(vec![supervisor, leader, program])
    })
}

fn all_gone(family: &[i32]) {
    wait_for(&format!("the end of {family:?}"), || {
        (!family.iter().any(|pid| alive(*pid))).then_some(())
    });
}

#[test]
fn a_killed_supervisor_leaves_a_usable_terminal_and_no_process_behind() {
    let office = Office::new();
    let tmux = &office.tmux;
    let family = family(*children(tmux.shell()).first().expect("a supervisor"));
    kill(family[0], Signal::KILL);
    all_gone(&family);
    // The shell may have said something on the screen that is gone now.
    tmux.press("Enter");
    tmux.wait_for("outer$");
    tmux.enter(
        "stty -a | tr ' ;' '\\n\\n' | grep -xE -- '-?(echo|icanon|opost|isig|icrnl)' | xargs",
    );
    tmux.wait_for("\nicrnl opost isig icanon echo");
    let modes = "#{alternate_on}#{mouse_any_flag}#{cursor_flag}";
    assert_eq!(
        tmux.run(&["display-message", "-p", "-t", "t", modes])
            .trim(),
        "001"
    );
}

#[test]
fn a_terminal_without_a_shell_is_put_back_when_the_supervisor_is_killed() {
    let terminal = Bare::start(&["--", "sh", "-c", "echo ready; exec sleep 300"]);
    terminal.wait_for(b"ready");
    let family = family(terminal.pid());
    let raw = terminal.modes();
    assert!(
        !raw.local_modes
            .contains(rustix::termios::LocalModes::ICANON)
    );
    kill(family[0], Signal::KILL);
    wait_for("the modes", || {
        let modes = terminal.modes().local_modes;
        let all = rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO;
        modes.contains(all).then_some(())
    });
    all_gone(&family[1..]);
}

#[test]
fn a_program_that_ignores_the_hang_up_does_not_outlive_the_supervisor() {
    let script = "trap '' HUP TERM; echo ready; while :; do sleep 0.05; done";
    let terminal = Bare::start(&["--", "bash", "-c", script]);
    terminal.wait_for(b"ready");
    let family = family(terminal.pid());
    kill(family[0], Signal::KILL);
    all_gone(&family[1..]);
}

#[test]
fn a_stopped_program_does_not_outlive_the_supervisor() {
    let office = Office::new();
    let tmux = &office.tmux;
    let family = family(*children(tmux.shell()).first().expect("a supervisor"));
    kill(family[2], Signal::STOP);
    tmux.wait_for("Stopped");
    kill(family[0], Signal::KILL);
    all_gone(&family);
}

#[test]
fn signals_to_the_supervisor_reach_the_program_and_the_terminal_is_put_back() {
    for (signal, expected) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut terminal = Bare::start(&["--", "sh", "-c", "echo ready; exec sleep 300"]);
        terminal.wait_for(b"ready");
        let family = family(terminal.pid());
        kill(family[0], signal);
        assert_eq!(terminal.exit(), expected);
        let canonical = rustix::termios::LocalModes::ICANON;
        assert!(terminal.modes().local_modes.contains(canonical));
        all_gone(&family[1..]);
    }
}

#[test]
fn a_program_that_is_killed_leaves_no_modes_behind() {
    let script = "printf '\\033[?1049h\\033[?1003h\\033[?25lready'; kill -9 $$";
    let mut terminal = Bare::start(&["--", "sh", "-c", script]);
    assert_eq!(terminal.exit(), 137);
    for undone in [&b"\x1b[?1049l"[..], b"\x1b[?1003l", b"\x1b[?25h"] {
        terminal.wait_for(undone);
    }
}

#[test]
fn a_program_whose_person_is_gone_is_hung_up() {
    let (person, theirs) = pair();
    let script = "echo ready; exec sleep 300";
    let mut child = supervisor(&theirs, &["--", "sh", "-c", script]);
    drop(theirs);
    let mut seen = Vec::new();
    while !seen.ends_with(b"ready\r\n") {
        let mut buffer = [0; 64];
        let length = rustix::io::read(&person, &mut buffer).expect("a terminal");
        seen.extend_from_slice(&buffer[..length]);
    }
    let family = family(i32::try_from(child.id()).expect("a number"));
    drop(person);
    let ended = wait_for("the end", || child.try_wait().expect("to wait"));
    assert_eq!(ended.code(), Some(129));
    all_gone(&family[1..]);
}

#[test]
fn a_killed_leader_takes_the_program_with_it() {
    let mut terminal = Bare::start(&["--", "sh", "-c", "echo ready; exec sleep 300"]);
    terminal.wait_for(b"ready");
    let family = family(terminal.pid());
    kill(family[1], Signal::KILL);
    assert_eq!(terminal.exit(), 137);
    all_gone(&family[1..]);
    let canonical = rustix::termios::LocalModes::ICANON;
    assert!(terminal.modes().local_modes.contains(canonical));
}

#[test]
fn a_child_that_keeps_the_terminal_open_keeps_nobody_waiting() {
    let script = "trap '' HUP; sleep 300 & echo \"left $!.\"; exit 3";
    let mut terminal = Bare::start(&["--", "bash", "-c", script]);
    assert_eq!(terminal.exit(), 3);
    let output = String::from_utf8_lossy(&terminal.wait_for(b".")).into_owned();
    let left = output.trim().trim_end_matches('.').rsplit(' ').next();
    let left = left.and_then(|pid| pid.parse().ok());
    let left = left.unwrap_or_else(|| panic!("{output:?}"));
    assert!(alive(left), "it is still there, and we are not");
    kill(left, Signal::KILL);
}
