//! Values on their way into and out of the database: arguments, cells and rows.

use understory_model::error::{Code, Fault, Result};
use understory_model::id::Number;
use understory_model::{Id, Seq, Ws};

/// An argument of a statement; text never becomes SQL.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// An array, for PostgreSQL's indexes only.
    Ints(&'a [i32]),
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Arg::Int(value)
    }
}

/// Numbers of a kind of their own.
macro_rules! numbers {
    ($($type:ident),+) => {
        $(impl From<$type> for Arg<'_> {
            fn from(value: $type) -> Self {
                Arg::Int(value.0)
            }
        })+
    };
}

numbers!(Ws, Seq, Id);

impl From<bool> for Arg<'_> {
    fn from(value: bool) -> Self {
        Arg::Int(i64::from(value))
    }
}
impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Arg::Real(value)
    }
}
impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Arg::Text(value)
    }
}
impl<'a> From<&'a String> for Arg<'a> {
    fn from(value: &'a String) -> Self {
        Arg::Text(value)
    }
}
impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(value: &'a [u8]) -> Self {
        Arg::Bytes(value)
    }
}
impl<'a, T: Into<Arg<'a>>> From<Option<T>> for Arg<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Arg::Null, Into::into)
    }
}

impl<'a> From<&'a Cell> for Arg<'a> {
    fn from(value: &'a Cell) -> Self {
        match value {
            Cell::Null => Arg::Null,
            Cell::Int(value) => Arg::Int(*value),
            Cell::Real(value) => Arg::Real(*value),
            Cell::Text(value) => Arg::Text(value),
            Cell::Bytes(value) => Arg::Bytes(value),
        }
    }
}

/// Builds the argument list of a statement.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::value::Arg::from($value)),*] };
}
pub(crate) use args;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// One row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Cell>);

impl Row {
    fn wrong(&self, at: usize, wanted: &str) -> Fault {
        Fault::new(
            Code::StoreCorrupt,
            format!(
                "the store holds {:?} where {wanted} belongs",
                self.0.get(at)
            ),
        )
        .hint("Run `understory verify`; if soil is sound, `understory rebuild` mends core.")
    }

    /// A whole number, as the kind of number that is wanted.
    pub fn int<N: Number>(&self, at: usize) -> Result<N> {
        match self.0.get(at) {
            Some(Cell::Int(value)) => Ok(N::from_number(*value)),
            _ => Err(self.wrong(at, "a number")),
        }
    }

    pub fn flag(&self, at: usize) -> Result<bool> {
        Ok(self.int::<i64>(at)? != 0)
    }

    pub fn opt_int<N: Number>(&self, at: usize) -> Result<Option<N>> {
        match self.0.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => self.int(at).map(Some),
        }
    }

    pub fn real(&self, at: usize) -> Result<f64> {
        match self.0.get(at) {
            Some(Cell::Real(value)) => Ok(*value),
            Some(Cell::Int(value)) => Ok(*value as f64),
            _ => Err(self.wrong(at, "a number")),
        }
    }

    /// Moves the text out of the row.
    pub fn text(&mut self, at: usize) -> Result<String> {
        match self.0.get_mut(at) {
            Some(Cell::Text(value)) => Ok(std::mem::take(value)),
            _ => Err(self.wrong(at, "text")),
        }
    }

    pub fn opt_text(&mut self, at: usize) -> Result<Option<String>> {
        match self.0.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => self.text(at).map(Some),
        }
    }

    /// A text that is one of a closed set of words.
    pub fn word<W>(&self, at: usize, parse: fn(&str) -> Option<W>) -> Result<W> {
        let read = match self.0.get(at) {
            Some(Cell::Text(word)) => parse(word),
            _ => None,
        };
        read.ok_or_else(|| self.wrong(at, "another word"))
    }

    pub fn opt_word<W>(&self, at: usize, parse: fn(&str) -> Option<W>) -> Result<Option<W>> {
        match self.0.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => self.word(at, parse).map(Some),
        }
    }

    pub fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        match self.0.get(at) {
            Some(Cell::Bytes(value)) => value
                .as_slice()
                .try_into()
                .map_err(|_| self.wrong(at, "bytes of that length")),
            _ => Err(self.wrong(at, "bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_cell_is_damage_not_a_panic() {
        let mut row = Row(vec![Cell::Null, Cell::Text("x".into())]);
        assert_eq!(row.int::<i64>(0).unwrap_err().code, Code::StoreCorrupt);
        assert_eq!(row.int::<i64>(9).unwrap_err().code, Code::StoreCorrupt);
        assert_eq!(row.opt_int::<i64>(0), Ok(None));
        assert_eq!(row.text(1), Ok("x".into()));
        assert!(row.bytes::<16>(1).is_err());
    }
}
