//! Errors name bad settings, and no text contains a token or the key.

use planwright::adapters::github::{GitHub, GitHubConfig, GitHubError};
use planwright::engine::forge::Forge;
use secrecy::SecretString;
use serde_json::json;
use url::Url;

use super::stub::*;

fn refused(change: impl FnOnce(&mut GitHubConfig)) -> GitHubError {
    let mut config = config(&Url::parse("https://api.github.com").unwrap());
    change(&mut config);
    GitHub::new(config, TestClock::new()).unwrap_err()
}

#[tokio::test]
async fn bad_settings_are_named_without_the_secret() {
    let halves: String = keys().0.lines().take(5).collect();
    for pem in [
        String::new(),
        "hunter2".to_owned(),
        keys().1.clone(),
        halves,
        keys().0.replace('\n', "\\n"),
        keys().0.replacen("MII", "XXX", 1),
    ] {
        let error = refused(|config| config.private_key = SecretString::from(pem));
        assert_eq!(
            error.to_string(),
            "the App's private key (github.private_key) is not an RSA private key in PEM form, \
             whose first line is -----BEGIN RSA PRIVATE KEY----- and which has real line breaks"
        );
    }
    let url = |url: &str| refused(|config| config.api_url = url.parse().unwrap()).to_string();
    let advice = "it looks like https://api.github.com or https://HOST/api/v3";
    assert_eq!(
        url("ftp://host/"),
        format!(
            "the API address ftp://host/ (github.api_url) cannot be used: it is neither http nor https; {advice}"
        )
    );
    assert_eq!(
        url("https://me:hunter2@host/"),
        format!(
            "the API address https://me:***REDACTED:url-password***@host/ (github.api_url) cannot \
             be used: it contains a user name or password; {advice}"
        )
    );
    assert_eq!(
        url("https://host/?a"),
        format!(
            "the API address https://host/?a (github.api_url) cannot be used: it contains a query or a fragment; {advice}"
        )
    );
    assert_eq!(
        refused(|config| config.user_agent = "a\nb".to_owned()).to_string(),
        "the user agent (github.user_agent) may only hold printable ASCII characters"
    );
}

#[tokio::test]
async fn no_token_and_no_key_in_any_debug_or_error_text() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        // A server that sends the credentials back in every text it has.
        let echo = asked.headers["authorization"].to_str().unwrap().to_owned();
        match asked.path.as_str() {
            path if path.ends_with("/permission") => reply(403, json!({"message": echo})),
            path if path.ends_with("/issues") => {
                reply(422, json!({"message": "no", "errors": [echo]}))
            }
            path if path.ends_with("/comments") => reply(201, json!({"id": echo})),
            path if path.ends_with("/7") => Some(Reply::With(
                301,
                vec![("location", format!("https://{}/", token(0)))],
                json!({}),
            )),
            "/app" => reply(500, json!({"message": echo})),
            _ => None,
        }
    })
    .await;
    let config = config(&stub.url);
    let mut texts = vec![format!("{config:?}")];
    let github = GitHub::new(config, clock).unwrap();
    for error in [
        github.access(&repo(), "a").await.unwrap_err(),
        github
            .create_issue(&repo(), "t", "b", &[])
            .await
            .unwrap_err(),
        github.create_comment(&repo(), 7, "b").await.unwrap_err(),
        github.thread(&place()).await.unwrap_err(),
        github.slug().await.unwrap_err(),
    ] {
        texts.push(format!("{error} {error:?}"));
    }
    texts.push(format!("{github:?} {github:#?}"));
    assert_eq!(texts.len(), 7);
    for text in texts {
        for secret in ["ghs_", "a1B2c3D4", "eyJ", "PRIVATE KEY", "MII"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}
