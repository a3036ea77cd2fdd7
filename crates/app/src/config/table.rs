//! The table of all settings in docs/settings.md, written from their declarations.

use std::path::PathBuf;

use super::declared::KEYS;
use super::key::{Flag, Key, MaySet};
use super::{Flags, Settings, Surroundings};
use understory_model::Fault;

/// The page, with the defaults that somebody at a Linux machine has.
pub fn page() -> Result<String, Fault> {
    let around = Surroundings {
        env: Box::new(|_| None),
        folder: PathBuf::from("/"),
        home: None,
        config_dir: None,
        data_dir: Some(PathBuf::from("~/.local/share")),
    };
    let settings = Settings::read(&Flags::default(), &around)?;
    let mut page = "<!-- Written by `cargo xtask generate` from crates/app/src/config/declared.rs. -->\n\n\
         # Settings\n\n\
         A value is taken from the first of: a flag, the environment, the nearest `understory.toml`\n\
         in the working directory or a parent, your own `understory.toml`\n\
         (`~/.config/understory/understory.toml` on Linux), the default. `understory status --settings`\n\
         shows each value and what set it.\n\n\
         | setting | meaning | default | flag | environment | may a repository set it? |\n\
         |---|---|---|---|---|---|\n"
        .to_owned();
    for (key, (_, value, _)) in KEYS.iter().zip(settings.shown()) {
        let default = match value.as_str() {
            "-" => String::new(),
            value => format!("`{value}`"),
        };
        page.push_str(&format!(
            "| `{}` | {} | {default} | {} | `{}` | {} |\n",
            key.name,
            key.help.trim(),
            flag(key),
            key.env,
            repository(key)
        ));
    }
    Ok(page)
}

fn flag(key: &Key) -> String {
    let name = key.name.replace('_', "-");
    match key.flag {
        Flag::None => String::new(),
        Flag::Global => format!("`--{name}`"),
        Flag::Serve => format!("`serve --{name}`"),
        Flag::Own => format!("`mcp --{name}`, `serve --{name}`"),
    }
}

fn repository(key: &Key) -> String {
    match key.may_set {
        MaySet::UserOnly => "no".to_owned(),
        MaySet::Anyone if key.name == "workspace" => {
            "yes, but it reaches only what this repository made".to_owned()
        }
        MaySet::Anyone => "yes".to_owned(),
        MaySet::Within { least, most } => format!("from {least} to {most}"),
        MaySet::Allowed => {
            "a file inside the repository, after you ran `understory allow`".to_owned()
        }
    }
}
