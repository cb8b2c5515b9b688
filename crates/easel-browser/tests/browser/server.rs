//! Pages on this machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, header};
use tokio::net::TcpListener;

/// A server, and how often it was asked for something.
pub struct Server {
    address: SocketAddr,
    asked: Arc<AtomicU32>,
}

impl Server {
    pub async fn start() -> Server {
        let asked = Arc::new(AtomicU32::new(0));
        let count = asked.clone();
        let app = Router::new().fallback(move |request: Request| async move {
            count.fetch_add(1, Ordering::Relaxed);
            answer(&request)
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Server { address, asked }
    }

    pub fn host(&self) -> String {
        self.address.to_string()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

const FORM: &str = "<title>A form</title><h1>Who are you?</h1><p style='display:none'>unseen</p><p style='visibility:hidden'>unseen</p>\
    <form action=/sent><label>Name <input name=name aria-label=Name></label>\
    <select name=colour aria-label=Colour><option value=r>Red</option><option value=b>Blue</option></select>\
    <input type=checkbox name=agree aria-label=Agree><button>Send</button></form>";

const SCRIPTS: &str = "<p id=p></p><button onclick=\"document.getElementById('p').innerText = 'It said ' + confirm('Sure?')\">Ask</button>\
    <a href=/form target=_blank>Elsewhere</a>";

const FILES: &str = "<input type=file aria-label=Notes onchange=\"this.files[0].text().then(text => \
    document.getElementById('p').innerText = this.files[0].name + ': ' + text)\"><p id=p></p><a href=/report.csv>Report</a>";

/// A page that tries to get at another server in every way there is.
const HOSTILE: &str = "<img src=http://TO/i><iframe src=http://TO/f></iframe><script src=http://TO/s></script>\
    <link rel=stylesheet href=http://TO/c><link rel=prefetch href=http://TO/p><p id=p></p><a href=file:///etc/passwd>File</a>\
    <button onclick=\"const done = []; const end = name => () => { done.push(name); \
    document.getElementById('p').innerText = 'tried ' + done.length; }; \
    fetch('http://TO/1', {mode: 'no-cors'}).then(end('a'), end('a')); \
    fetch('https://TO/2', {mode: 'no-cors'}).then(end('b'), end('b')); \
    const s = new WebSocket('ws://TO/3'); s.onopen = end('c'); s.onerror = end('c'); \
    const e = new EventSource('http://TO/4'); e.onopen = end('d'); e.onerror = () => { e.close(); end('d')(); }; \
    navigator.sendBeacon('http://TO/5', 'x'); end('e')(); \
    fetch('/led?to=TO', {mode: 'no-cors'}).then(end('f'), end('f'));\">All</button>";

fn answer(request: &Request) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default();
    let to = query.strip_prefix("to=").unwrap_or_default();
    let page = match request.uri().path() {
        "/form" => FORM.to_owned(),
        "/sent" => "<p>Thanks!</p>".to_owned(),
        "/scripts" => SCRIPTS.to_owned(),
        "/long" => format!(
            "{}<p>The end.</p>",
            "<p>some words of a page</p>".repeat(800)
        ),
        "/files" => FILES.to_owned(),
        "/hostile" => HOSTILE.replace("TO", to),
        "/cookie" => {
            let cookies = request.headers().get(header::COOKIE);
            let cookies = cookies.map_or("none", |cookies| cookies.to_str().unwrap());
            format!("<p>cookies: {cookies}</p>")
        }
        "/led" => {
            let led = Response::builder().status(302);
            let led = led.header(header::LOCATION, format!("http://{to}/led"));
            return led.body(Body::empty()).unwrap();
        }
        "/report.csv" => {
            let file = Response::builder().header(header::CONTENT_TYPE, "text/csv");
            let file = file.header(
                header::CONTENT_DISPOSITION,
                "attachment; filename=report.csv",
            );
            return file.body(Body::from("a,b")).unwrap();
        }
        _ => "<p>Nothing.</p>".to_owned(),
    };
    let page = format!("<!doctype html><meta charset=utf-8>{page}");
    let answer = Response::builder().header(header::CONTENT_TYPE, "text/html; charset=utf-8");
    let answer = answer.header(header::SET_COOKIE, "seen=yes; Max-Age=3600");
    answer.body(Body::from(page)).unwrap()
}
