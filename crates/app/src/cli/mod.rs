//! The command line. A command is one file here, a `mod` line and a line in `commands!`.
//!
//! A command's file has `pub struct Args` (its flags, a `clap::Args`) and
//! `impl Args { pub fn run(self, here: &Here) -> Outcome }`. What it prints is its result; what
//! went wrong is a `Fault`, which is printed here, in one way for all.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use understory_model::{Code, Fault};

use crate::config::{Flags, Surroundings};
use crate::ids::Requests;
use crate::log as diagnostics;

pub use self::here::{CommandContext, Here};
use self::out::{Look, Out};
use self::text::{Style, Text};

mod branch;
mod here;
mod hints;
mod out;
mod progress;
mod reference;
mod render;
mod table;
mod text;
mod when;

pub mod allow;
pub mod artifacts;
pub mod audit;
pub mod backup;
pub mod branches;
pub mod call;
pub mod checkout;
pub mod checkpoint;
pub mod claim;
pub mod completions;
pub mod conversations;
pub mod diff;
pub mod doctor;
pub mod embed;
pub mod hook;
pub mod log;
pub mod mcp;
pub mod merge;
pub mod next;
pub mod note;
pub mod open;
pub mod plan;
pub mod post;
pub mod proposals;
pub mod purge;
pub mod rebuild;
pub mod records;
pub mod run;
pub mod runtimes;
pub mod search;
pub mod serve;
pub mod show;
pub mod status;
pub mod thoughts;
pub mod thread;
pub mod threads;
pub mod token;
pub mod tools;
pub mod tour;
pub mod verify;
pub mod wake;
pub mod wakes;
pub mod who;
pub mod why;

/// How a command ends.
pub type Outcome = Result<ExitCode, Fault>;

/// The exit code of a merge that left conflicts open.
const OPEN_CONFLICTS: u8 = 6;

/// Declares the commands and how each is run.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident($args:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command { $($(#[$doc])* $name($args),)* }

        impl Command {
            fn run(self, here: &Here) -> Outcome {
                match self { $(Command::$name(args) => args.run(here),)* }
            }
        }
    };
}

commands! {
    /// Watch two agents plan, claim and finish work in a temporary store
    Tour(tour::Args),
    /// Serve MCP over stdio, for an agent's configuration
    Mcp(mcp::Args),
    /// Answer a hook of an agent client: what is unread and new, at moments of its chat
    Hook(hook::Args),
    /// Serve MCP and every tool over HTTP
    Serve(serve::Args),
    /// Open the pages in your browser, and start the server if none runs
    Open(open::Args),
    /// Issue and revoke tokens for HTTP, and manage their keys
    Token(token::Args),
    /// Show what is open, who you are and where the store is
    Status(status::Args),
    /// Show who is here and what each works on
    Who(who::Args),
    /// Show what to work on next, or claim it
    Next(next::Args),
    /// Draw a project's plan as a tree: what is ready, blocked, claimed, done and dropped
    Plan(plan::Args),
    /// Claim a task, so that nobody else works on it
    Claim(claim::Args),
    /// Release a claimed task
    Release(claim::ReleaseArgs),
    /// Close a task, with evidence
    Done(claim::DoneArgs),
    /// Show anything that has a name, with its surroundings
    Show(show::Args),
    /// Draw a project's records as a tree
    Records(records::Args),
    /// Draw the branches of thought as a tree
    Branches(branches::Args),
    /// Make a branch of thought
    Branch(checkout::Branch),
    /// Choose the branch to use when none is named
    Checkout(checkout::Checkout),
    /// Show the notes of a plan, task or branch
    Notes(thoughts::Notes),
    /// Show what happened to a plan or task, with its cards
    Trace(thoughts::Trace),
    /// Show the cards of a plan, task or branch, and the next step
    Cards(thoughts::Cards),
    /// Write a note on a plan, task or branch
    Note(note::Args),
    /// Show what one branch has that another does not
    Diff(diff::Args),
    /// Merge a branch, and resolve conflicts
    Merge(merge::Args),
    /// List the threads that agents and people talk in
    Threads(threads::Args),
    /// Read a thread as a chat, watch it, or change its status
    Thread(thread::Args),
    /// Say something in a thread, or start one
    Post(post::Args),
    /// Draw the conversations of a project as a tree
    Conversations(conversations::Args),
    /// List the artifacts of a project
    Artifacts(artifacts::Args),
    /// Show an artifact: its lines, its text, its commits, or what one changed
    Artifact(artifacts::one::Args),
    /// List proposed changes of artifacts, and accept or reject them
    Proposals(proposals::Args),
    /// Wake an agent that has not read a thread, or show how to
    Wake(wake::Args),
    /// Run an agent or any other program in a terminal that Understory can reach
    Run(run::Args),
    /// Show who was to be woken, and what came of it
    Wakes(wakes::Args),
    /// Show and choose which programs may be started to wake an agent
    Runtimes(runtimes::Args),
    /// Find words in anything that was ever stored
    Search(search::Args),
    /// Embed texts with the configured external model, for search by meaning
    Embed(embed::Args),
    /// Show what caused something, back to the first cause
    Why(why::Args),
    /// Show what happened, newest first, or as it happens
    Log(log::Args),
    /// Call any tool
    Call(call::Args),
    /// List the tools and their arguments
    Tools(tools::Args),
    /// Show what was done with tokens, keys and logins
    Audit(audit::Args),
    /// Prove that the log is what was written
    Verify(verify::Args),
    /// Sign the current end of the log, to prove later that nothing before it changed
    Checkpoint(checkpoint::Args),
    /// Erase content for good, as an operator
    Purge(purge::Args),
    /// Rebuild all derived tables from the log
    Rebuild(rebuild::Args),
    /// Copy the store into a new file, while it is in use
    Backup(backup::Args),
    /// Let a repository keep its store inside itself, or share a workspace
    Allow(allow::Args),
    /// Check for problems, and say what to do about them
    Doctor(doctor::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

const AFTER: &str = "\
Begin with `understory tour`; an agent's configuration starts `understory mcp`.

Exit codes:
  0  done
  1  failed: a proof or a check did not hold, or an internal error
  2  the command line or an argument is wrong
  3  what was named does not exist
  4  it conflicts with what is there, or is not yours to do
  5  the store cannot be used
  6  a merge left conflicts open";

const ABOUT: &str = "\
Understory: the story underneath the work.

One durable memory and meeting place for AI agents and the people who work with them.";

/// The command line as it was written.
#[derive(Debug, Parser)]
#[command(
    name = "understory",
    bin_name = "understory",
    version,
    about = ABOUT,
    long_about = None,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = AFTER
)]
struct Line {
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    look: Look,
    #[command(subcommand)]
    command: Command,
}

/// The whole command line, for whatever describes it.
pub fn command() -> clap::Command {
    Line::command()
}

/// Runs the process's command line.
pub fn main() -> ExitCode {
    diagnostics::quiet_panics();
    let Line {
        flags,
        look,
        command,
    } = Line::parse();
    // What is not there must not stand in a client's way.
    let is_hook = matches!(command, Command::Hook(_));
    let around = Surroundings::real();
    if is_hook && around.is_err() {
        return ExitCode::SUCCESS;
    }
    let outcome = around.and_then(|around| {
        let out = Out::new(&look);
        let here = Here { flags, around, out };
        let code = command.run(&here);
        // What was printed before a fault is seen before it.
        let finished = here.out.finish();
        code.and_then(|code| finished.map(|()| code))
    });
    outcome.unwrap_or_else(|fault| report(&fault, &look))
}

/// Says what went wrong on the standard error stream, and gives the exit code for it.
fn report(fault: &Fault, look: &Look) -> ExitCode {
    let mut stderr = std::io::stderr();
    let fault = &Fault {
        hint: fault.hint.as_deref().map(hints::for_shell),
        ..fault.clone()
    };
    if look.json {
        let envelope = fault.envelope(&Requests::default().next()).to_string();
        let _ = writeln!(stderr, "{}", out::harmless(&envelope));
        return exit_code(fault.code);
    }
    let colour = out::coloured(look.color, stderr.is_terminal(), out::var);
    let mut lines = vec![Text::new().add(Style::Bad, "error: ").plain(&fault.message)];
    if let Some(hint) = &fault.hint {
        lines.push(Text::new().add(Style::Warn, "hint: ").plain(hint));
    }
    for line in lines {
        let _ = writeln!(stderr, "{}", line.rendered(colour));
    }
    exit_code(fault.code)
}

fn exit_code(code: Code) -> ExitCode {
    ExitCode::from(match code {
        Code::Validation | Code::DepthExceeded | Code::TooLarge => 2,
        Code::NotFound | Code::RecordNotFound | Code::SessionNotFound => 3,
        Code::UnknownTarget | Code::UnknownBranch => 3,
        Code::Conflict | Code::IdempotencyConflict | Code::Immutable | Code::UndoExpired => 4,
        Code::NotActivated | Code::ParentNotActivated | Code::InvalidTransition => 4,
        Code::Forbidden | Code::InsufficientAuthority => 4,
        Code::UnmanagedRuntime | Code::WakeFailed => 4,
        Code::StoreUnavailable | Code::StoreCorrupt | Code::TimedOut => 5,
        _ => 1,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        for command in super::command().get_subcommands() {
            let after = command.get_after_help().map(ToString::to_string);
            assert!(
                after.is_some_and(|text| text.contains("understory ")),
                "{} has no example in its help",
                command.get_name()
            );
        }
    }
}
