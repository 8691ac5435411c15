//! Archives of repositories from the simulator, as GitHub and git make them.

use std::io::Read as _;
use std::time::Duration;

use flate2::read::GzDecoder;
use github_simulator::model::TreeEntry;
use http::StatusCode;
use serde_json::json;

use crate::simulator_support::{Got, REPO, World};

const PRIVATE: &str = "acme/private";

/// A commit with a file in a folder, a link, a submodule and a path that fits into no header.
fn commit(world: &World, repository: &str) -> (String, String) {
    let long = format!("{}file", "a-long-folder/".repeat(30));
    let edits = [
        ("src/main.rs", TreeEntry::file("fn main() {}")),
        ("link", TreeEntry::Link("src/main.rs".into())),
        ("deps/module", TreeEntry::Submodule("c0ffee".into())),
        (&*long, TreeEntry::file("deep")),
    ];
    let edits = edits.map(|(path, entry)| (path.to_owned(), Some(entry)));
    (
        world.simulator.commit(repository, "main", &edits).unwrap(),
        long,
    )
}

/// The target of the redirect.
async fn target(world: &World, repository: &str, reference: &str) -> String {
    let got = world
        .get(&format!("/repos/{repository}/tarball/{reference}"))
        .await;
    assert_eq!(got.status, StatusCode::FOUND, "{}", got.text());
    assert!(got.body.is_empty());
    got.header("location").unwrap().to_owned()
}

/// Type, mode, path and link target or content of every entry.
fn entries(got: &Got) -> Vec<(u8, u32, String, String)> {
    let mut archive = tar::Archive::new(GzDecoder::new(&got.body[..]));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut content = match entry.link_name().unwrap() {
            Some(target) => target.display().to_string(),
            None => String::new(),
        };
        entry.read_to_string(&mut content).unwrap();
        let header = entry.header();
        let (kind, mode) = (header.entry_type().as_byte(), header.mode().unwrap());
        (
            kind,
            mode,
            entry.path().unwrap().display().to_string(),
            content,
        )
    });
    entries.collect()
}

#[tokio::test]
async fn an_archive_is_like_one_of_git() {
    let world = World::new().await;
    let (sha, long) = commit(&world, REPO);
    let url = target(&world, REPO, "main").await;
    let path = format!(
        "{}/codeload/{REPO}/legacy.tar.gz/{sha}",
        world.simulator.url()
    );
    // The repository is public: no token.
    assert_eq!(url, path);
    let got = world.get(&url).await;
    assert_eq!(got.header("content-type"), Some("application/x-gzip"));
    let top = format!("acme-widgets-{}", &sha[..7]);
    let mut plain = Vec::new();
    GzDecoder::new(&got.body[..])
        .read_to_end(&mut plain)
        .unwrap();
    assert_eq!(plain.len() % 10_240, 0);
    let mut found = entries(&got);
    // The crate does not pass on the global header.
    assert_eq!(
        (plain[156], &plain[..17]),
        (b'g', &b"pax_global_header"[..])
    );
    let comment = format!("52 comment={sha}\n");
    assert_eq!(&plain[512..564], comment.as_bytes());
    found.retain(|(kind, ..)| *kind != b'g');
    let folders = long.match_indices('/').map(|(at, _)| {
        (
            b'5',
            0o775,
            format!("{top}/{}/", &long[..at]),
            String::new(),
        )
    });
    let mut expected = vec![(b'5', 0o775, format!("{top}/"), String::new())];
    expected.extend(folders);
    expected.extend([
        (b'0', 0o664, format!("{top}/{long}"), "deep".to_owned()),
        (b'5', 0o775, format!("{top}/deps/"), String::new()),
        (b'5', 0o775, format!("{top}/deps/module/"), String::new()),
        (b'2', 0o777, format!("{top}/link"), "src/main.rs".to_owned()),
        (b'5', 0o775, format!("{top}/src/"), String::new()),
        (
            b'0',
            0o664,
            format!("{top}/src/main.rs"),
            "fn main() {}".to_owned(),
        ),
    ]);
    assert_eq!(found, expected);
    assert_eq!(world.get(&url).await.body, got.body);
}

#[tokio::test]
async fn the_archive_of_a_private_repository_needs_its_token_once() {
    let world = World::new().await;
    world.simulator.add_repository(PRIVATE, true).unwrap();
    world.simulator.add_to_installation(REPO, PRIVATE).unwrap();
    let (sha, _) = commit(&world, PRIVATE);
    let url = target(&world, PRIVATE, &sha).await;
    let (path, token) = url.split_once("?token=").unwrap();
    assert_eq!(token.len(), 32);
    for wrong in [path.to_owned(), format!("{path}?token=x")] {
        let got = world.get(&wrong).await;
        assert_eq!(
            (got.status, got.text()),
            (StatusCode::NOT_FOUND, "404: Not Found".into())
        );
    }
    assert_eq!(world.get(&url).await.status, StatusCode::OK);
    assert_eq!(world.get(&url).await.status, StatusCode::NOT_FOUND);
    let late = target(&world, PRIVATE, &sha).await;
    world.clock.advance(Duration::from_secs(299));
    let later = target(&world, PRIVATE, &sha).await;
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.get(&late).await.status, StatusCode::NOT_FOUND);
    assert_eq!(world.get(&later).await.status, StatusCode::OK);
    // A token is for one archive.
    let other = world.simulator.put_file(PRIVATE, "other", "x");
    other.unwrap();
    let newer = target(&world, PRIVATE, "main").await;
    let swapped = newer.replace(newer.split('?').next().unwrap(), path);
    assert_eq!(world.get(&swapped).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn unknown_commits_and_missing_permissions_are_refused() {
    let world = World::new().await;
    let (sha, _) = commit(&world, REPO);
    for path in [
        format!("/repos/{REPO}/tarball/no-such-branch"),
        format!("/repos/{REPO}/tarball/{}", "0".repeat(40)),
        format!("/repos/acme/missing/tarball/{sha}"),
    ] {
        let got = world.get(&path).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(got.json()["message"], json!("Not Found"));
    }
    let simulator = &world.simulator;
    simulator
        .set_permission(world.installation, "contents", None)
        .unwrap();
    let token = world.mint().await;
    let path = format!("/repos/{REPO}/tarball/{sha}");
    let request = world.request(http::Method::GET, &path, &token, None);
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        got.header("x-accepted-github-permissions"),
        Some("contents=read")
    );
}

#[tokio::test]
async fn a_test_can_replace_an_archive() {
    let world = World::new().await;
    let (sha, _) = commit(&world, REPO);
    world
        .simulator
        .set_archive(REPO, &sha, &b"not an archive"[..])
        .unwrap();
    let url = target(&world, REPO, &sha).await;
    assert_eq!(world.get(&url).await.text(), "not an archive");
    let missing = world.simulator.set_archive("acme/missing", &sha, &b""[..]);
    assert!(missing.is_err());
}
