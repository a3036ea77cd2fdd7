//! `understory wake`: has somebody woken who has not read a thread, and says what that comes to.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::threads::trigger::Triggered;
use understory_model::answer::Answer;

use super::render::message::{explained, handle};
use super::text::Text;
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory wake bob th_001
  understory wake bob 1 --prompt 'Read th_001 and verify the fix'
  understory wake bob th_001 --force --reason 'production is down'

The command keeps a job; a worker takes it: `understory serve`, or the hook of a client. `understory
wakes` shows what came of it. Where a session can be resumed by hand, the line that does it is printed.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The participant to wake
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// What the agent is told
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Go on over a half-typed line and the limits on wakes; requires --reason, and is audited
    #[arg(long, requires = "reason")]
    force: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let args = json!({
            "thread_id": handle(&self.thread),
            "target_agent_id": self.agent,
            "reason": self.reason,
            "trigger_prompt": self.prompt,
            "force": self.force,
        });
        let answer = context
            .call("trigger_participant", args)
            .map_err(|fault| explained(&context, fault))?;
        let out = &here.out;
        if out.json {
            out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let answer: Triggered = Answer::Json(answer).typed()?;
        let mut line = Text::new().bold(answer.result.as_str().replace('_', " "));
        if let Some(wake) = answer.wake_id {
            line = line.plain("  ").name(wake);
        }
        out.line(line.dim(format!("  {} unread", answer.unread)));
        out.line(answer.note);
        let command = answer.reached.and_then(|reached| reached.runtime_command);
        if let Some(command) = command {
            out.line(Text::from("  ").plain(command));
        }
        Ok(ExitCode::SUCCESS)
    }
}
