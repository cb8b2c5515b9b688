//! Starting browsers, and ending them.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use easel_tools::ToolError;
use easel_tools::browser::{BrowserOpener, BrowserPage, BrowserRequest};
use easel_tools::guard::Allow;
use futures::FutureExt;
use futures::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::gateway::Gateway;
use crate::page::Page;
use crate::pipe::Pipe;

/// Names under which browsers are found that speak the protocol.
const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge",
];

/// How long a browser may take to end by itself.
const END: Duration = Duration::from_secs(5);

/// What each browser is started with. It does what it is told and nothing of its own accord.
const FLAGS: [&str; 27] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=Translate,MediaRouter,OptimizationHints,DnsOverHttps,AsyncDns",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,900",
    // Whatever asks for a name gets none: names are the gateway's to resolve, and there is no way past it.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// How a deployment lets its workflows use browsers.
#[derive(Clone, Debug)]
pub struct BrowserConfig {
    /// The program; `None`: the one that is found, if there is one.
    pub program: Option<PathBuf>,
    /// Whether the browser shuts its pages in by means of the system. Where it cannot, it does not start.
    pub sandbox: bool,
    /// What may be reached beyond the public internet.
    pub allow: Allow,
    /// Whether everything has to go through a proxy of the deployment's. Browsers do not, so then there is none.
    pub proxied: bool,
    /// Where profiles and files of browsers are while they are open; `None`: in the system's folder for such.
    pub folder: Option<PathBuf>,
    /// Browsers open at once. Who wants another one waits.
    pub at_once: usize,
}

impl Default for BrowserConfig {
    /// The program that is found, shut in, on the public internet only, two at once.
    fn default() -> BrowserConfig {
        BrowserConfig {
            program: None,
            sandbox: true,
            allow: Allow::default(),
            proxied: false,
            folder: None,
            at_once: 2,
        }
    }
}

/// Opens browsers.
#[derive(Clone, Debug)]
pub struct Browsers {
    config: Arc<BrowserConfig>,
    allow: Arc<Allow>,
    places: Arc<Semaphore>,
}

impl Browsers {
    /// Browsers as the deployment has them. Nothing is started yet.
    pub fn new(config: BrowserConfig) -> Browsers {
        Browsers {
            allow: Arc::new(config.allow.clone()),
            places: Arc::new(Semaphore::new(config.at_once.max(1))),
            config: Arc::new(config),
        }
    }

    async fn start(&self, request: BrowserRequest) -> Result<Page, ToolError> {
        if self.config.proxied {
            return Err(ToolError::NotAvailable {
                what: "a web browser behind the deployment's proxy".to_owned(),
                instead: "browsers do not go through `proxy` under [http] in easel.toml; fetch pages with a Crawler"
                    .to_owned(),
            });
        }
        let program = match &self.config.program {
            Some(program) => program.clone(),
            None => find_program().ok_or_else(|| ToolError::NotAvailable {
                what: "a web browser".to_owned(),
                instead: "install one (on Debian and Ubuntu: apt install chromium), or name the program under [browser] in easel.toml"
                    .to_owned(),
            })?,
        };
        let place = self.places.clone().acquire_owned().await;
        let place = place.map_err(|error| failed(&error.to_string()))?;
        let running = Running::start(&program, &self.config, self.allow.clone(), place).await?;
        Page::open(running, self.allow.clone(), request).await
    }
}

impl BrowserOpener for Browsers {
    fn open(
        &self,
        request: BrowserRequest,
    ) -> BoxFuture<'_, Result<Box<dyn BrowserPage>, ToolError>> {
        async move {
            let page = self.start(request).await?;
            Ok(Box::new(page) as Box<dyn BrowserPage>)
        }
        .boxed()
    }
}

/// The browser that is installed, if one is.
pub fn find_program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let named = |name: &&str| {
        let paths = folders.iter().map(|folder| folder.join(name));
        paths.into_iter().find(|path| path.is_file())
    };
    NAMES.iter().find_map(named)
}

/// A browser that runs. Dropped, it is killed with all its processes, and its profile is gone.
pub(crate) struct Running {
    pub(crate) pipe: Pipe,
    pub(crate) gateway: Gateway,
    child: Child,
    /// The processes of the browser, as one; `None` once they are ended.
    group: Option<Pid>,
    /// Profile, uploads and downloads; `None` once they are gone.
    folder: Option<TempDir>,
    _place: OwnedSemaphorePermit,
}

pub(crate) fn failed(message: &str) -> ToolError {
    ToolError::Failed {
        what: "the browser".to_owned(),
        message: message.to_owned(),
    }
}

impl Running {
    async fn start(
        program: &Path,
        config: &BrowserConfig,
        allow: Arc<Allow>,
        place: OwnedSemaphorePermit,
    ) -> Result<Running, ToolError> {
        let cannot =
            |error: io::Error| failed(&format!("{} cannot be started: {error}", program.display()));
        let gateway = Gateway::open(allow).await.map_err(cannot)?;
        let folder = tempfile::Builder::new()
            .prefix("easel-browser-")
            .tempdir_in(config.folder.clone().unwrap_or_else(std::env::temp_dir))
            .map_err(cannot)?;
        for name in ["profile", "downloads", "uploads"] {
            std::fs::create_dir(folder.path().join(name)).map_err(cannot)?;
        }
        let (its_read, our_write) = io::pipe().map_err(cannot)?;
        let (our_read, its_write) = io::pipe().map_err(cannot)?;
        let mut command = Command::new(program);
        command
            .args(FLAGS)
            .arg(format!("--proxy-server=http://{}", gateway.address))
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("profile").display()
            ))
            .args((!config.sandbox).then_some("--no-sandbox"))
            .arg("about:blank")
            // Nothing of the server's environment is the browser's, least of all what is secret.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.path())
            .env("LANG", "en_US.UTF-8")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .process_group(0);
        let mappings = vec![
            FdMapping {
                parent_fd: OwnedFd::from(its_read),
                child_fd: 3,
            },
            FdMapping {
                parent_fd: OwnedFd::from(its_write),
                child_fd: 4,
            },
        ];
        command
            .fd_mappings(mappings)
            .map_err(|error| failed(&error.to_string()))?;
        let child = command.spawn().map_err(cannot)?;
        // The browser's ends are its own from here on: when it ends, ours do.
        drop(command);
        let pipe = Pipe::new(OwnedFd::from(our_write), OwnedFd::from(our_read)).map_err(cannot)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let mut running = Running {
            pipe,
            gateway,
            child,
            group: group.and_then(Pid::from_raw),
            folder: Some(folder),
            _place: place,
        };
        running.greet(program, config.sandbox).await?;
        Ok(running)
    }

    /// Sees whether it answers.
    async fn greet(&mut self, program: &Path, sandbox: bool) -> Result<(), ToolError> {
        let version = self.pipe.call(None, "Browser.getVersion", json!({})).await;
        let Err(error) = version else {
            return Ok(());
        };
        let hint = match sandbox {
            true => {
                "; it may not shut its pages in here (as root, or in some containers): run Easel as another user, or set `sandbox = false` \
                 under [browser] in easel.toml"
            }
            false => "",
        };
        let program = program.display();
        Err(failed(&format!("{program} does not answer: {error}{hint}")))
    }

    /// A folder of its own, by its name.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.as_ref().map(TempDir::path);
        folder.unwrap_or(Path::new("")).join(name)
    }

    /// Asks it to end, and waits a little.
    pub(crate) async fn end(&mut self) {
        // One that does not hear it is killed.
        let _ = self.pipe.call(None, "Browser.close", json!({})).await;
        let ended = tokio::time::timeout(END, self.child.wait()).await;
        self.kill();
        if ended.is_err() {
            let _ = self.child.kill().await;
        }
        if let Some(folder) = self.folder.take() {
            // If it cannot be waited for, it is done all the same.
            let _ = tokio::task::spawn_blocking(move || remove(folder)).await;
        }
    }

    /// Kills all its processes, those included that its first one has started.
    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // They may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        if let Some(folder) = self.folder.take() {
            std::thread::spawn(move || remove(folder));
        }
    }
}

/// Removes a folder in which processes that are being ended may still write.
fn remove(folder: TempDir) {
    let path = folder.keep();
    for _ in 0..50 {
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(100));
            }
            _ => break,
        }
    }
}
