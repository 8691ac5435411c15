//! `planwright doctor` finds what is wrong: each case is a good set-up in which one thing is broken.

mod place;
mod tls;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;

use github_simulator::{AppKeys, Fault, FaultKind, SimulatorOptions, WebhookFault};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::cli_serve::Running;
use place::{Place, REPO, SECRET, execute};

/// A fault.
struct Case {
    name: &'static str,
    /// How the App is registered.
    registered: fn(&mut SimulatorOptions),
    /// Breaks the set-up.
    fault: fn(&mut Place),
    arguments: &'static [&'static str],
    /// Beginning of the line that is expected.
    line: &'static str,
    /// Part of what was seen.
    seen: &'static str,
    /// Part of the remedy.
    remedy: &'static str,
}

/// A fault of a set-up with an App that is registered well.
fn case(
    name: &'static str,
    line: &'static str,
    seen: &'static str,
    remedy: &'static str,
    fault: fn(&mut Place),
) -> Case {
    Case {
        name,
        registered: |_| {},
        fault,
        arguments: &[],
        line,
        seen,
        remedy,
    }
}

/// Runs the cases and checks that each is found with its remedy, and with the right exit code.
async fn check(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let mut place = Place::new(case.registered).await;
        (case.fault)(&mut place);
        let said = place.doctor(case.arguments).await;
        // The paths differ from run to run.
        let folder = place.folder().canonicalize().unwrap();
        let text = said.out.replace(&folder.display().to_string(), "DIR");
        let lines: Vec<&str> = text.lines().collect();
        let found = lines.windows(2).any(|pair| {
            let remedy = pair[1].strip_prefix("         to do: ");
            pair[0].starts_with(case.line)
                && pair[0].contains(case.seen)
                && remedy.is_some_and(|remedy| remedy.contains(case.remedy))
        });
        let code = i32::from(text.contains("\nerror ") || text.starts_with("error "));
        if !found || said.code != code {
            wrong.push(format!(
                "{} ({}): {text}\n{}",
                case.name, said.code, said.error
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Returns the results that are not `ok`, except those about the disk that the tests run on.
fn alarms(text: &str) -> Vec<&str> {
    let results = text.lines().filter(|line| line.contains(": "));
    let results = results.filter(|line| !line.starts_with("ok ") && !line.starts_with(' '));
    let disk = ["store.space:", "store.disk:", "store.sync:"];
    results
        .filter(|line| !disk.iter().any(|name| line.contains(name)))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_the_configuration_are_found() {
    check(vec![
        case(
            "unknown key",
            "error    configuration: planwright.toml:2: unknown key `server.listn`",
            "did you mean `server.listen`?",
            "`planwright config --default` prints every key",
            |place| {
                place.write("planwright.toml", "[server]\nlistn = 'x'\n");
            },
        ),
        case(
            "value out of range",
            "error    configuration: ",
            "PLANWRIGHT_WORKER_CONCURRENCY",
            "`planwright config --default` prints every key with its allowed values",
            |place| place.set("PLANWRIGHT_WORKER_CONCURRENCY", "0"),
        ),
        Case {
            arguments: &["--config", "missing.toml"],
            ..case(
                "configuration file missing",
                "error    configuration: the configuration file missing.toml cannot be read",
                "No such file",
                "check the path and the permissions of the file",
                |_| {},
            )
        },
        case(
            "variable without effect",
            "warning  configuration: the environment variable PLANWRIGHT_SERVER_LISTN sets nothing",
            "",
            "did you mean PLANWRIGHT_SERVER_LISTEN?",
            |place| place.set("PLANWRIGHT_SERVER_LISTN", "127.0.0.1:1"),
        ),
        case(
            "no webhook secret",
            "error    configuration: a webhook secret is not set",
            "",
            "set PLANWRIGHT_WEBHOOK_SECRETS or webhook.secrets_file",
            |place| place.unset("PLANWRIGHT_WEBHOOK_SECRETS_FILE"),
        ),
        case(
            "empty webhook secret",
            "error    configuration: DIR/webhook-secrets: ",
            "holds no webhook secret",
            "`openssl rand -hex 32` makes a webhook secret",
            |place| {
                place.write("webhook-secrets", "\n");
            },
        ),
        case(
            "short webhook secret",
            "warning  configuration: DIR/webhook-secrets: ",
            "a webhook secret is shorter than 16 characters",
            "`openssl rand -hex 32`",
            |place| {
                place.write("webhook-secrets", "abcdefghij");
            },
        ),
        case(
            "repetitive webhook secret",
            "warning  secrets.webhook: ",
            "fewer than 8 different characters",
            "`openssl rand -hex 32`",
            |place| {
                place.write("webhook-secrets", &"ab".repeat(20));
            },
        ),
        case(
            "no App id",
            "error    configuration: the App's id is not set",
            "",
            "set github.app_id or PLANWRIGHT_GITHUB_APP_ID",
            |place| place.unset("PLANWRIGHT_GITHUB_APP_ID"),
        ),
        case(
            "no private key",
            "error    configuration: the App's private key is not set",
            "",
            "set PLANWRIGHT_GITHUB_PRIVATE_KEY or github.private_key_file",
            |place| place.unset("PLANWRIGHT_GITHUB_PRIVATE_KEY_FILE"),
        ),
        case(
            "private key file missing",
            "error    configuration: DIR/none.pem: ",
            "cannot be read: No such file",
            "correct the file or the variable",
            |place| {
                let path = place.path("none.pem");
                place.set("PLANWRIGHT_GITHUB_PRIVATE_KEY_FILE", &path);
            },
        ),
        case(
            "damaged private key",
            "error    secrets.key: ",
            "is not an RSA private key in PEM form",
            "it is damaged, incomplete or of another kind than RSA: on the App's settings page, under Private keys",
            |place| {
                place.write(
                    "app.pem",
                    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n",
                );
            },
        ),
        case(
            "encrypted private key",
            "error    secrets.key: ",
            "",
            "it is encrypted: decrypt it, or",
            |place| {
                place.write("app.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE\n");
            },
        ),
        case(
            "SSH key",
            "error    secrets.key: ",
            "",
            "it is a key for SSH: on the App's settings page",
            |place| {
                place.write("app.pem", "-----BEGIN OPENSSH PRIVATE KEY-----\nMIIE\n");
            },
        ),
        case(
            "public key",
            "error    secrets.key: ",
            "",
            "it is not a private key: on the App's settings page",
            |place| {
                place.write("app.pem", "-----BEGIN PUBLIC KEY-----\nMIIE\n");
            },
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_files_and_the_database_are_found() {
    check(vec![
        case(
            "key readable by everybody",
            "error    files: DIR/app.pem (the private key) can be used by every user (mode 0644)",
            "",
            "chmod 600 ",
            |place| place.mode("app.pem", 0o644),
        ),
        case(
            "webhook secrets readable by the group",
            "error    files: DIR/webhook-secrets (the webhook secrets) can be used by its group (mode 0640)",
            "",
            "chmod 600 ",
            |place| place.mode("webhook-secrets", 0o640),
        ),
        case(
            "database readable by everybody",
            "error    files: DIR/planwright.db (the database) can be used by every user (mode 0644)",
            "",
            "chmod 600 ",
            |place| place.mode("planwright.db", 0o644),
        ),
        case(
            "configuration that everybody can change",
            "error    files: planwright.toml can be changed by every user (mode 0666)",
            "",
            "chmod go-w planwright.toml",
            |place| {
                place.write("planwright.toml", "");
                place.mode("planwright.toml", 0o666);
            },
        ),
        case(
            "folder that everybody can write to",
            "error    files: every user can replace the files in DIR (mode 0777)",
            "",
            "chmod o-w ",
            |place| place.mode("", 0o777),
        ),
        case(
            "folder of the database missing",
            "error    store: ",
            "/none/planwright.db for writing: No such file",
            "make the directory first, or name another database path",
            |place| {
                let path = place.path("none/planwright.db");
                place.set("PLANWRIGHT_STORE_PATH", &path);
            },
        ),
        case(
            "database is a folder",
            "error    store: ",
            "it is not a regular file",
            "name another database path",
            |place| {
                let path = place.path("");
                place.set("PLANWRIGHT_STORE_PATH", &path);
            },
        ),
        case(
            "not a database",
            "error    store: ",
            "cannot open the database",
            "the path names another kind of file; choose another path",
            |place| {
                fs::remove_file(place.path("planwright.db.changes")).unwrap();
                place.write("planwright.db", &"This is a text. ".repeat(100));
            },
        ),
        case(
            "database of another program",
            "error    store: ",
            "is the database of another program",
            "choose another path",
            |place| {
                let other = place.folder().join("other.db");
                execute(&other, "CREATE TABLE songs (title TEXT)");
                place.mode("other.db", 0o600);
                place.set("PLANWRIGHT_STORE_PATH", &other.display().to_string());
            },
        ),
        case(
            "PostgreSQL does not answer",
            "error    store: cannot connect to the database at 127.0.0.1:9/planwright",
            "Connection refused",
            "check host and port in store.url, and that the server accepts connections",
            |place| place.set("PLANWRIGHT_STORE_URL", "postgres://bot@127.0.0.1:9/planwright"),
        ),
        case(
            "lost database",
            "error    store: the database has lost changes",
            "is missing, and",
            "put the database back with its -wal file",
            |place| fs::remove_file(place.database()).unwrap(),
        ),
        case(
            "database of a newer version",
            "error    store.schema: a newer planwright wrote the database",
            "",
            "install the newer version",
            |place| {
                execute(
                    &place.database(),
                    "INSERT INTO _sqlx_migrations SELECT version + 1, description, installed_on, success, checksum, \
                     execution_time FROM _sqlx_migrations ORDER BY version DESC LIMIT 1",
                );
            },
        ),
        case(
            "database of an older version",
            "warning  store.schema: an older planwright wrote the database",
            "",
            "the next start updates it",
            |place| {
                execute(
                    &place.database(),
                    "DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)",
                );
            },
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_the_connection_and_the_app_are_found() {
    check(vec![
        case(
            "nobody listens",
            "error    github: GitHub cannot be reached at http://127.0.0.1:1/",
            "refused",
            "nothing listens at 127.0.0.1:1: check github.api_url and the firewall",
            |place| place.set("PLANWRIGHT_GITHUB_API_URL", "http://127.0.0.1:1"),
        ),
        case(
            "not TLS",
            "error    github: GitHub cannot be reached at https://",
            "InvalidContentType",
            "does not speak TLS: check the scheme and the port of github.api_url",
            |place| {
                let authority = place.write("authority.pem", tls::OTHER_AUTHORITY);
                place.set("SSL_CERT_FILE", &authority);
                let url = place.sim.api_url().replace("http://", "https://");
                place.set("PLANWRIGHT_GITHUB_API_URL", &url);
            },
        ),
        case(
            "certificate of an unknown authority",
            "error    github: GitHub cannot be reached at https://",
            "UnknownIssuer",
            "add the authority's certificate to the system's trust store",
            |place| {
                let authority = place.write("authority.pem", tls::OTHER_AUTHORITY);
                place.set("SSL_CERT_FILE", &authority);
                place.set("PLANWRIGHT_GITHUB_API_URL", &tls::start());
            },
        ),
        case(
            "a proxy is configured that is not used",
            "error    github: ",
            "refused",
            "HTTPS_PROXY is set, but planwright uses no proxy for GitHub",
            |place| {
                place.set("PLANWRIGHT_GITHUB_API_URL", "http://127.0.0.1:1");
                place.set("HTTPS_PROXY", "http://user:secret@proxy.example:3128");
            },
        ),
        case(
            "a proxy asks for a password",
            "error    github: a proxy between this computer and",
            "asks for a password",
            "directly; planwright uses no proxy for GitHub",
            |place| place.answers("GET", "/app", 407, json!({})),
        ),
        case(
            "another service",
            "error    github: GitHub's answer to the App itself cannot be read",
            "",
            "is github.api_url the address of GitHub's REST API?",
            |place| place.answers("GET", "/app", 200, json!("hello")),
        ),
        case(
            "outage",
            "error    github: GitHub at ",
            "GitHub answered 502",
            "https://www.githubstatus.com",
            |place| place.answers("GET", "/app", 502, json!({})),
        ),
        case(
            "clock is late",
            "warning  github.clock: this computer's clock is 4",
            " s behind GitHub's",
            "synchronise the clock with NTP",
            |place| place.ahead.store(45_000, Ordering::SeqCst),
        ),
        case(
            "clock is wrong",
            "error    github.clock: this computer's clock is ",
            " s ahead of GitHub's, and GitHub refuses tokens with such times",
            "synchronise the clock with NTP",
            |place| place.ahead.store(-10_800_000, Ordering::SeqCst),
        ),
        case(
            "wrong App id",
            "error    github.app: there is no App with the id 4712",
            "",
            "set github.app_id to the App ID on the App's settings page (not the Client ID",
            |place| place.set("PLANWRIGHT_GITHUB_APP_ID", "4712"),
        ),
        case(
            "key of another App",
            "error    github.app: GitHub refuses the App's credentials: A JSON web token could not be decoded",
            "",
            "the private key is not one of App 4711, or was deleted",
            |place| {
                let other = AppKeys::generate().unwrap();
                place.write("app.pem", other.private_pem.expose_secret());
            },
        ),
        case(
            "wrong slug",
            "warning  github.slug: github.app_slug is `planright`, but the App is called `planwright`",
            "",
            "set github.app_slug to `planwright`, or leave it out",
            |place| place.set("PLANWRIGHT_GITHUB_APP_SLUG", "planright"),
        ),
        Case {
            registered: |options| {
                options
                    .permissions
                    .insert("issues".to_owned(), "read".to_owned());
            },
            ..case(
                "permission too weak",
                "error    github.permissions: the App has `read` for `issues`, but needs `write`",
                "saving plans",
                "under Permissions & events, set `issues` to `write`",
                |_| {},
            )
        },
        Case {
            registered: |options| {
                options.permissions.remove("checks");
            },
            ..case(
                "permission missing",
                "error    github.permissions: the App has no access for `checks`, but needs `write`",
                "/check-plan",
                "set `checks` to `write`; then the owner of each installation has to accept it",
                |_| {},
            )
        },
        Case {
            registered: |options| options.events.retain(|event| event != "issue_comment"),
            ..case(
                "event missing",
                "error    github.events: the App is not subscribed to `issue_comment`",
                "commands in comments do not arrive",
                "subscribe to `issue_comment`",
                |_| {},
            )
        },
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_installations_are_found() {
    check(vec![
        case(
            "not installed",
            "error    installations: the App is not installed anywhere",
            "",
            "/apps/planwright/installations/new",
            |place| place.sim.uninstall(place.installation).unwrap(),
        ),
        case(
            "suspended",
            "error    installation: the installation of acme is suspended",
            "",
            "its owner has to unsuspend it: http",
            |place| place.sim.suspend(place.installation).unwrap(),
        ),
        case(
            "permission not accepted",
            "error    installation: acme has not accepted what the App needs: `checks: write`",
            "",
            "its owner has to accept the new permissions (Review request): http",
            |place| {
                let changed = place.sim.set_permission(place.installation, "checks", None);
                changed.unwrap();
            },
        ),
        case(
            "no repositories",
            "warning  installation: the installation of planwright-labs has no repositories",
            "",
            "select some: http",
            |place| {
                place.sim.install(&[]).unwrap();
            },
        ),
        case(
            "few requests left",
            "warning  installation.requests: acme: only 12 of 5000 requests are left until 2100-01-01T00:00:00Z",
            "",
            "wait until then; raise sweep.every_seconds",
            |place| {
                let rate = json!({"limit": 5000, "remaining": 12, "reset": 4_102_444_800_i64});
                place.answers("GET", "/rate_limit", 200, json!({"rate": rate}));
            },
        ),
        case(
            "no requests left",
            "error    installation.requests: acme: no requests are left until 20",
            "",
            "wait until then; raise sweep.every_seconds",
            |place| {
                let reset = chrono::Utc::now() + std::time::Duration::from_mins(30);
                let limit = FaultKind::PrimaryLimit { reset };
                let fault = Fault::on("GET", "/installation/repositories", limit);
                place.sim.faults().push(fault);
            },
        ),
        case(
            "address not on the organisation's list",
            "error    installation: GitHub refuses ",
            "IP allow list",
            "add this host's IP address to the organization's allow list",
            |place| {
                let message = "Although you appear to have the correct authorization credentials, the `acme` organization has an \
                               IP allow list enabled, and your IP address is not permitted to access this resource.";
                let body = json!({"message": message});
                place.answers("GET", "/installation/repositories", 403, body);
            },
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_the_webhook_are_found() {
    check(vec![
        case(
            "no URL",
            "error    webhook: the App has no webhook URL",
            "",
            "tick Active under Webhook and set the URL to https://YOUR-HOST/webhook",
            |place| place.sim.set_targets(Vec::new()),
        ),
        case(
            "another path",
            "error    webhook: its URL has the path /hooks, but the bot answers at /webhook",
            "",
            "or server.webhook_path to /hooks",
            |place| {
                place
                    .sim
                    .set_targets(vec![format!("{}/hooks", place.receiver)]);
                place.sim.ping();
            },
        ),
        case(
            "form-encoded",
            "error    webhook: its content type is `form`",
            "status 415",
            "set it to application/json",
            |place| place.hook("content_type", &json!("form")),
        ),
        case(
            "not signed",
            "error    webhook: it has no secret",
            "status 401",
            "set the secret of the configuration on the App's settings page",
            |place| place.hook("secret", &json!(null)),
        ),
        case(
            "certificate not verified",
            "warning  webhook: GitHub does not verify the certificate of its URL",
            "",
            "enable SSL verification",
            |place| place.hook("insecure_ssl", &json!("1")),
        ),
        case(
            "no TLS",
            "warning  webhook: its URL, http://bot.example/webhook, is not https",
            "",
            "put a reverse proxy with TLS in front of the bot",
            |place| place.hook("url", &json!("http://bot.example/webhook")),
        ),
        case(
            "other webhook secret",
            "error    deliveries: the last 1 of 2 attempts failed",
            "with 401 (Invalid HTTP Response: 401)",
            "set the same webhook secret in the App's settings and in the bot's configuration",
            |place| place.delivery_fails(401),
        ),
        case(
            "not found",
            "error    deliveries: ",
            "with 404",
            "let the webhook URL end in /webhook (server.webhook_path)",
            |place| place.delivery_fails(404),
        ),
        case(
            "body too large",
            "error    deliveries: ",
            "with 413",
            "raise the reverse proxy's limit for bodies to 25 MiB",
            |place| place.delivery_fails(413),
        ),
        case(
            "other App",
            "error    deliveries: ",
            "with 421",
            "compare github.app_id and the webhook URLs of your Apps",
            |place| place.delivery_fails(421),
        ),
        case(
            "proxy does not reach the running bot",
            "error    deliveries: ",
            "with 502 (Invalid HTTP Response: 502)",
            "the proxy forwards to 127.0.0.1:0",
            |place| {
                place.lock();
                place.delivery_fails(502);
            },
        ),
        case(
            "nobody answers although the bot is running",
            "error    deliveries: ",
            "with 502 (failed to connect to host)",
            "nobody answers at the webhook URL",
            |place| {
                place.lock();
                let nobody = "http://127.0.0.1:1/webhook".to_owned();
                place.sim.set_targets(vec![nobody]);
                place.sim.ping();
            },
        ),
        case(
            "timeouts although the bot is running",
            "error    deliveries: ",
            "with 504",
            "there was no answer within 10 s",
            |place| {
                place.lock();
                place.delivery_fails(504);
            },
        ),
        case(
            "the bot is not running",
            "skipped  deliveries: ",
            "with 504",
            "start it with `planwright serve`",
            |place| place.delivery_fails(504),
        ),
        case(
            "no deliveries at all",
            "error    deliveries: GitHub's log has none, not even for the installation of acme",
            "",
            "tick Active under Webhook",
            |place| place.answers("GET", "/app/hook/deliveries", 200, json!([])),
        ),
        case(
            "log cannot be read",
            "error    deliveries: GitHub at ",
            "GitHub answered 500",
            "try again later",
            |place| place.answers("GET", "/app/hook/deliveries", 500, json!({})),
        ),
        case(
            "port in use",
            "error    listen: another program listens at 127.0.0.1:",
            "",
            "end it, or set server.listen to another port",
            |place| {
                // A service that is not the bot: the simulator.
                let address = place.sim.url().replace("http://", "");
                place.set("PLANWRIGHT_SERVER_LISTEN", &address);
            },
        ),
        case(
            "address of another computer",
            "error    listen: 192.0.2.1:8300 cannot be listened on",
            "",
            "it is not an address of this computer",
            |place| place.set("PLANWRIGHT_SERVER_LISTEN", "192.0.2.1:8300"),
        ),
        case(
            "the bot listens elsewhere",
            "warning  listen: a bot uses the database, but nobody listens at 127.0.0.3:",
            "",
            "check that the bot runs with the same server.listen",
            |place| {
                place.lock();
                // Nothing else uses this loopback address, nor the port while it is kept.
                let other = TcpListener::bind("127.0.0.2:0").unwrap();
                let port = other.local_addr().unwrap().port();
                place.keep(other);
                place.set("PLANWRIGHT_SERVER_LISTEN", &format!("127.0.0.3:{port}"));
            },
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_the_agent_are_found() {
    const GOOD: &str = "#!/bin/sh\necho '2.1.329 (Claude Code)'\n";
    check(vec![
        case(
            "program missing",
            "error    agent: the agent's program: DIR/none does not exist",
            "",
            "install it, or set agent.path to its path",
            |place| {
                place.agent(GOOD);
                let path = place.folder().canonicalize().unwrap().join("none");
                place.set("PLANWRIGHT_AGENT_PATH", &path.display().to_string());
            },
        ),
        case(
            "program not set",
            "error    agent: the agent's program is not set",
            "",
            "set agent.path or PLANWRIGHT_AGENT_PATH",
            |place| place.set("PLANWRIGHT_AGENT_KIND", "command"),
        ),
        case(
            "program not executable",
            "error    agent: the agent's program: ",
            "cannot be run",
            "make it executable (chmod +x)",
            |place| {
                place.agent(GOOD);
                place.mode("agent", 0o600);
            },
        ),
        case(
            "program fails",
            "error    agent: ",
            "--version ended with exit status: 3: no Node.js",
            "run it yourself with --version",
            |place| place.agent("#!/bin/sh\necho 'no Node.js' >&2\nexit 3\n"),
        ),
        case(
            "key refused",
            "error    agent.credentials: the model's API refuses the key (status 401)",
            "",
            "create a new key",
            |place| {
                place.agent(GOOD);
                place.model(401);
            },
        ),
        case(
            "model's API unreachable",
            "error    agent.credentials: the model's API cannot be asked: 127.0.0.1 cannot be reached",
            "refused",
            "check agent.api_url, the network and the firewall",
            |place| {
                place.agent(GOOD);
                place.set("PLANWRIGHT_AGENT_API_URL", "http://127.0.0.1:1");
            },
        ),
        case(
            "no credentials",
            "warning  configuration: agent.kind is \"claude\", but it has no credentials for the model's API",
            "",
            "set PLANWRIGHT_AGENT_API_KEY",
            |place| {
                place.agent(GOOD);
                place.unset("PLANWRIGHT_AGENT_API_KEY");
            },
        ),
        case(
            "network that cannot be restricted",
            "warning  agent.sandbox: agents could reach the network past planwright's proxy",
            "agent.sandbox is \"off\"",
            "set agent.sandbox to \"required\" to refuse to start agents, or agent.network to \"open\"",
            |place| {
                place.agent(GOOD);
                place.model(200);
                place.set("PLANWRIGHT_AGENT_NETWORK", "model");
            },
        ),
        case(
            "folder cannot be used",
            "error    agent.folder: ",
            "is not a folder that this user may write to",
            "set agent.folder to a folder of the bot's user",
            |place| {
                place.agent(GOOD);
                place.model(200);
                let path = place.path("app.pem/agents");
                place.set("PLANWRIGHT_AGENT_FOLDER", &path);
            },
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_a_repository_are_found() {
    const LOOP: &[&str] = &["--repo", REPO, "--issue", "1", "--wait", "1"];
    let tried = |case: Case| Case {
        arguments: LOOP,
        ..case
    };
    check(vec![
        Case {
            arguments: &["--repo", "acme/elsewhere"],
            ..case(
                "not installed in the repository",
                "error    repository: the App is not installed in acme/elsewhere",
                "",
                "add the repository to the installation",
                |place| {
                    place.sim.add_repository("acme/elsewhere", false).unwrap();
                },
            )
        },
        tried(case(
            "archived",
            "error    repository: no plan can be saved in acme/search: it is archived",
            "",
            "change that in the repository's settings",
            |place| place.sim.set_archived(REPO, true).unwrap(),
        )),
        tried(case(
            "no issues",
            "error    repository: no plan can be saved in acme/search: issues are disabled",
            "",
            "change that in the repository's settings",
            |place| place.sim.set_issues_enabled(REPO, false).unwrap(),
        )),
        tried(case(
            "no such issue",
            "error    round-trip: acme/search#1 cannot be commented on",
            "404",
            "name the number of an issue or pull request that exists",
            |_| {},
        )),
        tried(case(
            "locked",
            "error    round-trip: acme/search#1 cannot be commented on",
            "",
            "unlock the conversation, or name another issue",
            |place| {
                let issue = place.issue();
                place.sim.set_locked(REPO, issue, "ada", true).unwrap();
            },
        )),
        tried(case(
            "answer lost",
            "error    round-trip: acme/search#1 cannot be commented on: the outcome of a new comment",
            "GitHub answered 502",
            "the comment may be there, and can be deleted",
            |place| {
                place.issue();
                let path = "/repos/acme/search/issues/1/comments";
                place.answers("POST", path, 502, json!({}));
            },
        )),
        tried(case(
            "permission missing",
            "error    round-trip: acme/search#1 cannot be commented on: GitHub refuses",
            "Resource not accessible by integration",
            "give the App the permission `issues: write`",
            |place| {
                place.issue();
                let changed = place.sim.set_permission(place.installation, "issues", Some("read"));
                changed.unwrap();
            },
        )),
        tried(case(
            "no delivery",
            "error    round-trip: GitHub logged no delivery for a comment on acme/search#1 within 1 s",
            "",
            "subscribe to the event Issue comment",
            |place| {
                place.issue();
                place
                    .sim
                    .set_webhook_faults(|_| Some(WebhookFault::NotCreated));
            },
        )),
        tried(case(
            "delivery refused",
            "error    round-trip: the delivery of a comment was answered with 401",
            "",
            "see `deliveries` above",
            |place| {
                place.issue();
                place
                    .sim
                    .set_webhook_faults(|_| Some(WebhookFault::Proxy(401)));
            },
        )),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_set_up_raises_no_alarm() {
    // Webhook requests, before the first start.
    let mut place = Place::new(|_| {}).await;
    let said = place.doctor(&[]).await;
    assert_eq!((alarms(&said.out), said.code), (vec![], 0), "{}", said.out);
    for name in fs::read_dir(place.folder()).unwrap() {
        let name = name.unwrap().file_name().into_string().unwrap();
        if name.starts_with("planwright.db") {
            fs::remove_file(place.folder().join(name)).unwrap();
        }
    }
    let said = place.doctor(&[]).await;
    assert_eq!((alarms(&said.out), said.code), (vec![], 0), "{}", said.out);
    assert!(
        said.out.contains("the first start creates it"),
        "{}",
        said.out
    );
    assert!(!place.database().exists());
    // With an agent.
    place.agent("#!/bin/sh\necho '2.1.329 (Claude Code)'\necho more\n");
    place.model(200);
    let said = place.doctor(&[]).await;
    let sandbox = alarms(&said.out);
    assert_eq!((sandbox, said.code), (vec![], 0), "{}", said.out);
    assert!(
        said.out.contains("is version 2.1.329 (Claude Code)\n"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("the model's API accepts the key"),
        "{}",
        said.out
    );
    // Pull, with a URL that nobody answers at.
    let mut place = Place::new(|options| {
        options.targets = vec!["https://bot.example/nowhere".to_owned()];
    })
    .await;
    place.unset("PLANWRIGHT_WEBHOOK_SECRETS_FILE");
    place.set("PLANWRIGHT_SERVER_TRANSPORT", "pull");
    let issue = place.issue().to_string();
    let said = place.doctor(&["--repo", REPO, "--issue", &issue]).await;
    assert_eq!((alarms(&said.out), said.code), (vec![], 0), "{}", said.out);
    assert!(
        said.out.contains("is in GitHub's log of deliveries"),
        "{}",
        said.out
    );
    assert!(place.sim.comments(REPO, 1).unwrap().is_empty());
    // GitHub Enterprise Server without rate limits, and a log that has nothing old enough to judge by.
    let place = Place::new(|_| {}).await;
    let message = json!({"message": "Rate limiting is not enabled."});
    place.answers("GET", "/rate_limit", 404, message);
    let said = place.doctor(&[]).await;
    assert_eq!((alarms(&said.out), said.code), (vec![], 0), "{}", said.out);
    assert!(
        said.out
            .contains("acme: 1 repository; no limit of requests\n"),
        "{}",
        said.out
    );
    place.ahead.store(100 * 3_600_000, Ordering::SeqCst);
    let said = place.doctor(&[]).await;
    let quiet = "skipped  deliveries: GitHub's log of the last three days has none\n";
    assert!(said.out.contains(quiet), "{}", said.out);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_bot_is_found_and_not_disturbed() {
    let mut place = Place::new(|_| {}).await;
    place.set("PLANWRIGHT_LOG_FORMAT", "json");
    let mut running = Running::start(&mut place.program());
    let address = running.listening().await;
    place
        .sim
        .set_targets(vec![format!("http://{address}/webhook")]);
    running.line("GitHub has confirmed the App").await;
    place.set("PLANWRIGHT_SERVER_LISTEN", &address);
    place.sim.ping();
    let issue = place.issue().to_string();
    let said = place.doctor(&["--repo", REPO, "--issue", &issue]).await;
    assert_eq!((alarms(&said.out), said.code), (vec![], 0), "{}", said.out);
    for text in [
        "a running bot uses it",
        &format!("a bot is running at {address} and ready"),
        "its delivery was answered with 200, and it was deleted",
    ] {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
    assert!(place.sim.comments(REPO, 1).unwrap().is_empty());
    // A second doctor, and the bot still works.
    let said = place.doctor(&[]).await;
    assert_eq!(said.code, 0, "{}", said.out);
    place.sim.comment(REPO, 1, "ada", "/plan-help").unwrap();
    running.line("run ended").await;
    // The real bot refuses deliveries that are signed with another secret.
    place.sim.set_webhook_secret("another secret".into());
    place.sim.ping();
    let said = place.doctor(&[]).await;
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(
        said.out.contains("set the same webhook secret"),
        "{}",
        said.out
    );
    // A bot that was killed leaves a WAL, which is read.
    running.child.kill().await.unwrap();
    assert!(place.database().with_extension("db-wal").exists());
    let said = place.doctor(&[]).await;
    for text in ["can be used; no bot uses it now", "can be listened on"] {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_that_waits_for_github_is_found() {
    let mut place = Place::new(|_| {}).await;
    place.set("PLANWRIGHT_LOG_FORMAT", "json");
    place.answers("GET", "/app", 500, json!({}));
    let mut running = Running::start(&mut place.program());
    let address = running.listening().await;
    running
        .line("GitHub has not confirmed the App yet; trying again")
        .await;
    place.set("PLANWRIGHT_SERVER_LISTEN", &address);
    let said = place.doctor(&[]).await;
    assert_eq!(said.code, 1, "{}", said.out);
    let waits = format!(
        "warning  listen: the bot at {address} is not ready: GitHub has not confirmed the App yet: GitHub at "
    );
    assert!(said.out.contains(&waits), "{}", said.out);
    assert!(
        said.out.contains("to do: see its log (`not ready`)"),
        "{}",
        said.out
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_changed_without_being_asked() {
    let place = Place::new(|_| {}).await;
    place.issue();
    place.sim.settle().await;
    let state = || {
        let mut files = Vec::new();
        for file in fs::read_dir(place.folder()).unwrap() {
            let file = file.unwrap();
            let about = file.metadata().unwrap();
            files.push((
                file.file_name(),
                about.len(),
                about.mtime_nsec(),
                about.ino(),
            ));
        }
        files.sort();
        files
    };
    let (before, writes) = (state(), place.sim.writes());
    let said = place.doctor(&["--repo", REPO]).await;
    assert_eq!(state(), before);
    assert_eq!(place.sim.writes(), writes);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(
        said.out
            .contains("skipped  round-trip: no comment was written"),
        "{}",
        said.out
    );
    assert!(place.sim.comments(REPO, 1).unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_get_json_and_exit_codes() {
    let mut place = Place::new(|_| {}).await;
    let said = place.doctor(&["--json"]).await;
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &json["ok"]), (0, &json!(true)), "{}", said.out);
    assert_eq!((&json["errors"], &json["warnings"]), (&json!(0), &json!(0)));
    assert_eq!(said.error, "");
    let checks = json["checks"].as_array().unwrap();
    assert_eq!(
        checks[0],
        json!({
            "name": "configuration",
            "status": "ok",
            "seen": "valid; there is no file",
            "remedy": null,
        })
    );
    // Warnings are no failure.
    place.set("PLANWRIGHT_GITHUB_APP_SLUG", "planright");
    let said = place.doctor(&["--json"]).await;
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        (said.code, &json["warnings"]),
        (0, &json!(1)),
        "{}",
        said.out
    );
    place.set("PLANWRIGHT_GITHUB_APP_ID", "4712");
    let said = place.doctor(&["--json"]).await;
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &json["ok"]), (1, &json!(false)), "{}", said.out);
    let wrong = json["checks"].as_array().unwrap().iter();
    let wrong: Vec<&Value> = wrong.filter(|one| one["status"] == "error").collect();
    assert_eq!(wrong.len(), 1);
    assert_eq!(wrong[0]["name"], "github.app");
    assert!(
        wrong[0]["remedy"]
            .as_str()
            .unwrap()
            .starts_with("set github.app_id")
    );
    assert_eq!(said.error, "error: 1 check found an error\n");
    for (arguments, error) in [
        (vec!["--repo", "search"], "name a repository as OWNER/REPO"),
        (vec!["--issue", "1"], "--repo <OWNER/REPO>"),
        (vec!["--repo", REPO, "--issue", "0"], "0 is not in 1.."),
        (vec!["--repo", REPO, "--wait", "5"], "--issue <NUMBER>"),
    ] {
        let said = place.doctor(&arguments).await;
        assert_eq!(said.code, 2, "{}", said.error);
        assert!(said.error.contains(error), "{}", said.error);
    }
    assert!(!place.environment.values().any(|value| value == SECRET));
}
