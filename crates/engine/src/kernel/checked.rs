//! Requests that are checked before a rule gets them.
//!
//! What can be refused without looking at the store is refused where the request is made, before any
//! transaction begins. A rule takes [`Checked`] and so cannot be called with anything else.

use std::ops::Deref;

use understory_model::error::Result;

/// A request as a caller made it.
pub trait Check: Sized {
    /// What is wrong with it, whatever the store holds.
    fn check(&self) -> Result<()>;

    /// The request for a rule, if nothing is wrong with it.
    fn checked(self) -> Result<Checked<Self>> {
        self.check()?;
        Ok(Checked(self))
    }
}

/// A request that passed [`Check::check`]. It can be read and not changed.
#[derive(Debug, Clone)]
pub struct Checked<T>(T);

impl<T> Checked<T> {
    /// The request itself, for a rule that goes on with a changed one of its own.
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
