//! `easel import`: credentials go from a file into the vault.

use std::io::Write;
use std::path::Path;

use easel_runtime::Engine;
use easel_runtime::clock::{Clock, SystemClock};
use easel_runtime::secrets::SecretError;

use crate::cli::ImportArguments;
use crate::exit::Exit;
use crate::keyring;
use crate::lift::Lifted;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::read;
use crate::source::Source;

/// Moves credentials. The vault is written first, so that no value is lost whatever happens.
pub fn import(arguments: &ImportArguments) -> Result<Exit, Problem> {
    let engine = Engine::builder().build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(&arguments.file)?;
    let workflow = source.load(&engine)?;
    let resolver = keyring::resolver()?;
    let lifted = Lifted::of(
        workflow.secrets(),
        |name, value| -> Result<bool, SecretError> {
            let found = resolver.find(name)?;
            Ok(found.is_some_and(|found| !found.secret.is(value)))
        },
    );
    let lifted = lifted.map_err(|error| keyring::problem(&error))?;
    if lifted.is_empty() {
        out::tell(&format!("No credential is written out in {}.", source.name));
    }
    // A byte order mark stays too.
    let text = match arguments.file.as_os_str() == "-" {
        true => source.text().into_owned(),
        false => String::from_utf8_lossy(&read::bytes(&arguments.file)?).into_owned(),
    };
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let (rewritten, lifted, left) = lifted.rewrite(&text[mark..]);
    let rewritten = format!("{}{rewritten}", &text[..mark]);
    for field in left {
        out::tell(&format!(
            "A credential for {field} is written out in a form that cannot be rewritten, and is left. Replace it yourself: easel check {}",
            source.name
        ));
    }
    let vault = match lifted.is_empty() {
        true => None,
        false => Some(keyring::vault()?),
    };
    for (name, secret) in lifted.secrets() {
        let Some(vault) = &vault else { continue };
        let set = vault.set(name, &secret, SystemClock.now());
        set.map_err(|error| keyring::problem(&error))?;
        out::tell(&format!(
            "{name} is in the vault, and ${{{name}}} in the file."
        ));
    }
    let target = arguments.output.as_deref();
    let changed = target.is_some() || rewritten != text;
    let path = target.unwrap_or(&arguments.file);
    if path.as_os_str() == "-" {
        out::print(&rewritten);
    } else if changed {
        replace(path, &rewritten).map_err(|error| Problem::file(path, "written", &error))?;
    }
    match lifted.left_in(&rewritten) {
        0 => {}
        count => out::tell(&format!(
            "The same values still stand at {count} other places of the file, which are no credentials by their names. Look at them: easel check {}",
            path.display()
        )),
    }
    Ok(Exit::Done)
}

/// Puts a text in the place of a file, in one step; its permissions stay.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // Behind a link the file itself is meant.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    if let Ok(about) = std::fs::metadata(path) {
        file.as_file().set_permissions(about.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
