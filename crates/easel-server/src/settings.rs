//! How a server is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::host::Busy;
use crate::rate::Rate;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The data folder, where it tells commands on the same machine how to reach it.
    pub folder: Option<PathBuf>,
    /// The largest body of a request, in bytes.
    pub body_limit: usize,
    /// The largest upload, in bytes.
    pub upload_limit: usize,
    /// Connections at once; a further one waits.
    pub connections: usize,
    /// The largest head of a request, in bytes.
    pub head_limit: usize,
    /// The most headers of a request.
    pub headers: usize,
    /// How long a client may take to send the head of a request.
    pub head_time: Duration,
    /// How long a client may take to send a body.
    pub body_time: Duration,
    /// Requests a key may make.
    pub rate: Option<Rate>,
    /// Origins of pages that may call the server from a browser; none unless given.
    pub cors: Vec<String>,
    /// What becomes of a message to a busy conversation, unless the request says otherwise.
    pub busy: Busy,
    /// How long turns under way may take when the server is asked to stop.
    pub patience: Duration,
}

impl Settings {
    /// Where a server listens unless told.
    pub const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9380);
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: Settings::LISTEN,
            folder: None,
            body_limit: 16 << 20,
            upload_limit: 128 << 20,
            connections: 10_000,
            head_limit: 64 << 10,
            headers: 100,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            rate: None,
            cors: Vec::new(),
            busy: Busy::Queue,
            patience: Duration::from_secs(20),
        }
    }
}
