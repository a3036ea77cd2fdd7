//! Checkpoint files and the key files that they are checked with: only what was signed proves anything.
//!
//! An input is a file, in which `TIME`, `KID` and `SIGNATURE` stand for those of a checkpoint that was signed.
//! Before it there may be lines `flip 12 3`, which change bits of that signature, and `keys`, after
//! which the rest is a key file.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tempfile::TempDir;
use understory::token::checkpoint::{self, Checkpoint};
use understory::token::jwk::Public;
use understory::token::keys::{self, Keys};
use understory_engine::system::checkpoint::Point;
use understory_model::{Seq, Time};

use crate::target::{Outcome, Target, check, check_fault, shape, text};

pub struct Checkpoints {
    whole: Checkpoint,
    signature: Vec<u8>,
    public: Vec<(String, Public)>,
    /// The folder of the keys goes with it.
    _folder: TempDir,
}

impl Checkpoints {
    pub fn new() -> Checkpoints {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let keys = Keys::in_folder(folder.path().join("keys"));
        let key = keys.signing().expect("a key");
        let point = Point {
            store: "store-1".into(),
            workspace: "garden".into(),
            seq: Seq(7),
            head: "ab".repeat(32),
            at: Time(1_771_329_600_000_000),
        };
        let whole = Checkpoint::sign(point, &key).expect("a checkpoint");
        let signature = URL_SAFE_NO_PAD.decode(&whole.signature).expect("base64");
        let public = keys.public().expect("the public half");
        assert!(whole.is_signed_by(&public), "the whole one proves");
        Checkpoints {
            public,
            whole,
            signature,
            _folder: folder,
        }
    }

    /// The file of an input, with what stands for the key and the signature filled in.
    fn file(&self, input: &str) -> String {
        let (mut signature, mut rest) = (self.signature.clone(), input);
        while let Some((line, after)) = rest
            .split_once('\n')
            .filter(|(line, _)| line.starts_with("flip "))
        {
            let mut numbers = line.split(' ').skip(1).map(|word| word.parse().ok());
            let (at, bits): (Option<usize>, Option<usize>) =
                (numbers.next().flatten(), numbers.next().flatten());
            let at = at.unwrap_or(0) % signature.len();
            signature[at] ^= bits.unwrap_or(0).to_le_bytes()[0];
            rest = after;
        }
        rest.replace("TIME", &self.whole.time)
            .replace("KID", &self.whole.kid)
            .replace("SIGNATURE", &URL_SAFE_NO_PAD.encode(signature))
    }

    /// What one checkpoint of a file comes to.
    fn judged(&self, one: &Checkpoint, keys: &[(String, Public)]) -> Result<bool, String> {
        let signed = one.is_signed_by(keys);
        let same = one.signed() == self.whole.signed()
            && URL_SAFE_NO_PAD.decode(&one.signature).ok().as_ref() == Some(&self.signature);
        check(!signed || same, || format!("proves: {one:?}"))?;
        if let Err(fault) = one.expected() {
            check_fault(&fault)?;
            check(!signed, || format!("is signed and cannot be used: {one:?}"))?;
        }
        Ok(signed)
    }

    fn keys(&self, file: &str) -> Outcome {
        let file = file.replace("SET", &keys::set(&self.public).to_string());
        match checkpoint::read_keys(&file) {
            Ok(found) => Ok(format!("keys {}", self.judged(&self.whole, &found)?)),
            Err(fault) => {
                check_fault(&fault)?;
                Ok(shape(&fault.message))
            }
        }
    }
}

impl Target for Checkpoints {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let file = self.file(&text(input));
        if let Some(rest) = file.strip_prefix("keys\n") {
            return self.keys(rest);
        }
        let all = match checkpoint::read(&file) {
            Ok(all) => all,
            Err(fault) => {
                check_fault(&fault)?;
                return Ok(shape(&fault.message));
            }
        };
        let mut good = 0;
        for one in &all {
            good += usize::from(self.judged(one, &self.public)?);
        }
        Ok(format!("{good} of {}", all.len().min(4)))
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "TIME",
            "KID",
            "SIGNATURE",
            "SET",
            "keys\n",
            "flip 0 1\n",
            "flip 63 128\n",
            "\"checkpoint\":1",
            "\"workspace\":\"garden\"",
            "\"seq\":7",
            "\"alg\":\"Ed25519\"",
            "\"alg\":\"none\"",
            "\\nseq 8",
            "-----BEGIN PUBLIC KEY-----\n",
            "-----END PUBLIC KEY-----\n",
            "\"kty\":\"OKP\"",
            "\"x\":\"",
            "{\"keys\":[",
            "null",
        ]
    }
}
