//! A real MariaDB for the tests: started once, and gone with the process, however that ends.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The database that there is.
pub const DATABASE: &str = "shop";
/// The user that may do everything in it.
pub const USER: &str = "easel";
/// The user's password.
pub const PASSWORD: &str = "only-for-tests-4711";

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    /// Where it listens, at 127.0.0.1.
    pub port: u16,
    /// Its end closes the pipe, at which the server stops and its files go.
    _keeper: Child,
}

/// The server, begun with these statements, one a line; or `None` with a loud word if there is no MariaDB on this machine.
/// The statements of the first caller count.
pub fn server(statements: &str) -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let programs = [
        "mariadbd",
        "mariadb-install-db",
        // What the one before asks.
        "my_print_defaults",
    ];
    let server = SERVER.get_or_init(|| match programs.map(found) {
        [Some(server), Some(install), Some(_)] => {
            Some(Server::start(&server, &install, statements))
        }
        _ => {
            eprintln!(
                "\n!! SKIPPED: there is no MariaDB on this machine ({}); nothing was tested against it\n",
                programs.join(", ")
            );
            None
        }
    });
    server.as_ref()
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let files = folders.into_iter().map(|folder| folder.join(program));
    files.into_iter().find(|file| file.is_file())
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

impl Server {
    fn start(server: &Path, install: &Path, statements: &str) -> Server {
        let folder = std::env::temp_dir().join(format!("easel-mariadb-{}", std::process::id()));
        let data = folder.join("data");
        std::fs::create_dir_all(&folder).unwrap();
        let user = Command::new("id").arg("-un").output().unwrap();
        let user = String::from_utf8_lossy(user.stdout.trim_ascii()).into_owned();
        let made = Command::new(install)
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--user={user}"))
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "mariadb-install-db: {}{}",
            String::from_utf8_lossy(&made.stdout),
            String::from_utf8_lossy(&made.stderr)
        );
        let begin = folder.join("begin.sql");
        let text = format!(
            "SET NAMES utf8mb4;\n\
             CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4;\n\
             CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}';\n\
             GRANT ALL ON {DATABASE}.* TO {USER}@'%';\n\
             USE {DATABASE};\n{statements}\n"
        );
        std::fs::write(&begin, text).unwrap();
        let port = free_port();
        // The pipe to the keeper closes when this process ends, also if it is killed.
        let script = "\"$0\" --no-defaults --user=\"$3\" --datadir=\"$1/data\" --port=\"$2\" --bind-address=127.0.0.1 \
                      --socket=\"$1/socket\" --pid-file=\"$1/pid\" --init-file=\"$1/begin.sql\" \
                      --skip-name-resolve --innodb-flush-log-at-trx-commit=0 >\"$1/log\" 2>&1 & server=$!; \
                      cat >/dev/null; kill -TERM $server; wait $server; rm -rf \"$1\"";
        let keeper = Command::new("sh")
            .args(["-c", script])
            .arg(server)
            .arg(&folder)
            .arg(port.to_string())
            .arg(user)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        let started = (0..1_200).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            log().contains("ready for connections")
        });
        assert!(started, "MariaDB did not start: {}", log());
        Server {
            port,
            _keeper: keeper,
        }
    }
}
