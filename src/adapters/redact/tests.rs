//! What is redacted, what is kept, and that the time is linear.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;
use secrecy::SecretString;

use super::*;

/// Builds a fixture at run time, so that no secret scanner takes this file for a leak.
fn made(prefix: &str, length: usize) -> String {
    let rest: String = "aB3dE6gH9jK2mN5pQ8sT"
        .chars()
        .cycle()
        .take(length)
        .collect();
    format!("{prefix}{rest}")
}

fn pem(label: &str, line_end: &str) -> String {
    let line = made("MIIE", 60);
    format!(
        "-----BEGIN {label}-----{line_end}{line}{line_end}{line}{line_end}-----END {label}-----"
    )
}

#[test]
fn every_known_shape_is_redacted_and_its_surroundings_are_kept() {
    let jwt = format!("eyJ{}.eyJ{}.{}", made("", 20), made("", 40), made("", 43));
    let cases = [
        (made("ghp_", 36), "github-token"),
        (made("gho_", 36), "github-token"),
        (made("ghu_", 36), "github-token"),
        (made("ghr_", 76), "github-token"),
        (made("ghs_", 36), "github-token"),
        (format!("ghs_1234_{jwt}"), "github-token"),
        (made("github_pat_", 82), "github-token"),
        (made("sk-ant-api03-", 90), "anthropic-key"),
        (made("sk-proj-", 48), "openai-key"),
        (made("sk-", 48), "openai-key"),
        ("AKIA".to_owned() + "ABCDEFGHIJKLMNO2", "aws-key-id"),
        (made("xoxb-12345-", 24), "slack-token"),
        (made("AIza", 35), "google-key"),
        (jwt, "jwt"),
        (pem("RSA PRIVATE KEY", "\n"), "private-key"),
        (pem("PRIVATE KEY", "\r\n"), "private-key"),
        (pem("PRIVATE KEY", "\\n"), "private-key"),
    ];
    for (secret, kind) in cases {
        for (before, behind) in [
            ("", ""),
            ("key: ", " end"),
            ("`", "`"),
            ("(", ")."),
            ("é=", "é"),
        ] {
            let text = format!("{before}{secret}{behind}");
            let expected = format!("{before}***REDACTED:{kind}***{behind}");
            assert_eq!(redact(&text), expected, "{text}");
            assert_eq!(redact(&expected), expected, "once is enough");
        }
    }
}

#[test]
fn values_known_by_their_name_keep_the_name() {
    let value = made("", 40);
    for (text, expected) in [
        (
            format!("curl -H 'Authorization: Bearer {value}' x"),
            "curl -H 'Authorization: Bearer ***REDACTED:authorization***' x",
        ),
        (
            format!("{{\"authorization\": \"token {value}\"}}"),
            "{\"authorization\": \"token ***REDACTED:authorization***\"}",
        ),
        (
            "AUTHORIZATION=Basic dXNlcjpwYXNzMQ==".to_owned(),
            "AUTHORIZATION=Basic ***REDACTED:authorization***",
        ),
        (
            format!("aws_secret_access_key = {value}\n"),
            "aws_secret_access_key = ***REDACTED:aws-secret***\n",
        ),
        (
            format!("export AWS_SECRET_ACCESS_KEY=\"{value}\""),
            "export AWS_SECRET_ACCESS_KEY=\"***REDACTED:aws-secret***\"",
        ),
        (
            "postgres://app:hunter2!@db:5432/x".to_owned(),
            "postgres://app:***REDACTED:url-password***@db:5432/x",
        ),
        (
            "https://me:p@ss@example.org/".to_owned(),
            "https://me:***REDACTED:url-password***@example.org/",
        ),
    ] {
        assert_eq!(redact(&text), expected);
        assert_eq!(redact(expected), expected);
    }
}

#[test]
fn a_truncated_key_is_redacted_to_its_end() {
    let whole = pem("RSA PRIVATE KEY", "\n");
    let cut = whole.split("-----END").next().unwrap();
    assert_eq!(
        redact(&format!("{cut}\nrest of it")),
        "***REDACTED:private-key*** of it"
    );
}

#[test]
fn ordinary_parts_of_plans_are_kept() {
    let image = format!(
        "data:image/png;base64,{}AKIAABCDEFGHIJKLMNO2{}",
        made("i/", 99),
        made("+", 99)
    );
    for text in [
        "",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "7d444840-9dc0-11d1-b245-5ffdce74fad2",
        "01JD8Z0V3KQ4R5S6T7V8W9X0YZ",
        image.as_str(),
        "ghp_short, ghs_<token>, github_pat_…, sk-ant-…, AKIA…, AIza…",
        "task-list-of-things-to-do, risk-assessment-2024-for-the-board, sk-circle-animation-delay-1",
        "Authorization: only administrators and maintainers may do this",
        "Authorization: Bearer <token> or $GITHUB_TOKEN or ${{ secrets.GITHUB_TOKEN }}",
        "postgres://user:password@localhost/db and https://user:$PASS@host/ and https://host:8080/a@b",
        "mailto:a@b.c, http://example.org/?q=a:b@c, git@github.com:o/r.git",
        "the key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
        "eyJhbGciOiJIUzI1NiJ9 is the header of a JWT",
        "AKIAABCDEFGHIJKLMNOPQRSTUVWXYZ",
    ] {
        assert!(
            matches!(redact(text), Cow::Borrowed(same) if same == text),
            "{text}"
        );
    }
}

#[test]
fn configured_secrets_are_redacted_everywhere() {
    let redactor = Redactor::new(vec![
        SecretString::from("webhook-secret"),
        SecretString::from("webhook-secret-longer\n"),
        SecretString::from("short"),
        SecretString::from(""),
    ]);
    assert_eq!(
        redactor.redact("a webhook-secret-longer b webhook-secret c short"),
        "a ***REDACTED:configured-secret*** b ***REDACTED:configured-secret*** c short"
    );
    assert!(matches!(redactor.redact("nothing here"), Cow::Borrowed(_)));
    assert_eq!(format!("{redactor:?}"), "Redactor(2 known secrets)");
}

#[test]
fn a_megabyte_of_near_misses_is_quick() {
    for unit in [
        "sk-",
        "eyJ-",
        "eyJ.eyJ",
        "authorization=",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "ghp_.",
        "xox",
        "aws_secret_access_key=",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        let start = std::time::Instant::now();
        redact(&text);
        // Quadratic work would take minutes here; linear work takes milliseconds.
        assert!(
            start.elapsed().as_secs() < 20,
            "{unit}: {:?}",
            start.elapsed()
        );
    }
}

#[test]
fn secrets_that_overlap_get_one_mark_and_a_second_pass_finds_nothing() {
    let token = made("ghp_", 36);
    let key = format!("-----BEGIN PRIVATE KEY-----{}", "Authorization".repeat(3));
    let google = made("AIza", 35);
    let access_key = "AKIAABCDEFGHIJKLMNO2";
    for (text, expected) in [
        (format!("://{key}@"), "://***REDACTED:private-key***@".to_owned()),
        // The user part is scanned, too.
        (
            format!("https://{token}:x-oauth-basic@github.com/o/r"),
            "https://***REDACTED:github-token***:***REDACTED:url-password***@github.com/o/r".to_owned(),
        ),
        (
            format!("https://u:{token}@host Authorization: Bearer {token}"),
            "https://u:***REDACTED:url-password***@host Authorization: Bearer ***REDACTED:authorization***".to_owned(),
        ),
        // A truncated key followed by another one.
        (format!("{key} {}", pem("PRIVATE KEY", "\n")), "***REDACTED:private-key*** ***REDACTED:private-key***".to_owned()),
        // Too long for its shape before the removal, so it is kept after it, too.
        (format!("{google}{token}"), format!("{google}***REDACTED:github-token***")),
        (
            format!("{access_key}sk-{}", made("", 40)),
            "***REDACTED:aws-key-id******REDACTED:openai-key***".to_owned(),
        ),
        ("***REDACTED:jwt*** ***REDACTED:".to_owned(), "***REDACTED:jwt*** ***REDACTED:".to_owned()),
    ] {
        assert_eq!(redact(&text), expected, "{text}");
        assert_eq!(redact(&expected), expected);
    }
}

#[test]
fn configured_secrets_that_overlap_leave_nothing_of_either() {
    let redactor = Redactor::new(vec![
        SecretString::from("first-secret-1234"),
        SecretString::from("1234-second-secret"),
        SecretString::from("REDACTED"),
    ]);
    let once = redactor
        .redact("a first-secret-1234-second-secret b REDACTED")
        .into_owned();
    assert_eq!(
        once,
        "a ***REDACTED:configured-secret*** b ***REDACTED:configured-secret***"
    );
    assert_eq!(redactor.redact_counted(&once), (once.as_str().into(), 0));
}

/// Property tests run from the seed in `.cargo/config.toml`, so that a verdict can be repeated.
#[test]
fn property_tests_run_from_a_fixed_seed() {
    use proptest::test_runner::RngSeed;
    let config = ProptestConfig::default();
    assert!(
        matches!(config.rng_seed, RngSeed::Fixed(_)),
        "set PROPTEST_RNG_SEED to a number, or run `cargo test` in the repository"
    );
}

/// Generates texts that resemble secrets.
fn near() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "ghp_",
            "github_pat_",
            "sk-",
            "sk-ant-",
            "xoxb-",
            "AKIA",
            "AIza",
            "eyJ",
            ".eyJ",
            "://",
            "://u:",
            "@",
            ":",
            "Authorization",
            "Authorization: Bearer ",
            "aws_secret_access_key=",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "-----END ",
            "***",
            "***REDACTED:",
            "***REDACTED:jwt***",
            "*",
            "known-secret-1",
            "ABCDEFGHIJKLMNO2",
            "aB3dE6gH9jK2mN5pQ8sTaB3dE6gH9jK2mN5",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9._=+/é \n-]{0,40}",
        "[a-zA-Z0-9]{12,40}",
        "[A-Z0-9]{16}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn never_panics_and_is_idempotent(text in near()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
        let redactor = Redactor::new(vec![
            SecretString::from("known-secret-1"),
            SecretString::from("secret-1***"),
            SecretString::from("REDACTED:jwt"),
        ]);
        let (once, _) = redactor.redact_counted(&text);
        prop_assert_eq!(redactor.redact_counted(&once), (once.clone(), 0));
    }
}

/// Number of texts to try: `PLANWRIGHT_CASES`, or a default that takes a second.
fn cases() -> u32 {
    let given = std::env::var("PLANWRIGHT_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}

#[test]
fn redacted_secrets_are_counted() {
    let redactor = Redactor::new(vec![SecretString::from("webhook-secret-1")]);
    let token = made("ghp_", 36);
    let text = format!("{token} webhook-secret-1 {token} webhook-secret-1");
    let (clean, count) = redactor.redact_counted(&text);
    assert_eq!(count, 4);
    assert!(!clean.contains("webhook-secret-1") && !clean.contains(&token));
    assert_eq!(redactor.redact_counted("nothing"), ("nothing".into(), 0));
}

#[test]
fn lines_of_a_configured_private_key_are_recognised() {
    let key = pem("RSA PRIVATE KEY", "\n");
    let line = key.lines().nth(1).unwrap().to_owned();
    let redactor = Redactor::new(vec![
        SecretString::from(key.clone()),
        SecretString::from("webhook-secret-1"),
    ]);
    for text in [key.as_str(), &line, "it is webhook-secret-1."] {
        assert_eq!(
            redactor.holds_known(text),
            Some("configured-secret"),
            "{text}"
        );
    }
    for text in [
        "-----BEGIN RSA PRIVATE KEY-----",
        "webhook-secret-2",
        "",
        &made("ghp_", 36),
    ] {
        assert_eq!(redactor.holds_known(text), None, "{text}");
    }
}
