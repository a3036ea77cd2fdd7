//! How the types of fields are stored in columns.

use understory_model::error::Result;
use understory_model::record::RecordState;
use understory_model::thread::{
    Activity, Ask, Channel, Event, FindingState, SessionStatus, Status, WakeResult,
};
use understory_model::{Id, Seq, Time, Ws};
use uuid::Uuid;

use crate::value::{Arg, Row};

/// A type that is stored in one column.
pub(crate) trait Column: Sized {
    fn read(row: &mut Row, at: usize) -> Result<Self>;
    fn arg(&self) -> Arg<'_>;
}

/// How a field is stored: in one column, or in a few side by side.
pub(crate) trait Codec<T> {
    const COLUMNS: usize = 1;
    fn read(row: &mut Row, at: usize) -> Result<T>;
    fn write<'a>(value: &'a T, args: &mut Vec<Arg<'a>>);
}

/// The codec of fields that name none: as their type says.
pub(crate) struct Plain;

impl<T: Column> Codec<T> for Plain {
    fn read(row: &mut Row, at: usize) -> Result<T> {
        T::read(row, at)
    }

    fn write<'a>(value: &'a T, args: &mut Vec<Arg<'a>>) {
        args.push(value.arg());
    }
}

macro_rules! column {
    ($type:ty, $read:ident, $value:ident => $arg:expr) => {
        impl Column for $type {
            fn read(row: &mut Row, at: usize) -> Result<$type> {
                row.$read(at)
            }

            fn arg(&self) -> Arg<'_> {
                let $value = self;
                $arg
            }
        }
    };
}

column!(i64, int, value => Arg::from(*value));
column!(Ws, int, value => Arg::from(*value));
column!(Seq, int, value => Arg::from(*value));
column!(Id, int, value => Arg::from(*value));
column!(bool, flag, value => Arg::from(*value));
column!(f64, real, value => Arg::Real(*value));
column!(String, text, value => Arg::Text(value));
column!(Option<i64>, opt_int, value => Arg::from(*value));
column!(Option<Seq>, opt_int, value => Arg::from(*value));
column!(Option<Id>, opt_int, value => Arg::from(*value));
column!(Option<String>, opt_text, value => Arg::from(value.as_ref()));

impl Column for Time {
    fn read(row: &mut Row, at: usize) -> Result<Time> {
        row.int(at).map(Time)
    }

    fn arg(&self) -> Arg<'_> {
        Arg::Int(self.0)
    }
}

impl<const N: usize> Column for [u8; N] {
    fn read(row: &mut Row, at: usize) -> Result<[u8; N]> {
        row.bytes(at)
    }

    fn arg(&self) -> Arg<'_> {
        Arg::Bytes(self)
    }
}

impl Column for Uuid {
    fn read(row: &mut Row, at: usize) -> Result<Uuid> {
        row.bytes(at).map(Uuid::from_bytes)
    }

    fn arg(&self) -> Arg<'_> {
        Arg::Bytes(self.as_bytes())
    }
}

/// Enums that are stored as their words.
macro_rules! words {
    ($($type:ty),+) => {
        $(impl Column for $type {
            fn read(row: &mut Row, at: usize) -> Result<$type> {
                row.word(at, <$type>::parse)
            }

            fn arg(&self) -> Arg<'_> {
                Arg::Text(self.as_str())
            }
        }

        impl Column for Option<$type> {
            fn read(row: &mut Row, at: usize) -> Result<Option<$type>> {
                row.opt_word(at, <$type>::parse)
            }

            fn arg(&self) -> Arg<'_> {
                Arg::from(self.map(<$type>::as_str))
            }
        })+
    };
}

words!(
    Activity,
    Ask,
    Channel,
    Event,
    FindingState,
    RecordState,
    SessionStatus,
    Status,
    WakeResult
);
