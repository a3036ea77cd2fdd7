//! `understory post`: a message or an event into a thread, or into a new one.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};
use understory_engine::kernel::checked::Check;
use understory_engine::threads::SCHEMA_VERSION;
use understory_engine::threads::create::{Created, Unknown};
use understory_engine::threads::post::{NewMessage, Posted};
use understory_model::answer::Answer;
use understory_model::thread::{MessageKind, Purpose};
use understory_model::{Code, Fault};

use super::call::all_of;
use super::render::message::{Said, explained, handle, part};
use super::text::Text;
use super::{CommandContext, Here, Outcome};
use crate::object::with;

const EXAMPLES: &str = "\
Examples:
  understory post th_001 'Looks good to me'
  understory post 1 'Done in 4f2a91c' --reply 3
  git log -1 | understory post th_001 -
  understory post --new 'Review of the parser' --with ada,bob 'Please look at 4f2a91c'
  understory post th_001 'The fallback is lost' --event finding_reported \\
    --meta severity=high --meta file=src/token.rs --meta line:=42
  understory post th_001 'Checked' --event finding_verified --reply msg_12 --json

`--meta key=value` is text, `--meta key:=value` any JSON. An event that answers a finding moves it:
fix_pushed, finding_verified, finding_rejected, finding_withdrawn. Who reported a finding, an operator
and an orchestrator settle it.";

#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "understory post <THREAD> [TEXT] [OPTIONS]\n       \
                      understory post --new <TITLE> [TEXT] [OPTIONS]"
)]
pub struct Args {
    /// The thread; omit it with --new
    #[arg(value_name = "THREAD", required_unless_present = "new")]
    thread: Option<String>,
    /// The message; `-` or no text reads standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Start a thread with this title, and post into it
    #[arg(long, value_name = "TITLE")]
    new: Option<String>,
    /// Participants of the new thread, besides you
    #[arg(long, value_name = "AGENTS", value_delimiter = ',', requires = "new")]
    with: Vec<String>,
    /// What the new thread is for
    #[arg(long = "type", value_name = "TYPE", requires = "new")]
    #[arg(value_parser = PossibleValuesParser::new(Purpose::WORDS.iter().copied()))]
    kind: Option<String>,
    /// Post an event of this type instead of a chat message
    #[arg(long, value_name = "TYPE")]
    event: Option<String>,
    /// The message that this one answers: its id, or its number in the thread
    #[arg(long, value_name = "MESSAGE", conflicts_with = "new")]
    reply: Option<String>,
    /// What belongs to it: `key=value`, or `key:=json`; as often as needed
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// Makes a retry safe: the same key never posts twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let (thread, text) = self.words()?;
        let mut message = NewMessage {
            kind: match self.event {
                Some(_) => MessageKind::Event,
                None => MessageKind::Chat,
            },
            body: body(text)?,
            metadata: self.metadata()?,
            in_reply_to: None,
            schema_version: SCHEMA_VERSION,
            key: self.key.clone(),
        };
        // A message that would be refused makes no thread.
        message.check()?;
        let context = here.context()?;
        let made = match &self.new {
            Some(title) => Some(self.started(&context, title)?),
            None => None,
        };
        let thread = match &made {
            Some(made) => made.thread_id.clone(),
            None => handle(thread.unwrap_or_default()),
        };
        if let Some(name) = &self.reply {
            message.in_reply_to = Some(answered(&context, &thread, name)?);
        }
        let answer = posted(&context, &thread, &message)?;
        let answer = with(answer, [("thread_id", thread.as_str().into())]);
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let answer: Posted = Answer::Json(answer).typed()?;
        let place = format!("  message {} in ", answer.seq);
        let line = Text::new().name(answer.message_id);
        here.out.line(line.dim(place).name(&thread));
        if let Some(note) = answer.note {
            here.out.hint(note);
        }
        if let Some(made) = made {
            unknown(here, &made.unknown_participants);
        }
        if self.new.is_some() && self.with.is_empty() {
            here.out
                .hint("Only you take part in it; --with names others.");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The thread and the text: a new thread has no name yet, so the first word is the text.
    fn words(&self) -> Result<(Option<&str>, Option<&str>), Fault> {
        match (&self.new, &self.thread, &self.text) {
            (Some(_), Some(_), Some(_)) => {
                Err(Fault::invalid("thread", "cannot be combined with --new")
                    .hint("Quote the text, and name no thread: a new one gets its own name."))
            }
            (Some(_), text, None) => Ok((None, text.as_deref())),
            (_, thread, text) => Ok((thread.as_deref(), text.as_deref())),
        }
    }

    fn metadata(&self) -> Result<Map<String, Value>, Fault> {
        let mut metadata = Map::new();
        if let Some(event) = &self.event {
            metadata.insert("event_type".into(), event.as_str().into());
        }
        for pair in &self.meta {
            let (key, value) = entry(pair)?;
            metadata.insert(key, value);
        }
        Ok(metadata)
    }

    fn started(&self, context: &CommandContext, title: &str) -> Result<Created, Fault> {
        let named = self.with.iter().map(|name| name.trim());
        let participants: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
        let kind = self.kind.as_deref().unwrap_or("conversation");
        let args = json!({
            "title": title,
            "type": kind,
            "participants": participants,
            // A retry finds the thread that the first attempt created, and its message in it.
            "idempotency_key": self.key,
        });
        Answer::Json(context.call("create_thread", args)?).typed()
    }
}

fn posted(context: &CommandContext, thread: &str, message: &NewMessage) -> Result<Value, Fault> {
    let metadata = Some(&message.metadata).filter(|metadata| !metadata.is_empty());
    let args = json!({
        "thread_id": thread,
        "body": message.body,
        "kind": message.kind,
        "in_reply_to": message.in_reply_to,
        "idempotency_key": message.key,
        "metadata": metadata,
    });
    context
        .call("post_message", args)
        .map_err(|fault| explained(context, fault))
}

/// Says who was never seen, and whom that may have meant.
pub fn unknown(here: &Here, unknown: &[Unknown]) {
    for Unknown { agent_id, nearest } in unknown {
        let near = if nearest.is_empty() {
            String::new()
        } else {
            format!(" Did you mean {}?", nearest.join(", "))
        };
        here.out.hint(format!(
            "{agent_id} was never seen in this workspace.{near}"
        ));
    }
}

/// What is said: the argument, or what comes on standard input.
pub fn body(text: Option<&str>) -> Result<String, Fault> {
    let piped = !std::io::stdin().is_terminal();
    let body = match text {
        Some("-") => all_of(std::io::stdin(), "standard input")?,
        None if piped => all_of(std::io::stdin(), "standard input")?,
        Some(text) => return Ok(text.to_owned()),
        None => String::new(),
    };
    if body.trim().is_empty() {
        return Err(Fault::invalid("text", "is empty")
            .hint("Give it as an argument, or as - on standard input."));
    }
    Ok(body.trim_end_matches(['\n', '\r']).to_owned())
}

/// `key=value` or `key:=json`.
pub fn entry(pair: &str) -> Result<(String, Value), Fault> {
    let wrong = |problem: String| {
        Fault::new(Code::Validation, format!("--meta {pair}: {problem}"))
            .hint("Give key=value for text, key:=value for any JSON.")
    };
    match pair.split_once('=') {
        Some((key, text)) => {
            let (key, value) = match key.strip_suffix(':') {
                Some(key) => {
                    let value = serde_json::from_str(text);
                    (
                        key,
                        value.map_err(|error| wrong(format!("not JSON: {error}")))?,
                    )
                }
                None => (key, Value::from(text)),
            };
            match key.trim() {
                "" => Err(wrong("has no key".to_owned())),
                key => Ok((key.to_owned(), value)),
            }
        }
        None => Err(wrong("has no =".to_owned())),
    }
}

/// The id of the message that is answered, where a person may say its number.
fn answered(context: &CommandContext, thread: &str, name: &str) -> Result<String, Fault> {
    let bare = name.strip_prefix('#').unwrap_or(name);
    let Ok(number) = bare.parse::<i64>() else {
        return Ok(name.to_owned());
    };
    let found = part(context, thread, Some((number - 1).max(0)), 1)?;
    let message = found.lines.into_iter().find_map(|line| match line {
        Said::Message(message) if message.seq == Some(number) => Some(message),
        Said::Message(_) | Said::Turn(_) => None,
    });
    match message {
        Some(message) => Ok(message.message_id),
        None => Err(
            Fault::not_found(format!("no message {number} in {thread}")).hint(format!(
                "It has 1 to {}; `understory thread {thread}` shows them.",
                found.thread.last_seq
            )),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_message_is_text_unless_it_says_otherwise() {
        let told = |pair: &str| entry(pair).unwrap();
        assert_eq!(told("commit=1234567"), ("commit".into(), json!("1234567")));
        assert_eq!(told("line:=42"), ("line".into(), json!(42)));
        assert_eq!(told("a=b=c"), ("a".into(), json!("b=c")));
        assert_eq!(told("a="), ("a".into(), json!("")));
        for wrong in ["a", "=b", ":=1", "a:=x", ""] {
            assert!(entry(wrong).is_err(), "{wrong}");
        }
    }
}
