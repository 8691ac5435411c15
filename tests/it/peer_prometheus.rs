//! The metrics, the alerts and the dashboard with Prometheus itself and its `promtool`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use http::Uri;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::Child;

use crate::support::peers;
use crate::support::program::Visitor;
use crate::support::prometheus::{TOKEN, text, token};
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";
/// Timeout of every wait, far longer than needed.
const PATIENCE: Duration = Duration::from_mins(1);
/// Pause between two questions to Prometheus, which sends no events.
const POLL: Duration = Duration::from_millis(100);

fn deploy(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    folder.join(name).display().to_string()
}

/// A bot that has saved a plan.
async fn used_system() -> System {
    let system = System::with(Options {
        environment: vec![token()],
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    let opened = system.sim.open_issue(REPO, "bob", "Search is slow", PLAN);
    system
        .sim
        .comment(REPO, opened.unwrap(), "ada", "/save-plan")
        .unwrap();
    system.logged("run ended").await;
    system
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promtool_finds_no_fault_in_the_metrics() {
    let Some(promtool) = peers::prometheus("promtool") else {
        return;
    };
    let metrics = text(&used_system().await).await;
    let check = |metrics: &str| {
        let mut child = Command::new(&promtool)
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(metrics.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    };
    assert_eq!(check(&metrics), (true, String::new()));
    let broken = metrics.replace("planwright_deliveries_total", "planwright_deliveries");
    let (fine, said) = check(&broken);
    assert!(!fine && said.contains("planwright_deliveries"), "{said}");
}

#[test]
fn promtool_finds_no_fault_in_the_alerts() {
    let Some(promtool) = peers::prometheus("promtool") else {
        return;
    };
    let check = |file: &str| {
        let checked = Command::new(&promtool)
            .args(["check", "rules", file])
            .output();
        let checked = checked.unwrap();
        (checked.status.success(), format!("{checked:?}"))
    };
    let (fine, said) = check(&deploy("alerts.yaml"));
    assert!(fine, "{said}");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.yaml");
    let text = std::fs::read_to_string(deploy("alerts.yaml")).unwrap();
    std::fs::write(&broken, text.replacen("max by", "max bye", 1)).unwrap();
    let (fine, said) = check(&broken.display().to_string());
    assert!(!fine, "{said}");
}

/// Every alert fires when it should, and none for a bot that works.
#[test]
fn alerts_fire_when_they_should() {
    let Some(promtool) = peers::prometheus("promtool") else {
        return;
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/alerts/tests.yaml");
    let tested = Command::new(promtool)
        .args(["test", "rules"])
        .arg(&tests)
        .output()
        .unwrap();
    assert!(tested.status.success(), "{tested:?}");
    let rules = std::fs::read_to_string(deploy("alerts.yaml")).unwrap();
    let tests = std::fs::read_to_string(tests).unwrap();
    for name in rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
    {
        assert!(tests.contains(&format!("alertname=\"{name}\"")), "{name}");
    }
}

/// Prometheus on a port of its own. It is killed when dropped.
struct Prometheus {
    port: u16,
    _child: Child,
    _folder: TempDir,
}

impl Prometheus {
    /// Starts a server that scrapes `target` every second and evaluates the alerts. `None` if it is
    /// not installed, which is reported.
    async fn start(target: &str) -> Option<Self> {
        let program = peers::prometheus("prometheus")?;
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path.display().to_string()
        };
        let secret = file("token", TOKEN);
        let config = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n\
             rule_files: [{rules:?}]\n\
             scrape_configs:\n\
             - job_name: planwright\n  \
               authorization: {{ credentials_file: {secret:?} }}\n  \
               static_configs: [{{ targets: [{target:?}] }}]\n",
            rules = deploy("alerts.yaml"),
        );
        let config = file("prometheus.yml", &config);
        // Free until Prometheus takes it, as far as this machine's other processes let it.
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = tokio::process::Command::new(program)
            .arg(format!("--config.file={config}"))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--log.level=error")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let server = Self {
            port,
            _child: child,
            _folder: folder,
        };
        let start = Instant::now();
        while tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
        {
            assert!(start.elapsed() < PATIENCE, "Prometheus does not start");
            tokio::time::sleep(POLL).await;
        }
        // It listens before it has read its storage, and answers 503 until then.
        while !server.text("/-/ready").await.contains("Ready") {
            assert!(start.elapsed() < PATIENCE, "Prometheus is not ready");
            tokio::time::sleep(POLL).await;
        }
        Some(server)
    }

    /// Returns the text of the answer to a `GET`.
    async fn text(&self, path: &str) -> String {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let url: Uri = url.parse().unwrap();
        let mut visitor = Visitor { cookie: None };
        let page = visitor.send(http::Request::get(url), String::new()).await;
        page.text
    }

    /// Returns the answer of the API to a `GET`.
    async fn get(&self, path: &str) -> Value {
        let text = self.text(&format!("/api/v1/{path}")).await;
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}"))
    }

    /// Returns the results of a query.
    async fn query(&self, expression: &str) -> Vec<Value> {
        let query: String = url::form_urlencoded::byte_serialize(expression.as_bytes()).collect();
        let answer = self.get(&format!("query?query={query}")).await;
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
        answer["data"]["result"].as_array().unwrap().clone()
    }

    /// Waits until a query has results.
    async fn answers(&self, expression: &str) {
        let start = Instant::now();
        while self.query(expression).await.is_empty() {
            assert!(start.elapsed() < PATIENCE, "no data: {expression}");
            tokio::time::sleep(POLL).await;
        }
    }
}

/// The titles and expressions of the dashboard's panels.
fn panels() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(deploy("grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            found.push((text(&panel["title"]), text(&target["expr"])));
        }
    }
    assert!(found.len() > 20, "{found:#?}");
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_answers_every_query_of_dashboard_and_alerts() {
    let system = used_system().await;
    let address = system.url("");
    let target = address.strip_prefix("http://").unwrap();
    let Some(prometheus) = Prometheus::start(target).await else {
        return;
    };
    prometheus.answers("up{job=\"planwright\"} == 1").await;
    // Rates need two scrapes.
    prometheus
        .answers("count_over_time(planwright_store_up[1m]) >= 2")
        .await;
    for (title, expression) in panels() {
        let expression = expression.replace("$__rate_interval", "1m");
        let found = prometheus.query(&expression).await;
        assert!(!found.is_empty(), "{title}: {expression}");
    }
    // Each rule is evaluated without an error.
    let start = Instant::now();
    let rules = loop {
        let answer = prometheus.get("rules").await;
        let groups = answer["data"]["groups"].as_array().unwrap().clone();
        let rules: Vec<Value> = groups
            .iter()
            .flat_map(|group| group["rules"].as_array().unwrap().clone())
            .collect();
        if !rules.is_empty() && rules.iter().all(|rule| rule["health"] != "unknown") {
            break rules;
        }
        assert!(start.elapsed() < PATIENCE, "the alerts are not evaluated");
        tokio::time::sleep(POLL).await;
    };
    let page = include_str!("../../docs/metrics.md");
    for rule in &rules {
        assert_eq!(rule["health"], "ok", "{rule}");
        assert_eq!(rule["state"], "inactive", "{rule}");
        for text in ["summary", "description"] {
            let text = rule["annotations"][text].as_str().unwrap_or_default();
            assert!(text.len() > 10, "{rule}");
        }
        let name = rule["name"].as_str().unwrap();
        let severity = rule["labels"]["severity"].as_str().unwrap();
        let row = format!("| `{name}` | {severity} |");
        assert!(page.contains(&row), "docs/metrics.md lacks {row}");
    }
    assert_eq!(page.matches("\n| `Planwright").count(), rules.len());
}
