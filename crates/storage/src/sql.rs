//! What every query uses: values, rows and the transaction.

pub use crate::conn::{Conn, SqlError, Transient};
pub use crate::tx::{ReadTx, Tx};
pub(crate) use crate::value::args;
pub use crate::value::{Arg, Cell, Row};
