//! Pull requests and the files that they change.

use planwright::engine::forge::{Change, ChangedFile, Forge, PullRequest};
use serde_json::{Value, json};

use super::stub::*;

fn pull() -> Value {
    json!({
        "number": 7, "state": "open", "draft": true, "merged": false, "changed_files": 4_200,
        "head": {"ref": "topic", "sha": "aa11", "repo": {"id": 2_000, "full_name": "ada/plans"}},
        "base": {"ref": "main", "sha": "bb22", "repo": {"id": 1_000, "full_name": "octo/plans"}},
    })
}

#[tokio::test]
async fn a_pull_request_is_read_also_without_its_fork() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let mut pull = pull();
        if asked.before == 1 {
            pull["head"]["repo"] = Value::Null;
            pull["state"] = json!("closed");
            pull.as_object_mut().unwrap().remove("draft");
        }
        match (asked.line().as_str(), asked.before) {
            ("GET /repos/octo/plans/pulls/7", 0 | 1) => reply(200, pull),
            _ => None,
        }
    })
    .await;
    let github = client(&stub, &clock);
    let expected = PullRequest {
        head_sha: "aa11".into(),
        head_repo: Some(2_000),
        base_sha: "bb22".into(),
        base_branch: "main".into(),
        open: true,
        draft: true,
        changed_files: 4_200,
    };
    assert_eq!(github.pull_request(&place()).await.as_ref(), Ok(&expected));
    let gone = PullRequest {
        head_repo: None,
        open: false,
        draft: false,
        ..expected
    };
    assert_eq!(github.pull_request(&place()).await, Ok(gone));
    assert_eq!(
        github.pull_request(&place()).await.unwrap_err().to_string(),
        "GitHub answered 404 for pull request #7 of octo/plans: it does not exist or the App cannot see it"
    );
}

#[tokio::test]
async fn changed_files_are_read_on_every_page() {
    const LIST: &str = "/repos/octo/plans/pulls/7/files?per_page=100";
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let entry = |name: &str, status: &str| json!({"filename": name, "status": status});
        if asked.path == LIST {
            let page = json!([
                entry("a.md", "added"),
                entry("b.md", "removed"),
                entry("c.md", "modified"),
                entry("d.md", "copied"),
            ]);
            let link = format!("<{LIST}&page=2>; rel=\"next\"");
            return Some(Reply::With(200, vec![("link", link)], page));
        }
        let mut renamed = entry("new.md", "renamed");
        renamed["previous_filename"] = json!("old.md");
        let page = json!([
            renamed,
            entry("e.md", "changed"),
            entry("f.md", "unchanged"),
            entry("g.md", "transmogrified"),
        ]);
        (asked.path == format!("{LIST}&page=2"))
            .then(|| reply(200, page))
            .flatten()
    })
    .await;
    let found = client(&stub, &clock).changed_files(&place()).await.unwrap();
    let table = [
        ("a.md", Change::Added, None),
        ("b.md", Change::Removed, None),
        ("c.md", Change::Modified, None),
        ("d.md", Change::Copied, None),
        ("new.md", Change::Renamed, Some("old.md")),
        ("e.md", Change::Changed, None),
        ("f.md", Change::Unchanged, None),
        ("g.md", Change::Changed, None),
    ];
    let expected: Vec<ChangedFile> = table
        .into_iter()
        .map(|(path, change, previous)| ChangedFile {
            path: path.into(),
            change,
            previous: previous.map(str::to_owned),
        })
        .collect();
    assert_eq!(found, expected);
}
