//! Through a proxy that really passes requests on.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::http::{HttpRequest, HttpSender};
use easel_tools::live::{HttpConfig, LiveHttp};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::server::Server;

/// A host that nobody but the proxy knows.
const INSIDE: &str = "inside.example";

/// A proxy: it passes on what is for [`INSIDE`] to a server on this machine, and refuses all else.
struct Proxy {
    address: SocketAddr,
    /// The heads of the requests it got.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start(inside: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let log = heads.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass_on(client, inside, log.clone()));
            }
        });
        Proxy { address, heads }
    }

    fn url(&self) -> String {
        format!("http://ada:proxy-word@{}", self.address)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// Reads a head, and either opens a tunnel or sends the request on without the name of its host in the first line.
async fn pass_on(mut client: TcpStream, inside: SocketAddr, log: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match client.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    log.lock().unwrap().push(head.clone());
    let origin = format!("http://{INSIDE}");
    let first = head.lines().next().unwrap_or_default();
    if !first.contains(&origin) {
        let refused = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _ = client.write_all(refused).await;
        return;
    }
    let mut server = TcpStream::connect(inside).await.unwrap();
    let head = head.replacen(&origin, "", 1);
    server.write_all(head.as_bytes()).await.unwrap();
    let _ = copy_bidirectional(&mut client, &mut server).await;
}

fn sender(allow: &[&str], own: Option<String>) -> LiveHttp {
    LiveHttp::new(HttpConfig {
        allow: Allow::parse(allow.iter().copied()).unwrap(),
        proxy: own,
        ..HttpConfig::default()
    })
    .unwrap()
}

/// A request for what is inside, by the proxy that the workflow names.
fn request(path: &str, proxy: Option<String>) -> HttpRequest {
    HttpRequest {
        proxy,
        ..HttpRequest::new("GET", format!("http://{INSIDE}{path}"))
    }
}

#[tokio::test]
async fn a_host_that_only_the_proxy_knows_is_reached_through_it() {
    let inside = Server::echo().await;
    let proxy = Proxy::start(inside.address).await;
    let allowed = sender(&["127.0.0.0/8"], None);
    let unknown = allowed.send(request("/a", None)).await.unwrap_err();
    assert!(matches!(unknown, ToolError::Unresolved { .. }), "{unknown}");
    let answer = allowed
        .send(request("/a", Some(proxy.url())))
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    let seen = inside.seen();
    assert_eq!(
        (&seen[0]["uri"], &seen[0]["headers"]["host"]),
        (&"/a".into(), &INSIDE.into())
    );
    // The account of the proxy is in what the proxy gets.
    let head = proxy.heads().remove(0).to_lowercase();
    assert!(head.contains("proxy-authorization: basic "), "{head}");
}

#[tokio::test]
async fn a_proxy_that_may_not_be_reached_is_not_asked() {
    let inside = Server::echo().await;
    let proxy = Proxy::start(inside.address).await;
    let guarded = sender(&[], None);
    let refused = guarded
        .send(request("/a", Some(proxy.url())))
        .await
        .unwrap_err();
    assert!(matches!(refused, ToolError::Blocked(_)), "{refused}");
    assert!(!refused.to_string().contains("proxy-word"), "{refused}");
    assert!(proxy.heads().is_empty() && inside.seen().is_empty());
}

#[tokio::test]
async fn the_deployments_proxy_needs_no_exception_and_takes_every_request() {
    let inside = Server::echo().await;
    let proxy = Proxy::start(inside.address).await;
    let own = sender(&[], Some(proxy.url()));
    assert_eq!(own.send(request("/a", None)).await.unwrap().status, 200);
    // What is encrypted goes through a tunnel, if the proxy opens one.
    let mut encrypted = request("", None);
    encrypted.url = format!("https://{INSIDE}/");
    let refused = own.send(encrypted).await.unwrap_err();
    assert!(
        matches!(refused, ToolError::NoConnection { .. }),
        "{refused}"
    );
    assert!(!refused.to_string().contains("proxy-word"), "{refused}");
    assert!(proxy.heads()[1].starts_with(&format!("CONNECT {INSIDE}:443 ")));
    // Nobody gets past it to this machine.
    let mut local = request("", None);
    local.url = inside.url("/");
    let refused = own.send(local).await.unwrap_err();
    assert!(matches!(refused, ToolError::Blocked(_)), "{refused}");
}

#[tokio::test]
async fn a_proxy_that_is_away_or_refuses_says_so_without_its_account() {
    let gone = "http://ada:proxy-word@127.0.0.1:1".to_owned();
    let allowed = sender(&["127.0.0.0/8"], None);
    let error = allowed.send(request("/a", Some(gone))).await.unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error}");
    assert!(!error.to_string().contains("proxy-word"), "{error}");
    let inside = Server::echo().await;
    let proxy = Proxy::start(inside.address).await;
    let mut other = request("/a", Some(proxy.url()));
    other.url = "http://elsewhere.example/".to_owned();
    assert_eq!(allowed.send(other).await.unwrap().status, 403);
}
