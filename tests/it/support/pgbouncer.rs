//! PgBouncer in transaction mode, in front of a PostgreSQL server.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use url::Url;

use super::{peers, postgres};

/// Maximum time that it takes to start.
const PATIENCE: Duration = Duration::from_mins(1);
/// The first version that keeps prepared statements in transaction mode.
const LEAST: u32 = 21;

/// A running PgBouncer.
pub(crate) struct PgBouncer {
    port: u16,
    keeper: Child,
}

/// Returns the path of the program, and the minor number of its version 1.
fn program() -> Option<(PathBuf, u32)> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/local/bin", "/usr/sbin"].map(PathBuf::from);
    let path = std::env::split_paths(&folders)
        .chain(usual)
        .map(|folder| folder.join("pgbouncer"))
        .find(|path| path.is_file())?;
    let output = Command::new(&path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let minor = text.split_once("PgBouncer 1.")?.1;
    let minor = minor.split('.').next()?.trim().parse().ok()?;
    Some((path, minor))
}

impl PgBouncer {
    /// Starts it in front of the server of `database`, for all of its databases, with this many
    /// prepared statements. `None` if it is not installed or too old, which is reported.
    pub(crate) fn start(database: &Url, prepared: u32) -> Option<Self> {
        let missing = match program() {
            Some((_, minor)) if minor < LEAST => format!("PgBouncer is version 1.{minor}"),
            Some((path, _)) => return Some(Self::run(&path, database, prepared)),
            None => "there is no PgBouncer".to_owned(),
        };
        peers::optional(&format!(
            "{missing}: install the package `pgbouncer`, version 1.{LEAST} or later"
        ));
        None
    }

    fn run(program: &std::path::Path, database: &Url, prepared: u32) -> Self {
        let folder = postgres::folder_of_server();
        let port = postgres::free_port();
        let mut server = format!(
            "* = host={} port={} user={}",
            database.host_str().unwrap(),
            database.port().unwrap_or(5432),
            database.username()
        );
        if let Some(password) = database.password() {
            write!(server, " password={password}").unwrap();
        }
        // Few connections to the server, so that they are shared; given up soon, because each test
        // has a database of its own.
        let settings = format!(
            "[databases]\n{server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\nmax_prepared_statements = {prepared}\nmax_client_conn = 1000\n\
             default_pool_size = 4\nserver_idle_timeout = 1\n"
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        postgres::hand_over(&file);
        let keeper = postgres::keep(&folder, "KILL", program, ["pgbouncer.ini"]);
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                start.elapsed() < PATIENCE,
                "PgBouncer does not start: {}",
                std::fs::read_to_string(folder.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { port, keeper }
    }

    /// Returns the URL of a database behind it.
    pub(crate) fn behind(&self, database: &Url) -> Url {
        let mut url = database.clone();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(self.port)).unwrap();
        url
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// Makes a new database and returns its URL, behind a PgBouncer that tests share. `None` if
/// something is missing, which is reported.
pub(crate) async fn database() -> Option<Url> {
    static SHARED: OnceLock<Option<PgBouncer>> = OnceLock::new();
    let server = postgres::shared()?;
    let shared = SHARED.get_or_init(|| PgBouncer::start(server, 200));
    let bouncer = shared.as_ref()?;
    Some(bouncer.behind(&postgres::database_on(server).await))
}
