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

impl Target for SettingsFile {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let places = ["config/understory/understory.toml", "repo/understory.toml"];
        let of_a_project = input.starts_with(b"# project");
        for (place, this) in places.into_iter().zip([!of_a_project, of_a_project]) {
            let bytes = if this { input } else { b"" };
            fs::write(self.folder.path().join(place), bytes)
                .map_err(|error| format!("{place}: {error}"))?;
        }
        match Settings::read(&Flags::default(), &self.around()) {
            Ok(settings) => {
                for (name, value, source) in settings.shown() {
                    // A password of a server's address and a key of an endpoint are never shown.
                    let address = name == "store" && value.starts_with("postgres");
                    let secret = address || name == "embedding_key";
                    let only = text(input).matches(SECRET).count() == 1;
                    let whole = text(input).contains(&format!("://ann:{SECRET}@db/"));
                    check(!(secret && only && whole && value.contains(SECRET)), || {
                        format!("{name} shows {value} ({source})")
                    })?;
                }
                Ok(format!("{:?}", settings.role.value))
            }
            Err(fault) => {
                check_fault(&fault)?;
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
