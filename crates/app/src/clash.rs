//! Why a folder's workspace is not called what the folder is, in words, and how to join the other.

use understory_engine::{Clash, Holder};

/// Whose the name is.
pub fn why(clash: &Clash) -> String {
    let Clash {
        wanted,
        got,
        holder,
    } = clash;
    match holder {
        Holder::Named => format!(
            "the workspace {wanted} was made by name (with a token or a setting), so this folder \
             uses {got}"
        ),
        Holder::SameAddress { path } => format!(
            "the workspace {wanted} belongs to {path}, a repository with the same address; an \
             address proves nothing, so this folder uses {got}"
        ),
        Holder::Another { path } => {
            format!("the workspace {wanted} belongs to {path}, so this folder uses {got}")
        }
    }
}

/// How to share it on purpose.
pub fn join(clash: &Clash) -> String {
    format!(
        "If both are to share {0}, run `understory allow --workspace {0}` in this folder, or set \
         UNDERSTORY_WORKSPACE.",
        clash.wanted
    )
}

/// The same for an agent, who cannot decide it. Paths are left out: they are others' words, and this
/// stands among the server's instructions.
pub fn for_agent(clash: &Clash) -> String {
    let Clash { wanted, got, .. } = clash;
    format!(
        "This folder uses the workspace `{got}`: `{wanted}` was made by name or belongs to another \
         folder. If it is meant to be shared, ask the person to run `understory allow --workspace \
         {wanted}` in this folder."
    )
}

pub fn told(clash: &Clash) -> String {
    format!("{}. {}", why(clash), join(clash))
}
