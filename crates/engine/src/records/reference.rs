//! `get_record_ref`: the head of a record, without loading it.

use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_storage::records::{self};

use super::find;
use super::shape::Reference;
use crate::View;

/// `get_record_ref`.
pub fn reference(view: &mut View<'_, '_>, handle: &str) -> Result<Reference> {
    let thing = find(view, handle)?;
    match records::get(view.tx, view.ws, thing.entity.id)? {
        Some(row) => Ok(Reference::of(&row)),
        None => Err(super::nothing_yet(handle)),
    }
}

impl Fit for Reference {
    const SHAPE: Shape = Shape::Whole;
}
