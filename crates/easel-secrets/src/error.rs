//! Why a secret could not be had.

use std::path::{Path, PathBuf};

use crate::mask::TooManySecrets;

/// Why a secret could not be had or kept. No value is ever in it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SecretError {
    /// Nothing can be kept under that name.
    #[error(
        "\"{0}\" cannot name a secret; use letters, digits and _, with a letter or _ in front, such as API_TOKEN"
    )]
    BadName(String),
    /// There is nothing but white space in a value.
    #[error("the value of {0} is blank; a blank secret counts as not set")]
    Blank(String),
    /// A file cannot be read or written.
    #[error("{} cannot be {what}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried: `read`, `written`, `locked`.
        what: &'static str,
        /// Why, in the words of the system.
        cause: String,
    },
    /// A line of a `.env` file is no `NAME=VALUE`.
    #[error(
        "{} cannot be read: {place} is a line that is not NAME=VALUE; correct it, and put a value with spaces, # or $ into single quotes", path.display()
    )]
    EnvLine {
        /// The file.
        path: PathBuf,
        /// Where: `at its beginning`, or `behind NAME`.
        place: String,
    },
    /// Others on the machine may read a key.
    #[error(
        "{} is a key that others may read (mode {mode:04o}); make it yours alone with: chmod 600 {}", path.display(), path.display()
    )]
    KeyTooOpen {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A key is not 32 bytes in base64.
    #[error("{0} holds no key; a key is 32 bytes in base64, as `openssl rand -base64 32` makes it")]
    BadKey(String),
    /// The vault is there and its key is not.
    #[error(
        "the key of the vault {} is missing: there is no {}; put the key back, or remove the vault and set its secrets anew", vault.display(), key.display()
    )]
    KeyMissing {
        /// The vault.
        vault: PathBuf,
        /// Where its key should be.
        key: PathBuf,
    },
    /// The vault was written with another key.
    #[error(
        "the vault {} was written with another key than the one from {key}; use the key it was written with, or remove the vault and set its secrets anew", vault.display()
    )]
    OtherKey {
        /// The vault.
        vault: PathBuf,
        /// Where the key came from.
        key: String,
    },
    /// The vault is not what was written.
    #[error(
        "the vault {} is damaged ({cause}): it was cut short or changed by something other than Easel; put back a copy, or remove it and set its secrets anew", vault.display()
    )]
    Damaged {
        /// The vault.
        vault: PathBuf,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// The operating system gives no random numbers.
    #[error("the operating system gives no random numbers: {0}")]
    NoRandom(String),
    /// There are too many secrets to be masked, so none is opened.
    #[error(transparent)]
    TooMany(#[from] TooManySecrets),
    /// Another provider failed, in its own words.
    #[error("{provider} cannot be asked: {cause}")]
    Provider {
        /// The provider's name.
        provider: String,
        /// Why.
        cause: String,
    },
}

impl SecretError {
    pub(crate) fn file(path: &Path, what: &'static str, error: &std::io::Error) -> SecretError {
        SecretError::File {
            path: path.to_owned(),
            what,
            cause: error.to_string(),
        }
    }
}
