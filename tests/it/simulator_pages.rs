//! The simulator's web pages show its state, and escape it.

use github_simulator::model::UserKind;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use planwright::engine::model::trigger::digest;
use serde_json::json;

use crate::simulator_support::{Got, REPO, Receiver, World};

#[tokio::test]
async fn a_conversation_is_shown_as_on_github() {
    let world = World::new().await;
    let simulator = &world.simulator;
    let issue = simulator
        .open_issue(
            REPO,
            "ada",
            "Use <b>less</b>",
            "**bold**\n\n<script>alert(1)</script>",
        )
        .unwrap();
    let body = "<details>\n<summary>Plan</summary>\n\n- [x] one\n\n</details>";
    let comment = simulator.comment(REPO, issue, "ada", body).unwrap();
    simulator.react(REPO, comment, "ada", "rocket").unwrap();
    simulator.label(REPO, issue, "ada", "erk-plan").unwrap();
    let got = world.get("/acme/widgets/issues/1").await;
    assert_eq!(got.status, StatusCode::OK);
    let policy = got.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let page = got.text();
    assert!(page.contains("Use &lt;b&gt;less&lt;/b&gt; <span class=\"number\">#1</span>"));
    assert!(page.contains("<strong>bold</strong>"));
    assert!(!page.contains("alert(1)"));
    assert!(page.contains("<summary>Plan</summary>"));
    assert!(page.contains("type=\"checkbox\""));
    assert!(page.contains("🚀 1"));
    assert!(page.contains(">erk-plan</span>"));
    assert!(page.contains("class=\"pill open\">Open"));
    assert!(page.contains(&format!("id=\"issuecomment-{comment}\"")));
    let source = world.get("/acme/widgets/issues/1?source=1").await.text();
    assert!(source.contains("&lt;details&gt;\n&lt;summary&gt;Plan"));
    assert!(source.contains("&lt;script&gt;"));
}

#[tokio::test]
async fn lists_and_missing_pages() {
    let world = World::new().await;
    world.simulator.add_user("lurker", UserKind::User);
    let pull = world
        .simulator
        .open_pull_request(REPO, "ada", "Change it", "")
        .unwrap();
    world.simulator.set_closed(REPO, pull, "ada", true).unwrap();
    let home = world.get("/").await.text();
    assert!(home.contains("href=\"/acme/widgets/issues\""));
    assert!(home.contains("App installed"));
    let list = world.get("/acme/widgets/issues").await.text();
    assert!(list.contains("href=\"/acme/widgets/pull/1\">Change it</a>"));
    let page = world.get("/acme/widgets/pull/1").await.text();
    assert!(page.contains("class=\"pill closed\">Closed"));
    assert!(page.contains("No description provided."));
    for path in ["/acme/widgets/issues/9", "/acme/none/issues", "/x"] {
        let got = world.get(path).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND, "{path}");
        assert!(got.text().contains("page not found"));
    }
}

/// The question of a comment with its boxes, as the App posts it.
async fn asked(world: &World, body: &str) -> (u64, u64) {
    let issue = world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    let path = format!("/repos/{REPO}/issues/{issue}/comments");
    let got = world.post(&path, json!({"body": body})).await;
    (issue, got.json()["id"].as_u64().unwrap())
}

/// Posts the form of a comment as a browser does for a click on its box `nth`.
async fn click(world: &World, comment: u64, nth: usize, origin: Option<&str>) -> Got {
    let page = world.get("/acme/widgets/issues/1").await.text();
    let version = page
        .split_once("name=\"version\" value=\"")
        .map_or("", |(_, rest)| rest.split_once('"').unwrap().0);
    send(
        world,
        &format!("comment={comment}&version={version}&box={nth}"),
        origin,
    )
    .await
}

async fn send(world: &World, form: &str, origin: Option<&str>) -> Got {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(format!("{}/acme/widgets/issues/1", world.simulator.url()))
        .header("content-type", "application/x-www-form-urlencoded");
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    let request = request.body(Full::from(form.to_owned())).unwrap();
    world.send(request).await.unwrap()
}

#[tokio::test]
async fn boxes_of_the_apps_comment_are_clicked_in_the_browser() {
    let world = World::new().await;
    let simulator = &world.simulator;
    let (_, comment) = asked(&world, "Which?\n\n- [ ] a\n- [ ] b\n\n```\n- [ ] c\n```\n").await;
    let page = world.get("/acme/widgets/issues/1").await.text();
    assert!(page.contains("type=\"checkbox\""), "{page}");
    assert!(!page.contains("<form"), "nobody looks: {page}");
    simulator.settle().await;
    let receiver = Receiver::start(StatusCode::ACCEPTED).await;
    simulator.set_targets(vec![receiver.url.clone()]);
    simulator.set_visitor("ada");
    let got = click(&world, comment, 1, Some(&simulator.url())).await;
    assert_eq!(got.status, StatusCode::SEE_OTHER, "{}", got.text());
    let place = format!("/acme/widgets/issues/1#issuecomment-{comment}");
    assert_eq!(got.header("location"), Some(place.as_str()));
    assert_eq!(simulator.checkboxes(comment).unwrap(), [false, true]);
    let page = world.get("/acme/widgets/issues/1").await.text();
    assert!(page.contains("<form method=\"post\" action=\"/acme/widgets/issues/1\">"));
    assert!(page.contains("value=\"1\" role=\"checkbox\" aria-checked=\"true\""));
    let source = world.get("/acme/widgets/issues/1?source=1").await.text();
    assert!(!source.contains("<form"), "{source}");
    click(&world, comment, 1, None).await;
    assert_eq!(simulator.checkboxes(comment).unwrap(), [false, false]);
    simulator.settle().await;
    assert_eq!(receiver.events(), ["issue_comment edited"; 2]);
    let (_, ticked) = &receiver.payloads()[0];
    assert_eq!(ticked["sender"]["login"], "ada");
    assert_eq!(ticked["comment"]["user"]["login"], "planwright[bot]");
    assert_eq!(ticked["comment"]["performed_via_github_app"]["id"], 4711);
    let before = "Which?\n\n- [ ] a\n- [ ] b\n\n```\n- [ ] c\n```\n";
    assert_eq!(ticked["changes"]["body"]["from"], before);
    let after = "Which?\n\n- [ ] a\n- [x] b\n\n```\n- [ ] c\n```\n";
    assert_eq!(ticked["comment"]["body"], after);
}

#[tokio::test]
async fn clicks_that_do_nothing_say_why() {
    let world = World::new().await;
    let simulator = &world.simulator;
    let (_, comment) = asked(&world, "- [ ] a\n").await;
    let (_, elsewhere) = asked(&world, "- [ ] b\n").await;
    let shown = || async { world.get("/acme/widgets/issues/1").await.text() };
    let rights =
        "403: checkboxes can be ticked by the comment&#39;s author and by people with write access";
    let nowhere = "404: there is no such checkbox here";
    let stale = "409: the comment has changed since the page was shown: go back and load it again";
    let version = digest("- [ ] a\n");
    let form = |comment: u64, nth: &str| format!("comment={comment}&version={version}&box={nth}");
    let cases = [
        (None, form(comment, "0"), None, rights),
        (Some("ben"), form(comment, "0"), None, rights),
        (Some("ada"), form(comment, "1"), None, nowhere),
        (Some("ada"), form(comment, "one"), None, nowhere),
        (Some("ada"), form(elsewhere, "0"), None, nowhere),
        (Some("ada"), String::new(), None, nowhere),
        (
            Some("ada"),
            format!("comment={comment}&version=x&box=0"),
            None,
            stale,
        ),
        (
            Some("ada"),
            form(comment, "0"),
            Some("https://example.org"),
            "403: the request was sent from another site",
        ),
    ];
    for (visitor, form, origin, expected) in cases {
        if let Some(visitor) = visitor {
            simulator.set_visitor(visitor);
        }
        let got = send(&world, &form, origin).await;
        assert_eq!(got.status.as_str(), &expected[..3], "{form}");
        assert!(got.text().contains(expected), "{form}: {}", got.text());
        if visitor != Some("ada") {
            assert!(!shown().await.contains("name=\"box\""), "{visitor:?}");
        }
    }
    let none = simulator
        .toggle_checkbox(comment, "ada", 1)
        .unwrap_err()
        .to_string();
    let expected = format!("the simulator has no box 1 in comment {comment}: add it first");
    assert_eq!(none, expected);
    assert_eq!(simulator.checkboxes(comment).unwrap(), [false]);
    assert_eq!(simulator.checkboxes(elsewhere).unwrap(), [false]);
}

#[tokio::test]
async fn the_visitor_of_a_conversation_comments_there() {
    let world = World::new().await;
    let simulator = &world.simulator;
    simulator
        .open_issue(REPO, "ada", "Export", "As CSV.")
        .unwrap();
    let shown = || async { world.get("/acme/widgets/issues/1").await.text() };
    assert!(!shown().await.contains("<textarea"), "nobody looks");
    let form = "body=%2Fplan-help%0D%0A%0D%0Aplease";
    let got = send(&world, form, None).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert!(got.text().contains("comments are written by the visitor"));
    simulator.settle().await;
    let receiver = Receiver::start(StatusCode::ACCEPTED).await;
    simulator.set_targets(vec![receiver.url.clone()]);
    simulator.set_visitor("ben");
    let page = shown().await;
    assert!(page.contains("<textarea name=\"body\""), "{page}");
    assert!(page.contains("Comment as <b>ben</b>"), "{page}");
    let got = send(&world, form, Some("https://example.org")).await;
    assert!(
        got.text()
            .contains("403: the request was sent from another site")
    );
    let got = send(&world, "body=+%0D%0A", None).await;
    assert!(got.text().contains("422: the comment is empty"));
    let got = send(&world, form, Some(&simulator.url())).await;
    assert_eq!(got.status, StatusCode::SEE_OTHER, "{}", got.text());
    let comments = simulator.comments(REPO, 1).unwrap();
    assert_eq!(comments.len(), 1);
    assert_eq!(
        (comments[0].author.login.as_str(), comments[0].body.as_str()),
        ("ben", "/plan-help\r\n\r\nplease")
    );
    let place = format!("/acme/widgets/issues/1#issuecomment-{}", comments[0].id);
    assert_eq!(got.header("location"), Some(place.as_str()));
    simulator.settle().await;
    assert_eq!(receiver.events(), ["issue_comment created"]);
    let list = world.get("/acme/widgets/issues").await.text();
    assert!(list.contains(" · 1 comment</span>"), "{list}");
}
