//! Keys of 32 bytes that lie in a file of one's own.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::error::SecretError;

/// A key of 32 bytes. It is overwritten in memory when it is dropped, and shown by nothing.
#[derive(Clone)]
pub struct Key(Zeroizing<[u8; Key::BYTES]>);

impl Key {
    /// The length of a key.
    pub const BYTES: usize = 32;

    /// A key as people write it: base64 of 32 bytes, white space around it. `from`: where it stands, for the error.
    ///
    /// # Errors
    /// [`SecretError::BadKey`].
    pub fn parse(text: &str, from: &str) -> Result<Key, SecretError> {
        let bad = || SecretError::BadKey(from.to_owned());
        let bytes = STANDARD.decode(text.trim()).map_err(|_| bad())?;
        let bytes = Zeroizing::new(bytes);
        let key = <[u8; Key::BYTES]>::try_from(bytes.as_slice()).map_err(|_| bad())?;
        Ok(Key(Zeroizing::new(key)))
    }

    /// The key in that file; `None` if there is no such file.
    ///
    /// # Errors
    /// [`SecretError::KeyTooOpen`] if others may read it, [`SecretError::BadKey`], or it cannot be read.
    pub fn read(path: &Path) -> Result<Option<Key>, SecretError> {
        let mut file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SecretError::file(path, "read", &error)),
        };
        only_mine(&file, path)?;
        let mut text = Zeroizing::new(String::new());
        std::io::Read::read_to_string(&mut file, &mut text)
            .map_err(|error| SecretError::file(path, "read", &error))?;
        Key::parse(&text, &path.display().to_string()).map(Some)
    }

    /// The key in that file. If there is none, one is drawn and written there, with mode 0600.
    ///
    /// # Errors
    /// As [`Key::read`]; or it cannot be written.
    pub fn read_or_create(path: &Path) -> Result<Key, SecretError> {
        if let Some(key) = Key::read(path)? {
            return Ok(key);
        }
        let key = Key::draw()?;
        let text = Zeroizing::new(format!("{}\n", &*Zeroizing::new(STANDARD.encode(*key.0))));
        match write_new(path, text.as_bytes()) {
            Ok(()) => Ok(key),
            // Somebody else was faster: theirs counts.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Key::read(path)?.ok_or_else(|| SecretError::file(path, "read", &error))
            }
            Err(error) => Err(SecretError::file(path, "written", &error)),
        }
    }

    /// A key nobody had before.
    ///
    /// # Errors
    /// [`SecretError::NoRandom`].
    pub fn draw() -> Result<Key, SecretError> {
        let mut key = Zeroizing::new([0; Key::BYTES]);
        fill(&mut *key)?;
        Ok(Key(key))
    }

    pub(crate) fn bytes(&self) -> &[u8; Key::BYTES] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", crate::MASK)
    }
}

/// Draws bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), SecretError> {
    getrandom::fill(bytes).map_err(|error| SecretError::NoRandom(error.to_string()))
}

/// Writes a file that must not be there yet, whole or not at all, with mode 0600.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = make_folder(path)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// The folder of a file, made with mode 0700 if it is not there.
pub(crate) fn make_folder(path: &Path) -> std::io::Result<&Path> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    Ok(folder)
}

/// Makes sure that what was put into a folder is still there after a crash.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    match cfg!(unix) {
        true => std::fs::File::open(folder)?.sync_all(),
        // Elsewhere a folder cannot be opened so, and needs no such thing.
        false => Ok(()),
    }
}

/// Refuses a file that others may read or write.
#[cfg(unix)]
fn only_mine(file: &std::fs::File, path: &Path) -> Result<(), SecretError> {
    use std::os::unix::fs::MetadataExt;
    let about = file
        .metadata()
        .map_err(|error| SecretError::file(path, "read", &error))?;
    match about.mode() & 0o077 {
        0 => Ok(()),
        _ => Err(SecretError::KeyTooOpen {
            path: path.to_owned(),
            mode: about.mode() & 0o777,
        }),
    }
}

/// Elsewhere a user's files are the user's by the rights of their folder.
#[cfg(not(unix))]
fn only_mine(_: &std::fs::File, _: &Path) -> Result<(), SecretError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_made_on_first_use_and_then_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("easel/vault.key");
        assert!(Key::read(&path).unwrap().is_none());
        let made = Key::read_or_create(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Key::read_or_create(&path).unwrap();
        assert_eq!(made.bytes(), again.bytes());
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault.key");
        Key::read_or_create(&path).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let told = Key::read_or_create(&path).unwrap_err().to_string();
            assert!(told.contains("chmod 600"), "{told}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        for text in ["", "c2hvcnQ=", "correct horse battery staple"] {
            let told = Key::parse(text, "EASEL_VAULT_KEY").unwrap_err().to_string();
            assert!(told.starts_with("EASEL_VAULT_KEY holds no key"), "{told}");
            assert!(!told.contains("horse"), "{told}");
        }
    }
}
