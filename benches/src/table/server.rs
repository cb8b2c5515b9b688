//! A server in a process of its own.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::http::Connection;

/// After that a server that does not answer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that serves; it ends with this.
pub struct Server {
    child: Child,
    /// Where it serves.
    pub address: SocketAddr,
    /// How long it took from its start until it said that it is ready.
    pub ready: Duration,
}

impl Server {
    /// Starts one that is told where to listen, and waits until it says that it is ready.
    pub fn start(program: &Path, words: &[OsString]) -> Result<Server, Box<dyn Error>> {
        let address = free()?;
        let begun = Instant::now();
        let child = Command::new(program)
            .args(words)
            .args(["--listen", &address.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Server {
            child,
            address,
            ready: Duration::ZERO,
        };
        while !server.is_ready() {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!("{} ended with {status}", program.display()).into());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{} is not ready", program.display()).into());
            }
            thread::sleep(Duration::from_millis(1));
        }
        server.ready = begun.elapsed();
        Ok(server)
    }

    /// Starts one that chooses where to listen and prints it.
    pub fn announced(program: &Path, words: &[OsString]) -> Result<Server, Box<dyn Error>> {
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args(words)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(said) = child.stdout.take() {
            BufReader::new(said).read_line(&mut line)?;
        }
        Ok(Server {
            address: line.trim().parse()?,
            ready: begun.elapsed(),
            child,
        })
    }

    /// A connection to it.
    pub fn connect(&self) -> Result<Connection, Box<dyn Error>> {
        Connection::open(self.address)
    }

    /// The memory that it holds, in bytes.
    pub fn resident(&self) -> Result<f64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes: f64 = line
            .unwrap_or_default()
            .trim()
            .trim_end_matches(" kB")
            .parse()?;
        Ok(kilobytes * 1024.0)
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(mut self) -> Result<(), Box<dyn Error>> {
        let id = i32::try_from(self.child.id())?;
        kill(Pid::from_raw(id), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(())
    }

    fn is_ready(&self) -> bool {
        Connection::open(self.address)
            .and_then(|mut connection| connection.ask("GET", "/readyz", None))
            .is_ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes as people read them.
pub fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}

/// An address that nobody listens at.
fn free() -> Result<SocketAddr, Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}
