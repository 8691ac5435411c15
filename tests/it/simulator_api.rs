//! The simulator's endpoints, over HTTP.

use std::time::Duration;

use bytes::Bytes;
use github_simulator::model::Role;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::simulator_support::{REPO, World};

const ISSUES: &str = "/repos/acme/widgets/issues";

fn errors(value: &Value) -> (&str, &str) {
    let error = &value["errors"][0];
    (
        error["field"].as_str().unwrap_or(""),
        error["code"].as_str().unwrap_or(""),
    )
}

#[tokio::test]
async fn an_issue_is_created_read_and_changed() {
    let world = World::new().await;
    let body = json!({"title": "A plan", "body": "text\r\n", "labels": ["erk-plan"]});
    let got = world.post(ISSUES, body).await;
    assert_eq!(got.status, StatusCode::CREATED);
    let issue = got.json();
    assert_eq!(got.header("location"), issue["url"].as_str());
    assert_eq!(issue["body"], "text\r\n");
    assert_eq!(issue["labels"][0]["name"], "erk-plan");
    assert_eq!(issue["user"]["login"], "planwright[bot]");
    assert!(issue["id"].as_u64().unwrap() > u64::from(u32::MAX / 2));
    let path = format!("{ISSUES}/{}", issue["number"]);
    assert_eq!(world.get(&path).await.json(), issue);
    let change = json!({"body": "new", "state": "closed", "labels": []});
    let got = world.call(Method::PATCH, &path, change).await;
    assert_eq!(got.status, StatusCode::OK);
    let changed = got.json();
    assert_eq!(changed["body"], "new");
    assert_eq!(changed["state"], "closed");
    assert_eq!(changed["title"], "A plan");
    assert_eq!(changed["labels"], json!([]));
    let page = changed["html_url"].as_str().unwrap();
    assert_eq!(page, format!("{}/{REPO}/issues/1", world.simulator.url()));
}

#[tokio::test]
async fn wrong_requests_are_refused_with_githubs_shapes() {
    let world = World::new().await;
    let got = world.post(ISSUES, json!({"body": "no title"})).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        got.json()["message"],
        "Invalid request.\n\n\"title\" wasn't supplied."
    );
    let got = world.post(ISSUES, json!({"title": "t".repeat(257)})).await;
    assert_eq!(errors(&got.json()), ("title", "custom"));
    assert_eq!(
        world
            .post(ISSUES, json!({"title": "ü".repeat(256)}))
            .await
            .status,
        StatusCode::CREATED
    );
    let got = world
        .post(ISSUES, json!({"title": "t", "body": "b".repeat(65_537)}))
        .await;
    assert_eq!(errors(&got.json()), ("body", "custom"));
    let comments = format!("{ISSUES}/1/comments");
    let got = world
        .post(&comments, json!({"body": "b".repeat(65_537)}))
        .await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(errors(&got.json()), ("data", "unprocessable"));
    let got = world
        .post(&comments, json!({"body": "\u{1f680}".repeat(65_536)}))
        .await;
    assert_eq!(got.status, StatusCode::CREATED);
    assert_eq!(
        world
            .post(&comments, json!({"body": 1}))
            .await
            .status
            .as_u16(),
        422
    );
    assert_eq!(world.post(&comments, json!({})).await.status.as_u16(), 422);
    let mut request = world.request(Method::POST, ISSUES, &world.token, None);
    *request.body_mut() = "{".into();
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    assert_eq!(got.json()["message"], "Problems parsing JSON");
}

#[tokio::test]
async fn disabled_issues_are_gone_but_pull_requests_stay() {
    let world = World::new().await;
    world.simulator.open_issue(REPO, "ada", "t", "").unwrap();
    let pull = world
        .simulator
        .open_pull_request(REPO, "ada", "t", "")
        .unwrap();
    world.simulator.set_issues_enabled(REPO, false).unwrap();
    for got in [
        world.post(ISSUES, json!({"title": "t"})).await,
        world.get(&format!("{ISSUES}/1")).await,
        world
            .post(&format!("{ISSUES}/1/comments"), json!({"body": "b"}))
            .await,
    ] {
        assert_eq!(got.status, StatusCode::GONE);
        assert_eq!(got.json()["message"], "Issues are disabled for this repo");
    }
    let path = format!("{ISSUES}/{pull}/comments");
    assert_eq!(
        world.post(&path, json!({"body": "b"})).await.status,
        StatusCode::CREATED
    );
}

#[tokio::test]
async fn lists_are_paged_by_links_with_the_repository_id() {
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "t", "").unwrap();
    for index in 0..7 {
        world
            .simulator
            .comment(REPO, issue, "ada", &index.to_string())
            .unwrap();
    }
    let id = world.get("/repos/acme/widgets").await.json()["id"].clone();
    let path = format!("{ISSUES}/{issue}/comments?per_page=3");
    let first = world.get(&path).await;
    let root = format!(
        "{}/repositories/{id}/issues/{issue}/comments",
        world.simulator.url()
    );
    assert_eq!(
        first.header("link").unwrap(),
        format!(
            "<{root}?per_page=3&page=2>; rel=\"next\", <{root}?per_page=3&page=3>; rel=\"last\""
        )
    );
    let second = world.get(&first.link("next").unwrap()).await;
    assert_eq!(
        second.header("link").unwrap(),
        format!(
            "<{root}?per_page=3&page=1>; rel=\"prev\", <{root}?per_page=3&page=3>; rel=\"next\", <{root}?per_page=3&page=3>; rel=\"last\", <{root}?per_page=3&page=1>; rel=\"first\""
        )
    );
    let third = world.get(&second.link("next").unwrap()).await;
    assert_eq!(third.link("next"), None);
    let bodies: Vec<String> = [first, second, third]
        .iter()
        .flat_map(|page| page.json().as_array().unwrap().clone())
        .map(|comment| comment["body"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(bodies, ["0", "1", "2", "3", "4", "5", "6"]);
}

#[tokio::test]
async fn enterprise_paths_keep_their_prefix() {
    let world = World::new().await;
    for title in ["1", "2"] {
        world.simulator.open_issue(REPO, "ada", title, "").unwrap();
    }
    let root = world.simulator.enterprise_api_url();
    let got = world
        .get(&format!("{root}/repos/{REPO}/issues?per_page=1"))
        .await;
    let next = got.link("next").unwrap();
    assert!(next.starts_with(&format!("{root}/repositories/")), "{next}");
    assert_eq!(world.get(&next).await.json()[0]["title"], "1");
    let url = got.json()[0]["url"].as_str().unwrap().to_owned();
    assert_eq!(url, format!("{root}/repos/{REPO}/issues/2"));
    assert_eq!(world.get(&url).await.json()["title"], "2");
}

#[tokio::test]
async fn issues_are_filtered_and_sorted() {
    let world = World::new().await;
    let titles = async |query: &str| -> Vec<String> {
        let got = world.get(&format!("{ISSUES}?{query}")).await;
        let list = got.json();
        let list = list.as_array().unwrap().iter();
        list.map(|one| one["title"].as_str().unwrap().to_owned())
            .collect()
    };
    world.simulator.open_issue(REPO, "ada", "old", "").unwrap();
    world.simulator.set_closed(REPO, 1, "ada", true).unwrap();
    world.clock.advance(Duration::from_mins(1));
    world
        .post(ISSUES, json!({"title": "mine", "labels": ["x"]}))
        .await;
    world
        .simulator
        .open_pull_request(REPO, "ada", "pull", "")
        .unwrap();
    assert_eq!(titles("").await, ["pull", "mine"]);
    assert_eq!(
        titles("state=all&direction=asc").await,
        ["old", "mine", "pull"]
    );
    assert_eq!(titles("state=closed").await, ["old"]);
    assert_eq!(titles("creator=planwright%5Bbot%5D").await, ["mine"]);
    assert_eq!(titles("creator=app%2Fplanwright").await, ["mine"]);
    assert_eq!(titles("labels=x").await, ["mine"]);
    let since = "2027-01-15T08:01:00Z";
    assert_eq!(
        titles(&format!("state=all&since={since}")).await,
        ["pull", "mine"]
    );
    let got = world.get(&format!("{ISSUES}?since=yesterday")).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn comments_are_changed_deleted_and_listed_since() {
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "t", "").unwrap();
    world
        .simulator
        .comment(REPO, issue, "ada", "early")
        .unwrap();
    world.clock.advance(Duration::from_mins(1));
    let path = format!("{ISSUES}/{issue}/comments");
    let comment = world.post(&path, json!({"body": "late"})).await.json();
    let since = comment["created_at"].as_str().unwrap();
    let list = world.get(&format!("{path}?since={since}")).await.json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    let one = format!("{ISSUES}/comments/{}", comment["id"]);
    let got = world
        .call(Method::PATCH, &one, json!({"body": "later"}))
        .await;
    assert_eq!(got.json()["body"], "later");
    assert_eq!(world.get(&one).await.json()["body"], "later");
    let got = world.call(Method::DELETE, &one, Value::Null).await;
    assert_eq!((got.status, got.body.len()), (StatusCode::NO_CONTENT, 0));
    assert_eq!(world.get(&one).await.status, StatusCode::NOT_FOUND);
    let list = world.get(&path).await.json();
    assert_eq!(list.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn labels() {
    let world = World::new().await;
    let labels = "/repos/acme/widgets/labels";
    let body = json!({"name": "a/b c", "color": "0E8A16", "description": "d"});
    let got = world.post(labels, body.clone()).await;
    assert_eq!(got.status, StatusCode::CREATED);
    assert_eq!(got.json()["color"], "0e8a16");
    let again = world
        .post(labels, json!({"name": "A/B C", "color": "000000"}))
        .await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(errors(&again.json()), ("name", "already_exists"));
    let bad = world
        .post(labels, json!({"name": "n", "color": "red"}))
        .await;
    assert_eq!(errors(&bad.json()), ("color", "invalid"));
    assert_eq!(
        world.get(&format!("{labels}/a%2Fb%20c")).await.json()["description"],
        "d"
    );
    assert_eq!(
        world.get(&format!("{labels}/none")).await.status,
        StatusCode::NOT_FOUND
    );
    world.simulator.open_issue(REPO, "ada", "t", "").unwrap();
    let on = format!("{ISSUES}/1/labels");
    let got = world.post(&on, json!({"labels": ["a/b c", "new"]})).await;
    assert_eq!(got.json().as_array().unwrap().len(), 2);
    let got = world
        .call(Method::DELETE, &format!("{on}/a%2Fb%20c"), Value::Null)
        .await;
    assert_eq!(got.status, StatusCode::OK);
    assert_eq!(got.json()[0]["name"], "new");
    let got = world
        .call(Method::DELETE, &format!("{on}/a%2Fb%20c"), Value::Null)
        .await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert_eq!(got.json()["message"], "Label does not exist");
}

#[tokio::test]
async fn reactions_exist_once() {
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "t", "").unwrap();
    let comment = world.simulator.comment(REPO, issue, "ada", "c").unwrap();
    for path in [
        format!("{ISSUES}/{issue}/reactions"),
        format!("{ISSUES}/comments/{comment}/reactions"),
    ] {
        let first = world.post(&path, json!({"content": "eyes"})).await;
        let second = world.post(&path, json!({"content": "eyes"})).await;
        assert_eq!(first.status, StatusCode::CREATED);
        assert_eq!(second.status, StatusCode::OK);
        assert_eq!(first.json(), second.json());
        let bad = world.post(&path, json!({"content": "👀"})).await;
        assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(world.get(&path).await.json().as_array().unwrap().len(), 1);
        let one = format!("{path}/{}", first.json()["id"]);
        let got = world.call(Method::DELETE, &one, Value::Null).await;
        assert_eq!(got.status, StatusCode::NO_CONTENT);
        let got = world.call(Method::DELETE, &one, Value::Null).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND);
    }
    world
        .simulator
        .react(REPO, comment, "ada", "rocket")
        .unwrap();
    assert_eq!(
        world.simulator.comment_reactions(comment).unwrap(),
        ["rocket"]
    );
}

#[tokio::test]
async fn permissions_of_people() {
    let world = World::new().await;
    let simulator = &world.simulator;
    simulator.grant(REPO, "tom", Role::Triage).unwrap();
    simulator.grant(REPO, "mia", Role::Maintain).unwrap();
    let name = "releaser".to_owned();
    let permission = "write";
    simulator
        .grant(REPO, "kim", Role::Custom { name, permission })
        .unwrap();
    let of = async |login: &str| {
        let path = format!("/repos/{REPO}/collaborators/{login}/permission");
        let value = world.get(&path).await.json();
        let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
        (text("permission"), text("role_name"))
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(of("ada").await, pair("write", "write"));
    assert_eq!(of("tom").await, pair("read", "triage"));
    assert_eq!(of("mia").await, pair("write", "maintain"));
    assert_eq!(of("kim").await, pair("write", "releaser"));
    let old = simulator.grant(REPO, "zoe", Role::Admin).unwrap();
    let new = simulator.replace_user("zoe");
    assert_ne!(old.id, new.id);
    assert_eq!(of("zoe").await, pair("read", "read"));
    let path = format!("/repos/{REPO}/collaborators/nobody/permission");
    assert_eq!(world.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn files_and_directories() {
    let world = World::new().await;
    let text = "x".repeat(100);
    world
        .simulator
        .put_file(REPO, "docs/a b.md", text.clone())
        .unwrap();
    world.simulator.put_file(REPO, "README.md", "hi").unwrap();
    let got = world
        .get("/repos/acme/widgets/contents/docs/a%20b.md")
        .await
        .json();
    assert_eq!(got["encoding"], "base64");
    assert_eq!(got["size"], 100);
    assert!(got["content"].as_str().unwrap().contains('\n'));
    let root = world.get("/repos/acme/widgets/contents").await.json();
    assert_eq!(root[0]["path"], "README.md");
    assert_eq!(
        (&root[1]["path"], &root[1]["type"]),
        (&json!("docs"), &json!("dir"))
    );
    let got = world.get("/repos/acme/widgets/contents/none").await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn conversations_are_locked_and_told_as_a_timeline() {
    let world = World::new().await;
    world.post(ISSUES, json!({ "title": "One" })).await;
    let path = format!("{ISSUES}/1");
    world.simulator.comment(REPO, 1, "ada", "hello").unwrap();
    world.simulator.label(REPO, 1, "ada", "erk-plan").unwrap();
    let timeline = world.get(&format!("{path}/timeline")).await.json();
    let events = timeline.as_array().unwrap().iter();
    let events: Vec<&str> = events.map(|one| one["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["commented", "labeled"]);
    let lock = format!("{path}/lock");
    let reason = json!({ "lock_reason": "too heated" });
    let got = world.call(Method::PUT, &lock, reason).await;
    assert_eq!(got.status, StatusCode::NO_CONTENT);
    assert_eq!(world.get(&path).await.json()["locked"], true);
    let got = world.call(Method::DELETE, &lock, Value::Null).await;
    assert_eq!(got.status, StatusCode::NO_CONTENT);
    assert_eq!(world.get(&path).await.json()["locked"], false);
    let got = world
        .call(Method::PUT, &lock, json!({ "lock_reason": "bored" }))
        .await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(errors(&got.json()), ("lock_reason", "invalid"));
    assert_eq!(
        got.json()["documentation_url"],
        "https://docs.github.com/rest/issues/issues#lock-an-issue"
    );
}

#[tokio::test]
async fn branches_and_collaborators_are_listed() {
    let world = World::new().await;
    world
        .simulator
        .put_file_on(REPO, "next", "a.txt", "a")
        .unwrap();
    let repository = format!("/repos/{REPO}");
    let branches = world.get(&format!("{repository}/branches")).await.json();
    let names: Vec<&Value> = branches
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["main", "next"]);
    let branch = world
        .get(&format!("{repository}/branches/next"))
        .await
        .json();
    assert_eq!(branch["commit"]["sha"], branches[1]["commit"]["sha"]);
    let got = world.get(&format!("{repository}/branches/none")).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    let people = world
        .get(&format!("{repository}/collaborators"))
        .await
        .json();
    let ada = people
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["login"] == "ada")
        .unwrap();
    assert_eq!(
        (&ada["role_name"], &ada["permissions"]["push"]),
        (&json!("write"), &json!(true))
    );
    for (login, status) in [
        ("ada", StatusCode::NO_CONTENT),
        ("nobody", StatusCode::NOT_FOUND),
    ] {
        let got = world
            .get(&format!("{repository}/collaborators/{login}"))
            .await;
        assert_eq!(got.status, status, "{login}");
    }
}

#[tokio::test]
async fn issues_are_found_by_label_title_and_state() {
    let world = World::new().await;
    for (title, labels) in [
        ("Keep the index", vec!["erk-plan"]),
        ("Drop it", vec![]),
        ("Index", vec!["bug"]),
    ] {
        world
            .post(
                ISSUES,
                json!({ "title": title, "labels": labels, "body": "the index" }),
            )
            .await;
    }
    world.simulator.set_closed(REPO, 3, "ada", true).unwrap();
    for (query, found) in [
        ("repo:acme/widgets", vec![3, 2, 1]),
        ("repo:acme/widgets label:erk-plan", vec![1]),
        (
            "repo:acme/widgets label:\"erk-plan\" is:open type:issue",
            vec![1],
        ),
        ("repo:acme/widgets is:closed", vec![3]),
        ("index in:title repo:acme/widgets", vec![3, 1]),
        ("\"the index\"", vec![3, 2, 1]),
        ("author:planwright[bot] drop", vec![2]),
        ("is:pr", vec![]),
    ] {
        let path = format!(
            "/search/issues?q={}",
            query.replace(' ', "%20").replace('"', "%22")
        );
        let got = world.get(&path).await;
        assert_eq!(got.status, StatusCode::OK, "{query}: {}", got.text());
        let result = got.json();
        let numbers: Vec<u64> = result["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["number"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, found, "{query}");
        assert_eq!(result["total_count"], found.len(), "{query}");
    }
    for (query, message) in [
        (
            "sort:created",
            "the simulator does not search for `sort:created`",
        ),
        ("is:merged", "the simulator does not search for `is:merged`"),
        (
            "repo:acme/none",
            "The listed users and repositories cannot be searched either because the resources do not exist or you do not have \
             permission to view them.",
        ),
    ] {
        let got = world.get(&format!("/search/issues?q={query}")).await;
        assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
        assert_eq!(got.json()["errors"][0]["message"], message);
    }
}

#[tokio::test]
async fn errors_are_json_with_their_page_of_the_documentation_and_the_rate_limit() {
    let world = World::new().await;
    for (path, page) in [
        (&*format!("{ISSUES}/9"), "/issues/issues#get-an-issue"),
        ("/repos/acme/none", "/repos/repos#get-a-repository"),
        ("/api/v3/orgs/acme", ""),
        ("/app", "/apps/apps#get-the-authenticated-app"),
    ] {
        let got = world.get(path).await;
        assert!(got.status.is_client_error(), "{path}");
        let page = format!("https://docs.github.com/rest{page}");
        assert_eq!(got.json()["documentation_url"], page, "{path}");
        for name in ["limit", "remaining", "used", "reset", "resource"] {
            assert!(
                got.header(&format!("x-ratelimit-{name}")).is_some(),
                "{path}: {name}"
            );
        }
    }
    // Without a path of the API, what the client accepts decides.
    let request = http::Request::get(format!("{}/orgs/acme", world.simulator.url()))
        .header("user-agent", "tests")
        .header("accept", "application/vnd.github+json");
    let got = world
        .send(request.body(Bytes::new().into()).unwrap())
        .await
        .unwrap();
    assert_eq!(
        (got.status, &got.json()["message"]),
        (StatusCode::NOT_FOUND, &json!("Not Found"))
    );
    assert_eq!(got.header("x-ratelimit-limit"), Some("60"));
    let page = world.get("/orgs/acme").await;
    assert!(page.text().contains("<!doctype html>"), "{}", page.text());
}
