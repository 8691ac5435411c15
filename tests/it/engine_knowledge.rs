//! Gathering a repository's knowledge, from a fake GitHub, and from the simulator with the bot's
//! GitHub client.

use github_simulator::model::TreeEntry as GitEntry;
use github_simulator::{Fault, FaultKind};
use planwright::engine::effects::StepError;
use planwright::engine::forge::{EntryKind, ForgeError, ReadError, Tree, TreeEntry};
use planwright::engine::knowledge::{Knowledge, LeftOut, Limits, Why};
use planwright::engine::model::trigger::Repo;
use planwright::engine::steps::knowledge::gather;

use crate::simulator_code::Judged;
use crate::simulator_support::REPO;
use crate::support::fake_forge::FakeForge;
use crate::support::rig::{HERE, Rig};

const COMMIT: &str = "0123456789012345678901234567890123456789";

fn repo() -> Repo {
    Rig::place(HERE).repo
}

/// A GitHub with these files below `.planwright/knowledge`; the content is the id.
async fn forge(files: &[(&str, &str)]) -> FakeForge {
    let forge = Rig::new().await.forge;
    let mut tree = Tree {
        commit: COMMIT.into(),
        ..Tree::default()
    };
    for (name, content) in files {
        tree.entries
            .push(entry(&path(name), content, EntryKind::File));
        let content = content.as_bytes().to_vec();
        let id = format!("blob {}", String::from_utf8_lossy(&content));
        forge.world.lock().unwrap().files.insert(id, Ok(content));
    }
    forge.world.lock().unwrap().tree = Some(tree);
    forge
}

fn path(name: &str) -> String {
    format!(".planwright/knowledge/{name}")
}

fn entry(path: &str, content: &str, kind: EntryKind) -> TreeEntry {
    TreeEntry {
        path: path.to_owned(),
        size: content.len() as u64,
        id: content.to_owned(),
        kind,
    }
}

fn add(forge: &FakeForge, path: &str, kind: EntryKind) {
    let mut world = forge.world.lock().unwrap();
    let entry = entry(path, "x", kind);
    world.tree.as_mut().unwrap().entries.push(entry);
}

/// Gathers in a task of its own, as runs are worked on.
async fn gathered(forge: &FakeForge) -> Result<Knowledge, StepError> {
    let forge = forge.clone();
    let work = async move { gather(&forge, &repo(), Limits::default()).await };
    tokio::spawn(work).await.unwrap()
}

fn paths(knowledge: &Knowledge) -> Vec<&str> {
    let documents = knowledge.documents.iter();
    documents.map(|document| document.path.as_str()).collect()
}

#[tokio::test]
async fn documents_come_in_their_order_with_the_commit() {
    let names: Vec<String> = (0..20).rev().map(|at| format!("n{at:02}.md")).collect();
    let mut files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), name.as_str()))
        .collect();
    files.push(("glossary.md", "# Words"));
    let forge = forge(&files).await;
    let found = gathered(&forge).await.unwrap();
    assert_eq!(found.commit.as_deref(), Some(COMMIT));
    let mut expected = vec![path("glossary.md")];
    expected.extend(names.iter().rev().map(|name| path(name)));
    assert_eq!(paths(&found), expected);
    assert_eq!(found.documents[0].title, "Words");
    assert_eq!(found.documents[3].text, "n02.md");
    assert_eq!(
        (
            found.left_out.as_slice(),
            planwright::engine::messages::knowledge::left_out(&found.left_out)
        ),
        (&[][..], None)
    );
    // One request for each document, and the tree.
    let world = forge.world.lock().unwrap();
    assert_eq!((world.read.len(), world.calls), (21, 22));
}

#[tokio::test]
async fn a_repository_without_a_commit_or_folders_knows_nothing() {
    let forge = forge(&[]).await;
    let empty = Knowledge {
        commit: Some(COMMIT.into()),
        ..Knowledge::default()
    };
    assert_eq!(gathered(&forge).await.unwrap(), empty);
    forge.world.lock().unwrap().tree = None;
    assert_eq!(gathered(&forge).await.unwrap(), Knowledge::default());
}

#[tokio::test]
async fn what_is_not_taken_is_named_and_the_rest_is_read() {
    let forge = forge(&[
        ("a.md", "a"),
        ("gone.md", "gone"),
        ("odd.md", "odd"),
        ("b.md", "nul\0"),
        ("c.txt", "c"),
    ])
    .await;
    add(&forge, &path("link.md"), EntryKind::Link);
    add(&forge, &path("module"), EntryKind::Submodule);
    add(&forge, &path("../../../etc/passwd.md"), EntryKind::File);
    {
        let mut world = forge.world.lock().unwrap();
        world.files.remove("blob gone");
        let elsewhere = ReadError::Elsewhere {
            to: "https://else.test".into(),
        };
        world.files.insert("blob odd".into(), Err(elsewhere));
        world
            .tree
            .as_mut()
            .unwrap()
            .cut
            .push(".spektacular/knowledge".into());
    }
    let found = gathered(&forge).await.unwrap();
    assert_eq!(paths(&found), [path("a.md")]);
    let why = "its download redirects to https://else.test, which this bot is not allowed to read";
    let expected = [
        ("../../../etc/passwd.md", Why::OddPath),
        ("b.md", Why::NotText),
        ("c.txt", Why::NotMarkdown),
        ("gone.md", Why::Gone),
        ("link.md", Why::Link),
        ("module", Why::Submodule),
        ("odd.md", Why::Unreadable(why.into())),
    ];
    let mut expected: Vec<_> = expected
        .map(|(name, why)| LeftOut::new(&path(name), why))
        .into();
    expected.push(LeftOut::new(".spektacular/knowledge", Why::NotListed));
    assert_eq!(found.left_out, expected);
    // Links, submodules and odd paths are not even asked for.
    let asked = forge.world.lock().unwrap().read.clone();
    assert_eq!(asked, ["blob a", "blob nul\0", "blob gone", "blob odd"]);
}

#[tokio::test]
async fn an_outage_stops_the_step_and_leaves_nothing_out() {
    let forge = forge(&[("a.md", "a"), ("b.md", "b")]).await;
    let lost = ForgeError::Unknown {
        what: "the content".into(),
        message: "502".into(),
    };
    let failed = Err(ReadError::Forge(lost.clone()));
    forge
        .world
        .lock()
        .unwrap()
        .files
        .insert("blob b".into(), failed);
    assert!(matches!(gathered(&forge).await, Err(StepError::Forge(error)) if error == lost));
    forge.world.lock().unwrap().down = true;
    let down = gathered(&forge).await;
    assert!(
        matches!(down, Err(StepError::Forge(ForgeError::Unreachable { .. }))),
        "{down:?}"
    );
}

#[tokio::test]
async fn a_content_longer_than_listed_is_not_taken() {
    let forge = forge(&[("a.md", "a")]).await;
    let longer = Ok(vec![b'a'; 5_000_000]);
    forge
        .world
        .lock()
        .unwrap()
        .files
        .insert("blob a".into(), longer);
    let found = gathered(&forge).await.unwrap();
    assert_eq!(found.left_out, [LeftOut::new(&path("a.md"), Why::Gone)]);
}

#[tokio::test]
async fn three_megabytes_in_sixty_documents_come_through_the_client() {
    let judged = Judged::new().await;
    let place = judged.place(1);
    let forge = judged.github.as_ref();
    let none = gather(forge, &place.repo, Limits::default()).await.unwrap();
    assert_eq!((none.documents.len(), none.commit.is_some()), (0, true));
    let mut edits: Vec<(String, Option<GitEntry>)> = (0..60)
        .map(|at| {
            let folder = if at % 2 == 0 {
                ".planwright"
            } else {
                ".spektacular"
            };
            let text = format!("# Document {at}\n\n{}", "Facts, öäü.\n".repeat(3_900));
            (
                format!("{folder}/knowledge/part {at:02}/ü#.md"),
                Some(GitEntry::file(text)),
            )
        })
        .collect();
    let text = |path: &str, text: &str| (path.to_owned(), Some(GitEntry::file(text.to_owned())));
    edits.extend([
        text(".spektacular/knowledge/glossary.md", "# Words\n"),
        text(".planwright/knowledge/copy.md", "# Words\n"),
        text(
            ".planwright/knowledge/large.md",
            &"x".repeat(256 * 1024 + 1),
        ),
        text(".planwright/plans/old.md", "# Not knowledge\n"),
        text("src/secret.md", "# Not knowledge\n"),
        (
            path("picture.md"),
            Some(GitEntry::file(vec![0x89, 0x50, 0, 0xff])),
        ),
        (
            path("link.md"),
            Some(GitEntry::Link("src/secret.md".into())),
        ),
        (path("module"), Some(GitEntry::Submodule("c0ffee".into()))),
    ]);
    let commit = judged.simulator.commit(REPO, "main", &edits).unwrap();
    let before = judged.tap.exchanges().len();
    let found = gather(forge, &place.repo, Limits::default()).await.unwrap();
    let asked = judged.tap.exchanges().len() - before;
    assert_eq!(found.commit.as_deref(), Some(commit.as_str()));
    let total: usize = found
        .documents
        .iter()
        .map(|document| document.text.len())
        .sum();
    assert!((2_000_000..=2 * 1024 * 1024).contains(&total), "{total}");
    assert_eq!(found.documents[0].title, "Words");
    for document in &found.documents[1..] {
        let Some((_, Some(GitEntry::File(content)))) =
            edits.iter().find(|(path, _)| *path == document.path)
        else {
            panic!("{}", document.path);
        };
        assert_eq!(document.text.as_bytes(), content, "{}", document.path);
    }
    let whys = |wanted: fn(&Why) -> bool| {
        let those = found.left_out.iter().filter(|one| wanted(&one.why));
        those.map(|one| one.path.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(whys(|why| matches!(why, Why::SameAs(_))), [path("copy.md")]);
    assert_eq!(
        whys(|why| matches!(why, Why::TooLarge(_))),
        [path("large.md")]
    );
    assert_eq!(whys(|why| *why == Why::NotText), [path("picture.md")]);
    assert_eq!(whys(|why| *why == Why::Link), [path("link.md")]);
    assert_eq!(whys(|why| *why == Why::Submodule), [path("module")]);
    let no_room = whys(|why| *why == Why::NoRoom);
    assert_eq!(found.documents.len() + no_room.len(), 61);
    // What has no room stands in the second folder.
    assert!(
        no_room.iter().all(|path| path.starts_with(".spektacular/")),
        "{no_room:?}"
    );
    // The picture is asked for, too.
    assert!(
        judged.tap.exchanges().is_empty() || asked == found.documents.len() + 1 + 5,
        "{asked}"
    );
    let enough = Limits {
        total_bytes: 8 * 1024 * 1024,
        ..Limits::default()
    };
    let all = gather(forge, &place.repo, enough).await.unwrap();
    let total: usize = all
        .documents
        .iter()
        .map(|document| document.text.len())
        .sum();
    assert!(all.documents.len() == 61 && total > 3_000_000, "{total}");
    // An outage in the middle is an outage, not a document less.
    let faults = judged.simulator.faults();
    faults.push(Fault::on(
        "GET",
        "/repos/*/*/git/blobs/*",
        FaultKind::BadGatewayBefore,
    ));
    let lost = gather(forge, &place.repo, enough).await;
    assert!(
        matches!(lost, Err(StepError::Forge(ForgeError::Unknown { .. }))),
        "{lost:?}"
    );
    judged.tap.assert_clean();
}
