//! Who is calling over stdio or from a shell: the settings, else what can be seen of the place.
//!
//! Over HTTP only a verified token says who is calling; nothing that is found here is used for that.

use understory_model::caller::check_session_name;
use understory_model::limits;
use understory_model::name::{is_name_char, rule};
use understory_model::{Caller, Code, Fault, Role, Via};

pub use understory_model::name::is_name;

use crate::client;
use crate::config::{Setting, Settings, Source, Surroundings};
use crate::ids;
use crate::log;
use crate::origin::Place;

/// Who is calling, but for the name that an MCP client may yet give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name that somebody chose.
    agent: Option<String>,
    session: Chat,
    fallback: Caller,
}

/// Where a session's name is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chat {
    /// A setting; nothing that a client says changes it.
    Chosen,
    /// The client, in the environment of what it starts.
    Told,
    /// Made here, for this process alone.
    Made,
}

impl Identity {
    /// An agent's, for `understory mcp`: a worker unless the settings say more.
    pub fn agent(settings: &Settings, around: &Surroundings) -> Result<Identity, Fault> {
        let told = client::session(around)?;
        let role = settings.role.value.unwrap_or(Role::Worker);
        let unnamed = "agent".to_owned();
        Identity::new(settings, around, role, unnamed, Via::Arriving, told)
    }

    /// Whose shell this is, for the other commands: a person is an operator who is called as on this
    /// machine; in an agent's shell it is that agent.
    pub fn shell(settings: &Settings, around: &Surroundings) -> Result<Identity, Fault> {
        match client::shell(around)? {
            Some(shell) => {
                let role = allowed_role(settings, around)?.unwrap_or(Role::Worker);
                let agent = sanitise(&shell.agent).unwrap_or_else(|| "agent".to_owned());
                Identity::new(settings, around, role, agent, Via::Arriving, shell.session)
            }
            None => Identity::person(settings, around),
        }
    }

    fn person(settings: &Settings, around: &Surroundings) -> Result<Identity, Fault> {
        let mut name = None;
        for variable in ["USER", "LOGNAME", "USERNAME"] {
            name = name.or(around.var(variable)?.and_then(|name| sanitise(&name)));
        }
        let role = settings.role.value.unwrap_or(Role::Operator);
        let name = name.unwrap_or_else(|| "operator".into());
        Identity::new(settings, around, role, name, Via::Local, None)
    }

    fn new(
        settings: &Settings,
        around: &Surroundings,
        role: Role,
        agent: String,
        via: Via,
        told: Option<String>,
    ) -> Result<Identity, Fault> {
        let (workspace, origin) = workspace(settings, around)?;
        let project = &settings.project;
        if !is_name(&project.value) {
            return Err(project.wrong("project", not_a_name(&project.value)));
        }
        let (session, name) = match (chosen_session(&settings.session)?, told) {
            (Some(name), _) => (Chat::Chosen, name),
            (None, Some(name)) => (Chat::Told, name),
            (None, None) => (Chat::Made, ids::session()),
        };
        let agent_chosen = checked("agent", &settings.agent)?;
        Ok(Identity {
            session,
            fallback: Caller {
                workspace,
                origin,
                agent,
                session: name,
                role,
                project: project.value.clone(),
                // A name that somebody chose is not numbered.
                via: if agent_chosen.is_some() {
                    Via::Local
                } else {
                    via
                },
            },
            agent: agent_chosen,
        })
    }

    /// One that a token has proved; nothing that a client says of itself changes it.
    pub fn verified(caller: Caller) -> Identity {
        Identity {
            agent: Some(caller.agent.clone()),
            session: Chat::Chosen,
            fallback: caller,
        }
    }

    /// The caller, given what the MCP client calls itself.
    pub fn caller(&self, client: Option<&str>) -> Caller {
        let named = || client.and_then(|client| sanitise(&client::agent(client)));
        let agent = self.agent.clone().or_else(named);
        let fallback = self.fallback.clone();
        Caller {
            agent: agent.unwrap_or(fallback.agent),
            ..fallback
        }
    }

    /// As [`Identity::caller`], for a call that names its chat.
    pub fn caller_in(&self, client: Option<&str>, session: Option<&str>) -> Caller {
        let caller = self.caller(client);
        match session.filter(|_| self.session != Chat::Chosen) {
            Some(session) => Caller {
                session: session.to_owned(),
                ..caller
            },
            None => caller,
        }
    }

    /// Whether a caller is in the session that was found for the process.
    pub fn is_own(&self, caller: &Caller) -> bool {
        caller.session == self.fallback.session
    }

    /// Whether the session has a name that others can use again.
    pub fn names_session(&self) -> bool {
        self.session != Chat::Made
    }

    pub fn workspace(&self) -> &str {
        &self.fallback.workspace
    }

    pub fn project(&self) -> &str {
        &self.fallback.project
    }
}

/// The role that the settings ask for, as far as an agent's shell may have it. What is set there is
/// the agent's word; only the person's own settings file makes more of it than a worker.
pub fn allowed_role(settings: &Settings, around: &Surroundings) -> Result<Option<Role>, Fault> {
    let role = &settings.role;
    let (Some(shell), Some(wanted)) = (client::shell(around)?, role.value) else {
        return Ok(role.value);
    };
    let own = around.own_file();
    let trusted = matches!(&role.source, Source::File(path) if Some(path) == own.as_ref());
    if !wanted.directs() || trusted {
        return Ok(role.value);
    }
    let problem = format!(
        "role: {wanted} was set by {}, but this is the shell of an agent ({:?})",
        role.source, shell.agent
    );
    // A flag was meant; a variable may have been inherited.
    if !matches!(role.source, Source::Flag(_)) {
        log::warn(format_args!("{problem}: it works as worker"));
        return Ok(None);
    }
    let place = own.map_or_else(String::new, |path| format!(" ({})", path.display()));
    Err(
        Fault::new(Code::InsufficientAuthority, problem).hint(format!(
            "Leave it out, or let the person set `role` in their own settings file{place}."
        )),
    )
}

/// A session may have any name that `session_id` may have.
fn chosen_session(setting: &Setting<Option<String>>) -> Result<Option<String>, Fault> {
    if let Some(name) = &setting.value
        && let Err(fault) = check_session_name("session", name)
    {
        return Err(fault.hint(format!("It was set by {}.", setting.source)));
    }
    Ok(setting.value.clone())
}

/// The workspace's name, and the origin that tells it from another of that name. What the user named
/// on purpose has none, and is meant wherever it was made; what a repository's file names reaches only
/// what that repository made.
fn workspace(
    settings: &Settings,
    around: &Surroundings,
) -> Result<(String, Option<String>), Fault> {
    let named = checked("workspace", &settings.workspace)?;
    let by_repository = matches!(settings.workspace.source, Source::Repository(_));
    if let (Some(name), false) = (&named, by_repository) {
        return Ok((name.clone(), None));
    }
    let (own, origin) = of_folder(around);
    Ok((named.unwrap_or(own), Some(origin)))
}

/// The name that the folder's workspace has by itself, and the origin that tells it from another.
pub fn of_folder(around: &Surroundings) -> (String, String) {
    let place = Place::of(&around.folder);
    let name = place.name().and_then(sanitise);
    let name = name.unwrap_or_else(|| "workspace".to_owned());
    (name, place.origin())
}

/// A name that somebody chose must be right as it is: to mend it silently is to misname.
fn checked(key: &str, setting: &Setting<Option<String>>) -> Result<Option<String>, Fault> {
    match &setting.value {
        Some(name) if !is_name(name) => Err(setting.wrong(key, not_a_name(name))),
        value => Ok(value.clone()),
    }
}

fn not_a_name(text: &str) -> String {
    let text: String = text.chars().take(limits::IDENTITY_CHARS).collect();
    format!("{text:?} is not a name: {}", rule())
}

/// A name made from what a folder or a client is called; none if nothing of it is left.
fn sanitise(text: &str) -> Option<String> {
    let mut name = String::new();
    for letter in text.chars() {
        match letter {
            _ if name.len() == limits::IDENTITY_CHARS => break,
            _ if is_name_char(letter) => name.push(letter),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    Some(name.trim_matches('-').to_owned()).filter(|name| is_name(name))
}

#[cfg(test)]
mod tests;
