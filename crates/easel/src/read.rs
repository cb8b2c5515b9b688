//! Reading what people name: files and standard input, whole, up to a size that a machine can bear.

use std::fs::File;
use std::io::{Error, Read};
use std::path::Path;

use crate::problem::{Problem, sentence};

/// The most that is read of anything, in bytes. `/dev/zero` has no end.
const MOST: u64 = 100_000_000;

/// What some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A file's bytes.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let read = File::open(path).and_then(up_to_limit);
    read.map_err(|error| Problem::file(path, "read", &error))
}

/// A file's text, without a byte order mark.
pub fn text(path: &Path) -> Result<String, Problem> {
    let read = bytes(path)?;
    let text = String::from_utf8(read).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        let cause = format!("It is not UTF-8 text; byte {place} is none.");
        let problem = Problem::usage(format!("{} cannot be read.", path.display()));
        problem.because(cause).fix("Save the file as UTF-8.")
    })?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// All of standard input.
pub fn standard_input() -> Result<Vec<u8>, Problem> {
    let read = up_to_limit(std::io::stdin().lock());
    read.map_err(|error| Problem::file(Path::new("Standard input"), "read", &error))
}

/// A JSON file as what it should hold.
pub fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    parsed(&path.display().to_string(), &text(path)?)
}

/// JSON from somewhere, as what it should hold.
pub fn parsed<T: serde::de::DeserializeOwned>(place: &str, text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| {
        let message = match error.is_data() {
            true => format!("{place} does not hold what it should."),
            false => format!("{place} is not JSON."),
        };
        Problem::usage(message).because(sentence(&error.to_string()))
    })
}

fn up_to_limit(from: impl Read) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST {
        true => Err(Error::other(format!("It is larger than {MOST} bytes."))),
        false => Ok(bytes),
    }
}

/// The next line of standard input, without its end; blank at the end of input.
///
/// # Errors
/// It cannot be read.
pub fn line() -> Result<String, Problem> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.map_err(|error| {
        Problem::usage("Standard input cannot be read.").because(error.to_string())
    })?;
    Ok(line.trim().to_owned())
}
