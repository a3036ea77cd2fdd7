//! The binary: reads the command line and does what it says. The work is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    understory::cli::main()
}
