//! Tests of `formats::plan::reference`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    match parse(text, "github.com") {
        Ok(found) => found.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_form_a_person_may_write() {
    for (text, expected) in [
        ("12", "#12"),
        (" #12\n", "#12"),
        ("007", "#7"),
        ("harbour-works/tidewatch#42", "harbour-works/tidewatch#42"),
        ("mira_harbour/.github#1", "mira_harbour/.github#1"),
        (
            "https://github.com/harbour-works/tide.watch_2/issues/42",
            "harbour-works/tide.watch_2#42",
        ),
        (
            "HTTPS://GitHub.com/a/b/issues/42/?x=1#issuecomment-9",
            "a/b#42",
        ),
        ("http://github.com/a/b/pull/42/files#diff-0", "a/b#42"),
        ("https://github.com:443/a/b/issues/3", "a/b#3"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn what_names_no_issue_is_told_what_would() {
    const FORMS: &str = "write OWNER/REPO#12, https://github.com/OWNER/REPO/issues/12, #12 or 12";
    for text in [
        "",
        "#",
        "-1",
        "12a",
        "١٢",
        "tidewatch#12",
        "a/b/c#12",
        "../b#12",
        "a/..#12",
        "a b/c#12",
        "a/b#12#13",
        "a/b",
        "ftp://github.com/a/b/issues/12",
        "https://github.com/a/issues/12",
        "https://github.com/a/b/issues/",
        "https://github.com/a/b/discussions/12",
        "https://github.com/a%2Fx/b/issues/12",
        "https://github.com/a/../b/issues/12",
        "https://",
        "javascript:alert(1)",
    ] {
        assert_eq!(
            shown(text),
            format!("`{text}` does not name an issue; {FORMS}")
        );
    }
    for text in [
        "0",
        "#000",
        "a/b#0",
        "https://github.com/a/b/issues/18446744073709551616",
    ] {
        let error = parse(text, "github.com").unwrap_err();
        assert!(matches!(error, ReferenceError::Number { .. }), "{text}");
        assert!(error.to_string().ends_with(FORMS));
    }
    assert_eq!(
        shown("0"),
        format!("`0` is not an issue number; issue numbers start at 1; {FORMS}")
    );
    for (text, host) in [
        ("https://gitlab.example/a/b/issues/1", "gitlab.example"),
        (
            "https://github.com.evil.example/a/b/issues/1",
            "github.com.evil.example",
        ),
        (
            "https://github.com@evil.example/a/b/issues/1",
            "evil.example",
        ),
        ("https://github.com:8443/a/b/issues/1", "github.com:8443"),
    ] {
        assert_eq!(
            shown(text),
            format!(
                "the address is on `{host}`, not on `github.com`; github.api_url selects the GitHub server"
            )
        );
    }
}

#[test]
fn the_host_follows_from_the_address_of_the_api() {
    for (api, host) in [
        ("https://api.github.com", "github.com"),
        ("https://api.harbour.ghe.com/", "harbour.ghe.com"),
        ("https://git.harbour.example/api/v3", "git.harbour.example"),
        ("https://api.harbour.example/api/v3", "api.harbour.example"),
        ("http://127.0.0.1:8040", "127.0.0.1:8040"),
    ] {
        assert_eq!(web_host(&Url::parse(api).unwrap()), host);
    }
    let here = parse("http://127.0.0.1:8040/a/b/issues/5", "127.0.0.1:8040");
    assert_eq!(here.unwrap().to_string(), "a/b#5");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_is_read_again(text in ".{0,40}|[a-z._-]{1,4}/[a-z._-]{1,4}#[0-9]{1,3}|https://github.com/[a-z./]{1,9}/issues/[0-9]{1,3}") {
        if let Ok(found) = parse(&text, "github.com") {
            prop_assert_eq!(parse(&found.to_string(), "github.com"), Ok(found));
        }
    }

    #[test]
    fn an_error_is_one_short_line(text in "(?s).{0,300}") {
        if let Err(error) = parse(&text, "github.com") {
            let error = error.to_string();
            prop_assert!(!error.contains('\n') && error.chars().count() < 260, "{}", error);
        }
    }
}

#[test]
fn every_form_of_a_remote_names_the_repository() {
    for text in [
        "acme/search",
        " acme/search\n",
        "https://github.com/acme/search",
        "https://github.com/acme/search.git",
        "https://github.com/acme/search/",
        "https://ada:hunter2@github.com/acme/search.git",
        "ssh://git@github.com/acme/search.git",
        "ssh://git@github.com:22/acme/search",
        "ssh://git@ssh.github.com:443/acme/search.git",
        "git@github.com:acme/search.git",
        "github.com:acme/search",
        "git@GITHUB.com:/acme/search.git",
        "git://github.com/acme/search.git",
    ] {
        let found = parse_repository(text, "github.com");
        assert_eq!(found, Ok(("acme".into(), "search".into())), "{text}");
    }
    let found = parse_repository("http://127.0.0.1:8400/acme/search", "127.0.0.1:8400");
    assert_eq!(found, Ok(("acme".into(), "search".into())));
}

#[test]
fn errors_for_repositories_show_the_accepted_forms() {
    for (text, message) in [
        (
            "search",
            "`search` does not name a repository; write OWNER/REPO, https://github.com/OWNER/REPO or git@github.com:OWNER/REPO.git",
        ),
        (
            "https://u:secret@github.com/acme",
            "`github.com/acme` does not name a repository; write OWNER/REPO, https://github.com/OWNER/REPO or git@github.com:OWNER/REPO.git",
        ),
        (
            "file:///srv/git/search.git",
            "`file:///srv/git/search.git` does not name a repository; write OWNER/REPO, https://github.com/OWNER/REPO or git@github.com:OWNER/REPO.git",
        ),
        (
            "git@gitlab.com:acme/search.git",
            "the address is on `gitlab.com`, not on `github.com`; github.api_url selects the GitHub server",
        ),
        (
            "https://github.com@evil.example/acme/search",
            "the address is on `evil.example`, not on `github.com`; github.api_url selects the GitHub server",
        ),
    ] {
        let error = parse_repository(text, "github.com").unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    for text in ["", "a/b/c", "../..", "https://github.com/a/b/c", "C:\\x"] {
        assert!(parse_repository(text, "github.com").is_err(), "{text}");
    }
}
