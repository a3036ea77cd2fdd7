//! Acts on records.

use super::{Form, Found};

pub fn act(_name: &str, _form: &Form<'_>) -> Found {
    None
}
