//! Artifacts: the documents by label, and each with who wrote which line and why, its versions, and what is
//! proposed to change.

mod changes;
mod document;
mod list;
mod marked;
mod name;
mod panel;
mod proposals;
mod propose;
mod slider;

use understory_model::Fault;

use crate::visit::Visit;
use crate::{Content, no_page};

pub use marked::change;
use name::Name;

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => list::page(visit),
        [name] => {
            let name = Name::parse(name);
            match name.with {
                Some(_) => changes::page(visit, &name),
                None => document::page(visit, &name),
            }
        }
        _ => Err(no_page()),
    }
}
