//! What a person notices of the supervisor: nothing.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::helpers::{Bare, PROBE, Tmux, quoted, scratch, wait_for};

fn managed(line: &str) -> String {
    format!("{} run -- {line}", quoted(PROBE))
}

#[test]
fn every_byte_passes_untouched_in_both_directions() {
    let script = "stty raw -echo; printf ready; exec cat";
    let terminal = Bare::start(&["--", "sh", "-c", script]);
    terminal.wait_for(b"ready");
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend("\x1b[200~für 日本 👩‍🌾\x1b[201~\x1b[<0;1;1M\x1b[I\x1b]52;c;aGk=\x07".as_bytes());
    bytes.extend((0..200_000_u32).map(|number| (number % 251) as u8));
    terminal.write(&bytes);
    let expected = 5 + bytes.len();
    let output = wait_for("all of it", || {
        Some(terminal.output()).filter(|output| output.len() >= expected)
    });
    assert!(output[5..] == bytes, "what came back is not what was sent");
}

#[test]
fn the_program_has_the_size_of_the_window_and_learns_of_a_new_one() {
    let tmux = Tmux::new();
    let script = "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done";
    tmux.enter(&managed(&format!("bash -c {}", quoted(script))));
    tmux.wait_for("\n24 80");
    tmux.run(&["resize-window", "-t", "t", "-x", "100", "-y", "30"]);
    tmux.wait_for("\n30 100");
}

#[test]
fn ctrl_z_stops_the_program_and_fg_continues_it() {
    let tmux = Tmux::new();
    let script = "echo ready; while read -r x; do echo \"got <$x>\"; done";
    tmux.enter(&managed(&format!("sh -c {}", quoted(script))));
    tmux.wait_for("\nready");
    for round in ["one", "two"] {
        tmux.press("C-z");
        tmux.wait_for("Stopped");
        tmux.enter(&format!("echo shell $((1 + 1)){round}"));
        tmux.wait_for(&format!("\nshell 2{round}"));
        tmux.enter("clear; fg");
        tmux.enter(round);
        tmux.wait_for(&format!("\ngot <{round}>"));
    }
    tmux.press("C-d");
    tmux.wait_for("\nouter$");
}

#[test]
fn a_program_that_stops_itself_is_stopped() {
    let tmux = Tmux::new();
    tmux.enter(&managed("bash -c 'kill -STOP $$; echo goes on'"));
    tmux.wait_for("Stopped");
    tmux.enter("fg");
    tmux.wait_for("\ngoes on");
}

#[test]
fn without_a_shell_above_nothing_stays_stopped() {
    let terminal = Bare::start(&[
        "--",
        "bash",
        "-c",
        "echo ready; kill -STOP $$; echo goes on",
    ]);
    terminal.wait_for(b"goes on");
}

#[test]
fn ctrl_c_reaches_the_program_only() {
    let tmux = Tmux::new();
    let script = "trap 'echo caught' INT; echo ready; while :; do sleep 0.05; done";
    tmux.enter(&managed(&format!("bash -c {}", quoted(script))));
    tmux.wait_for("\nready");
    tmux.press("C-c");
    tmux.wait_for("caught");
}

#[test]
fn the_exit_code_is_the_programs() {
    for (script, expected) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill $$", 143),
    ] {
        let mut terminal = Bare::start(&["--", "sh", "-c", script]);
        assert_eq!(terminal.exit(), expected, "{script}");
    }
}

#[test]
fn all_that_was_written_before_the_end_is_shown() {
    let mut terminal = Bare::start(&["--", "sh", "-c", "seq 1 5000; printf last"]);
    assert_eq!(terminal.exit(), 0);
    let output = String::from_utf8_lossy(&terminal.wait_for(b"last")).replace('\r', "");
    let numbers: Vec<String> = (1..=5000).map(|number| number.to_string()).collect();
    assert!(
        output == format!("{}\nlast", numbers.join("\n")),
        "{} bytes",
        output.len()
    );
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let mut terminal = Bare::start(&["--", "/no/such/program"]);
    assert_eq!(terminal.exit(), 125);
    terminal.wait_for(b"cannot start /no/such/program: No such file or directory");
}

#[test]
fn the_program_has_our_variables_and_a_terminal_to_control() {
    let script = "echo \"$PROBED\"; tty; echo line >/dev/tty";
    let terminal = Bare::start(&["--", "sh", "-c", script]);
    let output = terminal.wait_for(b"line");
    let output = String::from_utf8_lossy(&output).into_owned();
    assert!(output.starts_with("yes\r\n/dev/"), "{output}");
}

#[test]
fn without_a_terminal_the_program_has_our_streams() {
    let folder = scratch();
    let file = folder.path().join("input");
    std::fs::write(&file, "piped\n").expect("a file");
    let output = Command::new(PROBE)
        .args(["run", "--", "sh", "-c", "cat; exit 5"])
        .stdin(std::fs::File::open(&file).expect("a file"))
        .output()
        .expect("the supervisor");
    assert_eq!(
        (output.stdout.as_slice(), output.status.code()),
        (&b"piped\n"[..], Some(5))
    );
}

#[test]
fn without_a_terminal_deliveries_are_refused_and_signals_passed_on() {
    let folder = scratch();
    let mut courier = crate::helpers::Courier::new(folder.path());
    let script = "trap 'exit 9' TERM; while :; do sleep 0.05; done";
    let mut child = Command::new(PROBE)
        .args([
            "run",
            "--control",
            courier.path(),
            "--",
            "bash",
            "-c",
            script,
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the supervisor");
    assert_eq!(courier.result(1, "text", true), "1 refused NoTerminal");
    let pid = i32::try_from(child.id()).expect("a number");
    let started = || crate::helpers::children(pid).first().copied();
    let program = wait_for("the program", started);
    wait_for("its trap", || {
        let status = std::fs::read_to_string(format!("/proc/{program}/status")).ok()?;
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))?;
        let caught = u64::from_str_radix(caught.trim(), 16).ok()?;
        (caught & (1 << (15 - 1)) != 0).then_some(())
    });
    crate::helpers::kill(pid, Signal::TERM);
    let ended = wait_for("the end", || child.try_wait().expect("to wait"));
    assert_eq!(ended.code(), Some(9));
}
