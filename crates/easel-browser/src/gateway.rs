//! The only way out for a browser: a proxy on this machine that dials what the guard lets it dial.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::guard::{Allow, check_url};
use easel_tools::live::resolve_host;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use url::Url;

/// The longest head of a request, in bytes.
const HEAD: usize = 64 << 10;

/// How long a head may take to arrive, and a connection to come about.
const PATIENCE: Duration = Duration::from_secs(15);

/// Connections of one browser at once.
const CONNECTIONS: usize = 256;

/// A gateway. It closes when it is dropped, with all connections through it.
pub(crate) struct Gateway {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    refused: Arc<Mutex<Option<String>>>,
    serving: AbortHandle,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A request as the gateway understands it.
struct Wanted {
    host: String,
    port: u16,
    /// What goes on to the server of what was read; `None`: a tunnel.
    head: Option<Vec<u8>>,
}

impl Gateway {
    pub(crate) async fn open(allow: Arc<Allow>) -> io::Result<Gateway> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let refused = Arc::new(Mutex::new(None));
        let noted = refused.clone();
        let serving = tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(CONNECTIONS));
            // Dropped with this task, it ends all connections.
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let Ok(place) = places.clone().acquire_owned().await else {
                    break;
                };
                let (allow, noted) = (allow.clone(), noted.clone());
                connections.spawn(async move {
                    let _place = place;
                    // A connection that breaks is the browser's to notice.
                    let _ = pass_on(client, &allow, &noted).await;
                });
            }
        });
        Ok(Gateway {
            address,
            refused,
            serving: serving.abort_handle(),
        })
    }

    /// Why the last request was refused that was, since this was asked before.
    pub(crate) fn refusal(&self) -> Option<String> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.take()
    }
}

async fn pass_on(
    mut client: TcpStream,
    allow: &Allow,
    refused: &Mutex<Option<String>>,
) -> io::Result<()> {
    let (head, rest) = timeout(PATIENCE, read_head(&mut client)).await??;
    let dialled = match wanted(&head, allow) {
        Ok(wanted) => dial(&wanted, allow).await.map(|server| (wanted, server)),
        Err(error) => Err(error),
    };
    let (wanted, mut server) = match dialled {
        Ok(dialled) => dialled,
        Err(error) => {
            let text = error.to_string();
            let answer = format!(
                "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                text.len()
            );
            // A name that cannot be found may be one that the browser itself asks for.
            if let ToolError::Blocked(_) = error {
                *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            }
            return client.write_all(answer.as_bytes()).await;
        }
    };
    match wanted.head {
        Some(head) => server.write_all(&head).await?,
        None => {
            let opened = b"HTTP/1.1 200 Connection established\r\n\r\n";
            client.write_all(opened).await?;
        }
    }
    server.write_all(&rest).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// The head of a request, and what came behind it already.
async fn read_head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    const END: &[u8] = b"\r\n\r\n";
    let mut read = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(at) = read.windows(END.len()).position(|bytes| bytes == END) {
            let rest = read.split_off(at + END.len());
            let head = String::from_utf8(read).map_err(|_| io::ErrorKind::InvalidData)?;
            return Ok((head, rest));
        }
        let count = client.read(&mut chunk).await?;
        let new = chunk.get(..count).unwrap_or_default();
        if new.is_empty() || read.len() + new.len() > HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        read.extend_from_slice(new);
    }
}

/// What is asked for. Errors: it may not be had, or it is no request of a browser's.
fn wanted(head: &str, allow: &Allow) -> Result<Wanted, ToolError> {
    let unreadable = |problem: &str| ToolError::InvalidRequest {
        what: "the request of the browser".to_owned(),
        problem: problem.to_owned(),
    };
    let (first, headers) = head
        .split_once("\r\n")
        .ok_or_else(|| unreadable("it has no first line"))?;
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next());
    let target = target.ok_or_else(|| unreadable("it names no target"))?;
    if method == "CONNECT" {
        // Brackets, ports and all are read as those of any address.
        let (url, _) = check_url(&format!("https://{target}"), allow)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let port = target
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        return Ok(Wanted {
            port: port.ok_or_else(|| unreadable("it names no port"))?,
            host,
            head: None,
        });
    }
    let (url, _) = check_url(target, allow)?;
    Ok(Wanted {
        host: url.host_str().unwrap_or_default().to_owned(),
        port: url.port_or_known_default().unwrap_or(80),
        head: Some(passed_on(method, &url, headers)),
    })
}

/// The head as the server gets it: without the name of its host in the first line, and for one request only.
fn passed_on(method: &str, url: &Url, headers: &str) -> Vec<u8> {
    let mut head = format!("{method} {}", url.path());
    if let Some(query) = url.query() {
        head.push('?');
        head.push_str(query);
    }
    head.push_str(" HTTP/1.1\r\n");
    for line in headers.split("\r\n").filter(|line| !line.is_empty()) {
        let name = line.split(':').next().unwrap_or_default().trim();
        let of_the_connection = ["connection", "proxy-connection", "keep-alive"];
        if !of_the_connection
            .iter()
            .any(|of| name.eq_ignore_ascii_case(of))
        {
            head.push_str(line);
            head.push_str("\r\n");
        }
    }
    head.push_str("Connection: close\r\n\r\n");
    head.into_bytes()
}

/// Dials the first address of a host that may be dialled and answers.
async fn dial(wanted: &Wanted, allow: &Allow) -> Result<TcpStream, ToolError> {
    let host = wanted.host.trim_start_matches('[').trim_end_matches(']');
    let addresses = resolve_host(host, wanted.port, allow).await?;
    let failed = |cause: String| ToolError::NoConnection {
        host: wanted.host.clone(),
        cause,
    };
    let mut cause = "it has no address".to_owned();
    for address in addresses {
        match timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(server)) => return Ok(server),
            Ok(Err(error)) => cause = error.to_string(),
            Err(_) => cause = "it does not answer".to_owned(),
        }
    }
    Err(failed(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn asked(gateway: &Gateway, request: &str) -> String {
        let mut client = TcpStream::connect(gateway.address).await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// A server that answers one request with what it was asked.
    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (head, _) = read_head(&mut client).await.unwrap();
                let answer = format!("HTTP/1.1 200 OK\r\n\r\n{head}");
                client.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        address
    }

    #[tokio::test]
    async fn nothing_private_is_dialled() {
        let server = echo().await;
        let gateway = Gateway::open(Arc::new(Allow::default())).await.unwrap();
        for request in [
            format!("GET http://{server}/ HTTP/1.1\r\n\r\n"),
            format!("CONNECT {server} HTTP/1.1\r\n\r\n"),
            "CONNECT localhost:22 HTTP/1.1\r\n\r\n".to_owned(),
            "CONNECT [::1]:22 HTTP/1.1\r\n\r\n".to_owned(),
            "CONNECT [::ffff:169.254.169.254]:80 HTTP/1.1\r\n\r\n".to_owned(),
            "CONNECT 2130706433:80 HTTP/1.1\r\n\r\n".to_owned(),
            "GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n".to_owned(),
            "GET file:///etc/passwd HTTP/1.1\r\n\r\n".to_owned(),
            "GET /etc/passwd HTTP/1.1\r\n\r\n".to_owned(),
        ] {
            let answer = asked(&gateway, &request).await;
            assert!(answer.starts_with("HTTP/1.1 403"), "{request}: {answer}");
            assert!(gateway.refusal().is_some(), "{request}");
            assert!(gateway.refusal().is_none(), "it is told once");
        }
        let odd = asked(&gateway, "odd\r\n\r\n").await;
        assert!(odd.starts_with("HTTP/1.1 403"), "{odd}");
    }

    #[tokio::test]
    async fn a_head_that_does_not_end_is_not_waited_for() {
        let gateway = Gateway::open(Arc::new(Allow::default())).await.unwrap();
        let endless = format!("GET http://a.example/ HTTP/1.1\r\nX: {}", "y".repeat(HEAD));
        let mut client = TcpStream::connect(gateway.address).await.unwrap();
        // The gateway may hang up while this is written.
        let _ = client.write_all(endless.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer).await;
        assert!(answer.is_empty());
    }

    #[tokio::test]
    async fn what_is_allowed_is_passed_on_without_the_headers_of_the_connection() {
        let server = echo().await;
        let allow = Allow::parse([server.to_string().as_str()]).unwrap();
        let gateway = Gateway::open(Arc::new(allow)).await.unwrap();
        let request = format!(
            "GET http://{server}/a?b=1 HTTP/1.1\r\nHost: {server}\r\nProxy-Connection: keep-alive\r\nX: y\r\n\r\n"
        );
        let answer = asked(&gateway, &request).await;
        assert!(
            answer.contains("\r\n\r\nGET /a?b=1 HTTP/1.1\r\n"),
            "{answer}"
        );
        assert!(
            answer.contains("X: y") && !answer.contains("keep-alive"),
            "{answer}"
        );
        let tunnel = format!("CONNECT {server} HTTP/1.1\r\n\r\nGET /t HTTP/1.1\r\n\r\n");
        let answer = asked(&gateway, &tunnel).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("GET /t"),
            "{answer}"
        );
    }
}
