//! What Claude Code and Codex tell a hook: `hook_samples` has what was received, and this compares it with
//! what the installed clients send now.
//!
//! Values change from run to run; what a hook may rely on is which fields and variables there are, and
//! whose child it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_testkit::Backend;
use understory_testkit::agents::{Claude, Codex, Hook, Lab, Pane, Tmux, wait_until};

use crate::agents::lab;
use crate::official::clients;

const EVENTS: [(&str, &str); 5] = [
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "user-prompt-submit"),
    ("Stop", "stop"),
    ("PreCompact", "pre-compact"),
    ("SessionEnd", "session-end"),
];

/// Writes down its input, its variables and its parents, as far as they are behind the walls: it is
/// nobody's business who runs the tests. The folder gets its name when all is there.
const RECORD: &str = r#"
new=$0.new.$$
mkdir "$new"
cat > "$new/stdin"
env -0 > "$new/environment"
walls=$(readlink "/proc/$$/ns/net")
pid=$$
while [ "$(readlink "/proc/$pid/ns/net")" = "$walls" ]; do
    echo "$pid $(tr '\0' ' ' < "/proc/$pid/cmdline")" >> "$new/parents"
    pid=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$pid/stat")
done
mv "$new" "$0.heard.$$"
"#;

/// What one hook was told.
#[derive(Serialize, Deserialize)]
struct Sample {
    /// Its standard input.
    stdin: BTreeMap<String, Value>,
    /// The variables that the client added.
    environment: BTreeMap<String, String>,
    /// The hook's process first, then its parent, and so on up to the terminal.
    processes: Vec<Process>,
}

#[derive(Serialize, Deserialize)]
struct Process {
    pid: u32,
    command: String,
}

impl Sample {
    fn event(&self) -> &str {
        self.stdin["hook_event_name"].as_str().unwrap()
    }

    /// What does not change from run to run: names of fields, of variables and of programs.
    fn shape(&self) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
        let programs = self.processes.iter().map(|process| {
            let program = process.command.split(' ').next().unwrap();
            program.rsplit('/').next().unwrap()
        });
        (
            self.stdin.keys().map(String::as_str).collect(),
            self.environment.keys().map(String::as_str).collect(),
            programs.collect(),
        )
    }
}

/// Without the folders of this machine.
fn plain(lab: &Lab, text: &str) -> String {
    let home = lab.walls.home();
    let places = [
        (home.parent().unwrap(), "/lab"),
        (&clients(), "/clients"),
        (lab.understory.parent().unwrap(), "/understory"),
    ];
    places.iter().fold(text.to_owned(), |text, (place, name)| {
        text.replace(&place.display().to_string(), name)
    })
}

fn sample(lab: &Lab, folder: &Path) -> Sample {
    let part = |name: &str| plain(lab, &fs::read_to_string(folder.join(name)).unwrap());
    let environment = part("environment");
    let given: Vec<String> = lab.walls.variables().map(str::to_owned).collect();
    // Of the terminal and the shell, by the first part of their names; that of `_` is empty.
    let shell = [
        "TERM", "TMUX", "LINES", "COLUMNS", "PWD", "OLDPWD", "SHLVL", "",
    ];
    let added = environment
        .split_terminator('\0')
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| !given.iter().any(|given| given == name))
        .filter(|(name, _)| !shell.contains(&name.split('_').next().unwrap_or_default()))
        .map(|(name, value)| match name.ends_with("_TOKEN") {
            true => (name.to_owned(), "a secret".to_owned()),
            false => (name.to_owned(), value.to_owned()),
        });
    let parents = part("parents");
    let processes = parents.lines().map(|line| {
        let (pid, command) = line.split_once(' ').unwrap();
        Process {
            pid: pid.parse().unwrap(),
            command: command.trim().to_owned(),
        }
    });
    Sample {
        stdin: serde_json::from_str(&part("stdin")).unwrap(),
        environment: added.collect(),
        processes: processes.collect(),
    }
}

fn recording(lab: &Lab) -> Vec<Hook> {
    let command = lab.script("record", RECORD);
    let hook = |event| Hook {
        event,
        command: command.clone(),
        wakes: false,
    };
    EVENTS.map(|(event, _)| hook(event)).into()
}

/// Everything recorded so far; of an event that came twice, the first.
fn recorded(lab: &Lab) -> BTreeMap<String, Sample> {
    let mut folders: Vec<PathBuf> = fs::read_dir(lab.walls.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("record.heard."))
        .collect();
    folders.sort_by_key(|folder| {
        fs::metadata(folder.join("stdin"))
            .unwrap()
            .modified()
            .unwrap()
    });
    let mut samples = BTreeMap::new();
    for folder in folders {
        let sample = sample(lab, &folder);
        samples.entry(sample.event().to_owned()).or_insert(sample);
    }
    samples
}

fn wait_to_hear(lab: &Lab, event: &str) {
    wait_until(&format!("a hook was told of {event}"), || {
        recorded(lab).contains_key(event).then_some(())
    });
}

/// One turn, a compaction and the end, each once the hook before it was heard.
fn play(lab: &Lab, pane: &Pane) {
    pane.submit("SAY hello");
    wait_to_hear(lab, "Stop");
    pane.submit("/compact");
    wait_to_hear(lab, "PreCompact");
    pane.wait_for("[Cc]ompacted");
    let pid = pane.pid();
    pane.submit("/exit");
    wait_until("it has ended", || {
        let left = lab.walls.processes();
        (!left.iter().any(|left| left.pid == pid)).then_some(())
    });
}

/// Compares with the files. What differs is written beside the build, to be looked at and copied.
fn compare(lab: &Lab, client: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/app/hook_samples");
    let recorded = recorded(lab);
    let mut differ = Vec::new();
    for (event, name) in EVENTS {
        let file = format!("{client}-{name}.json");
        let now = &recorded[event];
        let before = fs::read_to_string(folder.join(&file)).ok();
        let before: Option<Sample> = before.map(|text| serde_json::from_str(&text).unwrap());
        if before.is_none_or(|before| before.shape() != now.shape()) {
            let text = serde_json::to_string_pretty(now).unwrap() + "\n";
            let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
            fs::write(&place, text).unwrap();
            differ.push(place);
        }
    }
    assert!(differ.is_empty(), "not as in {folder:?}: {differ:?}");
}

#[test]
fn heavy_claude_tells_hooks_what_the_samples_say() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, "") else { return };
    let claude = Claude::set_up(&lab, &recording(&lab));
    let tmux = Tmux::new(&lab.walls);
    play(&lab, &claude.interactive(&tmux));
    wait_to_hear(&lab, "SessionEnd");
    compare(&lab, "claude");
}

#[test]
fn heavy_codex_tells_hooks_what_the_samples_say() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, "") else { return };
    let codex = Codex::set_up(&lab, &recording(&lab));
    let tmux = Tmux::new(&lab.walls);
    play(&lab, &codex.interactive(&tmux));
    // Its thread lives on in its daemon.
    assert!(!recorded(&lab).contains_key("SessionEnd"));
    codex.stop_daemon();
    wait_to_hear(&lab, "SessionEnd");
    compare(&lab, "codex");
}
