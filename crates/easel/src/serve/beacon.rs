//! How commands on the same machine find the server that holds a data folder.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use easel_server::App;

use crate::data::BEACON;
use crate::problem::Problem;

/// A file in the data folder that says where the server is and by what token commands are let in. Only its owner can read it;
/// it is gone when the server stops.
pub struct Beacon(Option<PathBuf>);

impl Beacon {
    /// Writes it.
    pub fn light(app: &App, address: SocketAddr) -> Result<Beacon, Problem> {
        let Some(folder) = &app.settings.folder else {
            return Ok(Beacon(None));
        };
        let path = folder.join(BEACON);
        let text = serde_json::json!({"address": address, "token": app.local_token()});
        let written = private(&path).and_then(|mut file| writeln!(file, "{text}"));
        written.map_err(|error| {
            Problem::usage(format!("{} cannot be written.", path.display()))
                .because(error.to_string())
        })?;
        Ok(Beacon(Some(path)))
    }
}

impl Drop for Beacon {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A new file that is its owner's alone from the beginning.
fn private(path: &std::path::Path) -> std::io::Result<File> {
    // One that is left from a server that was killed may have other rights.
    let _ = std::fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
