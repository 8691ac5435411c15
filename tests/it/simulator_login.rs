//! People log in through the App as on GitHub.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::{Url, form_urlencoded};

use crate::simulator_support::{Got, World};

const CALLBACK: &str = "https://bot.example.com/callback";
const VERIFIER: &str = "a verifier of more than forty-three characters";

/// A simulator with a callback URL, where `ada` is signed in.
async fn world() -> World {
    let world = World::new().await;
    world.simulator.set_visitor("ada");
    world.simulator.set_callback_urls(vec![CALLBACK.to_owned()]);
    world
}

fn encode(fields: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields).finish()
}

async fn page(world: &World, method: Method, fields: &[(&str, &str)]) -> Got {
    let url = format!("{}/login/oauth/authorize", world.simulator.url());
    let form = encode(fields);
    let request = Request::builder().method(&method);
    let request = if method == Method::GET {
        request.uri(format!("{url}?{form}")).body(Full::default())
    } else {
        request.uri(url).body(Full::from(form))
    };
    world.send(request.unwrap()).await.unwrap()
}

/// Confirms a login and returns its code.
async fn code(world: &World) -> String {
    let id = world.simulator.client_id();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let got = page(
        world,
        Method::POST,
        &[
            ("client_id", &id),
            ("redirect_uri", CALLBACK),
            ("state", "s"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("authorize", "1"),
        ],
    )
    .await;
    let back = Url::parse(got.header("location").unwrap()).unwrap();
    let pairs: Vec<(String, String)> = back.query_pairs().into_owned().collect();
    assert_eq!(pairs[1], ("state".to_owned(), "s".to_owned()));
    assert_eq!(pairs[0].0, "code");
    pairs[0].1.clone()
}

async fn exchange(world: &World, accept: &str, body: String) -> Got {
    let request = Request::post(format!(
        "{}/login/oauth/access_token",
        world.simulator.url()
    ))
    .header("user-agent", "tests")
    .header("accept", accept)
    .body(Full::from(body));
    world.send(request.unwrap()).await.unwrap()
}

/// Exchanges a code, with one field changed.
async fn exchange_with(world: &World, code: &str, changed: (&str, &str)) -> (u16, Value) {
    let (id, secret) = (world.simulator.client_id(), world.simulator.client_secret());
    let mut fields = vec![
        ("client_id", id.as_str()),
        ("client_secret", secret.expose_secret()),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    fields.retain(|(name, _)| *name != changed.0);
    fields.push(changed);
    let got = exchange(world, "application/json", encode(&fields)).await;
    (got.status.as_u16(), got.json())
}

#[tokio::test]
async fn a_code_is_exchanged_for_a_token_of_the_person() {
    let world = world().await;
    let code = code(&world).await;
    let (status, answer) = exchange_with(&world, &code, ("code", &code)).await;
    assert_eq!(status, 200, "{answer}");
    let token = answer["access_token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("ghu_") && token.len() == 40, "{token}");
    let refresh = answer["refresh_token"].as_str().unwrap();
    assert!(refresh.starts_with("ghr_"), "{refresh}");
    assert_eq!(answer["expires_in"], 28_800);
    assert_eq!(answer["token_type"], "bearer");
    let user = || world.send(world.request(Method::GET, "/user", &token, None));
    let got = user().await.unwrap();
    assert_eq!(got.json()["login"], "ada");
    world.clock.advance(Duration::from_hours(8));
    assert_eq!(user().await.unwrap().status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_program_that_does_not_ask_for_json_gets_a_form() {
    let world = world().await;
    let code = code(&world).await;
    let body = json!({
        "client_id": world.simulator.client_id(),
        "client_secret": world.simulator.client_secret().expose_secret(),
        "code": code,
        "code_verifier": VERIFIER,
    });
    let got = exchange(&world, "*/*", body.to_string()).await;
    assert!(
        got.text().starts_with("access_token=ghu_"),
        "{}",
        got.text()
    );
    let got = exchange(&world, "*/*", body.to_string()).await;
    let text =
        "error=bad_verification_code&error_description=The+code+passed+is+incorrect+or+expired.";
    assert!(got.text().starts_with(text), "{}", got.text());
}

#[tokio::test]
async fn exchanges_are_refused_as_github_refuses_them() {
    let world = world().await;
    for (changed, status, error) in [
        (("client_id", "Iv1.other"), 404, "Not Found"),
        (("client_secret", "x"), 200, "incorrect_client_credentials"),
        (("code", "guessed"), 200, "bad_verification_code"),
        (("code_verifier", "x"), 200, "bad_verification_code"),
        (("code_verifier", ""), 200, "bad_verification_code"),
        (("redirect_uri", "https://x/"), 200, "redirect_uri_mismatch"),
    ] {
        let code = code(&world).await;
        let (found, answer) = exchange_with(&world, &code, changed).await;
        assert_eq!((found, answer["error"].as_str()), (status, Some(error)));
    }
    let late = code(&world).await;
    world.clock.advance(Duration::from_mins(10));
    let (_, answer) = exchange_with(&world, &late, ("code", &late)).await;
    let description = "The code passed is incorrect or expired.";
    assert_eq!(answer["error_description"], description);
}

#[tokio::test]
async fn the_page_asks_once_and_sends_people_to_registered_addresses_only() {
    let world = world().await;
    let id = world.simulator.client_id();
    let asked = [("client_id", id.as_str()), ("state", "s")];
    let got = page(&world, Method::GET, &asked).await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(
        got.text().contains("Authorize planwright"),
        "{}",
        got.text()
    );
    let policy = got.header("content-security-policy").unwrap();
    assert!(
        policy.contains("form-action 'self' https://bot.example.com;"),
        "{policy}"
    );
    let cancelled = page(&world, Method::POST, &asked).await;
    let back = cancelled.header("location").unwrap();
    let error = format!("{CALLBACK}?error=access_denied&");
    assert!(
        back.starts_with(&error) && back.ends_with("&state=s"),
        "{back}"
    );
    code(&world).await;
    let got = page(&world, Method::GET, &asked).await;
    let back = got.header("location").unwrap();
    assert!(back.starts_with(&format!("{CALLBACK}?code=")), "{back}");

    let elsewhere = [
        asked[0],
        asked[1],
        ("redirect_uri", "https://evil.example/"),
    ];
    let got = page(&world, Method::GET, &elsewhere).await;
    let back = got.header("location").unwrap();
    let error = format!("{CALLBACK}?error=redirect_uri_mismatch&");
    assert!(
        back.starts_with(&error) && back.ends_with("&state=s"),
        "{back}"
    );
    let plain = [
        asked[0],
        ("code_challenge", "c"),
        ("code_challenge_method", "plain"),
    ];
    let got = page(&world, Method::GET, &plain).await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    assert!(
        got.text()
            .contains("The code_challenge_method must be S256")
    );
    let got = page(&world, Method::GET, &[("client_id", "other")]).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    world.simulator.set_callback_urls(Vec::new());
    let got = page(&world, Method::GET, &asked).await;
    assert!(got.text().contains("The App has no callback URL"));

    let world = World::new().await;
    world.simulator.set_callback_urls(vec![CALLBACK.to_owned()]);
    let got = page(&world, Method::GET, &asked).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert!(got.text().contains("Nobody is signed in"));
}
