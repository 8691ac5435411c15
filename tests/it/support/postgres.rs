//! PostgreSQL for tests: the server that `DATABASE_URL` names, or one that is started from the
//! server's programs on this machine and ends with the tests. Every test has a database of its own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use planwright::adapters::store::{PostgresOptions, SqlStore};
use secrecy::SecretString;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use url::Url;

use super::peers;

/// Maximum time that a server takes to start.
const PATIENCE: Duration = Duration::from_mins(1);

/// Keeps a server running until standard input is closed, which the end of this process does in
/// any case; then sends it a signal and deletes its files. What ends this process from a terminal
/// does not end the keeper.
const KEEPER: &str = r#"
folder=$1; signal=$2; shift 2
"$@" >"$folder/log" 2>&1 &
server=$!
trap '' HUP INT TERM
cat >/dev/null
kill "-$signal" "$server"
wait "$server" 2>/dev/null
rm -rf "$folder"
"#;

/// A server of one's own, which can be stopped and started.
pub(crate) struct Server {
    url: Url,
    programs: PathBuf,
    folder: PathBuf,
    /// Arguments besides the usual ones.
    settings: Vec<String>,
    /// Ends the server when its standard input is closed.
    keeper: Option<Child>,
}

/// Returns the folder of the server's programs, the newest version if there are several.
fn programs() -> Option<PathBuf> {
    let named = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&named).find(|folder| folder.join("initdb").is_file());
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let newest = versions
        .filter_map(|entry| {
            let folder = entry.ok()?.path();
            let version: u32 = folder.file_name()?.to_str()?.parse().ok()?;
            Some((version, folder.join("bin")))
        })
        .max();
    newest.map(|(_, folder)| folder).or(on_path)
}

/// Servers refuse to run as root: root starts them as this user.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

#[cfg(unix)]
fn unprivileged(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}

/// Makes the server's user the owner of a file.
#[cfg(unix)]
pub(super) fn hand_over(path: &Path) {
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// Makes a folder for a server's files.
#[cfg(unix)]
pub(super) fn folder_of_server() -> PathBuf {
    let folder = tempfile::Builder::new()
        .prefix("planwright-server-")
        .tempdir()
        .unwrap()
        .keep();
    hand_over(&folder);
    folder
}

/// Returns a port of 127.0.0.1 at which nobody listens.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server with its files in `folder`. It ends, by this signal, when the standard input of
/// the returned process is closed.
#[cfg(unix)]
pub(super) fn keep<'a>(
    folder: &Path,
    signal: &str,
    program: &Path,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", KEEPER, "sh"])
        .arg(folder)
        .arg(signal)
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped());
    unprivileged(&mut command);
    command.spawn().unwrap()
}

impl Server {
    /// Starts a server with a new, empty folder; `None` if the server is not installed, which is
    /// reported.
    #[cfg(unix)]
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server that encrypts, with a certificate from `fixtures/tls`.
    #[cfg(unix)]
    pub(crate) fn start_with_tls(certificate: &str) -> Option<Self> {
        Self::start_with(&[
            ("ssl", "on"),
            ("ssl_cert_file", certificate),
            ("ssl_key_file", "server.key"),
        ])
    }

    /// Starts a server with these settings. Files of `fixtures/tls` that they name are copied.
    #[cfg(unix)]
    pub(crate) fn start_with(settings: &[(&str, &str)]) -> Option<Self> {
        let Some(programs) = programs() else {
            peers::skipped(
                "there is no PostgreSQL: install its server (package `postgresql`), or name a database in DATABASE_URL",
            );
            return None;
        };
        let folder = folder_of_server();
        let data = folder.join("data");
        let mut initdb = Command::new(programs.join("initdb"));
        initdb
            .args([
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "--locale=C",
                "--pgdata",
            ])
            .arg(&data)
            .current_dir(&folder);
        unprivileged(&mut initdb);
        let made = initdb.output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let private: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        for (_, file) in settings.iter().filter(|(name, _)| name.ends_with("_file")) {
            let copy = data.join(file);
            std::fs::copy(tls_file(file), &copy).unwrap();
            std::fs::set_permissions(&copy, private.clone()).unwrap();
            hand_over(&copy);
        }
        let port = free_port();
        let url = Url::parse(&format!("postgres://postgres@127.0.0.1:{port}/postgres")).unwrap();
        let settings = settings
            .iter()
            .map(|(name, value)| format!("--{name}={value}"))
            .collect();
        let mut server = Self {
            url,
            programs,
            folder,
            settings,
            keeper: None,
        };
        server.resume();
        Some(server)
    }

    /// Starts the stopped server again, with the same files and the same port.
    #[cfg(unix)]
    pub(crate) fn resume(&mut self) {
        let port = self.url.port().unwrap().to_string();
        let data = self.folder.join("data").display().to_string();
        let usual = [
            "-D",
            &data,
            "-p",
            &port,
            "-h",
            "127.0.0.1",
            "-N",
            "300",
            "-c",
            "unix_socket_directories=",
        ];
        let settings = self.settings.iter().map(String::as_str);
        let program = self.programs.join("postgres");
        let arguments = usual.into_iter().chain(settings);
        // At once: a checkpoint of files that are deleted next can take minutes.
        self.keeper = Some(keep(&self.folder, "QUIT", &program, arguments));
        let start = Instant::now();
        while !self.is_ready() {
            assert!(
                start.elapsed() < PATIENCE,
                "PostgreSQL does not start: {}",
                std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_ready(&self) -> bool {
        let mut ready = Command::new(self.programs.join("pg_isready"));
        ready.args(["-q", "-d", self.url.as_str()]);
        ready.status().unwrap().success()
    }

    /// Ends all processes of the server at once, as a crash does, and starts it again.
    #[cfg(unix)]
    pub(crate) fn crash_and_resume(&mut self) {
        self.stop();
        self.resume();
    }

    /// Restarts the server as a standby, which can only be read, or as a primary again.
    #[cfg(unix)]
    pub(crate) fn become_standby(&mut self, standby: bool) {
        self.stop();
        let signal = self.folder.join("data/standby.signal");
        if standby {
            std::fs::write(&signal, "").unwrap();
        } else {
            std::fs::remove_file(&signal).unwrap();
        }
        self.resume();
    }

    #[cfg(unix)]
    fn stop(&mut self) {
        let mut stop = Command::new(self.programs.join("pg_ctl"));
        stop.args(["stop", "--mode=immediate", "--pgdata"])
            .arg(self.folder.join("data"));
        unprivileged(&mut stop);
        let stopped = stop.output().unwrap();
        assert!(
            stopped.status.success(),
            "{}",
            String::from_utf8_lossy(&stopped.stderr)
        );
        // The keeper waits for its standard input and would delete the files: it is killed.
        let mut keeper = self.keeper.take().unwrap();
        keeper.kill().unwrap();
        keeper.wait().unwrap();
    }

    /// Returns the URL of the database that is there from the beginning.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

/// The URL of the server that tests share; `None` if there is none, which is reported.
pub(super) fn shared() -> Option<&'static Url> {
    static SHARED: OnceLock<Option<(Url, Option<Server>)>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        if let Ok(url) = std::env::var("DATABASE_URL") {
            return Some((Url::parse(&url).expect("DATABASE_URL is a URL"), None));
        }
        // No test lets its machine fail.
        let server = Server::start_with(&[("fsync", "off")])?;
        Some((server.url().clone(), Some(server)))
    });
    shared.as_ref().map(|(url, _)| url)
}

/// Returns the path of a file for TLS.
pub(crate) fn tls_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/tls")
        .join(name)
}

/// Makes a new database on the server at `server` and returns its URL.
pub(crate) async fn database_on(server: &Url) -> Url {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let name = format!("planwright_test_{}_{number}", std::process::id());
    let mut connection = PgConnection::connect(server.as_str()).await.unwrap();
    for sql in [
        format!("DROP DATABASE IF EXISTS {name}"),
        format!("CREATE DATABASE {name}"),
    ] {
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    connection.close().await.unwrap();
    let mut url = server.clone();
    url.set_path(&name);
    url
}

/// Makes a new database; `None` if there is no server, which is reported.
pub(crate) async fn database() -> Option<Url> {
    Some(database_on(shared()?).await)
}

/// Opens a store on the database at `url`.
pub(crate) async fn open(url: &Url) -> SqlStore {
    let url = SecretString::from(url.to_string());
    SqlStore::open_postgres(&url, PostgresOptions::default())
        .await
        .unwrap()
}

/// Opens a store on a new database; `None` if there is no server, which is reported.
pub(crate) async fn fresh() -> Option<SqlStore> {
    Some(open(&database().await?).await)
}

/// Deletes everything that stores have kept in the database at `url`. For few rows this is much
/// faster than TRUNCATE, which makes new files.
pub(crate) async fn empty(url: &Url) {
    let mut connection = raw(url).await;
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT relname::text FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
           AND relname NOT IN ('_sqlx_migrations', 'compatibility', 'pulse')
         ORDER BY relname = 'deliveries', EXISTS (SELECT 1 FROM pg_constraint WHERE confrelid = pg_class.oid)",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let delete = tables.iter().map(|table| format!("DELETE FROM {table};"));
    sqlx::raw_sql(AssertSqlSafe(delete.collect::<String>()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// Connects past the store, if the server answers.
pub(super) async fn connect(url: &Url) -> sqlx::Result<PgConnection> {
    // PgBouncer refuses a start-up parameter that it does not know.
    let options = PgConnectOptions::from_url(url)?.extra_float_digits(None::<i8>);
    options.connect().await
}

/// Connects past the store.
pub(crate) async fn raw(url: &Url) -> PgConnection {
    connect(url).await.unwrap()
}

/// Waits until none of these leases, by run and fence, is held: each has ended and its run was
/// claimed again or has ended.
pub(crate) async fn leases_end(url: &Url, held: &[(String, i64)]) {
    let mut connection = raw(url).await;
    let start = Instant::now();
    loop {
        let mut still = 0;
        for (id, fence) in held {
            let held: bool = sqlx::query_scalar(
                "SELECT EXISTS (SELECT 1 FROM runs WHERE id = $1 AND fence = $2 AND state = 'running')",
            )
            .bind(id)
            .bind(fence)
            .fetch_one(&mut connection)
            .await
            .unwrap();
            still += usize::from(held);
        }
        if still == 0 {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{still} leases do not end");
        // The server waits, so that this process need not.
        sqlx::query("SELECT pg_sleep(0.2)")
            .execute(&mut connection)
            .await
            .unwrap();
    }
    connection.close().await.unwrap();
}

/// Ends all other connections to the database.
pub(crate) async fn cut_connections(url: &Url) {
    let mut connection = raw(url).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::query(cut).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
