//! As much of an HTTP client as measuring needs: one connection, kept open, JSON both ways.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value as Json;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a server.
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects.
    pub fn open(server: SocketAddr) -> Result<Connection, Box<dyn Error>> {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// Asks, and reads the whole answer, which must be a success.
    pub fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> Result<Json, Box<dyn Error>> {
        self.send(method, path, body)?;
        let (status, length) = self.head()?;
        let mut answer = Vec::new();
        match length {
            Some(length) => {
                answer.resize(length, 0);
                self.0.read_exact(&mut answer)?;
            }
            None => self.chunks(&mut answer)?,
        }
        let text = String::from_utf8_lossy(&answer);
        match status {
            200..300 => {
                Ok(serde_json::from_slice(&answer).unwrap_or_else(|_| Json::from(text.as_ref())))
            }
            _ => Err(format!("{method} {path}: {status} {text}").into()),
        }
    }

    /// Asks, and reads the head of the answer alone: a stream that stays open.
    pub fn listen(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> Result<(), Box<dyn Error>> {
        self.send(method, path, body)?;
        match self.head()? {
            (200, None) => Ok(()),
            (status, _) => Err(format!("{method} {path}: {status}, and no stream").into()),
        }
    }

    fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> Result<(), Box<dyn Error>> {
        let body = body.map(Json::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len(),
        );
        Ok(self.0.get_mut().write_all(request.as_bytes())?)
    }

    /// The status, and the length if the answer says it.
    fn head(&mut self) -> Result<(u16, Option<usize>), Box<dyn Error>> {
        let status = self.line()?;
        let status = status
            .split(' ')
            .nth(1)
            .ok_or("an answer has a status")?
            .parse()?;
        let mut length = None;
        loop {
            let line = self.line()?.to_lowercase();
            if line.is_empty() {
                return Ok((status, length));
            }
            if let Some(said) = line.strip_prefix("content-length:") {
                length = Some(said.trim().parse()?);
            }
        }
    }

    fn chunks(&mut self, answer: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
        loop {
            let length = usize::from_str_radix(&self.line()?, 16)?;
            let from = answer.len();
            answer.resize(from + length, 0);
            self.0.read_exact(&mut answer[from..])?;
            self.line()?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        match self.0.read_line(&mut line)? {
            0 => Err("the server hung up".into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}
