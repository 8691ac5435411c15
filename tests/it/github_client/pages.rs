//! Lists: every page is read, and links to other hosts are not followed.

use planwright::engine::forge::{Forge, ForgeError};
use planwright::engine::model::time::Millis;
use serde_json::{Value, json};
use url::Url;

use super::stub::*;

fn page(items: Value, next: Option<String>) -> Option<Reply> {
    let headers = next
        .into_iter()
        .map(|next| {
            (
                "link",
                format!("<https://x/?page=1>; rel=\"first\", <{next}>; rel=\"next\""),
            )
        })
        .collect();
    Some(Reply::With(200, headers, items))
}

fn issue() -> Option<Reply> {
    let mut issue = own_issue(7, "Opening", "2026-01-01T00:00:00Z");
    issue["title"] = json!("Cache the parser");
    issue["user"] = json!(null);
    issue["body"] = json!(null);
    issue["pull_request"] = json!({"url": "x"});
    issue.as_object_mut().unwrap().remove("author_association");
    reply(200, issue)
}

#[tokio::test]
async fn a_thread_is_all_pages_in_order() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let host = asked.headers["host"].to_str().unwrap();
        let at = |page| {
            Some(format!(
                "http://{host}/api/v3/repositories/1000/issues/7/comments?per_page=100&page={page}"
            ))
        };
        match asked.path.as_str() {
            "/api/v3/app" => reply(200, json!({"id": APP, "slug": "planwright"})),
            "/api/v3/repos/octo/plans/issues/7" => issue(),
            "/api/v3/repos/octo/plans/issues/7/comments?per_page=100" => {
                let mut late = comment(1, "edited clock");
                late["created_at"] = json!("2026-01-01T00:09:00Z");
                page(json!([late, comment(4, "four")]), at(2))
            }
            "/api/v3/repositories/1000/issues/7/comments?per_page=100&page=2" => {
                let mut ghost = comment(3, "three");
                ghost["user"] = json!({"id": 10137, "login": "ghost", "type": "User"});
                // 4 moved to the next page while we read.
                page(json!([comment(4, "four"), ghost]), at(3))
            }
            "/api/v3/repositories/1000/issues/7/comments?per_page=100&page=3" => {
                page(json!([own_comment(2, "two")]), None)
            }
            _ => None,
        }
    })
    .await;
    let config = config(&stub.url.join("/api/v3").unwrap());
    let github = planwright::adapters::github::GitHub::new(config, clock).unwrap();
    let thread = github.thread(&place()).await.unwrap();
    assert_eq!(thread.title, "Cache the parser");
    assert_eq!(thread.url, "https://github.com/octo/plans/issues/7");
    assert_eq!(thread.state, "open");
    assert!(thread.place.pull_request);
    let posts: Vec<_> = thread
        .posts
        .iter()
        .map(|post| {
            let author = post
                .author
                .as_ref()
                .map(|author| (author.login.as_str(), author.id, author.bot));
            (
                post.id,
                author,
                post.association.as_str(),
                post.body.as_str(),
            )
        })
        .collect();
    let ada = Some(("ada", 21, false));
    assert_eq!(
        posts,
        [
            (None, None, "NONE", ""),
            (
                Some(2),
                Some(("planwright[bot]", 99, true)),
                "CONTRIBUTOR",
                "two"
            ),
            (Some(3), None, "CONTRIBUTOR", "three"),
            (Some(4), ada, "CONTRIBUTOR", "four"),
            (Some(1), ada, "CONTRIBUTOR", "edited clock"),
        ]
    );
    assert_eq!(
        thread.posts[1].created,
        START.plus(std::time::Duration::from_secs(1))
    );
    assert_eq!(
        thread.posts[1].updated,
        START.plus(std::time::Duration::from_secs(2))
    );
}

#[tokio::test]
async fn a_next_page_elsewhere_is_refused_and_gets_no_token() {
    let clock = TestClock::new();
    let evil = Stub::start(&clock, |_| reply(200, json!([]))).await;
    let target = evil
        .url
        .join("/repositories/1000/x?page=2")
        .unwrap()
        .to_string();
    let stub = Stub::start(&clock, move |asked| match asked.path.as_str() {
        "/repos/octo/plans/issues/7" => issue(),
        path if path.contains("/comments") => page(json!([]), Some(target.clone())),
        _ => None,
    })
    .await;
    let github = client(&stub, &clock);
    let named = evil.url.join("/repositories/1000/x").unwrap();
    assert_eq!(
        github.thread(&place()).await.unwrap_err().to_string(),
        format!(
            "GitHub's answer to the comments of issue #7 of octo/plans cannot be read: the link to \
             the next page is {named}, which is not below {}",
            stub.url
        )
    );
    assert!(evil.asked().is_empty());
}

async fn endless(
    next: impl Fn(&Url, usize) -> String + Send + Sync + 'static,
) -> (ForgeError, usize) {
    let clock = TestClock::new();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let stub = Stub::start(&clock, move |asked| match asked.path.as_str() {
        "/repos/octo/plans/issues/7" => issue(),
        path if path.contains("/comments") => {
            let host = format!("http://{}/", asked.headers["host"].to_str().unwrap());
            let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            page(json!([]), Some(next(&host.parse().unwrap(), number)))
        }
        _ => None,
    })
    .await;
    let error = client(&stub, &clock).thread(&place()).await.unwrap_err();
    (error, stub.lines().len())
}

#[tokio::test]
async fn pages_in_a_circle_and_pages_without_end_are_errors() {
    let (error, asked) = endless(|base, number| {
        base.join(&format!("/x/comments?page={}", number % 2))
            .unwrap()
            .to_string()
    })
    .await;
    assert_eq!(
        error.to_string(),
        "GitHub's answer to the comments of issue #7 of octo/plans cannot be read: \
         its pages repeat at /x/comments?page=0"
    );
    assert_eq!(asked, 4);
    let (error, asked) = endless(|base, number| {
        base.join(&format!("/x/comments?page={number}"))
            .unwrap()
            .to_string()
    })
    .await;
    assert_eq!(
        error.to_string(),
        "GitHub's answer to the comments of issue #7 of octo/plans cannot be read: \
         there are more than 100 pages of 100 items"
    );
    assert_eq!(asked, 101);
}

#[tokio::test]
async fn own_issues_are_ours_and_recent() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if !asked.path.contains("/issues?") {
            return None;
        }
        let mut pull = own_issue(14, "pull", "2026-01-01T00:00:00Z");
        pull["pull_request"] = json!({"url": "x"});
        let mut foreign = own_issue(13, "not ours", "2026-01-01T00:00:00Z");
        foreign["performed_via_github_app"] = json!({"id": 666});
        let host = asked.headers["host"].to_str().unwrap();
        page(
            json!([
                own_issue(15, "new", "2026-01-01T00:00:00Z"),
                pull,
                foreign,
                own_issue(12, "within the margin", "2025-12-31T23:55:00Z"),
                own_issue(11, "old, but changed lately", "2025-12-31T20:00:00Z"),
            ]),
            // Not asked for: behind an older issue there are only older ones.
            Some(format!("http://{host}/repositories/1000/issues?page=2")),
        )
    })
    .await;
    let github = client(&stub, &clock);
    // 00:00:00.400: GitHub's own times have whole seconds.
    let issues = github
        .own_issues(&repo(), Millis(START.0 + 400))
        .await
        .unwrap();
    let found: Vec<_> = issues
        .iter()
        .map(|issue| (issue.id, issue.body.as_str()))
        .collect();
    assert_eq!(found, [(15, "new"), (12, "within the margin")]);
    assert_eq!(issues[0].url, "https://github.com/octo/plans/issues/15");
    assert_eq!(
        stub.lines(),
        [
            "GET /repos/octo/plans/issues?creator=planwright%5Bbot%5D&state=all&since=2025-12-31T23%3A50%3A00Z\
          &sort=created&direction=desc&per_page=100"
        ]
    );
}

#[tokio::test]
async fn own_comments_are_ours_in_order_and_the_app_is_asked_for_once() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        asked
            .path
            .contains("/comments?")
            .then(|| {
                page(
                    json!([
                        own_comment(9, "b"),
                        comment(8, "theirs"),
                        own_comment(7, "a")
                    ]),
                    None,
                )
            })
            .flatten()
    })
    .await;
    let github = client(&stub, &clock);
    for _ in 0..2 {
        let comments = github.own_comments(&repo(), 7, START).await.unwrap();
        let found: Vec<_> = comments
            .iter()
            .map(|comment| (comment.id, comment.body.as_str()))
            .collect();
        assert_eq!(found, [(7, "a"), (9, "b")]);
    }
    assert_eq!(
        stub.lines()[0],
        "GET /repos/octo/plans/issues/7/comments?since=2025-12-31T23%3A50%3A00Z&per_page=100"
    );
    assert_eq!(
        stub.asked()
            .iter()
            .filter(|asked| asked.path == "/app")
            .count(),
        1
    );
    let own = github.slug().await.unwrap();
    assert_eq!(own, "planwright");
}
