//! Settings files: a person's own, or a project's if the input begins with `# project`.

use std::fs;

use tempfile::TempDir;
use understory::config::{Flags, Settings, Surroundings};

use crate::target::{Outcome, Target, check, check_fault, shape, text};

/// The value of every secret in the corpus; it must never be shown.
const SECRET: &str = "hunter2secret";

pub struct SettingsFile {
    folder: TempDir,
}

impl SettingsFile {
    pub fn new() -> SettingsFile {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for part in ["config/understory", "repo/deep", "home", "data"] {
            fs::create_dir_all(folder.path().join(part)).expect("a folder");
        }
        SettingsFile { folder }
    }

    fn around(&self) -> Surroundings {
        let at = |name: &str| self.folder.path().join(name);
        Surroundings {
            env: Box::new(|_| None),
            folder: at("repo/deep"),
            home: Some(at("home")),
            config_dir: Some(at("config")),
            data_dir: Some(at("data")),
        }
    }
}

/// Whether the secret stands once in a file, as the password of what is meant for a server's address:
/// then neither settings nor refusals show it. In a text of many lines it may be anything.
fn holds_password(file: &str) -> bool {
    let addresses = ["postgres://", "postgresql://", "postgres:/", "postgres:"];
    let address = |begin| file.contains(&format!("\nstore = \"{begin}ann:{SECRET}@"));
    let many = file.contains("\"\"\"") || file.contains("'''");
    file.matches(SECRET).count() == 1 && !many && addresses.into_iter().any(address)
}

impl Target for SettingsFile {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let places = ["config/understory/understory.toml", "repo/understory.toml"];
        let of_a_project = input.starts_with(b"# project");
        for (place, this) in places.into_iter().zip([!of_a_project, of_a_project]) {
            let bytes = if this { input } else { b"" };
            fs::write(self.folder.path().join(place), bytes)
                .map_err(|error| format!("{place}: {error}"))?;
        }
        let secret = holds_password(&text(input));
        let shows = |text: &str| secret && text.contains(SECRET);
        match Settings::read(&Flags::default(), &self.around()) {
            Ok(settings) => {
                for (name, value, source) in settings.shown() {
                    let key = name == "embedding_key" && value.contains(SECRET);
                    check(!key && !shows(&value), || {
                        format!("{name} shows {value} ({source})")
                    })?;
                }
                Ok(format!("{:?}", settings.role.value))
            }
            Err(fault) => {
                check_fault(&fault)?;
                check(!shows(&format!("{fault:?}")), || {
                    format!("shown: {fault:?}")
                })?;
                Ok(shape(
                    fault.message.rsplit(".toml").next().unwrap_or_default(),
                ))
            }
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "# project\n",
            "store = ",
            "\"postgres://ann:hunter2secret@db/x\"",
            "\nstore = \"postgres:ann:hunter2secret@db/x\"\n",
            "\nstore = \"postgres://ann:hunter2secret@db/x\"\n",
            "workspace = \"bank\"\n",
            "role = \"operator\"\n",
            "agent = ",
            "project = ",
            "tools = \"all\"\n",
            "claim_ttl_minutes = ",
            "idempotency_hours = 9_999\n",
            "listen = ",
            "rate_per_second = 0x10\n",
            "embedding_url = ",
            "embedding_key = ",
            "jwks = ",
            "keys = ",
            "[table]\n",
            "\"\"\"",
            "'''",
            "= {",
            "}",
            "[",
            "]",
            "inf",
            "nan",
            "1979-05-27",
            "\\u",
            "\\U0010ffff",
            "~/",
            "understory.toml",
        ]
    }
}
