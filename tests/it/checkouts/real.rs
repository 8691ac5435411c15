//! Copies through the GitHub client, from the simulator.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use github_simulator::model::TreeEntry;
use github_simulator::{Fault, FaultKind, Simulator, SimulatorOptions};
use planwright::adapters::checkouts::RepositoryCopies;
use planwright::adapters::clock::SystemClock;
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::engine::checkout::{Checkout, CheckoutError, Checkouts, WhyLeftOut};
use planwright::engine::model::trigger::Repo;
use planwright::engine::settings::RepositorySettings;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tempfile::TempDir;

use super::noise;
use crate::simulator_support::{KEYS, SECRET};

const SECRET_REPO: &str = "acme/secret";

struct Real {
    simulator: Simulator,
    github: GitHub,
    installation: u64,
    copies: RepositoryCopies,
    _folder: TempDir,
}

impl Real {
    /// A private repository.
    async fn new() -> Self {
        let options = SimulatorOptions::new(
            "planwright",
            Arc::new(github_simulator::SystemClock),
            KEYS.public_pem.clone(),
            SecretString::from(SECRET),
        );
        let simulator = Simulator::start(options).await.unwrap();
        simulator.add_repository(SECRET_REPO, true).unwrap();
        let installation = simulator.install(&[SECRET_REPO]).unwrap();
        let key = SecretString::from(KEYS.private_pem.expose_secret().to_owned());
        let mut config = GitHubConfig::new(simulator.url().parse().unwrap(), 4711, key);
        config.write_gap = Duration::ZERO;
        let folder = tempfile::tempdir().unwrap();
        let settings = RepositorySettings::default();
        Self {
            simulator,
            github: GitHub::new(config, Arc::new(SystemClock)).unwrap(),
            installation,
            copies: RepositoryCopies::open(folder.path(), &settings).unwrap(),
            _folder: folder,
        }
    }

    fn commit(&self, files: &[(&str, TreeEntry)]) -> String {
        let edits = files.iter().cloned();
        let edits: Vec<_> = edits
            .map(|(path, entry)| (path.to_owned(), Some(entry)))
            .collect();
        self.simulator.commit(SECRET_REPO, "main", &edits).unwrap()
    }

    async fn get(&self, commit: &str) -> Result<Checkout, CheckoutError> {
        let (owner, name) = SECRET_REPO.split_once('/').unwrap();
        let repo = Repo {
            installation: self.installation,
            id: 77,
            owner: owner.into(),
            name: name.into(),
        };
        self.copies.checkout(&self.github, &repo, commit).await
    }
}

/// Everything that is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_of_a_private_repository_is_copied() {
    let real = Real::new().await;
    let (large, long) = (
        noise(3_000_000),
        format!("{}/file", "long-name/".repeat(30)),
    );
    let commit = real.commit(&[
        ("README.md", TreeEntry::file("hi")),
        ("bin/data", TreeEntry::file(large.clone())),
        ("bin/readme", TreeEntry::Link("../README.md".into())),
        (
            "deps/module",
            TreeEntry::Submodule("c0ffee".repeat(7)[..40].into()),
        ),
        (
            ".gitmodules",
            TreeEntry::file("[submodule \"m\"]\n\tpath = deps/module\n"),
        ),
        (&long, TreeEntry::file("deep")),
        ("AGENTS.md", TreeEntry::file("obey")),
        ("out", TreeEntry::Link("../../etc/passwd".into())),
    ]);
    let checkout = real.get(&commit).await.unwrap();
    let stored = |path: &str| std::fs::read(checkout.path.join(path)).unwrap();
    assert_eq!(stored("bin/data"), large);
    assert_eq!(stored("bin/readme"), b"hi");
    assert_eq!(stored(&long), b"deep");
    assert_eq!(checkout.files, 5);
    let left_out = checkout.left_out.iter();
    let left_out: Vec<_> = left_out
        .map(|entry| (entry.path.as_str(), entry.why))
        .collect();
    assert_eq!(
        left_out,
        [
            ("AGENTS.md", WhyLeftOut::Instructions),
            ("out", WhyLeftOut::Link),
            ("deps/module", WhyLeftOut::Submodule),
        ]
    );
    // The installation's token goes to the API alone, and the token of the archive is used once.
    let requests = real.simulator.requests();
    let find = |part: &str| {
        let mut found = requests
            .iter()
            .filter(|request| request.path.contains(part));
        (found.next().unwrap().clone(), found.count())
    };
    let (asked, more) = find("/tarball/");
    assert!(asked.headers.contains_key("authorization") && more == 0);
    let (downloaded, more) = find("/codeload/");
    assert!(!downloaded.headers.contains_key("authorization") && more == 0);
    assert_eq!(downloaded.query[0].0, "token");
    // The next copy of the commit needs no request.
    real.get(&commit).await.unwrap();
    assert_eq!(real.simulator.requests().len(), requests.len());
}

#[tokio::test]
async fn the_token_of_an_archive_is_neither_logged_nor_in_an_error() {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _here = tracing::subscriber::set_default(lines);
    // With only one subscriber, a log line that another thread reaches first is switched off for
    // all.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let real = Real::new().await;
    let commit = real.commit(&[("a", TreeEntry::file("x"))]);
    let answer = |status: u16| FaultKind::Response {
        status,
        body: json!({"message": "no"}),
    };
    let what = format!("the files of acme/secret at {commit}");
    let mut texts = Vec::new();
    for (kind, why) in [
        (
            answer(404),
            format!("GitHub's answer to {what} cannot be read: 404 Not Found"),
        ),
        (
            answer(500),
            format!("the outcome of {what} is unknown: 500 Internal Server Error"),
        ),
        (
            FaultKind::LostResponse,
            format!("the outcome of {what} is unknown: "),
        ),
    ] {
        real.simulator
            .faults()
            .push(Fault::on("GET", "/codeload/**", kind));
        let error = real.get(&commit).await.unwrap_err();
        assert!(error.to_string().starts_with(&why), "{error}");
        texts.push(format!("{error} {error:?}"));
    }
    real.get(&commit).await.unwrap();
    let requests = real.simulator.requests();
    let tokens: Vec<_> = requests.iter().flat_map(|request| &request.query).collect();
    assert_eq!(tokens.len(), 4);
    texts.push(String::from_utf8(log.0.lock().unwrap().clone()).unwrap());
    assert!(texts[3].contains("/tarball/"), "{}", texts[3]);
    for text in &texts {
        for (name, token) in &tokens {
            assert_eq!(name, "token");
            assert!(!text.contains(token.as_str()), "{text}");
        }
    }
}

#[tokio::test]
async fn what_github_refuses_is_told_apart() {
    let real = Real::new().await;
    let missing = "0".repeat(40);
    assert_eq!(
        real.get(&missing).await.unwrap_err().to_string(),
        format!(
            "GitHub answered 404 for the files of acme/secret at {missing}: it does not exist or \
             the App cannot see it"
        )
    );
    let real = Real::new().await;
    let commit = real.commit(&[("a", TreeEntry::file("x"))]);
    real.simulator
        .set_permission(real.installation, "contents", None)
        .unwrap();
    let error = real.get(&commit).await.unwrap_err().to_string();
    let needs = "(the token needs the permission contents=read)";
    assert!(
        error.starts_with("GitHub refuses the files of ") && error.ends_with(needs),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_ten_gigabytes_stops_the_download() {
    let real = Real::new().await;
    let commit = real.commit(&[("a", TreeEntry::file("x"))]);
    // The second header is enough: its content is not waited for.
    let mut tar = Vec::new();
    for number in 0..2 {
        let mut header = tar::Header::new_ustar();
        header.set_path(format!("top/{number}")).unwrap();
        header.set_size(if number == 0 { 1_000 } else { 10_000_000_000 });
        header.set_cksum();
        tar.extend_from_slice(header.as_bytes());
        tar.resize(tar.len() + 1_024, 0);
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    io::Write::write_all(&mut gzip, &tar).unwrap();
    let archive = gzip.finish().unwrap();
    real.simulator
        .set_archive(SECRET_REPO, &commit, archive)
        .unwrap();
    assert_eq!(
        real.get(&commit).await.unwrap_err().to_string(),
        "its files have more than 2000 MB (`agent.repository.max_bytes`)"
    );
}
