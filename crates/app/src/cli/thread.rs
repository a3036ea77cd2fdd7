//! `understory thread`: a thread read as a chat, to its end or as it goes on; or its status changed
//! and people added to it.

use std::cell::{Cell, RefCell};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};
use understory_engine::threads::status::Updated;
use understory_model::answer::Answer;
use understory_model::thread::Status;
use understory_model::{Fault, Seq};

use super::post::{entry, unknown};
use super::render::message::{Chat, Part, Said, explained, handle, header, news, part, standing};
use super::render::words::count;
use super::text::Text;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory thread th_001              the last 50 messages, and who has read them
  understory thread 1 --since 0         from the beginning
  understory thread th_001 --follow     and then what comes; ctrl-c ends it
  understory thread th_001 --ack        and say that you have read them
  understory thread th_001 --json | jq -r '.messages[].body'
  understory thread th_001 --status blocked --reason 'the schema is not decided'
  understory thread th_001 --add cyd,dan
  understory post th_001 'Go ahead'     to answer";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// Only messages after this number; 0 starts from the beginning
    #[arg(long, value_name = "NUMBER")]
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    since: Option<i64>,
    /// Maximum number of messages: the last ones, or the first after --since
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=10_000))]
    limit: i64,
    /// Print the messages, then follow (like tail -f); ctrl-c ends it
    #[arg(long, short)]
    follow: bool,
    /// Mark what is shown as read
    #[arg(long)]
    ack: bool,
    #[command(flatten)]
    change: Change,
}

/// What is to become of the thread.
#[derive(Debug, clap::Args)]
struct Change {
    /// Change its status instead of reading it
    #[arg(long, value_name = "STATUS", ignore_case = true)]
    #[arg(conflicts_with_all = ["since", "follow", "ack"])]
    #[arg(value_parser = PossibleValuesParser::new(Status::WORDS.iter().copied()))]
    status: Option<String>,
    /// Add participants instead of reading it
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["since", "follow", "ack"])]
    add: Vec<String>,
    /// The reason for the change
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// What belongs to the change: `key=value`, or `key:=json`; as often as needed
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
}

impl Change {
    fn is_wanted(&self) -> bool {
        self.status.is_some() || !self.add.is_empty()
    }

    fn run(&self, here: &Here, thread: &str) -> Outcome {
        let context = here.context()?;
        let pairs = self.meta.iter().map(|pair| entry(pair));
        let metadata = pairs.collect::<Result<Map<String, Value>, Fault>>()?;
        let named = self.add.iter().map(|name| name.trim());
        let metadata = Some(metadata).filter(|metadata| !metadata.is_empty());
        let args = json!({
            "thread_id": handle(thread),
            "status": self.status.as_deref().map(str::to_lowercase),
            "add_participants": named.filter(|name| !name.is_empty()).collect::<Vec<_>>(),
            "reason": self.reason,
            "metadata": metadata,
        });
        let answer = context
            .call("update_thread_status", args)
            .map_err(|fault| explained(&context, fault))?;
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let answer: Updated = Answer::Json(answer).typed()?;
        let line = Text::new().name(&answer.thread_id).plain("  ");
        let line = line.then(standing(answer.status));
        let names = answer.participants.unwrap_or_default();
        here.out.line(if names.is_empty() {
            line
        } else {
            line.dim(format!("  {}", names.join(", ")))
        });
        unknown(here, &answer.unknown_participants);
        Ok(ExitCode::SUCCESS)
    }
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        if self.change.is_wanted() {
            return self.change.run(here, &self.thread);
        }
        if self.change.reason.is_some() || !self.change.meta.is_empty() {
            return Err(Fault::invalid("--status", "is required")
                .hint("--reason and --meta belong to a change: add --status or --add."));
        }
        let context = here.context()?;
        let found = part(&context, &self.thread, self.since, self.limit)?;
        let read = found.thread.last_read_seq.unwrap_or(0);
        let unread = found.thread.unread.unwrap_or(0);
        let mut chat = Chat::new(&here.out, (unread > 0 && read > 0).then_some(read));
        if !here.out.json {
            self.show(here, &context, &found, &mut chat);
        } else if self.follow {
            tell(here, &context, &mut chat, &found.lines);
        } else {
            here.out.value(&whole(&found));
        }
        if self.ack && found.last > read {
            ack(&context, &found.thread.thread_id, found.last)?;
        }
        if self.follow {
            self.follow(here, &context, found, chat)?;
        } else if !here.out.json && unread > 0 && !self.ack {
            let unread = count(unread, "message");
            here.out.blank();
            here.out.hint(format!(
                "{unread} unread by you: --ack marks as read what is shown."
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self, here: &Here, context: &CommandContext, found: &Part, chat: &mut Chat<'_>) {
        let out = &here.out;
        header(here, &context.clock, &found.thread);
        let id = found.thread.thread_id.as_str();
        let first = found.lines.iter().find_map(|line| match line {
            Said::Message(message) => message.seq,
            Said::Turn(_) => None,
        });
        let earlier = first.unwrap_or(1) - 1;
        if earlier > 0 {
            let earlier = count(earlier, "earlier message");
            out.blank();
            out.hint(format!("{earlier}: understory thread {id} --since 0"));
        }
        tell(here, context, chat, &found.lines);
        let none = found.lines.is_empty() && self.limit > 0 && !self.follow;
        if found.more && !self.follow {
            out.blank();
            let last = found.last;
            out.hint(format!(
                "There are more: understory thread {id} --since {last}"
            ));
        } else if none && found.thread.last_seq == 0 {
            out.blank();
            out.hint(format!(
                "Nothing was said yet. Say it: understory post {id} 'Hello'"
            ));
        } else if none {
            out.blank();
            out.hint("Nothing came after that.");
        }
    }

    /// Waits for what this or any other process posts, until nobody reads any more.
    fn follow(
        &self,
        here: &Here,
        context: &CommandContext,
        found: Part,
        chat: Chat<'_>,
    ) -> Result<(), Fault> {
        let id = found.thread.thread_id.as_str();
        let place = Cell::new((found.last, found.head));
        let chat = RefCell::new(chat);
        let told = |_: Seq| {
            let (last, head) = place.get();
            let (lines, now, head) = news(context, id, last, head)?;
            place.set((now, head));
            // What time it is changes while one waits.
            tell(here, &context.again(), &mut chat.borrow_mut(), &lines);
            if self.ack && now > last {
                ack(context, id, now)
            } else {
                Ok(())
            }
        };
        // What was not shown for the limit has come already.
        if found.more {
            told(found.head)?;
        }
        context
            .engine
            .follow(&context.caller, found.head, told, || !here.out.is_over())
    }
}

fn tell(here: &Here, context: &CommandContext, chat: &mut Chat<'_>, lines: &[Said]) {
    for line in lines {
        if here.out.json {
            here.out.value(&line.json())
        } else {
            chat.say(&context.clock, line)
        }
    }
    here.out.flush();
}

fn whole(found: &Part) -> Value {
    let (mut messages, mut changes) = (Vec::new(), Vec::new());
    for line in &found.lines {
        match line {
            Said::Message(_) => messages.push(line.json()),
            Said::Turn(_) => changes.push(line.json()),
        }
    }
    json!({
        "thread": found.thread,
        "messages": messages,
        "changes": changes,
        "next_seq": found.last,
        "has_more": found.more,
    })
}

fn ack(context: &CommandContext, thread: &str, read: i64) -> Result<(), Fault> {
    let args = json!({ "thread_id": thread, "last_read_seq": read });
    context.call("ack_read", args).map(drop)
}
