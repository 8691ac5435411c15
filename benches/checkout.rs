//! Benchmark of copies of repositories: how long a copy takes beyond its download, how much memory,
//! and how fast the same commit is found again.
//!
//! Run with `cargo bench --bench checkout -- [--quick] [--check]`. `benches/README.md` explains
//! what is measured. A child process is the simulated GitHub, so its memory does not count.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes of a benchmark are far below 2^52"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use github_simulator::{AppKeys, Simulator, SimulatorOptions, SystemClock};
use planwright::adapters::checkouts::RepositoryCopies;
use planwright::adapters::clock;
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::engine::checkout::Checkouts;
use planwright::engine::forge::Forge;
use planwright::engine::model::trigger::Repo;
use planwright::engine::settings::RepositorySettings;
use secrecy::{ExposeSecret, SecretString};

/// A result with any error; only its message is used.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// First argument of the child process.
const SERVER: &str = "serve-archive";

const REPOSITORY: &str = "acme/large";

/// Id of the simulated App.
const APP: u64 = 4711;

/// Size of one file, in bytes.
const FILE: usize = 10_000;

/// Maximum time beyond the download.
const MAX_EXTRA: Duration = Duration::from_secs(20);

/// Maximum growth of resident memory, in KiB.
const MAX_GROWTH: u64 = 32 * 1024;

/// Maximum time of the second checkout.
const MAX_AGAIN: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let outcome = runtime.map_err(Into::into).and_then(|runtime| {
        runtime.block_on(async {
            match arguments.first().map(String::as_str) {
                Some(SERVER) => serve(&arguments[1..]).await.map(|()| true),
                _ => measure(&arguments).await,
            }
        })
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("checkout: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves an archive until standard input closes. Arguments: file with the App's public key, number
/// of files.
async fn serve(arguments: &[String]) -> Outcome<()> {
    let [key, files] = arguments else {
        return Err("the key and the number of files are missing".into());
    };
    let options = SimulatorOptions::new(
        "planwright",
        Arc::new(SystemClock),
        std::fs::read_to_string(key)?,
        SecretString::from("secret"),
    );
    let simulator = Simulator::start(options).await?;
    simulator.add_repository(REPOSITORY, true)?;
    let installation = simulator.install(&[REPOSITORY])?;
    let commit = simulator.commit(REPOSITORY, "main", &[])?;
    simulator.set_archive(REPOSITORY, &commit, archive(files.parse()?)?)?;
    println!("{} {installation} {commit}", simulator.url());
    tokio::task::spawn_blocking(|| std::io::stdin().lines().for_each(drop)).await?;
    Ok(())
}

/// Makes an archive of files of text that compresses about as well as source code does.
fn archive(files: usize) -> Outcome<Vec<u8>> {
    let gzip = GzEncoder::new(Vec::new(), Compression::new(6));
    let mut tar = tar::Builder::new(gzip);
    let mut state = 1_u64;
    for number in 0..files {
        let mut text = String::with_capacity(FILE + 16);
        while text.len() < FILE {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&format!("let value_{} = {};\n", state >> 56, state >> 40));
        }
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o664);
        header.set_size(FILE as u64);
        let path = format!(
            "acme-large-1/crates/part-{:03}/src/file-{number}.rs",
            number % 500
        );
        tar.append_data(&mut header, path, &text.as_bytes()[..FILE])?;
    }
    Ok(tar.into_inner()?.finish()?)
}

/// Returns whether no bar is missed or none is checked.
async fn measure(arguments: &[String]) -> Outcome<bool> {
    let (mut files, mut rounds, mut check) = (50_000, 3, false);
    for argument in arguments {
        match argument.as_str() {
            "--quick" => (files, rounds) = (5_000, 1),
            "--check" => check = true,
            // `cargo bench` passes this argument.
            "--bench" => {}
            other => {
                return Err(format!("unknown argument {other}; known: --quick, --check").into());
            }
        }
    }
    // On the disk of the target folder: that for temporary files may be in memory.
    let target = std::env::current_exe()?;
    let folder = tempfile::tempdir_in(target.parent().unwrap_or(Path::new(".")))?;
    let keys = AppKeys::generate()?;
    let key = folder.path().join("key.pem");
    std::fs::write(&key, &keys.public_pem)?;
    let mut child = Command::new(&target)
        .arg(SERVER)
        .arg(&key)
        .arg(files.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let output = child.stdout.take().ok_or("the child has no output")?;
    BufReader::new(output).read_line(&mut line)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let [url, installation, commit] = words.as_slice() else {
        return Err("the child did not start".into());
    };
    let pem = SecretString::from(keys.private_pem.expose_secret().to_owned());
    let config = GitHubConfig::new(url.parse()?, APP, pem);
    let github = GitHub::new(config, Arc::new(clock::SystemClock))?;
    let repo = Repo {
        installation: installation.parse()?,
        id: 1,
        owner: "acme".to_owned(),
        name: "large".to_owned(),
    };
    let mut results = Vec::new();
    for round in 0..rounds {
        results.push(
            once(
                &github,
                &repo,
                commit,
                &folder.path().join(round.to_string()),
            )
            .await?,
        );
    }
    // The child ends when its input closes.
    drop(child.stdin.take());
    child.wait()?;
    Ok(report(files, &results) || !check)
}

/// The figures of one round.
struct Figures {
    download: Duration,
    checkout: Duration,
    again: Duration,
    restart: Duration,
    archive: u64,
    growth: u64,
}

async fn once(github: &GitHub, repo: &Repo, commit: &str, folder: &Path) -> Outcome<Figures> {
    let mut length = 0;
    let mut take = |piece: &[u8]| {
        length += piece.len() as u64;
        true
    };
    let started = Instant::now();
    github.archive(repo, commit, &mut take).await?;
    let download = started.elapsed();
    let settings = RepositorySettings::default();
    let copies = RepositoryCopies::open(folder, &settings)?;
    let before = memory("VmRSS")?;
    // Sets the peak to the present value.
    std::fs::write("/proc/self/clear_refs", "5")?;
    let started = Instant::now();
    let checkout = copies.checkout(github, repo, commit).await?;
    let whole = started.elapsed();
    let growth = memory("VmHWM")?.saturating_sub(before);
    let started = Instant::now();
    let second = copies.checkout(github, repo, commit).await?;
    let again = started.elapsed();
    drop((checkout, second, copies));
    let started = Instant::now();
    let copies = RepositoryCopies::open(folder, &settings)?;
    copies.checkout(github, repo, commit).await?;
    Ok(Figures {
        download,
        checkout: whole,
        again,
        restart: started.elapsed(),
        archive: length,
        growth,
    })
}

/// Returns a value of `/proc/self/status`, in KiB.
fn memory(name: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(value.ok_or("the memory cannot be read")?.parse()?)
}

fn median<T: Ord + Copy>(results: &[Figures], value: impl Fn(&Figures) -> T) -> Option<T> {
    let mut values: Vec<T> = results.iter().map(value).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Prints the medians, and returns whether no bar is missed.
fn report(files: usize, results: &[Figures]) -> bool {
    let time = |value: fn(&Figures) -> Duration| median(results, value).unwrap_or_default();
    let (download, checkout) = (time(|it| it.download), time(|it| it.checkout));
    let (again, restart) = (time(|it| it.again), time(|it| it.restart));
    let extra = checkout.saturating_sub(download);
    let growth = median(results, |it| it.growth).unwrap_or_default();
    let archive = median(results, |it| it.archive).unwrap_or_default();
    println!(
        "{files} files, {} MB, archive of {} MB, {} rounds",
        files * FILE / 1_000_000,
        archive / 1_000_000,
        results.len()
    );
    println!("download alone            {:8.2} s", download.as_secs_f64());
    println!("download and copy         {:8.2} s", checkout.as_secs_f64());
    let ratio = checkout.as_secs_f64() / download.as_secs_f64().max(f64::EPSILON);
    println!("  ratio                   {ratio:8.2}");
    println!("  beyond the download     {:8.2} s", extra.as_secs_f64());
    println!(
        "growth of memory          {:8.1} MiB",
        growth as f64 / 1024.0
    );
    println!(
        "second checkout           {:8.3} ms",
        again.as_secs_f64() * 1e3
    );
    println!(
        "restart and checkout      {:8.3} ms",
        restart.as_secs_f64() * 1e3
    );
    let bars = [
        ("beyond the download: under 20 s", extra < MAX_EXTRA),
        ("growth of memory: under 32 MiB", growth < MAX_GROWTH),
        ("second checkout: under 50 ms", again < MAX_AGAIN),
    ];
    for (bar, met) in bars {
        println!("{} {bar}", if met { "met   " } else { "MISSED" });
    }
    // Errors of standard output are of no interest here.
    let _ = std::io::stdout().flush();
    bars.iter().all(|(_, met)| *met)
}
