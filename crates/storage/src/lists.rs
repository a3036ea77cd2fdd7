//! Lists of values inside a statement. A list is filled up with its last value to one of a few
//! lengths, so that few statements differ and each is prepared once.

use understory_model::branch::Source;
use understory_model::id::Number;

use crate::sql::Arg;

/// Values that one statement asks for at most.
pub const AT_ONCE: usize = 256;

const LENGTHS: [usize; 5] = [1, 4, 16, 64, AT_ONCE];

fn padded<T: Copy>(values: &[T]) -> impl Iterator<Item = T> {
    let length = LENGTHS
        .into_iter()
        .find(|length| values.len() <= *length)
        .unwrap_or(values.len());
    let last = values.last().copied();
    let length = if last.is_some() { length } else { 0 };
    let more = last.into_iter().cycle();
    values.iter().copied().chain(more).take(length)
}

fn listed<'a>(
    values: impl Iterator<Item = Arg<'a>>,
    args: &mut Vec<Arg<'a>>,
    shown: impl Fn(usize) -> String,
) -> String {
    let mut list = String::new();
    for value in values {
        args.push(value);
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&shown(args.len()));
    }
    list
}

/// Numbers, as what stands after `IN`.
pub fn numbers<'a, N: Number>(values: &[N], args: &mut Vec<Arg<'a>>) -> String {
    let values = padded(values).map(|value| Arg::Int(value.number()));
    listed(values, args, |at| format!("?{at}"))
}

/// Texts, as what stands after `IN`.
pub fn texts<'a>(values: &[&'a str], args: &mut Vec<Arg<'a>>) -> String {
    listed(padded(values).map(Arg::Text), args, |at| format!("?{at}"))
}

/// Texts as a table of one column, `column1`; some may stand in it twice.
pub fn table<'a>(values: &[&'a str], args: &mut Vec<Arg<'a>>) -> String {
    let row = |at: usize| format!("(CAST(?{at} AS TEXT))");
    let rows = listed(padded(values).map(Arg::Text), args, row);
    format!("(VALUES {rows})")
}

/// Branches and cutoffs as a table of two columns, `column1` and `column2`.
pub fn sources<'a>(sources: &'a [Source], args: &mut Vec<Arg<'a>>) -> String {
    let mut rows = Vec::with_capacity(sources.len());
    for source in sources {
        args.extend([Arg::Text(&source.branch), Arg::from(source.cutoff)]);
        let at = args.len();
        rows.push(format!(
            "(CAST(?{} AS TEXT), CAST(?{at} AS BIGINT))",
            at - 1
        ));
    }
    format!("(VALUES {})", rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_lengths() {
        let mut args = vec![Arg::Int(7)];
        assert_eq!(numbers(&[1], &mut args), "?2");
        assert_eq!(numbers(&[1, 2], &mut args), "?3, ?4, ?5, ?6");
        assert_eq!(args.len(), 6);
        assert_eq!(numbers::<i64>(&[], &mut args), "");
        let many = vec![1; AT_ONCE - 1];
        numbers(&many, &mut args);
        assert_eq!(args.len(), 6 + AT_ONCE);
    }
}
