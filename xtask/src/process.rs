//! Starting other programs, and saying which one failed.
//!
//! It knows nothing of what the programs are for.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// What every task returns: a failure is a sentence for the person at the terminal.
pub type Outcome<T = ()> = Result<T, String>;

/// The directory of the workspace.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// The cargo that started us, standing in the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    // `cargo run` describes this package to us. Passed on, that description would make the build
    // scripts that watch it run again, and all that depends on them compile again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
}

/// Runs a command with its output in view; anything but success is a failure that names it.
pub fn run(command: &mut Command) -> Outcome {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .map_err(|e| format!("{}: {e}", shown(command)))?;
    succeeded(command, status)
}

/// Turns a command's end into an outcome.
pub fn succeeded(command: &Command, status: ExitStatus) -> Outcome {
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` failed ({status})", shown(command)))
}

/// Runs a command silently and returns what it wrote to standard output.
pub fn output(command: &mut Command) -> Outcome<String> {
    let output = command
        .output()
        .map_err(|e| format!("{}: {e}", shown(command)))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{}` failed: {}", shown(command), complaint.trim()));
    }
    String::from_utf8(output.stdout).map_err(|e| format!("{}: {e}", shown(command)))
}

/// Whether a program is there to be started: it answers to `--version`.
pub fn exists(command: &mut Command) -> bool {
    command
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or_default().to_string_lossy()];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    words.join(" ")
}

/// The exit code by which a shell would report this end: 128 and the signal for a killed program.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
