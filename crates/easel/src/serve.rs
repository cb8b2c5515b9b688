//! `easel serve`: the server.

mod beacon;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use easel_runtime::clock::TokioClock;
use easel_runtime::{Bounds, Engine};
use easel_server::files::StoredFiles;
use easel_server::host::{Host, HostLimits};
use easel_server::telemetry::Telemetry;
use easel_server::{App, Settings, router, serve};
use easel_store::{FolderLock, Location, Store};
use tokio::net::TcpListener;

use crate::cli::ServeArguments;
use crate::config::Config;
use crate::data;
use crate::exit::Exit;
use crate::memory::StoredMemory;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::run::models_and_tools;
use crate::{kb, keyring};
use beacon::Beacon;

/// Serves until somebody stops it.
pub fn serve(arguments: &ServeArguments) -> Result<Exit, Problem> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime
        .map_err(|error| Problem::usage("No runtime can be started.").because(error.to_string()))?;
    let ended = runtime.block_on(start(arguments));
    runtime.shutdown_background();
    ended
}

async fn start(arguments: &ServeArguments) -> Result<Exit, Problem> {
    let location = arguments.data.location();
    let _lock = lock(&location)?;
    let store = Store::open(&location).await.map_err(data::problem)?;
    let settings = settings(arguments, &location)?;
    let config = Config::read(arguments.world.config.as_deref())?;
    let telemetry = Telemetry::start(config.telemetry.traces().as_ref());
    let telemetry = telemetry.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let engine = engine(arguments, &config, &store, &telemetry)?;
    let limits = HostLimits {
        turns: arguments.turns,
        ..HostLimits::default()
    };
    let host = Host::watched(store.clone(), engine, limits, telemetry);
    let app = App::new(host, settings);
    let locked = app.needs_key().await;
    let locked = locked.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let listen = app.settings.listen;
    if !locked && !listen.ip().is_loopback() {
        return Err(Problem::usage(format!(
            "There is no API key yet, so {listen} is not served: whoever reaches it could do anything."
        ))
        .fix("Make a key first with `easel keys new NAME`, or listen on 127.0.0.1."));
    }
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        Problem::usage(format!("{listen} cannot be listened on."))
            .because(sentence(&error.to_string()))
            .fix("Choose another address with --listen, such as 127.0.0.1:0 for a free port.")
    })?;
    let address = listener.local_addr().unwrap_or(listen);
    let _beacon = Beacon::light(&app, address)?;
    let recovered = app.host.recover().await;
    let recovered = recovered.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    greet(address, &location, locked, recovered);
    let stopping = async {
        stopped().await;
        out::tell("Stopping: turns under way may finish. Once more ends at once.");
        tokio::spawn(async {
            stopped().await;
            std::process::exit(crate::run::INTERRUPTED);
        });
    };
    let left = serve::serve(app.clone(), router(app), listener, stopping).await;
    store.close().await;
    if left > 0 {
        out::tell(&format!(
            "{left} {} under way; the next start goes on with {}.",
            if left == 1 { "turn is" } else { "turns are" },
            if left == 1 { "it" } else { "them" },
        ));
    }
    Ok(Exit::Done)
}

fn lock(location: &Location) -> Result<Option<FolderLock>, Problem> {
    match location {
        Location::Folder(folder) => {
            let lock = Store::lock_folder(folder).map_err(data::problem)?;
            Ok(Some(lock))
        }
        Location::Database(_) => Ok(None),
    }
}

fn settings(arguments: &ServeArguments, location: &Location) -> Result<Settings, Problem> {
    let folder = match location {
        Location::Folder(folder) => Some(folder.clone()),
        Location::Database(_) => None,
    };
    Ok(Settings {
        listen: arguments.listen,
        folder,
        cors: arguments.cors.clone(),
        rate: arguments.rate,
        busy: arguments.busy.into(),
        patience: Duration::from_secs(arguments.patience),
        ..Settings::default()
    })
}

fn engine(
    arguments: &ServeArguments,
    config: &Config,
    store: &Store,
    telemetry: &Telemetry,
) -> Result<Arc<Engine>, Problem> {
    let (models, mut world) = models_and_tools(&arguments.world)?;
    if arguments.world.world.is_none() {
        world = StoredMemory::of(store, world);
        if let Location::Folder(folder) = store.location() {
            // Also where there is none yet: what is made while it serves is found.
            world.retrieval = Arc::new(kb::open(folder)?);
        }
    }
    let bounds = Bounds {
        models: arguments.models,
        tools: arguments.tools,
        code: arguments.code,
    };
    let engine = Engine::builder()
        .clock(Arc::new(TokioClock))
        .bounds(bounds)
        .model(telemetry.model(models))
        .world(StoredFiles::of(store, world))
        .breaker(config.breaker()?)
        .sandbox(config.python.sandbox()?)
        .secrets(keyring::resolver()?)
        .journal(telemetry.journal(Arc::new(store.clone())))
        .build();
    engine.map_err(|error| Problem::usage(sentence(&error.to_string())))
}

fn greet(address: SocketAddr, location: &Location, locked: bool, recovered: usize) {
    out::tell(&format!(
        "Easel serves at http://{address}, data in {location}."
    ));
    if !locked {
        out::tell(
            "There is no API key, so only this machine is served; `easel keys new NAME` makes one.",
        );
    }
    match recovered {
        0 => {}
        1 => out::tell("1 run was under way and goes on."),
        count => out::tell(&format!("{count} runs were under way and go on.")),
    }
}

/// Resolves when somebody asks the server to stop.
async fn stopped() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending::<()>().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
