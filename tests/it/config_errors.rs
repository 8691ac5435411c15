//! Errors in the configuration with their exact messages, and the precedence of its layers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fs;

use planwright::config::{ConfigError, Loaded, Sources, load};
use planwright::engine::settings::Instructions;
use planwright::formats::command::REGISTRY;
use secrecy::ExposeSecret;

const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nnot a real one\n-----END RSA PRIVATE KEY-----";

/// File, environment, flags, and the error they make.
pub(crate) type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    &'static str,
);

pub(crate) fn sources(file: &str, environment: &[(&str, &str)], flags: &[&str]) -> Sources {
    Sources {
        file: (!file.is_empty()).then(|| ("planwright.toml".to_owned(), file.to_owned())),
        environment: environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ..Sources::default()
    }
}

pub(crate) fn loaded(file: &str, environment: &[(&str, &str)], flags: &[&str]) -> Loaded {
    load(&sources(file, environment, flags)).unwrap()
}

pub(crate) fn error(file: &str, environment: &[(&str, &str)], flags: &[&str]) -> String {
    load(&sources(file, environment, flags))
        .unwrap_err()
        .to_string()
}

#[test]
fn later_layers_win() {
    let file = "[worker]\nconcurrency = 2\nlease_seconds = 60\nmax_attempts = 3\n";
    let environment = [
        ("PLANWRIGHT_WORKER_LEASE_SECONDS", " 90 "),
        ("PLANWRIGHT_WORKER_MAX_ATTEMPTS", "4"),
        ("PLANWRIGHT_STORE_KEEP_PAYLOADS", "true"),
        ("PLANWRIGHT_GITHUB_ALLOWED_BOTS", "7, 8"),
        ("PLANWRIGHT_PUBLISH_TITLE_PREFIX", "[plan] "),
    ];
    let config = loaded(file, &environment, &["worker.max_attempts=9"]).config;
    assert_eq!(config.engine.worker.concurrency, 2);
    assert_eq!(config.engine.worker.lease.as_secs(), 90);
    assert_eq!(config.engine.worker.max_attempts, 9);
    assert_eq!(config.engine.worker.give_up_after.as_secs(), 6 * 3600);
    assert!(config.store.keep_payloads);
    assert_eq!(config.github.allowed_bots, [7, 8]);
    assert_eq!(config.engine.publish.title_prefix, "[plan] ");
    assert_eq!(config.github.app_slug, None);
}

#[test]
fn session_logs_are_limited_and_come_from_where_the_api_is() {
    let config = loaded("", &[], &[]).config;
    assert_eq!(config.engine.source.max_log, 50 * 1024 * 1024);
    assert_eq!(
        config.engine.source.redirect_hosts,
        ["*.githubusercontent.com", "*.s3.amazonaws.com"]
    );
    assert_eq!(config.engine.web, "https://github.com");
    let environment = [
        ("PLANWRIGHT_SOURCE_REDIRECT_HOSTS", "store.ghe.example"),
        ("PLANWRIGHT_SOURCE_MAX_LOG_MB", "2"),
        ("PLANWRIGHT_GITHUB_API_URL", "https://ghe.example/api/v3"),
    ];
    let config = loaded("", &environment, &[]).config;
    assert_eq!(config.engine.source.redirect_hosts, ["store.ghe.example"]);
    assert_eq!(config.engine.source.max_log, 2 * 1024 * 1024);
    assert_eq!(config.engine.web, "https://ghe.example");
    let none = loaded("", &[], &["source.redirect_hosts="]).config;
    assert_eq!(none.engine.source.redirect_hosts, [""; 0]);
}

#[test]
fn a_section_inside_another_one_is_read_in_every_form() {
    let repository = |file: &str, environment: &[(&str, &str)], flags: &[&str]| {
        loaded(file, environment, flags)
            .config
            .engine
            .agent
            .repository
    };
    let defaults = repository("", &[], &[]);
    assert!(defaults.enabled && defaults.exclude.is_empty());
    assert_eq!(defaults.instructions, Instructions::Omit);
    let limits = (defaults.cache_bytes, defaults.max_files, defaults.max_bytes);
    assert_eq!(limits, (2_000_000_000, 100_000, 2_000_000_000));
    for file in [
        "[agent]\nmax_turns = 7\n[agent.repository]\nenabled = false\nexclude = [\"vendor\"]\n",
        "[agent]\nmax_turns = 7\nrepository = {enabled = false, exclude = [\"vendor\"]}\n",
        "agent.max_turns = 7\nagent.repository.enabled = false\nagent.repository.exclude = [\"vendor\"]\n",
    ] {
        let read = loaded(file, &[], &[]).config.engine.agent;
        assert_eq!(read.max_turns, 7);
        assert!(!read.repository.enabled);
        assert_eq!(read.repository.exclude, ["vendor"]);
    }
    let environment = [
        ("PLANWRIGHT_AGENT_REPOSITORY_EXCLUDE", "*.pdf, docs/**"),
        ("PLANWRIGHT_AGENT_REPOSITORY_INSTRUCTIONS", "data"),
    ];
    let read = repository("", &environment, &["agent.repository.cache_bytes=0"]);
    assert_eq!(read.exclude, ["*.pdf", "docs/**"]);
    assert_eq!(
        (read.instructions, read.cache_bytes),
        (Instructions::Data, 0)
    );
    for (file, why) in [
        (
            "[agent.repository]\nenable = true\n",
            "planwright.toml:2: unknown key `agent.repository.enable` (did you mean `agent.repository.enabled`?); `planwright config` prints every key",
        ),
        (
            "[agent.repo]\nenabled = true\n",
            "planwright.toml:1: unknown key `agent.repo`",
        ),
        (
            "[agent]\nrepository = true\n",
            "planwright.toml:2: unknown key `agent.repository`",
        ),
        (
            "[agent.repository]\nexclude = [\"a\", \"b[\"]\n",
            "planwright.toml:2: `agent.repository.exclude` is [\"a\", \"b[\"]; \"b[\" is not a valid pattern; it must be a list of patterns of paths",
        ),
        (
            "[agent.repository]\nmax_files = 0\n",
            "planwright.toml:2: `agent.repository.max_files` is 0; it must be 1 to 1000000 files",
        ),
    ] {
        let shown = error(file, &[], &[]);
        assert!(shown.starts_with(why), "{shown}");
    }
}

#[test]
fn labels_reach_the_decision_and_an_empty_one_means_none() {
    let facts = loaded("[labels]\nsave_raw_plan = \"\"\n", &[], &[])
        .config
        .facts();
    assert_eq!(facts.labels.len(), 3);
    assert_eq!(facts.labels[0].1, "save-plan");
}

#[test]
fn the_default_labels_are_those_of_the_command_registry() {
    let registry: Vec<_> = REGISTRY
        .iter()
        .filter_map(|spec| Some((spec.command, spec.label?.to_owned())))
        .collect();
    assert_eq!(loaded("", &[], &[]).config.facts().labels, registry);
}

#[test]
fn errors_name_the_place_the_key_and_the_remedy() {
    let cases: &[Case] = &[
        (
            "[worker]\n\nconcurency = 2\n",
            &[],
            &[],
            "planwright.toml:3: unknown key `worker.concurency` (did you mean `worker.concurrency`?); `planwright config` prints every key",
        ),
        (
            "[zzz]\nq = 1\n",
            &[],
            &[],
            "planwright.toml:2: unknown key `zzz.q`; `planwright config` prints every key",
        ),
        (
            "listen = \"x\"\n",
            &[],
            &[],
            "planwright.toml:1: unknown key `listen`; `planwright config` prints every key",
        ),
        (
            "",
            &[],
            &["worker.lease=3"],
            "--set: unknown key `worker.lease` (did you mean `worker.lease_seconds`?); `planwright config` prints every key",
        ),
        (
            "[worker]\nconcurrency = \"two\"\n",
            &[],
            &[],
            "planwright.toml:2: `worker.concurrency` must be a whole number, not a string \"two\"",
        ),
        (
            "",
            &[("PLANWRIGHT_STORE_KEEP_PAYLOADS", "yes")],
            &[],
            "PLANWRIGHT_STORE_KEEP_PAYLOADS: `store.keep_payloads` must be true or false, not \"yes\"",
        ),
        (
            "",
            &[("PLANWRIGHT_GITHUB_ALLOWED_BOTS", "octocat")],
            &[],
            "PLANWRIGHT_GITHUB_ALLOWED_BOTS: `github.allowed_bots` must be a list of whole numbers, not \"octocat\"",
        ),
        (
            "[worker]\nconcurrency = 0\n",
            &[],
            &[],
            "planwright.toml:2: `worker.concurrency` is 0; it must be 1 to 256 runs",
        ),
        (
            "",
            &[],
            &["github.app_id=-1"],
            "--set: `github.app_id` is -1; it must be a positive integer, or 0 if it is not set",
        ),
        (
            "",
            &[("PLANWRIGHT_SERVER_LISTEN", "localhost")],
            &[],
            "PLANWRIGHT_SERVER_LISTEN: `server.listen` is \"localhost\"; it must be an IP address and a port, e.g. 127.0.0.1:8300 or [::]:8300",
        ),
        (
            "[server]\nwebhook_path = \"/readyz\"\n",
            &[],
            &[],
            "planwright.toml:2: `server.webhook_path` is \"/readyz\"; it must be a path such as /webhook, which is not /livez, /readyz, /metrics or /ui or below /ui",
        ),
        (
            "",
            &[],
            &["server.webhook_path=/{hook}"],
            "--set: `server.webhook_path` is \"/{hook}\"; it must be a path such as /webhook, which is not /livez, /readyz, /metrics or /ui or below /ui",
        ),
        (
            "",
            &[],
            &["github.api_url=github.example.com"],
            "--set: `github.api_url` is \"github.example.com\"; it must be an http or https URL without user name and query, e.g. https://github.example.com/api/v3",
        ),
        (
            "",
            &[],
            &["github.api_url=https://u:pw@h/"],
            "--set: `github.api_url` is \"https://***@h/\"; it must be an http or https URL without user name and query, e.g. https://github.example.com/api/v3",
        ),
        (
            "[store]\nurl = \"postgres://bot:secret@db.example.com/planwright\"\n",
            &[],
            &[],
            "planwright.toml:2: `store.url` is \"postgres://***@db.example.com/planwright\"; it must be a URL without password \
             such as postgres://planwright@db.example.com:5432/planwright; the password belongs in \
             PLANWRIGHT_STORE_PASSWORD or the file that `store.password_file` names",
        ),
        (
            "",
            &[],
            &["store.url=mysql://db.example.com/planwright"],
            "--set: `store.url` is \"mysql://db.example.com/planwright\"; it must be a URL without password such as \
             postgres://planwright@db.example.com:5432/planwright; the password belongs in PLANWRIGHT_STORE_PASSWORD or \
             the file that `store.password_file` names",
        ),
        (
            "[github]\nallowed_bots = [\"dependabot\"]\n",
            &[],
            &[],
            "planwright.toml:2: `github.allowed_bots` is [\"dependabot\"]; it must be a list of account IDs, e.g. [41898282]",
        ),
        (
            "[source]\nmax_log_mb = 101\n",
            &[],
            &[],
            "planwright.toml:2: `source.max_log_mb` is 101; it must be 1 to 100 megabytes",
        ),
        (
            "",
            &[("PLANWRIGHT_SOURCE_TIMEOUT_SECONDS", "0")],
            &[],
            "PLANWRIGHT_SOURCE_TIMEOUT_SECONDS: `source.timeout_seconds` is 0; it must be 1 to 600 seconds",
        ),
        (
            "",
            &[],
            &["source.redirect_hosts=store.example.com, https://x.example"],
            "--set: `source.redirect_hosts` is \"store.example.com, https://x.example\"; \"https://x.example\" is not a valid host name; it must be comma-separated host names, e.g. store.example.com, *.example.com",
        ),
        (
            "",
            &[],
            &["check.files=docs/*.md"],
            "--set: `check.files` is \"docs/*.md\"; \"docs/*.md\" is not a valid file name; it must be comma-separated file names, e.g. PLAN.md, *.plan.md",
        ),
        (
            "",
            &[],
            &["check.files= ,"],
            "--set: `check.files` is \" ,\"; it must name at least one file, e.g. *.plan.md",
        ),
        (
            "",
            &[],
            &["labels.check_plan=Save-Plan"],
            "--set: `labels.check_plan` is \"Save-Plan\"; it must differ from `labels.save_plan`",
        ),
        (
            "",
            &[],
            &["source.redirect_hosts=*.com"],
            "--set: `source.redirect_hosts` is \"*.com\"; \"*.com\" is not a valid host name; it must be comma-separated host names, e.g. store.example.com, *.example.com",
        ),
        (
            "",
            &[],
            &["source.redirect_hosts=169.254.169.254"],
            "--set: `source.redirect_hosts` is \"169.254.169.254\"; \"169.254.169.254\" is not a valid host name; it must be comma-separated host names, e.g. store.example.com, *.example.com",
        ),
        (
            "",
            &[],
            &["log.format=xml"],
            "--set: `log.format` is \"xml\"; it must be text or json",
        ),
        (
            "",
            &[],
            &["log.level=planwright=loud"],
            "--set: `log.level` is \"planwright=loud\"; it must be error, warn, info, debug, trace, or directives such as info,planwright=debug",
        ),
        #[cfg(not(feature = "otel"))]
        (
            "",
            &[],
            &["log.otlp_endpoint=http://127.0.0.1:4318"],
            "--set: `log.otlp_endpoint` is \"http://127.0.0.1:4318\"; this program was built without OpenTelemetry: remove the setting, or build with `cargo build --release --features otel`",
        ),
        (
            "",
            &[],
            &["store.path="],
            "--set: `store.path` is \"\"; it must not be empty",
        ),
        (
            "[labels]\nsave_raw_plan = \"Save-Plan\"\n",
            &[],
            &[],
            "planwright.toml:2: `labels.save_raw_plan` is \"Save-Plan\"; it must differ from `labels.save_plan`",
        ),
        (
            "",
            &[],
            &["worker.max_backoff_seconds=1"],
            "--set: `worker.max_backoff_seconds` is 1; it must not be less than `worker.backoff_seconds`",
        ),
        (
            "",
            &[],
            &["worker.concurrency"],
            "--set worker.concurrency: must have the form KEY=VALUE, e.g. --set worker.concurrency=4",
        ),
    ];
    for (file, environment, flags, expected) in cases {
        assert_eq!(error(file, environment, flags), *expected);
    }
    let long = format!("labels.save_plan={}", "x".repeat(51));
    assert!(error("", &[], &[&long]).ends_with("; it must be at most 50 characters on one line"));
    let syntax = error("[server]\nlisten = \n", &[], &[]);
    assert!(
        syntax.starts_with("planwright.toml:2: not valid TOML: "),
        "{syntax}"
    );
}

#[test]
fn settings_of_the_pages_are_refused_with_a_remedy() {
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
    let cases: [Case<'_>; 8] = [
        (
            "",
            &[("PLANWRIGHT_WEB_TOKEN", "0123456789abcdef0123456789abcde")],
            "PLANWRIGHT_WEB_TOKEN: holds no operator's token: one word of at least 32 ASCII characters; `openssl rand -hex 32` makes a good one",
        ),
        (
            "",
            &[(
                "PLANWRIGHT_WEB_TOKEN",
                "two words that are long enough for it",
            )],
            "PLANWRIGHT_WEB_TOKEN: holds no operator's token: one word of at least 32 ASCII characters; `openssl rand -hex 32` makes a good one",
        ),
        (
            "",
            &[("PLANWRIGHT_WEB_CLIENT_SECRET", " ")],
            "PLANWRIGHT_WEB_CLIENT_SECRET: holds no client secret of the App; it is one word",
        ),
        (
            "[web]\nurl = \"https://bot.example.com\"\n",
            &[("PLANWRIGHT_WEB_CLIENT_SECRET", "abc")],
            "PLANWRIGHT_WEB_CLIENT_SECRET: holds a client secret for the login with GitHub, which needs `web.url` and `web.client_id` as well",
        ),
        (
            "[web]\nurl = \"https://bot.example.com\"\nclient_id = \"Iv23\"\n",
            &[],
            "web.client_id: is set for the login with GitHub, which needs PLANWRIGHT_WEB_CLIENT_SECRET or `web.client_secret_file` as well",
        ),
        (
            "[web]\nurl = \"http://bot.example.com\"\n",
            &[],
            "planwright.toml:2: `web.url` is \"http://bot.example.com\"; it must be an https URL without path, user name and query, e.g. https://planwright.example.com, or an http URL on this computer, or empty",
        ),
        (
            "[web]\nurl = \"https://bot.example.com/planwright\"\n",
            &[],
            "planwright.toml:2: `web.url` is \"https://bot.example.com/planwright\"; it must be an https URL without path, user name and query, e.g. https://planwright.example.com, or an http URL on this computer, or empty",
        ),
        (
            "[web]\ntoken = \"hush hush\"\n",
            &[],
            "planwright.toml:2: `web.token` is a secret and must not be in the configuration; put it into PLANWRIGHT_WEB_TOKEN or into a file named by `web.token_file`",
        ),
    ];
    for (file, environment, expected) in cases {
        assert_eq!(error(file, environment, &[]), expected);
    }
}

#[test]
fn a_secret_in_the_file_is_refused_and_not_repeated() {
    for (file, expected) in [
        (
            "[webhook]\nsecret = \"hush hush\"\n",
            "planwright.toml:2: `webhook.secret` is a secret and must not be in the configuration; put it into PLANWRIGHT_WEBHOOK_SECRETS or into a file named by `webhook.secrets_file`",
        ),
        (
            "[github]\nprivate_key = \"hush hush\"\n",
            "planwright.toml:2: `github.private_key` is a secret and must not be in the configuration; put it into PLANWRIGHT_GITHUB_PRIVATE_KEY or into a file named by `github.private_key_file`",
        ),
        (
            "[agent]\napi_key = \"hush hush\"\n",
            "planwright.toml:2: `agent.api_key` is a secret and must not be in the configuration; put it into PLANWRIGHT_AGENT_API_KEY or into a file named by `agent.api_key_file`",
        ),
    ] {
        assert_eq!(error(file, &[], &[]), expected);
    }
}

#[test]
fn secrets_come_from_the_environment() {
    let environment = [
        (
            "PLANWRIGHT_WEBHOOK_SECRETS",
            "the new one of two secrets, the old one of two secrets,",
        ),
        ("PLANWRIGHT_GITHUB_PRIVATE_KEY", &KEY.replace('\n', "\\n")),
    ];
    let loaded = loaded("", &environment, &[]);
    let secrets: Vec<&str> = loaded
        .secrets
        .webhook
        .iter()
        .map(ExposeSecret::expose_secret)
        .collect();
    assert_eq!(
        secrets,
        ["the new one of two secrets", "the old one of two secrets"]
    );
    assert_eq!(
        loaded.secrets.private_key.as_ref().unwrap().expose_secret(),
        KEY
    );
    assert_eq!(
        loaded.warnings,
        [
            "PLANWRIGHT_WEBHOOK_SECRETS: 2 webhook secrets are accepted; remove the old ones once the App's settings have the new one"
        ]
    );
    let shown = format!("{loaded:?}{}", loaded.show());
    assert!(!shown.contains("of two secrets") && !shown.contains("not a real one"));
}

#[test]
fn secrets_come_from_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (hooks, key) = (folder.path().join("hooks"), folder.path().join("app.pem"));
    fs::write(&hooks, "short, with comma\n\n").unwrap();
    fs::write(&key, KEY).unwrap();
    let file = format!(
        "[webhook]\nsecrets_file = {hooks:?}\n[github]\nprivate_key_file = {key:?}\napp_id = 1\n"
    );
    let loaded = loaded(&file, &[], &[]);
    assert_eq!(
        loaded.secrets.webhook[0].expose_secret(),
        "short, with comma"
    );
    loaded.ready_to_serve().unwrap();

    fs::write(&hooks, "\n \n").unwrap();
    assert_eq!(
        error(&file, &[], &[]),
        format!(
            "{}: holds no webhook secret; an empty secret would let everybody in",
            hooks.display()
        )
    );
    fs::write(&hooks, "tiny").unwrap();
    fs::write(&key, "ssh-rsa AAAA").unwrap();
    assert_eq!(
        error(&file, &[], &[]),
        format!(
            "{}: holds no private key in PEM form, whose first line is -----BEGIN RSA PRIVATE KEY-----",
            key.display()
        )
    );
    assert_eq!(
        error(&file, &[("PLANWRIGHT_GITHUB_PRIVATE_KEY", KEY)], &[]),
        "PLANWRIGHT_GITHUB_PRIVATE_KEY: is set, and so is `github.private_key_file`; leave one of them out"
    );
    fs::remove_file(&key).unwrap();
    let gone = error(&file, &[], &[]);
    let start = format!(
        "{}: the file named by `github.private_key_file` cannot be read: ",
        key.display()
    );
    assert!(gone.starts_with(&start), "{gone}");
}

#[cfg(unix)]
#[test]
fn a_secret_that_every_user_of_the_computer_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("hooks");
    fs::write(&file, "a secret that is long enough").unwrap();
    let set = format!("webhook.secrets_file={}", file.display());
    let warnings = |folder_mode: u32, mode: u32| {
        let rights = |path: &std::path::Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        rights(folder.path(), folder_mode);
        rights(&file, mode);
        loaded("", &[], &[&set]).warnings
    };
    let warning = format!(
        "{}: every user of this computer can read the secret in the file named by `webhook.secrets_file`; restrict it \
         with chmod 600",
        file.display()
    );
    assert_eq!(warnings(0o755, 0o644), [warning]);
    for (folder_mode, mode) in [
        (0o755, 0o600),
        (0o755, 0o640),
        (0o700, 0o644),
        (0o750, 0o644),
    ] {
        assert!(
            warnings(folder_mode, mode).is_empty(),
            "{folder_mode:o} {mode:o}"
        );
    }
}

#[test]
fn odd_things_are_warned_of() {
    let warnings = loaded(
        "",
        &[
            ("PLANWRIGHT_WEBHOOK_SECRETS", "tiny"),
            ("PLANWRIGHT_SERVER_LISTN", "x"),
            ("PLANWRIGHT_PORT_8300_TCP", "tcp://10.0.0.1:8300"),
        ],
        &[],
    )
    .warnings;
    assert_eq!(
        warnings[0],
        "PLANWRIGHT_WEBHOOK_SECRETS: a webhook secret is shorter than 16 characters; `openssl rand -hex 32` makes a good one"
    );
    assert!(
        warnings[1].starts_with("the environment variable PLANWRIGHT_PORT_8300_TCP sets nothing")
    );
    assert_eq!(
        warnings[2],
        "the environment variable PLANWRIGHT_SERVER_LISTN sets nothing; did you mean PLANWRIGHT_SERVER_LISTEN?"
    );
}

#[test]
fn serving_needs_what_has_no_default_and_says_all_of_it_at_once() {
    assert_eq!(
        loaded("", &[], &[])
            .ready_to_serve()
            .unwrap_err()
            .to_string(),
        "`planwright serve` cannot start; it still needs:\n  \
         - a webhook secret: set PLANWRIGHT_WEBHOOK_SECRETS or webhook.secrets_file to what the App's settings hold\n  \
         - the App's id: set github.app_id or PLANWRIGHT_GITHUB_APP_ID\n  \
         - the App's private key: set PLANWRIGHT_GITHUB_PRIVATE_KEY or github.private_key_file"
    );
    assert_eq!(
        error("", &[("PLANWRIGHT_WEBHOOK_SECRETS", "")], &[]),
        "PLANWRIGHT_WEBHOOK_SECRETS: holds no webhook secret; an empty secret would let everybody in"
    );
}

#[test]
fn what_is_shown_says_where_it_came_from_and_reads_back() {
    let file = "[worker]\nconcurrency = 2\n[publish]\ntitle_prefix = \"a \\\"b\\\" # c\"\n";
    let environment = [
        ("PLANWRIGHT_LOG_FORMAT", "json"),
        ("PLANWRIGHT_WEBHOOK_SECRETS", "a secret that is long enough"),
    ];
    let first = loaded(file, &environment, &["server.listen=[::1]:9"]);
    let shown = first.show();
    for (start, end) in [
        (
            "#   PLANWRIGHT_WEBHOOK_SECRETS = \"***\" (set, from ",
            "PLANWRIGHT_WEBHOOK_SECRETS)",
        ),
        ("#   PLANWRIGHT_GITHUB_PRIVATE_KEY = ", "not set"),
        ("#   PLANWRIGHT_AGENT_API_KEY = ", "not set"),
        ("concurrency = 2 ", " # planwright.toml:2"),
        ("format = 'json' ", " # PLANWRIGHT_LOG_FORMAT"),
        ("listen = ", " # --set"),
        ("max_attempts = 5 ", " # default"),
    ] {
        let start = start.replace('\'', "\"");
        let line = shown
            .lines()
            .find(|line| line.starts_with(&start))
            .expect(&start);
        assert!(line.ends_with(end), "{line}");
    }
    let again = loaded(&shown, &[], &[]);
    assert_eq!(format!("{:?}", again.config), format!("{:?}", first.config));
}

#[test]
fn a_named_file_must_be_there() {
    let missing = tempfile::tempdir().unwrap().path().join("none.toml");
    let Err(ConfigError::File { path, .. }) = Sources::gather(Some(&missing), Vec::new()) else {
        panic!("refused");
    };
    assert_eq!(path, missing.display().to_string());
}
