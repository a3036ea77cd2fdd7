//! Which programs a worker may start to wake an agent: argument lists in a file of the user's own.
//!
//! Nothing is started that this file does not list, no repository can add to it, and no shell reads it:
//! each element is one argument, whatever a prompt or a session's name holds.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use understory_model::text::quoted;
use understory_model::{Code, Fault, limits};

use crate::config::Surroundings;
use crate::log;

/// The file's name, beside the user's settings.
pub const FILE: &str = "runtimes.toml";
/// The entry of what tells a person, in place of a client.
pub const PERSON: &str = "person";

/// The commands of one client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// Sends a prompt into a live session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Template>,
    /// Goes on with an ended session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Template>,
    /// Begins a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Template>,
    /// Tells a person that nobody could be woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<Template>,
}

/// A program and its arguments, with places for what differs from wake to wake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(Vec<String>);

/// What a template is filled with.
pub struct Filling<'f> {
    pub session: &'f str,
    pub prompt: &'f str,
    pub thread: &'f str,
}

impl Template {
    /// The places that a template may have.
    const PLACES: [&'static str; 3] = ["{session}", "{prompt}", "{thread}"];

    fn check(&self, name: &str) -> Result<(), String> {
        let Some(program) = self.0.first().filter(|program| !program.is_empty()) else {
            return Err(format!("{name} names no program"));
        };
        if program.contains('{') {
            return Err(format!("{name}: the program must be written out"));
        }
        // It is started in the folder of a repository.
        if program.contains('/') && !Path::new(program).is_absolute() {
            let problem = "must be a name or an absolute path";
            return Err(format!("{name}: {} {problem}", quoted(program)));
        }
        for argument in &self.0 {
            let mut rest = argument.clone();
            for place in Template::PLACES {
                rest = rest.replace(place, "");
            }
            if let Some(at) = rest.find('{').filter(|_| rest.contains('}')) {
                let places = Template::PLACES.join(", ");
                let unknown = quoted(&rest[at..]);
                return Err(format!("{name}: {unknown} is unknown; there are {places}"));
            }
        }
        Ok(())
    }

    /// The program, its arguments, and what it reads where no argument holds the prompt.
    pub fn fill(&self, with: &Filling<'_>) -> Result<Filled, String> {
        // What begins with a hyphen would be read as an option.
        if with.session.starts_with('-') {
            return Err("the session's name begins with a hyphen".to_owned());
        }
        let mut arguments = self.0.iter().map(|argument| {
            // One pass: what a prompt says is never taken for a place.
            fill(argument, with)
        });
        let program = arguments.next().unwrap_or_default();
        let takes_prompt = self.0.iter().any(|argument| argument.contains("{prompt}"));
        Ok(Filled {
            program,
            arguments: arguments.collect(),
            input: (!takes_prompt).then(|| with.prompt.to_owned()),
        })
    }
}

fn fill(argument: &str, with: &Filling<'_>) -> String {
    let mut filled = String::new();
    let mut rest = argument;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let place = Template::PLACES
            .iter()
            .find(|place| rest.starts_with(**place));
        let Some(place) = place else {
            filled.push('{');
            rest = &rest[1..];
            continue;
        };
        filled.push_str(match *place {
            "{session}" => with.session,
            "{prompt}" => with.prompt,
            _ => with.thread,
        });
        rest = &rest[place.len()..];
    }
    filled.push_str(rest);
    filled
}

/// A command that is ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub program: String,
    pub arguments: Vec<String>,
    pub input: Option<String>,
}

/// Every client that the user's file lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Runtimes(BTreeMap<String, Runtime>);

impl Runtimes {
    /// The file, whether it exists or not.
    pub fn file(around: &Surroundings) -> Option<PathBuf> {
        let dir = around.config_dir.as_ref()?;
        Some(dir.join("understory").join(FILE))
    }

    /// Those of the user's file; none without one.
    pub fn read(around: &Surroundings) -> Result<Runtimes, Fault> {
        let Some(path) = Runtimes::file(around).filter(|path| path.exists()) else {
            return Ok(Runtimes::default());
        };
        let wrong = |problem: &dyn std::fmt::Display| {
            Fault::new(Code::Validation, format!("{}: {problem}", path.display()))
                .hint("`understory runtimes --add CLIENT` writes an entry that works.")
        };
        let text = text(&path).map_err(|problem| wrong(&problem))?;
        let read: Runtimes = toml::from_str(&text).map_err(|error| wrong(&error.message()))?;
        for (client, runtime) in &read.0 {
            for (name, template) in runtime.named() {
                let name = format!("{}.{name}", quoted(client));
                template.check(&name).map_err(|problem| wrong(&problem))?;
            }
        }
        Ok(read)
    }

    /// Those of the user's file, for what works without them too; none where that cannot be used,
    /// which `understory runtimes` explains.
    pub fn usable(around: &Surroundings) -> Runtimes {
        Runtimes::read(around).unwrap_or_else(|fault| {
            log::debug(format_args!("no program may be started: {fault}"));
            Runtimes::default()
        })
    }

    pub fn get(&self, client: &str) -> Option<&Runtime> {
        self.0.get(client)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Runtime)> {
        self.0.iter()
    }

    pub fn add(&mut self, client: &str, runtime: Runtime) {
        self.0.insert(client.to_owned(), runtime);
    }

    pub fn remove(&mut self, client: &str) -> bool {
        self.0.remove(client).is_some()
    }

    /// The clients that have a command.
    pub fn with(&self, has: impl Fn(&Runtime) -> bool) -> Vec<String> {
        let named = self.0.iter().filter(|(_, runtime)| has(runtime));
        named.map(|(client, _)| client.clone()).collect()
    }

    /// As the file holds them.
    pub fn written(&self) -> Result<String, Fault> {
        let text = toml::to_string(self);
        text.map_err(|error| Fault::new(Code::Internal, format!("runtimes: {error}")))
    }
}

impl Runtime {
    /// Each command with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Template)> {
        let all = [
            ("queue", &self.queue),
            ("resume", &self.resume),
            ("start", &self.start),
            ("notify", &self.notify),
        ];
        all.into_iter()
            .filter_map(|(name, template)| Some((name, template.as_ref()?)))
    }

    /// What is known to work with a client, with the program by its path where that is known. Nobody is
    /// there to permit anything, so what is started may use Understory's tools, and of the others those
    /// that its settings permit.
    pub fn known(client: &str, program: &str) -> Option<Runtime> {
        let words = |arguments: &[&str]| {
            let all = std::iter::once(program).chain(arguments.iter().copied());
            Some(Template(all.map(str::to_owned).collect()))
        };
        let runtime = match client {
            "claude-code" => {
                let allow = "--allowedTools=mcp__understory";
                Runtime {
                    resume: words(&["-p", allow, "--resume", "{session}", "--", "{prompt}"]),
                    start: words(&["-p", allow, "--", "{prompt}"]),
                    ..Runtime::default()
                }
            }
            "codex" => Runtime {
                queue: words(&["queue", "--thread", "{session}", "--message", "{prompt}"]),
                resume: words(&["exec", "resume", "{session}", "{prompt}"]),
                start: words(&["exec", "{prompt}"]),
                ..Runtime::default()
            },
            // Without a person it offers tools of servers that are trusted or named, and fails in folders
            // that are not trusted. A prompt in an argument of its own could be an option.
            "gemini" => {
                let allow = "--allowed-mcp-server-names=understory";
                Runtime {
                    resume: words(&[allow, "--resume={session}", "--prompt={prompt}"]),
                    start: words(&[allow, "--prompt={prompt}"]),
                    ..Runtime::default()
                }
            }
            "copilot" => {
                let allow = "--allow-tool=understory";
                Runtime {
                    resume: words(&[allow, "--resume={session}", "--prompt={prompt}"]),
                    start: words(&[allow, "--prompt={prompt}"]),
                    ..Runtime::default()
                }
            }
            // It reads the prompt: in an argument it puts it in quotes.
            "opencode" => Runtime {
                resume: words(&["run", "--session", "{session}"]),
                start: words(&["run"]),
                ..Runtime::default()
            },
            PERSON => Runtime {
                notify: words(&["Understory", "{prompt}"]),
                ..Runtime::default()
            },
            _ => return None,
        };
        Some(runtime)
    }

    /// The program of a client, as its package installs it.
    pub fn program(client: &str) -> Option<&'static str> {
        Some(match client {
            "claude-code" => "claude",
            "codex" => "codex",
            "gemini" => "gemini",
            "copilot" => "copilot",
            "opencode" => "opencode",
            PERSON => "notify-send",
            _ => return None,
        })
    }

    /// Every client that is known.
    pub const CLIENTS: [&'static str; 6] = [
        "claude-code",
        "codex",
        "gemini",
        "copilot",
        "opencode",
        PERSON,
    ];
}

/// What the file holds, if nobody else can have written it.
fn text(path: &Path) -> Result<String, String> {
    const OPEN: &str = "others may write to it, and so choose what is started as you";
    let said = |error: std::io::Error| error.to_string();
    // A link leads to the file that is read, so that is the one that is looked at.
    let real = path.canonicalize().map_err(said)?;
    if !real.metadata().map_err(said)?.is_file() {
        return Err("is not a file".to_owned());
    }
    let mut file = File::open(&real).map_err(said)?;
    let folder = real
        .parent()
        .map(Path::metadata)
        .transpose()
        .map_err(said)?;
    if is_open_to_others(&file.metadata().map_err(said)?) {
        return Err(format!("{OPEN}; run chmod go-w on it"));
    }
    if folder.is_some_and(|folder| is_open_to_others(&folder)) {
        return Err(format!("its folder: {OPEN}; run chmod go-w on the folder"));
    }
    let mut text = String::new();
    let most = limits::SETTINGS_BYTES;
    let read = file.by_ref().take(most + 1).read_to_string(&mut text);
    if read.map_err(said)? as u64 > most {
        return Err("is too large for a settings file".to_owned());
    }
    Ok(text)
}

/// Whether others than this user, and who administers the machine, may write there.
#[cfg(unix)]
fn is_open_to_others(meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    meta.mode() & 0o022 != 0 || ![0, own].contains(&meta.uid())
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(words: &[&str], prompt: &str) -> Filled {
        let template = Template(words.iter().map(|word| (*word).to_owned()).collect());
        template.check("x").unwrap();
        let with = Filling {
            session: "s1",
            prompt,
            thread: "th_001",
        };
        template.fill(&with).unwrap()
    }

    #[test]
    fn a_prompt_is_one_argument_and_names_no_place() {
        let hostile = "$(rm -rf ~); `id` {session} \"'\n-x";
        let command = filled(
            &["codex", "exec", "resume", "{session}", "{prompt}"],
            hostile,
        );
        assert_eq!(command.arguments, ["exec", "resume", "s1", hostile]);
        assert_eq!(command.input, None);
    }

    #[test]
    fn no_prompt_is_an_option_of_a_client() {
        let option = "--help\nsecond line";
        for client in Runtime::CLIENTS {
            let known = Runtime::known(client, "x").unwrap();
            for (name, template) in known.named() {
                let with = Filling {
                    session: "s1",
                    prompt: option,
                    thread: "th_001",
                };
                let filled = template.fill(&with).unwrap();
                let at = filled.arguments.iter().position(|one| one == option);
                // Those are the last words of a text, or come after an option that takes them.
                let before = at.and_then(|at| filled.arguments.get(at.checked_sub(1)?));
                let fine = ["--", "--message", "s1", "exec", "Understory"];
                assert!(
                    before.is_none_or(|before| fine.contains(&before.as_str())),
                    "{client} {name}: {filled:?}"
                );
            }
        }
    }

    #[test]
    fn a_prompt_that_no_argument_takes_is_read() {
        let command = filled(&["opencode", "run", "--session={session}"], "hello");
        assert_eq!(command.arguments, ["run", "--session=s1"]);
        assert_eq!(command.input.as_deref(), Some("hello"));
    }

    #[test]
    fn a_session_is_never_an_option() {
        let template = Template(vec!["x".into(), "{session}".into()]);
        let with = Filling {
            session: "--config=evil",
            prompt: "",
            thread: "th_001",
        };
        assert!(template.fill(&with).is_err());
    }

    #[test]
    fn a_template_is_checked() {
        for words in [
            &[][..],
            &[""],
            &["{prompt}"],
            &["x", "{nothing}"],
            &["./tool"],
            &["tools/claude"],
        ] {
            let template = Template(words.iter().map(|word| (*word).to_owned()).collect());
            assert!(template.check("x").is_err(), "{words:?}");
        }
        for client in Runtime::CLIENTS {
            let program = Runtime::program(client).unwrap();
            let known = Runtime::known(client, program).unwrap();
            assert!(known.named().count() > 0);
            for (name, template) in known.named() {
                template.check(name).unwrap();
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut all = Runtimes::default();
        for client in Runtime::CLIENTS {
            all.add(client, Runtime::known(client, "/opt/bin/x").unwrap());
        }
        let text = all.written().unwrap();
        assert_eq!(toml::from_str::<Runtimes>(&text).unwrap(), all);
        assert!(toml::from_str::<Runtimes>("[codex]\nshell = \"x\"").is_err());
    }

    /// Reads what stands in a folder of settings.
    #[cfg(unix)]
    fn read_in(config: &Path) -> Result<Runtimes, Fault> {
        Runtimes::read(&Surroundings {
            env: Box::new(|_| None),
            folder: "/".into(),
            home: None,
            config_dir: Some(config.to_owned()),
            data_dir: None,
        })
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_write_lists_nothing() {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::{PermissionsExt, symlink};

        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("understory");
        fs::create_dir(&folder).unwrap();
        let file = folder.join(FILE);
        let mode =
            |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let refused = |says: &str| {
            let fault = read_in(dir.path()).unwrap_err();
            assert!(fault.message.contains(says), "{fault}");
        };
        mode(&folder, 0o700);
        fs::write(&file, "[codex]\nstart = [\"/opt/codex\", \"{prompt}\"]\n").unwrap();
        mode(&file, 0o600);
        assert_eq!(
            read_in(dir.path()).unwrap().with(|one| one.start.is_some()),
            ["codex"]
        );
        for bad in [0o620, 0o602] {
            mode(&file, bad);
            refused("others may write to it");
        }
        mode(&file, 0o600);
        mode(&folder, 0o770);
        refused("its folder");
        mode(&folder, 0o700);
        // A link leads to what is looked at.
        let real = dir.path().join("real.toml");
        fs::rename(&file, &real).unwrap();
        symlink(&real, &file).unwrap();
        assert!(read_in(dir.path()).is_ok());
        mode(&real, 0o666);
        refused("others may write to it");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        refused("is not a file");
    }
}
