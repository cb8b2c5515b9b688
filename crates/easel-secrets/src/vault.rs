//! The encrypted local vault.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use easel_core::event::Timestamp;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::SecretError;
use crate::key::{self, Key};
use crate::name::is_name;
use crate::provider::Provider;
use crate::secret::Secret;

/// Secrets in one encrypted file.
///
/// # The file
///
/// ```text
/// "easel-vault-1\n"   what it is, in clear
/// 16 bytes            the mark of the key: what the key makes of an empty text
/// 24 bytes            a nonce, drawn anew for each writing
/// the rest            names, values and times as JSON, sealed with XChaCha20-Poly1305
/// ```
///
/// Everything before the sealed part is authenticated with it, and all secrets are one sealed text: a byte that is
/// changed, a secret that is taken out, a file that is cut short are errors that name the file, never a secret less. That
/// somebody puts back an older vault whole cannot be seen. Names are as hidden as values; how many there are shows in
/// the size.
///
/// A writing replaces the file in one step, and two programs that write take turns (`vault.lock`), so none loses what
/// the other set. Limit: [`Vault::LARGEST`].
#[derive(Debug)]
pub struct Vault {
    path: PathBuf,
    key: KeyPlace,
}

/// Where the key of a vault is.
#[derive(Clone, Debug)]
enum KeyPlace {
    /// In a file of mode 0600, drawn when the first secret is set.
    File(PathBuf),
    /// Given, with where it came from.
    Given(Key, String),
}

/// A secret in the vault, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// When it was set.
    pub set: Timestamp,
    /// Whether its value is long enough to be masked.
    pub masked: bool,
}

/// What is sealed in a vault.
#[derive(Default, Deserialize, Serialize)]
struct Contents {
    secrets: BTreeMap<String, Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    value: Zeroizing<String>,
    /// Milliseconds since 1970.
    set: i64,
}

const MAGIC: &[u8] = b"easel-vault-1\n";
const MARK: usize = 16;
const NONCE: usize = 24;
const HEADER: usize = MAGIC.len() + MARK + NONCE;

impl Vault {
    /// The largest vault, in bytes.
    pub const LARGEST: u64 = 16_000_000;

    /// The vault at that path, with its key in a file. Neither needs to be there: the key is drawn and the vault is made
    /// when the first secret is set.
    pub fn new(path: impl Into<PathBuf>, key_file: impl Into<PathBuf>) -> Vault {
        Vault {
            path: path.into(),
            key: KeyPlace::File(key_file.into()),
        }
    }

    /// The vault at that path, with a key that is given. `from`: where it came from, for errors.
    pub fn with_key(path: impl Into<PathBuf>, key: Key, from: &str) -> Vault {
        Vault {
            path: path.into(),
            key: KeyPlace::Given(key, from.to_owned()),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it, by name.
    ///
    /// # Errors
    /// It is there and cannot be opened.
    pub fn list(&self) -> Result<Vec<Listed>, SecretError> {
        let secrets = self.read()?.secrets.into_iter();
        let listed = secrets.map(|(name, Entry { value, set })| Listed {
            name,
            set: Timestamp(set),
            masked: value.chars().count() >= crate::SHORTEST,
        });
        Ok(listed.collect())
    }

    /// Sets a secret, in the place of the one that has the name. `now`: what is kept as when it was set.
    ///
    /// # Errors
    /// The name or the value cannot be kept, the vault cannot be opened, or it cannot be written. Then it is as it was.
    pub fn set(&self, name: &str, secret: &Secret, now: Timestamp) -> Result<(), SecretError> {
        if !is_name(name) {
            return Err(SecretError::BadName(name.to_owned()));
        }
        if secret.is_blank() {
            return Err(SecretError::Blank(name.to_owned()));
        }
        let entry = Entry {
            value: Zeroizing::new(secret.value().to_owned()),
            set: now.0,
        };
        self.change(|contents| {
            contents.secrets.insert(name.to_owned(), entry);
            true
        })?;
        Ok(())
    }

    /// Takes a secret out; `false` if it was not there.
    ///
    /// # Errors
    /// The vault cannot be opened or written. Then it is as it was.
    pub fn remove(&self, name: &str) -> Result<bool, SecretError> {
        self.change(|contents| contents.secrets.remove(name).is_some())
    }

    /// Changes what is in it, while nobody else does. `change` says whether there is something to write.
    fn change(&self, change: impl FnOnce(&mut Contents) -> bool) -> Result<bool, SecretError> {
        let _lock = self.lock()?;
        let mut contents = self.read()?;
        let changed = change(&mut contents);
        if changed {
            self.write(&contents)?;
        }
        Ok(changed)
    }

    /// Keeps other programs from writing until it is dropped.
    fn lock(&self) -> Result<File, SecretError> {
        let path = self.path.with_extension("lock");
        let lock = || {
            key::make_folder(&path)?;
            let mut options = OpenOptions::new();
            let file = options
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|error| SecretError::file(&path, "locked", &error))
    }

    fn read(&self) -> Result<Contents, SecretError> {
        let Some(file) = self.read_file()? else {
            return Ok(Contents::default());
        };
        let damaged = |cause| SecretError::Damaged {
            vault: self.path.clone(),
            cause,
        };
        if file.len() < HEADER {
            return Err(damaged("its beginning is missing"));
        }
        let (header, sealed) = file.split_at(HEADER);
        let Some(rest) = header.strip_prefix(MAGIC) else {
            return Err(damaged("it does not begin as a vault does"));
        };
        let (mark, nonce) = rest.split_at(MARK);
        let (key, from) = self.key()?.ok_or_else(|| SecretError::KeyMissing {
            vault: self.path.clone(),
            key: match &self.key {
                KeyPlace::File(path) => path.clone(),
                KeyPlace::Given(..) => PathBuf::new(),
            },
        })?;
        let cipher = XChaCha20Poly1305::new(key.bytes().into());
        if mark_of(&cipher)? != mark {
            return Err(SecretError::OtherKey {
                vault: self.path.clone(),
                key: from,
            });
        }
        let nonce = XNonce::try_from(nonce).map_err(|_| damaged("its beginning is missing"))?;
        let sealed = Payload {
            msg: sealed,
            aad: header,
        };
        let plain = cipher
            .decrypt(&nonce, sealed)
            .map_err(|_| damaged("its contents are not what was written"))?;
        let plain = Zeroizing::new(plain);
        serde_json::from_slice(&plain).map_err(|_| damaged("its contents cannot be read"))
    }

    /// The bytes of the file; `None` if it is not there.
    fn read_file(&self) -> Result<Option<Vec<u8>>, SecretError> {
        let read = || {
            if std::fs::metadata(&self.path)?.len() > Vault::LARGEST {
                let cause = format!("it is larger than {} bytes", Vault::LARGEST);
                return Err(std::io::Error::other(cause));
            }
            std::fs::read(&self.path)
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SecretError::file(&self.path, "read", &error)),
        }
    }

    fn write(&self, contents: &Contents) -> Result<(), SecretError> {
        let unwritable = |error: std::io::Error| SecretError::file(&self.path, "written", &error);
        let key = match &self.key {
            KeyPlace::Given(key, _) => key.clone(),
            KeyPlace::File(path) => Key::read_or_create(path)?,
        };
        let cipher = XChaCha20Poly1305::new(key.bytes().into());
        let mut nonce = [0; NONCE];
        key::fill(&mut nonce)?;
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&mark_of(&cipher)?);
        file.extend_from_slice(&nonce);
        let plain = serde_json::to_vec(contents)
            .map_err(|error| unwritable(std::io::Error::other(error)))?;
        let plain = Zeroizing::new(plain);
        let sealed = cipher.encrypt(
            &XNonce::from(nonce),
            Payload {
                msg: &plain,
                aad: &file,
            },
        );
        let sealed = sealed.map_err(|_| unwritable(std::io::Error::other("it is too large")))?;
        file.extend_from_slice(&sealed);
        if file.len() as u64 > Vault::LARGEST {
            let cause = format!("it would be larger than {} bytes", Vault::LARGEST);
            return Err(unwritable(std::io::Error::other(cause)));
        }
        self.replace(&file).map_err(unwritable)
    }

    /// Puts a new file in the place of the old one, in one step.
    fn replace(&self, bytes: &[u8]) -> std::io::Result<()> {
        let folder = key::make_folder(&self.path)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        key::sync_folder(folder)
    }

    /// The key and where it came from; `None` if there is none.
    fn key(&self) -> Result<Option<(Key, String)>, SecretError> {
        match &self.key {
            KeyPlace::Given(key, from) => Ok(Some((key.clone(), from.clone()))),
            KeyPlace::File(path) => {
                Ok(Key::read(path)?.map(|key| (key, path.display().to_string())))
            }
        }
    }
}

/// By what a key is known again: the tag of an empty text under a nonce that no vault is written with, for those are
/// drawn.
fn mark_of(cipher: &XChaCha20Poly1305) -> Result<Vec<u8>, SecretError> {
    let empty = Payload {
        msg: b"",
        aad: b"easel vault key",
    };
    cipher
        .encrypt(&XNonce::from([0; NONCE]), empty)
        .map_err(|_| SecretError::BadKey("the vault's key".to_owned()))
}

impl Provider for Vault {
    fn name(&self) -> &str {
        "vault"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let mut contents = self.read()?;
        let entry = contents.secrets.get_mut(name);
        Ok(entry.map(|entry| Secret::new(std::mem::take(&mut *entry.value))))
    }
}

#[cfg(test)]
mod tests;
