//! Receipts: which secret reached what, and that everything that left was searched.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::gate::SinkKind;
use crate::key::Key;

/// What one run did with secrets. It holds names, no values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The version of this form: [`Receipt::VERSION`].
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// Each time a secret went to a sink, in order.
    pub entries: Vec<ReceiptEntry>,
    /// Bytes of text that were searched for secrets on their way out; 0 if the run knew no secret.
    pub bytes_scanned: u64,
    /// Places where a secret was found and masked.
    pub masked: u64,
    /// The secrets that stood in a number, where they could not be masked.
    pub unmasked: Vec<String>,
}

/// A secret went to a sink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptEntry {
    /// The secret's name; for a credential that stands in the file, its place there.
    pub secret: String,
    /// The provider that had it; `file` for a credential that stands in the file.
    pub provider: String,
    /// What it went to.
    pub kind: SinkKind,
    /// The name of what it went to.
    pub sink: String,
    /// The id of the node.
    pub node: String,
    /// The passes around the node; empty at the root.
    pub scope: String,
    /// When, in milliseconds since 1970.
    pub time: i64,
}

/// A receipt with a signature: nothing in it was changed since the key's owner signed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedReceipt {
    /// The receipt.
    pub receipt: Receipt,
    /// Its signature.
    pub signature: ReceiptSignature,
}

/// The signature of a receipt: Ed25519 over `easel-receipt-1`, a line feed, and the receipt as JSON with the members of
/// each object sorted by name and nothing between the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptSignature {
    /// The public key, in base64.
    pub key: String,
    /// The signature, in base64.
    pub value: String,
}

/// Why a receipt is not to be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReceipt {
    /// It cannot be read.
    #[error("this is no receipt: {0}")]
    Unreadable(String),
    /// It was written by a later Easel.
    #[error(
        "the receipt has version {0}, which this Easel does not know; use the Easel that wrote it"
    )]
    Version(u32),
    /// It was signed with another key.
    #[error(
        "the receipt was signed with the key {signer}, not with {expected}; verify it with the public key of whoever made it"
    )]
    OtherKey {
        /// The public key it names.
        signer: String,
        /// The public key that was asked for.
        expected: String,
    },
    /// It was changed.
    #[error("the signature does not fit: the receipt was changed after it was signed")]
    Changed,
}

impl Receipt {
    /// The version of the form that this Easel writes.
    pub const VERSION: u32 = 1;

    /// Signs it.
    pub fn sign(self, key: &Key) -> SignedReceipt {
        let key = SigningKey::from_bytes(key.bytes());
        let value = STANDARD.encode(key.sign(&self.signed_bytes()).to_bytes());
        let key = STANDARD.encode(key.verifying_key().as_bytes());
        SignedReceipt {
            receipt: self,
            signature: ReceiptSignature { key, value },
        }
    }

    /// What is signed.
    fn signed_bytes(&self) -> Vec<u8> {
        // A receipt is texts and whole numbers: it always serialises.
        let json = serde_json::to_value(self).unwrap_or_default();
        let mut bytes = b"easel-receipt-1\n".to_vec();
        bytes.extend_from_slice(sorted(json).to_string().as_bytes());
        bytes
    }
}

impl SignedReceipt {
    /// Reads a receipt; what it says is to be believed once [`SignedReceipt::verify`] says so.
    ///
    /// # Errors
    /// [`BadReceipt::Unreadable`] or [`BadReceipt::Version`].
    pub fn parse(text: &str) -> Result<SignedReceipt, BadReceipt> {
        let unreadable = |error: serde_json::Error| BadReceipt::Unreadable(error.to_string());
        let json: Json = serde_json::from_str(text).map_err(unreadable)?;
        let version = json.pointer("/receipt/version").and_then(Json::as_u64);
        let version = version.and_then(|version| u32::try_from(version).ok());
        match version {
            Some(version) if version != Receipt::VERSION => Err(BadReceipt::Version(version)),
            _ => serde_json::from_value(json).map_err(unreadable),
        }
    }

    /// Whether the owner of that public key (in base64) signed just this.
    ///
    /// # Errors
    /// Why not.
    pub fn verify(&self, public: &str) -> Result<(), BadReceipt> {
        if self.signature.key.trim() != public.trim() {
            return Err(BadReceipt::OtherKey {
                signer: self.signature.key.clone(),
                expected: public.trim().to_owned(),
            });
        }
        let key = STANDARD.decode(public.trim()).ok();
        let key = key.and_then(|key| VerifyingKey::try_from(key.as_slice()).ok());
        let signature = STANDARD.decode(&self.signature.value).ok();
        let signature = signature.and_then(|bytes| Signature::from_slice(&bytes).ok());
        let (Some(key), Some(signature)) = (key, signature) else {
            return Err(BadReceipt::Changed);
        };
        key.verify_strict(&self.receipt.signed_bytes(), &signature)
            .map_err(|_| BadReceipt::Changed)
    }
}

impl Key {
    /// The public half of the key as one that signs receipts, in base64.
    pub fn public(&self) -> String {
        let key = SigningKey::from_bytes(self.bytes());
        STANDARD.encode(key.verifying_key().as_bytes())
    }
}

/// The same JSON with the members of each object in the order of their names.
fn sorted(json: Json) -> Json {
    match json {
        Json::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            let members = members.into_iter();
            Json::Object(members.map(|(name, json)| (name, sorted(json))).collect())
        }
        Json::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> Receipt {
        Receipt {
            version: Receipt::VERSION,
            run: "run-1".into(),
            entries: vec![ReceiptEntry {
                secret: "TOKEN".into(),
                provider: "vault".into(),
                kind: SinkKind::Tool,
                sink: "http".into(),
                node: "fetch".into(),
                scope: "".into(),
                time: 12,
            }],
            bytes_scanned: 100,
            masked: 1,
            unmasked: vec![],
        }
    }

    #[test]
    fn a_receipt_that_was_written_and_read_is_verified() {
        let key = Key::draw().unwrap();
        let text = serde_json::to_string_pretty(&receipt().sign(&key)).unwrap();
        let read = SignedReceipt::parse(&text).unwrap();
        assert_eq!(read.verify(&key.public()), Ok(()));
        assert_eq!(read.receipt, receipt());
    }

    #[test]
    fn whatever_is_changed_in_it_is_noticed() {
        let key = Key::draw().unwrap();
        let text = serde_json::to_string(&receipt().sign(&key)).unwrap();
        for (old, new) in [
            ("run-1", "run-2"),
            ("TOKEN", "OTHER"),
            ("fetch", "touch"),
            (":100", ":101"),
            ("\"time\":12", "\"time\":13"),
        ] {
            let changed = SignedReceipt::parse(&text.replace(old, new)).unwrap();
            assert_eq!(changed.verify(&key.public()), Err(BadReceipt::Changed));
        }
        let more = text.replace("\"masked\"", "\"note\":\"all is well\",\"masked\"");
        assert!(matches!(
            SignedReceipt::parse(&more),
            Err(BadReceipt::Unreadable(_))
        ));
    }

    #[test]
    fn somebody_elses_signature_is_not_ours() {
        let (ours, theirs) = (Key::draw().unwrap(), Key::draw().unwrap());
        let forged = receipt().sign(&theirs);
        assert!(matches!(
            forged.verify(&ours.public()),
            Err(BadReceipt::OtherKey { .. })
        ));
        let mut renamed = forged;
        renamed.signature.key = ours.public();
        assert_eq!(renamed.verify(&ours.public()), Err(BadReceipt::Changed));
    }

    #[test]
    fn a_receipt_of_a_later_version_says_so() {
        let key = Key::draw().unwrap();
        let text = serde_json::to_string(&receipt().sign(&key)).unwrap();
        let later = text.replace("\"version\":1", "\"version\":2,\"more\":1");
        assert_eq!(SignedReceipt::parse(&later), Err(BadReceipt::Version(2)));
    }

    #[test]
    fn the_signed_text_is_fixed() {
        let text = String::from_utf8(receipt().signed_bytes()).unwrap();
        assert_eq!(
            text,
            "easel-receipt-1\n{\"bytes_scanned\":100,\"entries\":[{\"kind\":\"tool\",\"node\":\"fetch\",\
             \"provider\":\"vault\",\"scope\":\"\",\"secret\":\"TOKEN\",\"sink\":\"http\",\"time\":12}],\
             \"masked\":1,\"run\":\"run-1\",\"unmasked\":[],\"version\":1}"
        );
    }
}
