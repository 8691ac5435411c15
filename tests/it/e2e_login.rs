//! The login for the pages: with GitHub against the simulator, with the operator's token, and what
//! attackers try.

pub(crate) mod world;

use std::time::Duration;

use github_simulator::model::Role;
use github_simulator::{Fault, FaultKind};
use http::Method;
use secrecy::ExposeSecret as _;
use url::Url;

use crate::support::program::between;
use crate::support::system::{Options, System};
use world::{BOTH, Browser, Configured, PRIVATE, TOKEN, World, answer_at};

const CALLBACK: &str = "/ui/login/github/callback";
const MINUTE: Duration = Duration::from_mins(1);

/// Returns the value of a parameter of an address.
fn parameter(address: &str, name: &str) -> String {
    let url = Url::parse(address).unwrap();
    let mut pairs = url.query_pairs();
    let pair = pairs.find(|(other, _)| other == name);
    pair.unwrap_or_else(|| panic!("{name}: {address}"))
        .1
        .into_owned()
}

/// Returns the address with another value of a parameter.
fn replace(address: &str, name: &str, value: &str) -> String {
    let mut url = Url::parse(address).unwrap();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let pairs = pairs.into_iter().filter(|(other, _)| other != name);
    let pairs: Vec<(String, String)> = pairs.collect();
    url.query_pairs_mut()
        .clear()
        .extend_pairs(pairs)
        .append_pair(name, value);
    url.to_string()
}

#[tokio::test]
async fn a_person_logs_in_with_github_and_logs_out() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    browser.get("/ui").await.assert_not_found();
    let page = browser.get("/ui/login?next=/ui/repos/acme/private").await;
    page.says(200, "Log in with GitHub");
    page.says(200, "Operator's token");
    let link = between(&page.text, "<a href=\"", "\"");
    assert_eq!(link, "/ui/login/github?next=%2Fui%2Frepos%2Facme%2Fprivate");
    let got = browser.get(&link).await;
    let cookies = got.cookies();
    assert_eq!(cookies.len(), 1);
    let attributes = "; Path=/ui/login; Max-Age=600; HttpOnly; SameSite=Lax";
    assert!(cookies[0].starts_with("planwright_login="), "{cookies:?}");
    assert!(cookies[0].ends_with(attributes), "{cookies:?}");
    let address = got.location().unwrap();
    let root = format!("{}/login/oauth/authorize?", world.sim.url());
    assert!(address.starts_with(&root), "{address}");
    let secret = world.sim.client_secret();
    assert!(!address.contains(secret.expose_secret()), "{address}");
    let callback = world.confirm("ada", &address).await;
    let got = browser.get(&callback).await;
    assert_eq!(got.status, 303, "{}", got.text);
    assert_eq!(got.location().unwrap(), "/ui/repos/acme/private");
    let cookies = got.cookies();
    let attributes = "; Path=/ui; Max-Age=28800; HttpOnly; SameSite=Lax";
    assert!(cookies[0].starts_with("planwright_session="), "{cookies:?}");
    assert!(cookies[0].ends_with(attributes), "{cookies:?}");
    assert!(cookies[1].starts_with("planwright_login=; "), "{cookies:?}");
    assert_eq!(browser.cookies.len(), 1, "the cookie of the login is gone");

    let page = browser.get("/ui").await;
    page.says(200, "Logged in as <strong>ada</strong>");
    assert_eq!(page.headers["cache-control"], "no-store");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("form-action 'self'; frame-ancestors 'none'"),
        "{policy}"
    );
    browser
        .get("/ui/repos/acme/private")
        .await
        .says(200, "Write");
    browser.get("/ui/none").await.assert_not_found();

    // GitHub does not ask a second time.
    let mut second = Browser::new(&world.url);
    second.log_in(&world, "ada").await;

    let token = browser.form_token().await;
    let got = browser.post("/ui/logout", &[("form_token", &token)]).await;
    assert_eq!(
        (got.status, got.location().unwrap().as_str()),
        (303, "/ui/login")
    );
    assert!(browser.cookies.is_empty());
    browser.get("/ui").await.assert_not_found();
    let asked = world.sim.requests();
    let users = asked.iter().filter(|request| request.path == "/user");
    assert_eq!(users.count(), 2, "a user's token is used once");
}

#[tokio::test]
async fn without_a_login_pages_look_like_paths_that_do_not_exist() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    let methods = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::OPTIONS,
        Method::DELETE,
    ];
    for method in methods {
        let mut nothing = browser
            .send(method.clone(), "/nothing", String::new())
            .await;
        nothing.headers.remove("date");
        for path in [
            "/ui",
            "/ui/repos/acme/public",
            "/ui/logout",
            "/ui/none",
            "/ui/",
        ] {
            let mut got = browser.send(method.clone(), path, String::new()).await;
            got.headers.remove("date");
            assert_eq!(got.status, 404, "{method} {path}");
            assert_eq!(got.headers, nothing.headers, "{method} {path}");
            assert_eq!(got.text, nothing.text, "{method} {path}");
        }
    }
    browser.get("/livez").await.says(200, "alive");
}

#[tokio::test]
async fn paths_lead_nowhere_else() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    for round in 0..2 {
        for path in [
            "/ui/",
            "/ui//",
            "//ui",
            "/%75i",
            "/%75i/login",
            "/ui%2flogin",
            "/ui/login/",
            "/ui/login%2fgithub",
            "/ui/login//github",
            "/ui/../metrics",
            "/ui/%2e%2e/metrics",
            "/ui/./login",
            "/ui/login/../repos/acme/private",
            "/ui/login/%2e%2e/repos/acme/private",
            "/UI/login",
            "/ui;/login",
            "/ui\\login",
            "/ui/repos/acme%2fprivate",
            "/ui/repos/acme/private/",
        ] {
            let Ok(uri) = format!("{}{path}", world.url).parse::<http::Uri>() else {
                continue;
            };
            let got = browser.get(&uri.to_string()).await;
            assert_eq!(
                (got.status, got.text.as_str()),
                (404, "nothing here\n"),
                "{path}"
            );
        }
        if round == 0 {
            browser.log_in(&world, "ada").await;
        }
    }
}

#[tokio::test]
async fn the_state_of_another_login_is_refused() {
    let world = World::new().await;
    let other_login = "This answer from GitHub belongs to another login";
    let not_begun = "This login did not begin in this browser, or cookies are blocked.";
    let missing = "This address is for GitHub's answer to a login, and the answer is missing.";

    // Without a state, with a forged one, and with that of another browser.
    let mut victim = Browser::new(&world.url);
    let mut attacker = Browser::new(&world.url);
    let begun = victim.begin().await;
    let answer = attacker.begin().await;
    let answer = world.confirm("eve", &answer).await;
    for (address, status, text) in [
        (CALLBACK.to_owned(), 400, missing),
        (format!("{CALLBACK}?code=x"), 400, missing),
        (replace(&answer, "state", ""), 403, other_login),
        (replace(&answer, "state", "forged"), 403, other_login),
        (answer.clone(), 403, other_login),
        (
            format!("{CALLBACK}?state={}", parameter(&begun, "state")),
            400,
            missing,
        ),
    ] {
        let mut browser = victim.clone();
        let got = browser.get(&address).await;
        got.says(status, text);
        got.says(status, "<a href=\"/ui/login\">Log in</a>");
        let cookies = got.cookies();
        assert!(
            cookies[0].starts_with("planwright_login=; "),
            "{address}: {cookies:?}"
        );
        assert_eq!(cookies.len(), 1, "{address}: {cookies:?}");
        browser.get("/ui").await.assert_not_found();
        // A failed answer ends the login.
        let good = world.confirm("ada", &begun).await;
        browser.get(&good).await.says(403, not_begun);
    }

    // The browser of the answer has no login at all, or a forged one.
    let mut empty = Browser::new(&world.url);
    empty.get(&answer).await.says(403, not_begun);
    let cookie = attacker.cookies["planwright_login"].clone();
    let (text, signature) = cookie.split_once('.').unwrap();
    for forged in [
        "x".to_owned(),
        text.to_owned(),
        format!("{text}A.{signature}"),
    ] {
        let mut browser = Browser::new(&world.url);
        browser
            .cookies
            .insert("planwright_login".to_owned(), forged);
        browser.get(&answer).await.says(403, not_begun);
    }
    attacker.get(&answer).await.says(303, "");
}

#[tokio::test]
async fn an_answer_counts_once_and_for_ten_minutes() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    let address = browser.begin().await;
    world.clock.advance(10 * MINUTE);
    let answer = world.confirm("ada", &address).await;
    let late = browser.clone().get(&answer).await;
    late.says(403, "This login began more than 10 minutes ago.");
    browser.get("/ui").await.assert_not_found();

    let address = browser.begin().await;
    world.clock.advance(9 * MINUTE);
    let answer = world.confirm("ada", &address).await;
    let mut copy = browser.clone();
    browser.get(&answer).await.says(303, "");
    // The browser has forgotten the login; a copy of its cookie finds the code used.
    let again = browser.get(&answer).await;
    again.says(
        403,
        "This login did not begin in this browser, or cookies are blocked.",
    );
    let used = "GitHub does not accept the code of this login: it was used before or is too old.";
    copy.get(&answer).await.says(403, used);
    assert_eq!(copy.cookies.len(), 0);
    browser.get("/ui").await.says(200, "ada");

    // A code that GitHub did not issue.
    let address = browser.begin().await;
    let answer = world.confirm("ada", &address).await;
    let got = browser.get(&replace(&answer, "code", "guessed")).await;
    got.says(403, used);
}

#[tokio::test]
async fn a_code_of_another_login_has_the_wrong_verifier() {
    let world = World::new().await;
    let (mut victim, mut attacker) = (Browser::new(&world.url), Browser::new(&world.url));
    let (begun, other) = (victim.begin().await, attacker.begin().await);
    assert_ne!(
        parameter(&begun, "code_challenge"),
        parameter(&other, "code_challenge")
    );
    assert_eq!(parameter(&begun, "code_challenge_method"), "S256");
    // The attacker has the victim's code, and puts it into a login that the attacker began.
    let stolen = parameter(&world.confirm("ada", &begun).await, "code");
    let answer = world.confirm("eve", &other).await;
    let got = attacker.get(&replace(&answer, "code", &stolen)).await;
    got.says(403, "GitHub does not accept the code of this login");
    attacker.get("/ui").await.assert_not_found();
}

#[tokio::test]
async fn what_github_refuses_is_explained() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    let address = browser.begin().await;
    let answer = world.answer("ada", &address, "0").await;
    assert_eq!(parameter(&answer, "error"), "access_denied");
    browser
        .get(&answer)
        .await
        .says(403, "The login was cancelled on GitHub.");

    let unconfirmed = "GitHub did not confirm the login. The bot's log has the details.";
    for (method, path, kind) in [
        (
            "POST",
            "/login/oauth/access_token",
            FaultKind::BadGatewayBefore,
        ),
        ("POST", "/login/oauth/access_token", FaultKind::LostResponse),
        ("GET", "/user", FaultKind::BadGatewayBefore),
        ("GET", "/user", FaultKind::BadCredentials),
    ] {
        let address = browser.begin().await;
        let answer = world.confirm("ada", &address).await;
        world.sim.faults().push(Fault::on(method, path, kind));
        browser.get(&answer).await.says(502, unconfirmed);
        browser.get("/ui").await.assert_not_found();
    }
    let address = browser.begin().await;
    let state = parameter(&address, "state");
    let odd = format!("{CALLBACK}?error=application_suspended&state={state}");
    browser.get(&odd).await.says(502, unconfirmed);

    let wrong = "GitHub does not accept the client ID, the client secret or the callback URL of this bot. Its operator finds the \
                 details in the log.";
    let address = browser.begin().await;
    world
        .sim
        .set_callback_urls(vec![format!("{}/other", world.url)]);
    let answer = world.confirm("ada", &address).await;
    assert_eq!(parameter(&answer, "error"), "redirect_uri_mismatch");
    let answer = answer.replacen("/other", CALLBACK, 1);
    browser.get(&answer).await.says(502, wrong);

    let other = Configured {
        client_secret: Some("a client secret that was revoked"),
        ..BOTH
    };
    let world = World::with(other).await;
    let mut browser = Browser::new(&world.url);
    let address = browser.begin().await;
    let answer = world.confirm("ada", &address).await;
    browser.get(&answer).await.says(502, wrong);
}

#[tokio::test]
async fn a_login_replaces_the_session_that_was_there() {
    let world = World::new().await;
    let mut attacker = Browser::new(&world.url);
    attacker.log_in(&world, "eve").await;
    // The attacker has planted a session of their own in the victim's browser.
    let mut victim = attacker.clone();
    let planted = victim.cookies["planwright_session"].clone();
    let old = victim.form_token().await;
    victim.log_in(&world, "ada").await;
    let session = victim.cookies["planwright_session"].clone();
    assert_ne!(session, planted);
    victim.get("/ui").await.says(200, "<strong>ada</strong>");
    attacker.get("/ui").await.says(200, "<strong>eve</strong>");
    let got = victim.post("/ui/logout", &[("form_token", &old)]).await;
    got.says(403, "The form belongs to an earlier session.");
    // A value that the attacker has chosen is not taken over, and the same person gets a new one.
    for chosen in ["chosen", session.as_str()] {
        let mut browser = Browser::new(&world.url);
        let cookies = &mut browser.cookies;
        cookies.insert("planwright_session".to_owned(), chosen.to_owned());
        browser.log_in(&world, "ada").await;
        assert_ne!(browser.cookies["planwright_session"], chosen);
    }
    // With two sessions in one request there is no telling who it is.
    let mut both = Browser::new(&world.url);
    let cookie = format!("planwright_session={planted}; planwright_session={session}");
    both.headers = vec![("cookie", cookie)];
    both.get("/ui").await.assert_not_found();
    let cookie = format!("planwright_session=planted; planwright_session={session}");
    both.headers = vec![("cookie", cookie)];
    both.get("/ui").await.says(200, "<strong>ada</strong>");
}

#[tokio::test]
async fn sessions_cannot_be_forged_and_end() {
    let mut world = World::new().await;
    let mut browser = Browser::new(&world.url);
    browser.log_in(&world, "ada").await;
    let session = browser.cookies["planwright_session"].clone();
    let (text, signature) = session.split_once('.').unwrap();
    let begun = {
        let mut other = Browser::new(&world.url);
        other.begin().await;
        other.cookies["planwright_login"].clone()
    };
    let flipped = if signature.starts_with('A') { "B" } else { "A" };
    for forged in [
        String::new(),
        text.to_owned(),
        format!("{text}."),
        format!("{text}.{flipped}{}", &signature[1..]),
        format!("A{text}.{signature}"),
        begun,
        format!("{session}{}", "A".repeat(8000)),
    ] {
        let mut browser = Browser::new(&world.url);
        browser
            .cookies
            .insert("planwright_session".to_owned(), forged);
        browser.get("/ui").await.assert_not_found();
    }
    // Another process with the same secrets knows the session, one with other secrets does not.
    world.restart(BOTH).await;
    browser.url.clone_from(&world.url);
    browser.get("/ui").await.says(200, "ada");
    world.clock.advance(Duration::from_secs(8 * 60 * 60 - 1));
    browser.get("/ui").await.says(200, "ada");
    let rotated = [
        Configured {
            client_secret: Some("another secret"),
            ..BOTH
        },
        Configured {
            token: Some("another token of the operator's"),
            ..BOTH
        },
        Configured {
            token: None,
            ..BOTH
        },
    ];
    for configured in rotated {
        world.restart(configured).await;
        let mut browser = browser.clone();
        browser.url.clone_from(&world.url);
        browser.get("/ui").await.assert_not_found();
    }
    world.restart(BOTH).await;
    browser.url.clone_from(&world.url);
    world.clock.advance(Duration::from_secs(1));
    browser.get("/ui").await.assert_not_found();
}

#[tokio::test]
async fn the_login_leads_to_pages_of_the_bot_only() {
    let world = World::new().await;
    for next in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/ui/..//evil.example",
        "/ui/%2e%2e/%2e%2e/evil",
        "/ui/%2f%2fevil.example",
        "/ui%0d%0aset-cookie:%20planwright_session=x",
        "/ui.evil.example",
        "/uix",
        "/metrics",
        "javascript:alert(1)",
    ] {
        let encoded: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        for given in [next.to_owned(), encoded] {
            let mut browser = Browser::new(&world.url);
            let page = browser.get(&format!("/ui/login?next={given}")).await;
            page.says(200, "href=\"/ui/login/github?next=%2Fui\"");
            page.says(200, "name=\"next\" value=\"/ui\"");
            let got = browser.get(&format!("/ui/login/github?next={given}")).await;
            let answer = world.confirm("ada", &got.location().unwrap()).await;
            let got = browser.get(&answer).await;
            assert_eq!(got.location().as_deref(), Some("/ui"), "{given}");
        }
        let mut browser = Browser::new(&world.url);
        let fields = [("token", TOKEN), ("next", next)];
        let got = browser.post("/ui/login/token", &fields).await;
        assert_eq!(got.location().as_deref(), Some("/ui"), "{next}");
    }
    let mut browser = Browser::new(&world.url);
    let fields = [("token", TOKEN), ("next", "/ui/runs?state=failed")];
    let got = browser.post("/ui/login/token", &fields).await;
    assert_eq!(got.location().as_deref(), Some("/ui/runs?state=failed"));
}

#[tokio::test]
async fn forms_of_other_sites_and_sessions_are_refused() {
    let world = World::new().await;
    let (mut browser, mut other) = (Browser::new(&world.url), Browser::new(&world.url));
    browser.log_in(&world, "ada").await;
    other.log_in(&world, "ada").await;
    let token = browser.form_token().await;
    let foreign = other.form_token().await;
    assert_ne!(token, foreign);
    let page = "/ui/repos/acme/private";
    let old =
        "The form belongs to an earlier session. Go back, reload the page, and send it again.";
    let elsewhere = "The form was not sent from a page of this bot.";
    let own = ("origin", world.url.as_str());
    let field = ("form_token", token.as_str());
    for (headers, fields, text) in [
        (&[own][..], &[][..], old),
        (&[own], &[("form_token", "")], old),
        (&[own], &[("form_token", "forged")], old),
        (&[own], &[("form_token", foreign.as_str())], old),
        (&[], &[field], elsewhere),
        (&[("origin", "https://evil.example")], &[field], elsewhere),
        (&[("origin", "null")], &[field], elsewhere),
        (
            &[own, ("sec-fetch-site", "cross-site")],
            &[field],
            elsewhere,
        ),
        (&[("sec-fetch-site", "same-site")], &[field], elsewhere),
    ] {
        for path in [page, "/ui/logout"] {
            let got = browser.post_from(headers, path, fields).await;
            got.says(403, text);
        }
    }
    let same = [("sec-fetch-site", "same-origin")];
    browser
        .post_from(&same, page, &[field])
        .await
        .says(200, "done");
    browser.post(page, &[field]).await.says(200, "done");
    // The login with the token cannot be sent from another site either.
    let mut nobody = Browser::new(&world.url);
    let evil = [("origin", "https://evil.example")];
    let got = nobody
        .post_from(&evil, "/ui/login/token", &[("token", TOKEN)])
        .await;
    got.says(403, elsewhere);
    assert!(nobody.cookies.is_empty());
    let long = "a".repeat(20_000);
    let got = browser.post(page, &[field, ("long", &long)]).await;
    got.says(413, "the form is too large\n");
}

#[tokio::test]
async fn the_operator_logs_in_with_the_token() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    for wrong in ["", "wrong", &TOKEN[1..], &format!("{TOKEN}x")] {
        let fields = [("token", wrong), ("next", "/ui/runs")];
        let got = browser.post("/ui/login/token", &fields).await;
        got.says(403, "This is not the operator's token.");
        got.says(403, "name=\"next\" value=\"/ui/runs\"");
        assert!(browser.cookies.is_empty());
    }
    let got = browser.post("/ui/login/token", &[("token", TOKEN)]).await;
    assert_eq!((got.status, got.location().as_deref()), (303, Some("/ui")));
    assert!(
        !got.cookies()[0].contains("operator"),
        "{:?}",
        got.cookies()
    );
    browser.get("/ui").await.says(200, "the operator");
    browser
        .get("/ui/repos/acme/private")
        .await
        .says(200, "Admin");
    let token = browser.form_token().await;
    let fields = [("form_token", token.as_str())];
    browser
        .post("/ui/repos/acme/private", &fields)
        .await
        .says(200, "done");
    // The token in the address is no login.
    let mut nobody = Browser::new(&world.url);
    let encoded: String = url::form_urlencoded::byte_serialize(TOKEN.as_bytes()).collect();
    nobody
        .get(&format!("/ui?token={encoded}"))
        .await
        .assert_not_found();
}

#[tokio::test]
async fn programs_send_the_token_and_no_cookie_counts_then() {
    let world = World::new().await;
    let mut program = Browser::new(&world.url);
    program.headers = vec![("authorization", format!("Bearer {TOKEN}"))];
    program.get("/ui").await.says(200, "the operator");
    // No browser sends this header by itself, so that there is no form token.
    let got = program.post_from(&[], "/ui/repos/acme/private", &[]).await;
    got.says(200, "done");
    let mut browser = Browser::new(&world.url);
    browser.log_in(&world, "ada").await;
    for wrong in ["Bearer wrong", "bearer ", "Bearer "] {
        browser.headers = vec![("authorization", wrong.to_owned())];
        browser.get("/ui").await.assert_not_found();
    }
    browser.headers = vec![("authorization", format!("Bearer {TOKEN}"))];
    browser.get("/ui").await.says(200, "the operator");
    // The credentials of a proxy in front of the bot are not ours.
    browser.headers = vec![("authorization", "Basic cHJveHk6cHJveHk=".to_owned())];
    browser.get("/ui").await.says(200, "ada");
}

#[tokio::test]
async fn people_see_what_they_can_read_and_only_maintainers_act() {
    let world = World::new().await;
    let (public, private) = ("/ui/repos/acme/public", "/ui/repos/acme/private");
    for (person, reads, sees, acts) in [
        ("ada", (200, "Write"), (200, "Write"), (200, 200)),
        ("rita", (200, "Read"), (200, "Read"), (403, 403)),
        ("eve", (200, "Read"), (404, ""), (403, 404)),
    ] {
        let mut browser = Browser::new(&world.url);
        browser.log_in(&world, person).await;
        browser.get(public).await.says(reads.0, reads.1);
        browser.get(private).await.says(sees.0, sees.1);
        let token = browser.form_token().await;
        let fields = [("form_token", token.as_str())];
        browser.post(public, &fields).await.says(acts.0, "");
        browser.post(private, &fields).await.says(acts.1, "");
        browser.get("/ui/repos/acme/none").await.says(404, "");
    }
}

#[tokio::test]
async fn permissions_are_asked_for_every_five_minutes() {
    let world = World::new().await;
    let private = "/ui/repos/acme/private";
    let mut browser = Browser::new(&world.url);
    browser.log_in(&world, "rita").await;
    browser.get(private).await.says(200, "Read");
    world.sim.grant(PRIVATE, "rita", Role::None).unwrap();
    world.clock.advance(Duration::from_secs(5 * 60 - 1));
    browser.get(private).await.says(200, "Read");
    world.clock.advance(Duration::from_secs(1));
    browser.get(private).await.says(404, "");
    // While GitHub does not answer, nobody may do anything, and nothing is remembered.
    world.sim.grant(PRIVATE, "rita", Role::Read).unwrap();
    world.clock.advance(5 * MINUTE);
    let path = "/repos/*/*/collaborators/*/permission";
    world
        .sim
        .faults()
        .push(Fault::on("GET", path, FaultKind::BadGatewayBefore));
    browser.get(private).await.says(404, "");
    browser.get(private).await.says(200, "Read");
}

#[tokio::test]
async fn a_login_that_another_account_has_taken_over_gives_nothing() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    browser.log_in(&world, "rita").await;
    // Somebody else registers the login and is given access.
    world.sim.replace_user("rita");
    world.sim.grant(PRIVATE, "rita", Role::Write).unwrap();
    browser.get("/ui/repos/acme/private").await.says(404, "");
    browser.get("/ui/repos/acme/public").await.says(404, "");
    let mut other = Browser::new(&world.url);
    other.log_in(&world, "rita").await;
    other.get("/ui/repos/acme/private").await.says(200, "Write");
}

#[tokio::test]
async fn a_repository_that_has_taken_over_a_name_gives_nothing() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.url);
    browser.log_in(&world, "ada").await;
    // The private repository gets another name, and a public one its name.
    world.sim.rename_repository(PRIVATE, "old").unwrap();
    world.sim.add_repository(PRIVATE, false).unwrap();
    world.sim.add_to_installation("acme/old", PRIVATE).unwrap();
    world.sim.grant(PRIVATE, "ada", Role::Write).unwrap();
    let mut stranger = Browser::new(&world.url);
    stranger.log_in(&world, "eve").await;
    for browser in [&mut browser, &mut stranger] {
        browser.get("/ui/repos/acme/private").await.says(404, "");
        browser.get("/ui/repos/acme/public").await.says(200, "");
    }
}

#[tokio::test]
async fn only_what_is_configured_is_served() {
    let login = ["/ui/login", "/ui/login/github", CALLBACK];
    let world = World::with(Configured {
        token: None,
        github: false,
        client_secret: None,
    })
    .await;
    let mut browser = Browser::new(&world.url);
    browser.headers = vec![("authorization", format!("Bearer {TOKEN}"))];
    for path in login
        .into_iter()
        .chain(["/ui", "/ui/logout", "/ui/repos/acme/public"])
    {
        browser.get(path).await.assert_not_found();
    }
    browser
        .post("/ui/login/token", &[("token", TOKEN)])
        .await
        .assert_not_found();
    browser
        .post("/ui/login/token", &[("token", "")])
        .await
        .assert_not_found();
    browser.get("/livez").await.says(200, "alive");

    let world = World::with(Configured {
        github: false,
        ..BOTH
    })
    .await;
    let mut browser = Browser::new(&world.url);
    let page = browser.get("/ui/login").await;
    page.says(200, "Log in with the token");
    assert!(!page.text.contains("GitHub"), "{}", page.text);
    browser.get("/ui/login/github").await.assert_not_found();
    browser
        .get(&format!("{CALLBACK}?code=x&state=y"))
        .await
        .assert_not_found();

    let world = World::with(Configured {
        token: None,
        ..BOTH
    })
    .await;
    let mut browser = Browser::new(&world.url);
    let page = browser.get("/ui/login").await;
    page.says(200, "Log in with GitHub");
    assert!(!page.text.contains("token"), "{}", page.text);
    browser
        .post("/ui/login/token", &[("token", "")])
        .await
        .assert_not_found();
    browser.headers = vec![("authorization", "Bearer ".to_owned())];
    browser.get("/ui").await.assert_not_found();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bot_serves_the_pages_that_its_configuration_asks_for() {
    let token = "0123456789abcdef0123456789abcdef";
    let system = System::start().await;
    let mut browser = Browser::new(&system.url(""));
    for path in ["/ui", "/ui/login", "/ui/login/github"] {
        browser.get(path).await.assert_not_found();
    }
    let public = "https://bot.example.com";
    let secret = "a-client-secret-of-the-app".to_owned();
    let system = System::with(Options {
        environment: vec![
            ("PLANWRIGHT_WEB_TOKEN", token.to_owned()),
            ("PLANWRIGHT_WEB_URL", public.to_owned()),
            (
                "PLANWRIGHT_WEB_CLIENT_ID",
                "Iv23li00000000004711".to_owned(),
            ),
            ("PLANWRIGHT_WEB_CLIENT_SECRET", secret.clone()),
            ("PLANWRIGHT_LOG_LEVEL", "debug".to_owned()),
        ],
        client_secret: Some(secret.clone()),
        ..Options::default()
    })
    .await;
    system
        .sim
        .set_callback_urls(vec![format!("{public}{CALLBACK}")]);
    let mut browser = Browser::new(&system.url(""));
    browser.get("/ui").await.assert_not_found();
    let got = browser.get("/ui/login/github").await;
    let cookie = &got.cookies()[0];
    assert!(cookie.starts_with("__Host-planwright_login="), "{cookie}");
    let attributes = "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure";
    assert!(cookie.ends_with(attributes), "{cookie}");
    let address = got.location().unwrap();
    // Ada confirms, and GitHub sends the browser to the public address.
    let answer = answer_at(&system.sim, "ada", &address, "1").await;
    let code = parameter(&answer, "code");
    let path = answer.strip_prefix(public).unwrap();
    let got = browser.get(path).await;
    got.says(303, "");
    let cookie = got.cookies()[0].clone();
    assert!(cookie.starts_with("__Host-planwright_session="), "{cookie}");
    browser.get("/ui").await.says(200, "<strong>ada</strong>");
    let mut other = Browser::new(&system.url(""));
    other.headers = vec![("origin", public.to_owned())];
    other
        .post_from(&[], "/ui/login/token", &[("token", "wrong")])
        .await
        .says(403, "not the operator's token");
    other
        .post_from(&[], "/ui/login/token", &[("token", token)])
        .await
        .says(303, "");
    other.get("/ui").await.says(200, "the operator");
    let log = system.log().join("\n");
    assert!(log.contains("a user logged in to the pages"), "{log}");
    assert!(log.contains("the operator logged in to the pages"), "{log}");
    let session = cookie.split(['=', ';']).nth(1).unwrap();
    for secret in [secret.as_str(), token, &code, session, "ghu_"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}
