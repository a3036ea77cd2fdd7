//! Checkpoints: what a log was at a moment, signed by the store's key, to be kept where whoever can
//! write the store cannot.
//!
//! What is signed is a text of seven lines that anybody can put together again; see
//! [`Checkpoint::signed`]. No token has a line break in what is signed of it, so neither can be
//! taken for the other.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use understory_engine::system::checkpoint::Point;
use understory_engine::system::verify::Expected;
use understory_model::item::Hash;
use understory_model::{Code, Fault, Seq};

use super::jwk::{self, Public};
use super::keys::{self, Signing};

/// The first line of what is signed.
const FORM: &str = "understory.checkpoint.1";
/// The only algorithm.
const ALG: &str = "Ed25519";

/// A signed checkpoint, as it stands in a file: one JSON object a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The version of this form.
    pub checkpoint: u32,
    pub store: String,
    pub workspace: String,
    pub seq: Seq,
    /// The link of the chain at that place, in hexadecimal digits.
    pub head: String,
    pub time: String,
    pub kid: String,
    pub alg: String,
    /// In base64url without padding.
    pub signature: String,
}

impl Checkpoint {
    /// Signs the end of a log.
    pub fn sign(point: Point, key: &Signing) -> Result<Checkpoint, Fault> {
        let mut made = Checkpoint {
            checkpoint: 1,
            store: point.store,
            workspace: point.workspace,
            seq: point.seq,
            head: point.head,
            time: point.at.to_string(),
            kid: key.kid().to_owned(),
            alg: ALG.to_owned(),
            signature: String::new(),
        };
        made.check_lines()?;
        made.signature = URL_SAFE_NO_PAD.encode(key.sign(&made.signed()));
        Ok(made)
    }

    /// What is signed: these lines, each with its line break.
    pub fn signed(&self) -> Vec<u8> {
        format!(
            "{FORM}\nstore {}\nworkspace {}\nseq {}\nhead {}\ntime {}\nkid {}\n",
            self.store, self.workspace, self.seq, self.head, self.time, self.kid
        )
        .into_bytes()
    }

    /// A value with a line break could say two things.
    fn check_lines(&self) -> Result<(), Fault> {
        let values = [
            &self.store,
            &self.workspace,
            &self.head,
            &self.time,
            &self.kid,
        ];
        if values
            .iter()
            .any(|value| value.chars().any(char::is_control))
        {
            Err(wrong("a value has control characters"))
        } else {
            Ok(())
        }
    }

    /// Whether one of these keys signed it: its name says which.
    pub fn is_signed_by(&self, keys: &[(String, Public)]) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(&self.signature).unwrap_or_default();
        let signed = self.signed();
        let mut named = keys.iter().filter(|(kid, _)| *kid == self.kid);
        self.check_lines().is_ok()
            && self.checkpoint == 1
            && self.alg == ALG
            && named.any(|(_, key)| key.verifies(ALG, &signed, &signature))
    }

    /// What the log must hold.
    pub fn expected(&self) -> Result<Expected, Fault> {
        Ok(Expected {
            workspace: self.workspace.clone(),
            seq: Some(self.seq),
            link: link(&self.head).ok_or_else(|| wrong("its head is not a hash"))?,
        })
    }
}

/// A link of the chain from its 64 hexadecimal digits.
pub fn link(text: &str) -> Option<Hash> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// The checkpoints of a file.
pub fn read(text: &str) -> Result<Vec<Checkpoint>, Fault> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = |line: &str| serde_json::from_str(line).map_err(|_| wrong("it is not a checkpoint"));
    let all: Vec<Checkpoint> = lines.map(read).collect::<Result<_, _>>()?;
    if all.is_empty() {
        Err(wrong("it is empty"))
    } else {
        Ok(all)
    }
}

/// The public keys of a file: a JSON key set, or one Ed25519 key in PEM, which is named as this
/// program names keys.
pub fn read_keys(text: &str) -> Result<Vec<(String, Public)>, Fault> {
    if let Some(key) = jwk::read_pem(text) {
        let Public::Ed25519(bytes) = &key else {
            return Err(wrong("the key is not an Ed25519 key"));
        };
        return Ok(vec![(keys::kid_of(bytes), key)]);
    }
    let set = jwk::read_set(text);
    let set = set.ok_or_else(|| wrong("the key file is neither a JSON key set nor PEM"))?;
    Ok(set
        .into_iter()
        .map(|listed| (listed.kid, listed.key))
        .collect())
}

fn wrong(problem: &str) -> Fault {
    Fault::new(
        Code::Validation,
        format!("the checkpoint cannot be used: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use understory_model::Time;

    use super::*;
    use crate::token::keys::Keys;

    fn point() -> Point {
        Point {
            store: "s".into(),
            workspace: "garden".into(),
            seq: Seq(7),
            head: "ab".repeat(32),
            at: Time(0),
        }
    }

    #[test]
    fn every_value_is_under_the_signature() {
        let dir = tempfile::tempdir().unwrap();
        let keys = Keys::in_folder(dir.path().join("keys"));
        let made = Checkpoint::sign(point(), &keys.signing().unwrap()).unwrap();
        let public = keys.public().unwrap();
        assert!(made.is_signed_by(&public));
        let changes: [fn(&mut Checkpoint); 7] = [
            |c| c.store.push('x'),
            |c| c.workspace.push('x'),
            |c| c.seq += 1,
            |c| c.head = "cd".repeat(32),
            |c| c.time.push('x'),
            |c| c.alg = "none".into(),
            |c| c.checkpoint = 2,
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut other = made.clone();
            change(&mut other);
            assert!(!other.is_signed_by(&public), "value {at}");
        }
        assert!(!made.is_signed_by(&[]));
        let two = Point {
            workspace: "a\nseq 9".into(),
            ..point()
        };
        assert!(Checkpoint::sign(two, &keys.signing().unwrap()).is_err());
    }

    #[test]
    fn a_file_has_a_checkpoint_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let keys = Keys::in_folder(dir.path().join("keys"));
        let made = Checkpoint::sign(point(), &keys.signing().unwrap()).unwrap();
        let line = serde_json::to_string(&made).unwrap();
        assert_eq!(
            read(&format!("{line}\n\n{line}\n")).unwrap(),
            [made.clone(), made]
        );
        for text in ["", "{}", "[]", "x"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(link(&"ab".repeat(32)).is_some());
        for text in ["", "ab", &"xy".repeat(32), &"+1".repeat(32)] {
            assert!(link(text).is_none(), "{text}");
        }
    }
}
