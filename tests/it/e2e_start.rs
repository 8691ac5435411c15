//! `planwright serve` starts whatever state GitHub is in: deliveries are stored at once, and runs
//! begin when GitHub has confirmed the App. Only a wrong App id or private key ends it.

use std::net::SocketAddr;
use std::process::Output;
use std::time::Duration;

use github_simulator::{AppKeys, Fault, FaultKind, Simulator};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::Command;
use tokio::time::timeout;

use crate::cli_serve::{PATIENCE, Running, program, refusal, simulator};
use crate::simulator_support::REPO;

const RETRYING: &str = "GitHub has not confirmed the App yet; trying again";
const CONFIRMED: &str = "GitHub has confirmed the App";

/// An address of GitHub that refuses connections until it is opened.
struct Closed(TcpSocket);

impl Closed {
    fn new() -> (Self, SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        (Self(socket), address)
    }

    /// Forwards connections to `simulator` from now on.
    fn open(self, simulator: &Simulator) {
        let target = url::Url::parse(&simulator.url()).unwrap();
        let target = target.socket_addrs(|| None).unwrap().remove(0);
        let listener = self.0.listen(64).unwrap();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut github = TcpStream::connect(target).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut github).await;
                });
            }
        });
    }
}

/// Status and body of a response of the bot.
async fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: bot\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, body.to_owned())
}

/// Returns the reason why the bot is not ready.
async fn not_ready(address: &str) -> String {
    let (status, body) = get(address, "/readyz").await;
    assert_eq!(status, 503, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["ready"], false);
    assert_eq!(body["checks"][0], json!({"name": "store", "ok": true}));
    assert_eq!(body["checks"][1]["name"], "github");
    body["checks"][1]["why"].as_str().unwrap().to_owned()
}

/// Waits until the bot is ready. A result of the check is reused for a second, so this asks as
/// often as it can.
async fn ready(address: &str) {
    let ready = async {
        while get(address, "/readyz").await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ready).await.expect("ready");
}

/// Gives `/save-plan` on an issue with a plan, and returns the status of the delivery.
async fn command(simulator: &Simulator, address: &str) -> Option<u16> {
    let plan = crate::support::rig::PLAN;
    let issue = simulator
        .open_issue(REPO, "ada", "Search is slow", plan)
        .unwrap();
    simulator.settle().await;
    simulator.set_targets(vec![format!("http://{address}/webhook")]);
    simulator.comment(REPO, issue, "ada", "/save-plan").unwrap();
    simulator.settle().await;
    simulator.deliveries().last().unwrap().status_code
}

fn plans(simulator: &Simulator) -> usize {
    let issues = simulator.issues(REPO).unwrap();
    issues.iter().filter(|issue| issue.via_app).count()
}

/// The program without pauses between writes.
fn bot(folder: &std::path::Path, api_url: &str) -> Command {
    let mut command = program(folder, api_url);
    command
        .env("PLANWRIGHT_GITHUB_WRITE_GAP_MS", "0")
        .env("PLANWRIGHT_GITHUB_NOTIFY_GAP_MS", "0");
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_accepted_while_github_is_unreachable_and_executed_when_it_answers() {
    let simulator = simulator().await;
    let (closed, github) = Closed::new();
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut bot(folder.path(), &format!("http://{github}/")));
    let address = running.listening().await;
    let line = running.line(RETRYING).await;
    assert_eq!(line["level"], "WARN");
    let why = line["why"].as_str().unwrap();
    assert!(
        why.starts_with(&format!("GitHub cannot be reached at http://{github}/: "))
            && why.ends_with("; check the network, the firewall and github.api_url"),
        "{why}"
    );
    assert_eq!(get(&address, "/livez").await, (200, "alive\n".to_owned()));
    assert_eq!(
        not_ready(&address).await,
        format!("GitHub has not confirmed the App yet: {why}")
    );
    assert_eq!(command(&simulator, &address).await, Some(202));
    assert_eq!(plans(&simulator), 0);
    closed.open(&simulator);
    assert_eq!(running.line(CONFIRMED).await["slug"], "planwright");
    running.line("run ended").await;
    assert_eq!(plans(&simulator), 1);
    ready(&address).await;
    let retries = running.seen.iter().filter(|line| line.contains(RETRYING));
    assert_eq!(retries.count(), 1, "each reason is logged once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_and_limits_of_github_at_the_start_are_waited_out() {
    let simulator = simulator().await;
    let faults = simulator.faults();
    faults.push(Fault::on("GET", "/app", FaultKind::Unavailable));
    let retry_after = Some(1);
    let limit = FaultKind::SecondaryLimit { retry_after };
    faults.push(Fault::on("GET", "/app", limit));
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut bot(folder.path(), &simulator.api_url()));
    let address = running.listening().await;
    let failed = running.line(RETRYING).await;
    let why = failed["why"].as_str().unwrap();
    assert!(why.contains("GitHub answered 503: "), "{why}");
    assert_eq!(command(&simulator, &address).await, Some(202));
    let limited = running.line(RETRYING).await;
    let why = limited["why"].as_str().unwrap();
    let starts = "GitHub's rate limit for the App is reached until 20";
    assert!(why.starts_with(starts) && why.ends_with('Z'), "{why}");
    running.lines(&[CONFIRMED, "run ended"]).await;
    assert_eq!(plans(&simulator), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_app_is_confirmed_at_every_start_and_another_slug_is_a_warning() {
    let simulator = simulator().await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = bot(folder.path(), &simulator.api_url());
    command.env("PLANWRIGHT_GITHUB_APP_SLUG", "old-name");
    let mut running = Running::start(&mut command);
    let message = "github.app_slug is not the slug of the App; GitHub's is used";
    let line = running.line(message).await;
    assert_eq!(line["level"], "WARN");
    assert_eq!(
        (&line["configured"], &line["slug"]),
        (&json!("old-name"), &json!("planwright"))
    );
    running.line(CONFIRMED).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_or_app_id_ends_the_program_and_is_named() {
    let simulator = simulator().await;
    let other = AppKeys::generate().unwrap();
    for (variable, value, expected) in [
        (
            "PLANWRIGHT_GITHUB_PRIVATE_KEY",
            other.private_pem.expose_secret(),
            "error: GitHub refuses the App's credentials: A JSON web token could not be decoded; the private key is not one \
             of App 4711, or was deleted: compare github.app_id and the key with the App's settings page"
                .to_owned(),
        ),
        (
            "PLANWRIGHT_GITHUB_APP_ID",
            "815",
            format!(
                "error: there is no App with the id 815 at {}; set github.app_id to the App ID on \
                 the App's settings page (not the Client ID, nor the id of an installation), and \
                 check github.api_url",
                url::Url::parse(&simulator.api_url()).unwrap()
            ),
        ),
    ] {
        for slug in ["", "planwright"] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = program(folder.path(), &simulator.api_url());
            command.env("PLANWRIGHT_GITHUB_APP_SLUG", slug);
            let (code, error) = refusal(command.env(variable, value).arg("serve")).await;
            assert_eq!((code, error), (Some(1), expected.clone()), "{variable}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_found_late_ends_the_program_too_and_nothing_accepted_is_lost() {
    let simulator = simulator().await;
    let refuse = Fault::on("GET", "/app", FaultKind::BadCredentials);
    simulator.faults().push(refuse);
    let (closed, github) = Closed::new();
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut bot(folder.path(), &format!("http://{github}/")));
    let address = running.listening().await;
    running.line(RETRYING).await;
    assert_eq!(command(&simulator, &address).await, Some(202));
    closed.open(&simulator);
    let ended = timeout(PATIENCE, running.child.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(1));
    let mut running = Running::start(&mut bot(folder.path(), &simulator.api_url()));
    running.line("run ended").await;
    assert_eq!(plans(&simulator), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_bot_that_waits_for_github_stops_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut program(folder.path(), "http://127.0.0.1:1/"));
    running.line(RETRYING).await;
    let id = running.child.id().unwrap().to_string();
    let asked = Command::new("kill").args(["-TERM", &id]).output().await;
    let Output { status, .. } = asked.unwrap();
    assert!(status.success());
    let ended = timeout(Duration::from_mins(1), running.child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_are_refused_while_it_runs_are_an_error_in_the_log() {
    let simulator = simulator().await;
    let folder = tempfile::tempdir().unwrap();
    let mut bot = bot(folder.path(), &simulator.api_url());
    // A scan would be refused in place of the run.
    bot.env("PLANWRIGHT_SCAN_MAX_REPOSITORIES", "0");
    let mut running = Running::start(&mut bot);
    let address = running.listening().await;
    running.line(CONFIRMED).await;
    let tokens = "/app/installations/*/access_tokens";
    let refuse = Fault::on("POST", tokens, FaultKind::BadCredentials);
    simulator.faults().push(refuse);
    assert_eq!(command(&simulator, &address).await, Some(202));
    let refused = running.line("GitHub refuses the App; the run waits").await;
    assert_eq!(refused["level"], "ERROR");
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("Bad credentials"), "{error}");
}
