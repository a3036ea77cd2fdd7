//! `understory call`: any tool from a shell.

use std::io::Read;
use std::process::ExitCode;

use serde_json::{Value, json};
use understory_model::number::check_numbers;
use understory_model::{Code, Fault, limits};
use understory_tools::registry;

use super::hints;
use super::render::Render;
use super::text::Text;
use super::tools;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory call                            every tool in a line
  understory call graph_plan --help          the arguments of one
  understory call graph_plan '{\"nodes\": [{\"ref\": \"a\", \"summary\": \"Write the API\"}]}'
  understory call graph_update @changes.json
  jq -c . plan.json | understory call graph_plan - --json";

#[derive(Debug, clap::Args)]
#[command(after_help = help(), disable_help_flag = true)]
pub struct Args {
    /// The tool to call; lists all tools if omitted
    tool: Option<String>,
    /// A JSON object, `@file` with one, or `-` to read one from standard input
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
    /// Print help; with a tool, its arguments and an example
    #[arg(long, short)]
    help: bool,
}

/// The tools by their names, and the examples.
fn help() -> String {
    const WIDTH: usize = 79;
    let tools = registry::tools();
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
    let mut help = "Tools:\n".to_owned();
    for tool in tools {
        let line = Text::from(format!("  {:width$}  {}", tool.name, tool.about));
        for line in line.wrap(WIDTH, width + 4) {
            help.push_str(line.rendered(false).trim_end());
            help.push('\n');
        }
    }
    format!("{help}\n{EXAMPLES}")
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let Some(tool) = self.tool else {
            return if self.help {
                print_help(here)
            } else {
                tools::list(here, registry::tools().iter())
            };
        };
        // A wrong name or wrong JSON is said before any store is looked at.
        let known = registry::find(&tool).ok_or_else(|| unknown(&tool))?;
        if self.help {
            return tools::one(here, known);
        }
        let arguments = read(self.arguments.as_deref())?;
        let context = here.context()?;
        let answer = context
            .call(known.name, arguments)
            .map_err(|fault| with_help(fault, known.name, &context))?;
        if here.out.json {
            here.out.value(&answer);
        } else {
            let clock = &context.clock;
            Render {
                out: &here.out,
                clock,
            }
            .answer(&answer);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The help of this command as clap would print it, which leaves a tool's own to us.
fn print_help(here: &Here) -> Outcome {
    let mut command = super::command();
    command.build();
    if let Some(call) = command.find_subcommand_mut("call") {
        here.out
            .bytes(call.render_long_help().to_string().as_bytes());
    }
    Ok(ExitCode::SUCCESS)
}

/// What else helps somebody at a shell: the tool's arguments, or a session that lasts.
fn with_help(fault: Fault, tool: &str, context: &CommandContext) -> Fault {
    let more = match fault.code {
        Code::Validation => format!("`understory call {tool} --help` shows the arguments."),
        Code::NotActivated | Code::ParentNotActivated if context.is_brief() => {
            return fault.hint(
                "Each command is a session of its own. Give --session NAME to the command that \
                 activates the record and to this one.",
            );
        }
        _ => return fault,
    };
    let hint = match &fault.hint {
        Some(hint) => format!("{} {more}", hints::for_shell(hint)),
        None => more,
    };
    fault.hint(hint)
}

fn unknown(tool: &str) -> Fault {
    let fault = registry::unknown(tool);
    match fault.details {
        Some(_) => fault,
        None => fault.hint("`understory call` lists the tools."),
    }
}

/// The arguments that were given, wherever they are.
fn read(given: Option<&str>) -> Result<Value, Fault> {
    let (text, place) = match given {
        None => return Ok(json!({})),
        Some("-") => (
            all_of(std::io::stdin(), "standard input")?,
            "standard input".to_owned(),
        ),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => {
                let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
                (all_of(file, path)?, path.to_owned())
            }
            None => (text.to_owned(), "the arguments".to_owned()),
        },
    };
    let value = serde_json::from_str(&text).map_err(|error| {
        Fault::new(Code::Validation, format!("{place}: not JSON: {error}"))
            .hint("Give one JSON object in single quotes, as @file, or as - on standard input.")
    })?;
    check_numbers(text.as_bytes())?;
    Ok(value)
}

/// All that a file or a stream holds, unless that is more than any argument may be.
pub fn all_of(from: impl Read, place: &str) -> Result<String, Fault> {
    // A letter has at most four bytes; one more than may be is enough to see that it is too much.
    let most = limits::ARGUMENT_BYTES as u64 * 4 + 1;
    let mut bytes = Vec::new();
    from.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(place, &error))?;
    if bytes.len() as u64 == most {
        return Err(
            Fault::new(Code::TooLarge, format!("{place}: too large")).hint("Split the call.")
        );
    }
    String::from_utf8(bytes)
        .map_err(|_| Fault::new(Code::Validation, format!("{place}: is not UTF-8")))
}

fn unreadable(place: &str, error: &std::io::Error) -> Fault {
    let message = format!("{place}: cannot be read: {error}");
    Fault::new(Code::Validation, message).hint("Name a file that holds one JSON object.")
}
