//! A real PostgreSQL for the tests: started once, and gone with the process, however that ends.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// A server that runs.
#[derive(Debug)]
pub struct Cluster {
    port: u16,
    /// Its end closes the pipe, at which the server stops and its files go.
    _keeper: Child,
    databases: AtomicU32,
}

/// The server, or `None` with a loud word if there is no PostgreSQL on this machine.
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    let cluster = CLUSTER.get_or_init(|| match binaries() {
        Some(binaries) => Some(Cluster::start(&binaries)),
        None => {
            eprintln!(
                "\n!! SKIPPED: there is no PostgreSQL on this machine (initdb in PATH or in /usr/lib/postgresql/*/bin); \
                 nothing was tested against it\n"
            );
            None
        }
    });
    cluster.as_ref()
}

/// The folder with `initdb` and `postgres`; the latest version if there are several.
fn binaries() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<PathBuf> = installed
        .map(|version| version.path().join("bin"))
        .collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).filter_map(|folder| {
        // In PATH may be only a link.
        let initdb = folder.join("initdb").canonicalize().ok()?;
        initdb.parent().map(Path::to_owned)
    });
    folders.extend(in_path);
    folders.reverse();
    let whole =
        |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    folders.into_iter().find(whole)
}

/// PostgreSQL does not run as root: then it runs as the user that it came with.
fn as_its_user(program: &Path) -> Command {
    let root = Command::new("id").arg("-u").output().unwrap();
    if root.stdout.trim_ascii() != b"0" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    command.arg(program);
    command
}

impl Cluster {
    fn start(binaries: &Path) -> Cluster {
        let folder = std::env::temp_dir().join(format!("easel-postgres-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        if Command::new("id")
            .arg("-u")
            .output()
            .unwrap()
            .stdout
            .trim_ascii()
            == b"0"
        {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(&folder)
                .status()
                .unwrap();
            assert!(owned.success(), "there is no user postgres");
        }
        let data = folder.join("data");
        let made = as_its_user(&binaries.join("initdb"))
            .args([
                "--username=easel",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--no-locale",
                "-D",
            ])
            .arg(&data)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "initdb: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        // The pipe to the keeper closes when this process ends, also if it is killed.
        let script = "\"$0\" -D \"$1/data\" -p \"$2\" -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200 \
                      -c unix_socket_directories='' >\"$1/log\" 2>&1 & server=$!; \
                      cat >/dev/null; kill -INT $server; wait $server; rm -rf \"$1\"";
        let keeper = as_its_user(Path::new("sh"))
            .args(["-c", script])
            .arg(binaries.join("postgres"))
            .arg(&folder)
            .arg(port.to_string())
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let started = (0..600).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let log = std::fs::File::open(folder.join("log"));
            let lines = log.into_iter().flat_map(|log| BufReader::new(log).lines());
            lines
                .map_while(Result::ok)
                .any(|line| line.contains("ready to accept connections"))
        });
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(started, "PostgreSQL did not start: {log}");
        Cluster {
            port,
            _keeper: keeper,
            databases: AtomicU32::new(0),
        }
    }

    /// The URL of a new, empty database.
    pub async fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let url = format!("postgres://easel@127.0.0.1:{}", self.port);
        let mut connection = PgConnection::connect(&format!("{url}/postgres"))
            .await
            .unwrap();
        let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::raw_sql(create)
            .execute(&mut connection)
            .await
            .unwrap();
        format!("{url}/{name}")
    }

    /// The same from where no runtime is.
    pub fn database_here(&self) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(self.database())
    }
}
