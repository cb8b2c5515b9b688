//! The loop that answers connections, within limits, and stops gracefully.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderName, HeaderValue, Method, Request, header};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::{App, Settings};

/// Answers connections until `stop` resolves, then lets turns under way come to an end for a while. Gives how many were
/// left to the next process.
pub async fn serve(
    app: Arc<App>,
    router: Router,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> usize {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.settings.connections));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = &mut stop => break,
            accepted = accepted => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of file handles, say: those that close meanwhile make room.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let connection = answer(&app.settings, router.clone(), stream, peer);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away is no fault.
            let _ = watched.await;
            drop(place);
        });
    }
    drop(listener);
    let left = app.host.drain(app.settings.patience).await;
    app.closing.cancel();
    let closing = graceful.shutdown();
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), closing).await;
    app.host.telemetry().flush().await;
    left
}

fn answer(
    settings: &Settings,
    router: Router,
    stream: TcpStream,
    peer: SocketAddr,
) -> impl hyper_util::server::graceful::GracefulConnection + use<> {
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head_time)
        .max_headers(settings.headers)
        .max_buf_size(settings.head_limit)
        .serve_connection(TokioIo::new(stream), service)
}

/// What browsers may do from other pages; nothing unless an origin is allowed.
pub(crate) fn cors(settings: &Settings) -> Option<CorsLayer> {
    if settings.cors.is_empty() {
        return None;
    }
    let origins = settings.cors.iter();
    let origins = origins.filter_map(|origin| HeaderValue::from_str(origin).ok());
    let methods = [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
    ];
    let headers = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        HeaderName::from_static("last-event-id"),
    ];
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods(methods)
        .allow_headers(headers);
    Some(layer)
}
