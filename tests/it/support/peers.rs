//! Installs the peers of `tests/peers` once per target folder, and runs them as processes.
//!
//! The Claude Code client is a separate package because it is large; tests that do not need it do
//! not wait for its installation.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

/// Timeout for each step of a peer.
const PATIENCE: Duration = Duration::from_mins(1);
/// Files that determine the installation.
const INSTALLED: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];
/// Folder of the package manifests and scripts.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers");

/// Packages that are installed together.
struct Packages {
    /// Folder below [`SOURCE`], and below `target/peers`.
    folder: &'static str,
    /// The scripts that use the packages.
    scripts: &'static [&'static str],
}

/// GitHub's own client, framework and published data.
const GITHUB: Packages = Packages {
    folder: "",
    scripts: &[
        "actionlint.mjs",
        "octokit.mjs",
        "probot.mjs",
        "probot-app.mjs",
        "browser.mjs",
        "pages.mjs",
        "setup.mjs",
    ],
};
/// The Claude Code client.
const CLAUDE: Packages = Packages {
    folder: "claude",
    scripts: &[],
};
/// Path of the client in its package folder.
const CLAUDE_PROGRAM: &str = "node_modules/@anthropic-ai/claude-code-linux-x64/claude";

/// Returns the `node_modules` folder with the peers, which are installed on first use.
///
/// If Node.js or npm is missing, prints a line with `skipped` and the remedy and returns `None`.
/// With `CI=true` in the environment it panics instead.
pub(crate) fn peers() -> Option<&'static Path> {
    static PEERS: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PEERS.get_or_init(|| {
        let folder = installed(&GITHUB, tools())?;
        Some(folder.join("node_modules"))
    });
    found.as_deref()
}

/// Returns the path of the Claude Code client, which is installed on first use and has no other
/// dependencies.
///
/// If it cannot be installed or does not run here, prints a line with `skipped` and the remedy and
/// returns `None`. With `CI=true` in the environment it panics instead.
pub(crate) fn claude() -> Option<&'static Path> {
    static CLAUDE_PEER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let runs = cfg!(all(
        target_os = "linux",
        target_arch = "x86_64",
        target_env = "gnu"
    ));
    let found = CLAUDE_PEER.get_or_init(|| {
        let can = if runs {
            tools()
        } else {
            Err("the pinned Claude Code client runs only on Linux on x86-64 with glibc".to_owned())
        };
        let program = installed(&CLAUDE, can)?.join(CLAUDE_PROGRAM);
        assert!(program.is_file(), "{} is missing", program.display());
        Some(program)
    });
    found.as_deref()
}

/// Returns the folder with the programs of `tests/peers/requirements.txt`, which are installed on
/// first use into an environment of their own.
///
/// If Python is missing, prints a line with `skipped` and the remedy and returns `None`. With
/// `CI=true` in the environment it panics instead.
pub(crate) fn python_programs() -> Option<&'static Path> {
    static PROGRAMS: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PROGRAMS.get_or_init(|| {
        let has_venv = Command::new("python3").args(["-m", "ensurepip", "--version"]).output();
        if !has_venv.is_ok_and(|output| output.status.success()) {
            skipped("`python3 -m venv` cannot be run: install Python 3 with its module venv (package python3-venv)");
            return None;
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = target.parent().unwrap_or(target).join("peers-python");
        install_python(&folder).unwrap_or_else(|error| panic!("the peers cannot be installed: {error}"));
        Some(folder.join("environment/bin"))
    });
    found.as_deref()
}

fn install_python(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let guard = File::create(folder.join("lock"))?;
    guard.lock()?;
    let requirements = Path::new(SOURCE).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements)?;
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    fs::write(&stamp, "installing")?;
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"])
        .arg(folder.join("environment"));
    let mut pip = Command::new(folder.join("environment/bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--requirement",
    ])
    .arg(&requirements);
    for command in [&mut venv, &mut pip] {
        let output = command.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{command:?}: {text}")));
        }
    }
    fs::write(stamp, wanted)
}

/// Returns the path of Chromium, which comes from the system.
///
/// If there is none, prints a line with `skipped` and the remedy and returns `None`. With `CI=true`
/// in the environment it panics instead.
pub(crate) fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| usual.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    let found = named.or(found);
    if found.is_none() {
        skipped("there is no Chromium: install the package `chromium`, or name it in CHROMIUM");
    }
    found
}

/// Returns the path of a program of the package `prometheus`, which comes from the system.
///
/// If there is none, prints a line with `skipped` and the remedy and returns `None`. With `CI=true`
/// in the environment it panics instead.
pub(crate) fn prometheus(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    if found.is_none() {
        skipped(&format!(
            "there is no {program}: install the package `prometheus`"
        ));
    }
    found
}

/// Reports a missing peer. With `CI=true` in the environment it panics instead.
pub(crate) fn skipped(missing: &str) {
    let text = format!("skipped: {missing}");
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!ci, "{text}");
    println!("{text}");
}

/// Reports that a test is skipped for want of a program that the package managers of supported
/// systems do not have in a version that is new enough. It is not required in CI.
pub(crate) fn optional(missing: &str) {
    println!("skipped: {missing}");
}

/// Installs `packages` and returns their folder below the target folder. Returns `None` if `can` is
/// an error.
fn installed(packages: &Packages, can: Result<(), String>) -> Option<PathBuf> {
    if let Err(missing) = can {
        skipped(&missing);
        return None;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = target.parent().unwrap_or(target).join("peers");
    let folder = folder.join(packages.folder);
    install(packages, &folder)
        .unwrap_or_else(|error| panic!("the peers cannot be installed: {error}"));
    Some(folder)
}

fn tools() -> Result<(), String> {
    for (name, least) in [("node", 20), ("npm", 8)] {
        let output = Command::new(name).arg("--version").output();
        let output = output.map_err(|error| {
            format!("`{name}` cannot be run ({error}): install Node.js 20 or newer with npm")
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.trim().trim_start_matches('v').to_owned();
        let major = version.split('.').next().and_then(|text| text.parse().ok());
        if major.is_none_or(|major: u32| major < least) {
            return Err(format!(
                "`{name}` is version `{version}`: install Node.js 20 or newer with npm"
            ));
        }
    }
    Ok(())
}

/// Installs the packages of the lock file unless the stamp shows that they are installed. A file
/// lock makes other processes wait.
fn install(packages: &Packages, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let guard = File::create(folder.join("lock"))?;
    guard.lock()?;
    let mut hash = Sha256::new();
    let source = Path::new(SOURCE).join(packages.folder);
    for name in INSTALLED.iter().chain(packages.scripts).copied() {
        let content = fs::read(source.join(name))?;
        let copy = folder.join(name);
        // A script that another process is reading must not be truncated.
        if fs::read(&copy).ok().as_ref() != Some(&content) {
            fs::write(&copy, &content)?;
        }
        if INSTALLED.contains(&name) {
            hash.update(&content);
        }
    }
    let hash = hex::encode(hash.finalize());
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == hash) {
        return Ok(());
    }
    // Invalidated first, so that an interrupted installation does not leave a valid stamp.
    fs::write(&stamp, "installing")?;
    let output = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("npm ci: {text}")));
    }
    fs::write(stamp, hash)
}

/// A running script of `tests/peers`. It is killed when dropped.
pub(crate) struct Script {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// Starts the script `name` with `env`, in the folder of `node_modules`. Returns `None` if the
/// peers are missing.
pub(crate) fn start(name: &str, env: &[(&str, &str)]) -> Option<Script> {
    let folder = peers()?.parent()?;
    let mut child = tokio::process::Command::new("node")
        .arg(name)
        .current_dir(folder)
        .envs(env.iter().copied())
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("node {name} cannot be started: {error}"));
    let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    Some(Script { child, lines })
}

impl Script {
    /// Returns the next line of output, parsed as JSON, or `None` at the end of the output.
    pub(crate) async fn next(&mut self) -> Option<serde_json::Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line
            .expect("a peer prints its next line in time")
            .unwrap()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a JSON line: {line}")))
    }

    /// Sends a line to the script.
    pub(crate) async fn send(&mut self, line: &serde_json::Value) {
        let input = self.child.stdin.as_mut().expect("stdin is piped");
        input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    /// Closes the script's input and waits for its end. Returns the remaining lines and whether the
    /// script succeeded.
    pub(crate) async fn finish(mut self) -> (Vec<serde_json::Value>, bool) {
        drop(self.child.stdin.take());
        let mut rest = Vec::new();
        while let Some(line) = self.next().await {
            rest.push(line);
        }
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let status = status.expect("a peer ends in time").unwrap();
        (rest, status.success())
    }
}
