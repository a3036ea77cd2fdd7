//! Short names for what happens here: sessions that nobody named, and requests.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// Sixteen hexadecimal digits: the low half of the milliseconds, then random ones, so that names made
/// near one another in time stand near one another and two processes still never agree.
pub fn short() -> String {
    let bytes = Uuid::now_v7().into_bytes();
    let mut text = String::with_capacity(16);
    for byte in bytes[2..6].iter().chain(&bytes[12..16]) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// A session that was not named.
pub fn session() -> String {
    format!("sess_{}", short())
}

/// Names the requests of one process: `req_`, what tells this process apart, and a count.
#[derive(Debug)]
pub struct Requests {
    process: String,
    count: AtomicU64,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            process: short()[4..12].to_owned(),
            count: AtomicU64::new(0),
        }
    }
}

impl Requests {
    pub fn next(&self) -> String {
        format!(
            "req_{}_{}",
            self.process,
            self.count.fetch_add(1, Ordering::Relaxed) + 1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        let names: std::collections::HashSet<String> = (0..1000).map(|_| session()).collect();
        assert_eq!(names.len(), 1000);
        assert!(
            names
                .iter()
                .all(|name| name.len() == 21 && name.starts_with("sess_"))
        );
        let (one, other) = (Requests::default(), Requests::default());
        assert_ne!(one.next(), other.next());
        assert_ne!(one.next(), one.next());
    }
}
