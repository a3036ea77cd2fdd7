//! Who is calling over stdio or from a shell: the settings, else what can be seen of the place.
//!
//! Over HTTP only a verified token says who is calling; nothing that is found here is used for that.

use std::path::{Path, PathBuf};

use understory_model::{Caller, Fault, Role};

use crate::config::{Setting, Settings, Surroundings};
use crate::git::Repository;
use crate::ids;

/// The longest name of an agent, a session, a workspace or a project.
const MAX_NAME: usize = 64;

/// Who is calling, but for the name that an MCP client may yet give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    agent: Option<String>,
    fallback: Caller,
}

impl Identity {
    /// An agent's, for `understory mcp`: a worker unless the settings say more.
    pub fn agent(settings: &Settings, around: &Surroundings) -> Result<Identity, Fault> {
        Identity::new(settings, around, Role::Worker, "agent".to_owned())
    }

    /// A person's, for the other commands: an operator who is called as on this machine.
    pub fn person(settings: &Settings, around: &Surroundings) -> Result<Identity, Fault> {
        let mut name = None;
        for variable in ["USER", "LOGNAME", "USERNAME"] {
            name = name.or(around.var(variable)?.and_then(|name| sanitise(&name)));
        }
        Identity::new(
            settings,
            around,
            Role::Operator,
            name.unwrap_or_else(|| "operator".into()),
        )
    }

    fn new(
        settings: &Settings,
        around: &Surroundings,
        role: Role,
        agent: String,
    ) -> Result<Identity, Fault> {
        let (workspace, origin) = match checked("workspace", &settings.workspace)? {
            Some(name) => (name, None),
            None => Place::of(&around.folder).workspace(),
        };
        let project = &settings.project;
        if !is_name(&project.value) {
            return Err(project.wrong("project", not_a_name(&project.value)));
        }
        Ok(Identity {
            agent: checked("agent", &settings.agent)?,
            fallback: Caller {
                workspace,
                origin,
                agent,
                session: checked("session", &settings.session)?.unwrap_or_else(ids::session),
                role: settings.role.value.unwrap_or(role),
                project: project.value.clone(),
            },
        })
    }

    /// One that a token has proved; nothing that a client says of itself changes it.
    pub fn verified(caller: Caller) -> Identity {
        Identity {
            agent: Some(caller.agent.clone()),
            fallback: caller,
        }
    }

    /// The caller, given what the MCP client calls itself.
    pub fn caller(&self, client: Option<&str>) -> Caller {
        let agent = self.agent.clone().or_else(|| client.and_then(sanitise));
        let fallback = self.fallback.clone();
        Caller {
            agent: agent.unwrap_or(fallback.agent),
            ..fallback
        }
    }

    pub fn workspace(&self) -> &str {
        &self.fallback.workspace
    }

    pub fn project(&self) -> &str {
        &self.fallback.project
    }
}

/// What a folder belongs to.
struct Place {
    path: PathBuf,
    repository: Option<Repository>,
}

impl Place {
    fn of(folder: &Path) -> Place {
        let repository = Repository::find(folder);
        let path = match &repository {
            Some(repository) => repository.common.clone(),
            None => folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        };
        Place { path, repository }
    }

    /// The workspace's name, and the lines that tell it from another of that name.
    fn workspace(&self) -> (String, Option<String>) {
        let name = match &self.repository {
            Some(repository) => repository.name(),
            None => self.path.file_name().and_then(|name| name.to_str()),
        };
        let name = name
            .and_then(sanitise)
            .unwrap_or_else(|| "workspace".to_owned());
        let mut origin = String::new();
        if let Some(remote) = self.repository.as_ref().and_then(Repository::remote) {
            origin.push_str(&format!("url:{remote}\n"));
        }
        origin.push_str(&format!("path:{}", self.path.display()));
        (name, Some(origin))
    }
}

/// A name that somebody chose must be right as it is: to mend it silently is to misname.
fn checked(key: &str, setting: &Setting<Option<String>>) -> Result<Option<String>, Fault> {
    match &setting.value {
        Some(name) if !is_name(name) => Err(setting.wrong(key, not_a_name(name))),
        value => Ok(value.clone()),
    }
}

fn not_a_name(text: &str) -> String {
    let text: String = text.chars().take(MAX_NAME).collect();
    format!(
        "{text:?} is not a name: use 1 to {MAX_NAME} of A-Z a-z 0-9 . _ -, at least one a letter or digit"
    )
}

/// Whether a text may name an agent, a session, a workspace or a project.
pub fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len())
        && text.chars().all(is_name_char)
        && text.contains(|letter: char| letter.is_ascii_alphanumeric())
}

fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-')
}

/// A name made from what a folder or a client is called; none if nothing of it is left.
fn sanitise(text: &str) -> Option<String> {
    let mut name = String::new();
    for letter in text.chars() {
        match letter {
            _ if name.len() == MAX_NAME => break,
            _ if is_name_char(letter) => name.push(letter),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    Some(name.trim_matches('-').to_owned()).filter(|name| is_name(name))
}

#[cfg(test)]
mod tests;
