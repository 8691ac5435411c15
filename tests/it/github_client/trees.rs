//! Folders and contents: the requests, and the interpretation of GitHub's responses.

use planwright::adapters::github::GitHub;
use planwright::engine::forge::{EntryKind, Forge, ForgeError, ReadError, Tree, TreeEntry};
use serde_json::{Value, json};

use super::stub::*;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";
const FOLDERS: [&str; 2] = [".planwright/knowledge", "docs/a b/knowledge"];

fn commit() -> Option<Reply> {
    let url = format!("https://github.com/octo/plans/commit/{SHA}");
    reply(200, json!({"sha": SHA, "html_url": url}))
}

/// An entry of a listing.
fn item(name: &str, kind: &str) -> Value {
    json!({"name": name, "path": format!("x/{name}"), "type": kind, "sha": format!("sha-{name}"), "size": 3})
}

fn object(path: &str, mode: &str, kind: &str, size: Option<u64>) -> Value {
    let mut object = json!({"path": path, "mode": mode, "type": kind, "sha": format!("id-{path}")});
    if let Some(size) = size {
        object["size"] = json!(size);
    }
    object
}

fn entry(path: &str, size: u64, id: &str, kind: EntryKind) -> TreeEntry {
    TreeEntry {
        path: path.into(),
        size,
        id: id.into(),
        kind,
    }
}

/// What the listing of the folder above `.planwright/knowledge` amounts to.
async fn looked_up(listing: Value) -> Result<Option<Tree>, ForgeError> {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, move |asked| {
        if asked.path.contains("/commits/") {
            commit()
        } else if asked.path.contains("/contents/") {
            reply(200, listing.clone())
        } else {
            None
        }
    })
    .await;
    let github = client(&stub, &clock);
    github.tree(&repo(), &FOLDERS[..1], None).await
}

#[tokio::test]
async fn folders_are_listed_whole_at_one_commit() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let path = asked.path.strip_prefix("/repos/octo/plans/")?;
        match path.split(['?', '/']).next()? {
            "commits" => commit(),
            "contents" if path.contains("planwright") => {
                reply(200, json!([item("plans", "dir"), item("knowledge", "dir")]))
            }
            "git" => reply(
                200,
                json!({"sha": "sha-knowledge", "url": "x", "truncated": false, "tree": [
                    object("a.md", "100644", "blob", Some(7)),
                    object("deep", "040000", "tree", None),
                    object("deep/../b.md", "100755", "blob", Some(0)),
                    object("link.md", "120000", "blob", Some(9)),
                    object("module", "160000", "commit", None),
                    object("news", "777777", "surprise", None),
                ]}),
            ),
            _ => None,
        }
    })
    .await;
    let github = client(&stub, &clock);
    let tree = github.tree(&repo(), &FOLDERS, Some("feature/x")).await;
    let home = ".planwright/knowledge";
    let at = |name: &str, size, kind| {
        entry(&format!("{home}/{name}"), size, &format!("id-{name}"), kind)
    };
    let expected = Tree {
        commit: SHA.into(),
        entries: vec![
            at("a.md", 7, EntryKind::File),
            // Whoever reads it has to look.
            at("deep/../b.md", 0, EntryKind::File),
            at("link.md", 9, EntryKind::Link),
            at("module", 0, EntryKind::Submodule),
        ],
        cut: Vec::new(),
    };
    assert_eq!(tree, Ok(Some(expected)));
    assert_eq!(
        stub.lines(),
        [
            "GET /repos/octo/plans/commits/feature%2Fx?per_page=1".to_owned(),
            format!("GET /repos/octo/plans/contents/.planwright?ref={SHA}"),
            "GET /repos/octo/plans/git/trees/sha-knowledge?recursive=1".to_owned(),
            format!("GET /repos/octo/plans/contents/docs/a%20b?ref={SHA}"),
        ]
    );
}

#[tokio::test]
async fn a_repository_without_a_commit_has_no_tree() {
    for (status, found) in [(404, true), (409, true), (422, true), (502, false)] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, move |asked| {
            let empty = json!({"message": "Git Repository is empty."});
            let wanted = asked.path.contains("/commits/");
            wanted.then(|| reply(status, empty)).flatten()
        })
        .await;
        let tree = client(&stub, &clock).tree(&repo(), &FOLDERS, None).await;
        assert_eq!(tree == Ok(None), found, "{status}: {tree:?}");
    }
}

#[tokio::test]
async fn what_stands_in_the_place_of_a_folder_is_named() {
    let home = FOLDERS[0];
    let id = "sha-knowledge";
    for (listing, entries) in [
        (json!([]), vec![]),
        (json!([item("Knowledge", "dir")]), vec![]),
        (
            json!([item("knowledge", "file")]),
            vec![entry(home, 3, id, EntryKind::File)],
        ),
        (
            json!([item("knowledge", "symlink")]),
            vec![entry(home, 3, id, EntryKind::Link)],
        ),
        (
            item(".planwright", "symlink"),
            vec![entry(".planwright", 3, "sha-.planwright", EntryKind::Link)],
        ),
        (
            item(".planwright", "submodule"),
            vec![entry(
                ".planwright",
                3,
                "sha-.planwright",
                EntryKind::Submodule,
            )],
        ),
    ] {
        let text = listing.to_string();
        let tree = looked_up(listing).await.unwrap().unwrap();
        assert_eq!(tree.entries, entries, "{text}");
        assert_eq!(tree.cut, Vec::<String>::new(), "{text}");
    }
}

#[tokio::test]
async fn a_list_that_github_cut_is_never_taken_for_the_whole() {
    // A folder above with more entries than are listed.
    let many: Vec<Value> = (0..1_000)
        .map(|at| item(&format!("f{at}"), "file"))
        .collect();
    let tree = looked_up(json!(many)).await.unwrap().unwrap();
    assert_eq!(
        (tree.entries.len(), tree.cut),
        (0, vec![FOLDERS[0].to_owned()])
    );
    // A tree that is cut.
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if asked.path.contains("/commits/") {
            commit()
        } else if asked.path.contains("/contents/") {
            reply(200, json!([item("knowledge", "dir")]))
        } else if asked.path.contains("/trees/") {
            let objects = [object("a.md", "100644", "blob", Some(7))];
            reply(200, json!({"sha": "s", "truncated": true, "tree": objects}))
        } else {
            None
        }
    })
    .await;
    let tree = client(&stub, &clock)
        .tree(&repo(), &FOLDERS[..1], None)
        .await;
    let tree = tree.unwrap().unwrap();
    assert_eq!(
        (tree.entries.len(), tree.cut),
        (1, vec![FOLDERS[0].to_owned()])
    );
}

#[tokio::test]
async fn answers_that_cannot_be_read_are_named() {
    let error = looked_up(json!({"surprise": true})).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "GitHub's answer to the folder .planwright/knowledge of octo/plans cannot be read:"
        ),
        "{text}"
    );
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if asked.path.contains("/commits/") {
            commit()
        } else if asked.path.contains("/contents/") {
            reply(200, json!([item("knowledge", "dir")]))
        } else if asked.path.contains("/trees/") {
            let objects = [object("a.md", "100644", "blob", None)];
            reply(
                200,
                json!({"sha": "s", "truncated": false, "tree": objects}),
            )
        } else {
            None
        }
    })
    .await;
    let tree = client(&stub, &clock).tree(&repo(), &FOLDERS, None).await;
    assert_eq!(
        tree.unwrap_err().to_string(),
        "GitHub's answer to the files below .planwright/knowledge of octo/plans cannot be read: no `size` of the file a.md"
    );
}

async fn blob(github: &GitHub, most: u64) -> (Vec<u8>, Result<(), ReadError>) {
    let mut all = Vec::new();
    let mut take = |piece: &[u8]| {
        all.extend_from_slice(piece);
        true
    };
    let end = github.blob(&repo(), "c0ffee", most, &mut take).await;
    (all, end)
}

#[tokio::test]
async fn a_content_is_one_request_for_the_bytes_as_they_are() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let json = vec![("content-type", "application/vnd.github.raw+json".to_owned())];
        asked
            .path
            .contains("/blobs/")
            .then(|| Reply::Pieces(200, json, vec![b"[{\"type\":", b"\"file\"}]"]))
    })
    .await;
    let github = client(&stub, &clock);
    assert_eq!(
        blob(&github, 17).await,
        (b"[{\"type\":\"file\"}]".to_vec(), Ok(()))
    );
    assert_eq!(stub.lines(), ["GET /repos/octo/plans/git/blobs/c0ffee"]);
    let last = stub.asked().pop().unwrap();
    assert_eq!(last.headers["accept"], "application/vnd.github.raw+json");
    let (_, end) = blob(&github, 16).await;
    assert_eq!(end, Err(ReadError::TooLarge { most: 16 }));
}

#[tokio::test]
async fn contents_that_are_not_given_are_told_apart() {
    let too_large = json!({
        "message": "This API returns blobs up to 100 MB in size.",
        "errors": [{"resource": "Blob", "field": "data", "code": "too_large"}],
    });
    let message = |text: &str| json!({"message": text});
    for (status, body, want) in [
        (404, message("Not Found"), "there is no such file"),
        (403, too_large, "it is larger than 0 MB"),
        (
            403,
            message("Resource not accessible by integration"),
            "GitHub refuses the content c0ffee of octo/plans: Resource not accessible by integration",
        ),
        (
            502,
            message("Server Error"),
            "the outcome of the content c0ffee of octo/plans is unknown: GitHub answered 502: Server Error",
        ),
    ] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, move |asked| {
            asked
                .path
                .contains("/blobs/")
                .then(|| Reply::With(status, Vec::new(), body.clone()))
        })
        .await;
        let (all, end) = blob(&client(&stub, &clock), 100).await;
        assert_eq!(
            (all.len(), end.unwrap_err().to_string().as_str()),
            (0, want),
            "{status}"
        );
    }
}

#[tokio::test]
async fn the_root_is_listed_with_one_request() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let path = asked.path.strip_prefix("/repos/octo/plans/")?;
        assert!(
            [
                format!("git/trees/{SHA}?recursive=1"),
                "git/trees/HEAD?recursive=1".to_owned()
            ]
            .contains(&path.to_owned()),
            "{path}"
        );
        reply(
            200,
            json!({"sha": SHA, "url": "x", "truncated": true, "tree": [
                object("a.md", "100644", "blob", Some(7)),
                object("src/b.rs", "100644", "blob", Some(3)),
            ]}),
        )
    })
    .await;
    let github = client(&stub, &clock);
    let expected = Tree {
        commit: SHA.into(),
        entries: vec![
            entry("a.md", 7, "id-a.md", EntryKind::File),
            entry("src/b.rs", 3, "id-src/b.rs", EntryKind::File),
        ],
        cut: vec![String::new()],
    };
    for reference in [Some(SHA), None] {
        let tree = github.tree(&repo(), &[""], reference).await;
        assert_eq!(tree, Ok(Some(expected.clone())));
    }
    assert_eq!(stub.lines().len(), 2);
}

#[tokio::test]
async fn the_root_of_a_repository_without_a_commit_is_not_listed() {
    for (status, found) in [(404, true), (409, true), (422, true), (502, false)] {
        let clock = TestClock::new();
        let empty = json!({"message": "Git Repository is empty."});
        let stub = Stub::start(&clock, move |asked| {
            let wanted = asked.path.contains("/git/trees/");
            wanted.then(|| reply(status, empty.clone())).flatten()
        })
        .await;
        let tree = client(&stub, &clock).tree(&repo(), &[""], None).await;
        assert_eq!(tree == Ok(None), found, "{status}: {tree:?}");
    }
}
