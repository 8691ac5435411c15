//! The simulator's pages show what is there, safely.

use http::StatusCode;
use planwright::adapters::simulator::model::UserKind;

use crate::simulator_support::{REPO, World};

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
        assert!(got.text().contains("there is no such page"));
    }
}
