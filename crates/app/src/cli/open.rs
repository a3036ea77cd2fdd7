//! `understory open`: the pages in the browser, logged in; it starts the server if none runs.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use understory_engine::files;
use understory_model::{Caller, Code, Fault, Role};

use super::{Here, Outcome};
use crate::config::Settings;
use crate::door::{self, Door};
use crate::identity::Identity;

const EXAMPLES: &str = "\
Examples:
  understory open
  understory open --print                # only print the link, for another browser
  understory open threads/th_001";

/// How long a server may take to start.
const STARTS: Duration = Duration::from_secs(15);
const LOOKS: Duration = Duration::from_millis(50);
/// How long a server on this machine may take to answer.
const ANSWERS: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The page: now, timeline, work, threads/th_001, why/goals_doc:3, or the name of anything
    #[arg(value_name = "PAGE", default_value = "now")]
    page: String,
    /// Print the link instead of opening a browser
    #[arg(long)]
    print: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let settings = here.settings()?;
        let person = Identity::shell(&settings, &here.around)?.caller(None);
        if person.role != Role::Operator {
            return Err(Fault::new(
                Code::Forbidden,
                "the pages are for people: an agent's shell cannot open them",
            )
            .hint("Agents have the tools; `understory log --follow` shows what happens."));
        }
        let link = match ask(Door::find(&settings, &here.around, &person)) {
            Some(link) => link,
            None => started(here, &settings, &person)?,
        };
        let link = format!("{link}?to={}", understory_page::segment(&self.page));
        if self.print || !browse(&link) {
            here.out.bytes(format!("{link}\n").as_bytes());
        } else {
            here.out.hint(format!(
                "Opened in your browser; if it is not there: {link}"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Deserialize)]
struct Link {
    link: String,
}

/// A link from a server that was written down; `None` if it does not run any more.
fn ask(door: Option<Door>) -> Option<String> {
    let door = door?;
    let config = ureq::Agent::config_builder().timeout_global(Some(ANSWERS));
    let agent: ureq::Agent = config.build().into();
    let asked = agent
        .post(format!("{}{}", door.address, door::PATH))
        .header(door::HEADER, &door.key)
        .send_empty();
    let answer = asked.ok()?.body_mut().read_to_string().ok()?;
    let Link { link } = serde_json::from_str(&answer).ok()?;
    // Where the server was killed, another user's program may answer at its port by now.
    let code = link.strip_prefix("/login/")?;
    let is_code = code.len() == 64 && code.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_code.then(|| format!("{}{link}", door.address))
}

/// Starts a server that outlives this command, and asks it for a link.
fn started(here: &Here, settings: &Settings, person: &Caller) -> Result<String, Fault> {
    // Where the usual port belongs to another workspace's server, any other will do.
    let mut child = serve(here, &[])?;
    let begun = Instant::now();
    let mut again = true;
    while begun.elapsed() < STARTS {
        if let Some(link) = ask(Door::find(settings, &here.around, person)) {
            let told = format!("Started `understory serve`, process {}.\n", child.id());
            let _ = std::io::stderr().write_all(told.as_bytes());
            return Ok(link);
        }
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            if !again {
                break;
            }
            again = false;
            child = serve(here, &["--listen", "127.0.0.1:0"])?;
        }
        std::thread::sleep(LOOKS);
    }
    let _ = child.kill();
    Err(
        Fault::new(Code::StoreUnavailable, "the server did not start")
            .hint("Run `understory serve` in a terminal: it says why, or prints a link."),
    )
}

/// `understory serve` with the settings that this command was given, on its own.
fn serve(here: &Here, more: &[&str]) -> Result<Child, Fault> {
    let failed = |error: std::io::Error| {
        Fault::new(
            Code::StoreUnavailable,
            format!("the server cannot be started: {error}"),
        )
    };
    let folder = here.around.run_folder();
    let folder = folder.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    files::private_folder(&folder).map_err(failed)?;
    let path = folder.join("serve.log");
    let _ = files::create_private(&path);
    let log = OpenOptions::new()
        .append(true)
        .open(&path)
        .map_err(failed)?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command
        .envs(here.flags.as_variables())
        .arg("serve")
        .args(more)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(failed)?)
        .stderr(log);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    command.spawn().map_err(failed)
}

/// Opens a link in the person's browser, where there is one.
fn browse(link: &str) -> bool {
    let seen = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let program = match std::env::consts::OS {
        "macos" => "open",
        _ if seen("DISPLAY") || seen("WAYLAND_DISPLAY") => "xdg-open",
        _ => return false,
    };
    let opened = Command::new(program)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    opened.is_ok_and(|status| status.success())
}
