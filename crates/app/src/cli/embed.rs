//! `understory embed`: has everything embedded now that a server would embed by and by.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use understory_engine::kernel::meaning::{Filler, Seen, Step};
use understory_model::Fault;

use super::progress::Progress;
use super::render::words::count;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  export UNDERSTORY_EMBEDDING_URL=http://127.0.0.1:11434/v1 UNDERSTORY_EMBEDDING_MODEL=all-minilm
  understory embed                      everything that the model has not seen yet
  understory embed --forget             forget what external models said

`understory mcp` and `understory serve` do so by themselves, a moment after each write. Texts leave
this machine if the address is not on it.";

/// How long to wait while another process is at it.
const WAIT: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Delete all vectors of external models; search uses the built-in model again
    #[arg(long)]
    forget: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        if self.forget {
            return forget(here, &context);
        }
        let Some(embedder) = context.engine.embedder() else {
            return Err(Fault::invalid("embedding_url", "is not set")
                .hint("Set UNDERSTORY_EMBEDDING_URL and UNDERSTORY_EMBEDDING_MODEL."));
        };
        let begun = Instant::now();
        let embedded = fill(&context)?;
        let seen = context
            .engine
            .embedded(&context.caller)?
            .unwrap_or_default();
        if here.out.json {
            let (texts, done) = (seen.texts, seen.embedded);
            here.out.value(&json!({
                "model": embedder.model(), "embedded": embedded, "texts": texts, "done": done,
            }));
        } else {
            here.out.line(format!(
                "{} embedded by {} in {:.1} s; {} of {} are.",
                count(embedded, "text"),
                embedder.model(),
                begun.elapsed().as_secs_f64(),
                seen.embedded,
                seen.texts,
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Goes on until nothing is missing; how many texts this process had embedded.
fn fill(context: &CommandContext) -> Result<i64, Fault> {
    let mut filler = Filler::new();
    let mut progress = Progress::new();
    let mut embedded = 0;
    loop {
        match filler.step(&context.engine, &context.caller)? {
            Step::Done => return Ok(embedded),
            Step::Filled(texts) => embedded += i64::try_from(texts).unwrap_or(0),
            Step::Elsewhere => {
                progress.tell(|| "Another process is at it …".to_owned());
                std::thread::sleep(WAIT);
            }
        }
        let Seen { texts, embedded } = context
            .engine
            .embedded(&context.caller)?
            .unwrap_or_default();
        progress.tell(|| format!("{embedded} of {texts} texts"));
    }
}

fn forget(here: &Here, context: &CommandContext) -> Outcome {
    let texts = context.engine.forget_embedded(&context.caller)?;
    let texts = i64::try_from(texts).unwrap_or(i64::MAX);
    if here.out.json {
        here.out.value(&json!({ "forgotten": texts }));
    } else {
        here.out
            .line(format!("Forgot the vectors of {}.", count(texts, "text")));
    }
    Ok(ExitCode::SUCCESS)
}
