//! Identity in a payload: a hint for older clients, which must agree with who is really calling.

use understory_model::text::quoted;
use understory_model::{Code, Fault, Via};

use crate::call::Call;

/// The workspace that a call names must be the caller's own.
pub fn workspace(context: &Call<'_>, named: Option<&str>) -> Result<(), Fault> {
    let Some(named) = named.filter(|named| *named != context.caller.workspace) else {
        return Ok(());
    };
    let real = context.engine.workspace(context.caller)?;
    if named == real.name() {
        return Ok(());
    }
    let problem = format!("workspace {} is not the caller's", quoted(named));
    Err(Fault::new(Code::OutOfScopeWorkspace, problem)
        .hint(format!("The caller's workspace is {}.", real.name())))
}

/// The agent that a call names as its caller must be the caller.
pub fn agent(context: &Call<'_>, field: &str, named: Option<&str>) -> Result<(), Fault> {
    same(field, named, &context.caller.agent)
}

/// The session that a call names as its own must be the caller's.
pub fn session(context: &Call<'_>, field: &str, named: Option<&str>) -> Result<(), Fault> {
    same(field, named, &context.caller.session)
}

/// The session of a read: with a token the caller's own, whatever is there to read. A process may name
/// another session of its agent, and the engine looks whose it is.
pub fn read_session(context: &Call<'_>, named: Option<&str>) -> Result<(), Fault> {
    match context.caller.via {
        Via::Token => session(context, "session_id", named),
        Via::Local | Via::Arriving => Ok(()),
    }
}

fn same(field: &str, named: Option<&str>, real: &str) -> Result<(), Fault> {
    match named {
        Some(named) if named != real => Err(Fault::new(
            Code::ClaimMismatch,
            format!("{field}: must match the authenticated caller ({real})"),
        )
        .detail("field", field)
        .hint("Leave it out; the server knows who is calling.")),
        _ => Ok(()),
    }
}
