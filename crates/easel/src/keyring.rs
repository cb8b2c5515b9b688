//! Where this user's secrets and keys are.

use std::path::PathBuf;
use std::sync::Arc;

use easel_runtime::secrets::{EnvFile, Environment, Key, Provider, Resolver, SecretError, Vault};

use crate::exit::Exit;
use crate::problem::{Problem, sentence};

/// The key of the vault, in the environment instead of its file.
const VAULT_KEY: &str = "EASEL_VAULT_KEY";

/// The file of secrets that belongs to a folder.
const ENV_FILE: &str = ".env";

/// The folder of this user's vault and keys; `None` where the user has no home.
fn home() -> Option<PathBuf> {
    let folder = |name: &str| {
        let folder = std::env::var_os(name).map(PathBuf::from);
        folder.filter(|folder| !folder.as_os_str().is_empty())
    };
    folder("EASEL_HOME")
        .or_else(|| folder("XDG_CONFIG_HOME").map(|config| config.join("easel")))
        .or_else(|| folder("HOME").map(|home| home.join(".config/easel")))
        .or_else(|| folder("APPDATA").map(|data| data.join("easel")))
}

fn needed_home() -> Result<PathBuf, Problem> {
    home().ok_or_else(|| {
        Problem::usage(
            "There is no place for the vault and its keys: this user has no home folder.",
        )
        .fix("Set EASEL_HOME to a folder that is yours alone.")
    })
}

/// The vault, if there is a place for one.
fn vault_in(home: PathBuf) -> Result<Vault, Problem> {
    let path = home.join("vault");
    match std::env::var(VAULT_KEY) {
        Ok(text) if !text.trim().is_empty() => {
            let key = Key::parse(&text, VAULT_KEY).map_err(|error| problem(&error))?;
            Ok(Vault::with_key(path, key, VAULT_KEY))
        }
        _ => Ok(Vault::new(path, home.join("vault.key"))),
    }
}

/// The vault.
pub fn vault() -> Result<Vault, Problem> {
    vault_in(needed_home()?)
}

/// The `.env` file of this folder.
pub fn env_file() -> EnvFile {
    EnvFile::new(ENV_FILE)
}

/// Everywhere that secrets are looked for, nearest first: the environment, `.env` in this folder, the vault.
pub fn resolver() -> Result<Resolver, Problem> {
    let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::new(Environment), Arc::new(env_file())];
    if let Some(home) = home() {
        providers.push(Arc::new(vault_in(home)?));
    }
    Ok(Resolver::new(providers))
}

/// The key that receipts are signed with. It is made when it is first needed.
pub fn receipt_key() -> Result<Key, Problem> {
    let path = needed_home()?.join("receipt.key");
    Key::read_or_create(&path).map_err(|error| problem(&error))
}

/// What to tell of a secret that cannot be had. Its sentence names the cause and the fix.
pub fn problem(error: &SecretError) -> Problem {
    Problem::new(Exit::Usage, sentence(&error.to_string()))
}
