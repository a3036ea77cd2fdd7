//! "Did you mean": the known names closest to one that is not known.
//!
//! Only a help for the reader of an error. It must never decide anything, and must never take
//! long: what it is given may come straight from a caller.

use crate::limits;

/// At most `most` names that are reasonably close, the closest first, ties in alphabetical order.
pub fn nearest<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<String> {
    let wanted = lower(wanted);
    if wanted.is_empty() || wanted.len() > limits::COMPARED_CHARS {
        return Vec::new();
    }
    let mut close: Vec<((u8, usize), &str)> = names
        .into_iter()
        .take(limits::COMPARED_NAMES)
        .filter_map(|name| Some((closeness(&wanted, name)?, name)))
        .collect();
    close.sort_unstable();
    close.dedup();
    close
        .into_iter()
        .take(most)
        .map(|(_, name)| name.to_owned())
        .collect()
}

fn lower(name: &str) -> Vec<char> {
    // One more than allowed is enough to see that it is too long.
    name.chars()
        .flat_map(char::to_lowercase)
        .take(limits::COMPARED_CHARS + 1)
        .collect()
}

/// Smaller is closer: first slips of the keyboard, then one name beginning with the other, then
/// one inside the other.
fn closeness(wanted: &[char], name: &str) -> Option<(u8, usize)> {
    let name = lower(name);
    if name.is_empty() || name.len() > limits::COMPARED_CHARS {
        return None;
    }
    let (short, long) = if wanted.len() <= name.len() {
        (wanted, &*name)
    } else {
        (&*name, wanted)
    };
    let apart = long.len() - short.len();
    // Names that share nothing are not close, however short they are.
    let most = (wanted.len() / 3).max(2).min(long.len() - 1);
    if let Some(edits) = distance(wanted, &name, most) {
        return Some((0, edits));
    }
    if short.len() >= 2 && long.starts_with(short) {
        return Some((1, apart));
    }
    if short.len() >= 3 && long.windows(short.len()).any(|part| part == short) {
        return Some((2, apart));
    }
    None
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one name to the
/// other, if there are at most `most` of them.
fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
        }
        // A swap reaches back two rows, so both must be hopeless before it is.
        if row
            .iter()
            .chain(&last)
            .min()
            .is_some_and(|best| *best > most)
        {
            return None;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last.last().copied().filter(|edits| *edits <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_first() {
        let names = [
            "main",
            "maintenance",
            "feature/login",
            "Mains",
            "domain",
            "zebra",
            "main",
        ];
        assert_eq!(nearest("mian", names, 5), ["main", "Mains"]);
        assert_eq!(
            nearest("main", names, 5),
            ["main", "Mains", "domain", "maintenance"]
        );
        assert_eq!(nearest("login", names, 5), ["feature/login"]);
        assert_eq!(nearest("MAIN", names, 1), ["main"]);
        assert_eq!(nearest("wholly different", names, 5), Vec::<String>::new());
    }

    #[test]
    fn nothing_in_common_is_not_close() {
        assert_eq!(nearest("ab", ["xy", "ax", "a"], 5), ["a", "ax"]);
        assert_eq!(nearest("", ["a"], 5), Vec::<String>::new());
        assert_eq!(nearest("a", ["", "b"], 5), Vec::<String>::new());
    }

    #[test]
    fn long_names_are_skipped() {
        let long = "a".repeat(limits::COMPARED_CHARS + 1);
        assert_eq!(nearest("aaa", [long.as_str(), "aab"], 5), ["aab"]);
        assert_eq!(nearest(&long, [long.as_str()], 5), Vec::<String>::new());
    }

    #[test]
    fn swaps_are_one_edit() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("abcd"), &chars("badc"), 4), Some(2));
        assert_eq!(distance(&chars("kitten"), &chars("sitting"), 4), Some(3));
        assert_eq!(distance(&chars("kitten"), &chars("sitting"), 2), None);
    }
}
