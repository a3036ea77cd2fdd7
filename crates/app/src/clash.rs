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

pub fn told(clash: &Clash) -> String {
    format!("{}. {}", why(clash), join(clash))
}
