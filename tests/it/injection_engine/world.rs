//! Checks that everything on GitHub after a run is expected and harmless.

use std::collections::BTreeMap;

use planwright::engine::model::progress::Prepared;
use planwright::engine::model::run::RunId;
use planwright::formats::plan::stored;
use planwright::formats::question::boxes;
use planwright::formats::{block, command};
use serde_json::json;

use crate::frame_support::live;
use crate::frame_support::{html, page};
use crate::support::fake_forge::{Comment, Issue};
use crate::support::rig::{HERE, Rig};

/// The word in the delimiters of a prompt.
pub(super) fn nonce(prompt: &str) -> &str {
    let (_, behind) = prompt.split_once("===== DATA ").unwrap();
    behind.split(' ').next().unwrap()
}

/// A body without the marks of the bot's own, which [`harmless`] looks at.
pub(super) fn said(body: &str) -> &str {
    body.rsplit_once("<!-- planwright:effect")
        .map_or(body, |(said, _)| said)
}

/// What was there before the run.
pub(super) struct Before {
    issues: BTreeMap<u64, Issue>,
    comments: BTreeMap<u64, Comment>,
}

impl Before {
    pub(super) fn of(rig: &Rig) -> Self {
        let world = rig.forge.world.lock().unwrap();
        Self {
            issues: world.issues.clone(),
            comments: world.comments.clone(),
        }
    }

    /// One plan with its comments, the comments that every run makes, and nothing else.
    pub(super) async fn only_a_plan_was_added(&self, rig: &Rig, run: &RunId, name: &str) {
        self.assert_all_harmless(rig, run, name);
        let plans = rig.forge.plans();
        assert_eq!(plans.len(), 1, "{name}");
        let (number, issue) = &plans[0];
        let prepared = prepared(rig, run).await.expect(name);
        assert_eq!(issue.labels, ["erk-plan"], "{name}");
        assert_eq!(issue.title, prepared.issue_title, "{name}");
        title(&issue.title, name);
        let expected = ["plan-header", "planwright-source"];
        assert_eq!(keys(&issue.body), expected, "{name}: {}", issue.body);
        let bodies = rig.forge.own_bodies(*number);
        for body in &bodies {
            assert_eq!(keys(body), ["plan-body"], "{name}: {body}");
        }
        let comments = issue.comments.iter().zip(&bodies);
        let comments = comments.map(|(id, body)| stored::StoredComment {
            id: *id,
            author: Some("planwright[bot]".to_owned()),
            body: body.clone(),
        });
        let stored = stored::read(&stored::StoredPage {
            title: issue.title.clone(),
            author: Some("planwright[bot]".to_owned()),
            body: issue.body.clone(),
            pull_request: false,
            comments: comments.collect(),
        })
        .unwrap_or_else(|error| panic!("{name}: {error}\n{bodies:#?}"));
        assert_eq!(stored.document, prepared.document, "{name}");
        assert_eq!(stored.findings, [], "{name}");
        assert_eq!(stored.comments, issue.comments, "{name}");
        let header = stored.header.expect(name);
        assert_eq!(header["created_by"], json!("ada"), "{name}");
        assert_eq!(
            header["plan_comment_id"],
            json!(issue.comments[0]),
            "{name}"
        );
    }

    /// The comments that every run makes, and nothing else.
    pub(super) fn nothing_was_added(&self, rig: &Rig, run: &RunId, name: &str) {
        self.assert_all_harmless(rig, run, name);
        assert!(rig.forge.plans().is_empty(), "{name}");
    }

    /// What others wrote is as it was; what the bot wrote has no power.
    pub(super) fn assert_all_harmless(&self, rig: &Rig, run: &RunId, name: &str) {
        let world = rig.forge.world.lock().unwrap();
        for (number, old) in &self.issues {
            let new = &world.issues[number];
            assert_eq!((&new.title, &new.body), (&old.title, &old.body), "{name}");
            assert_eq!(new.labels, old.labels, "{name}");
        }
        for (id, old) in &self.comments {
            let new = &world.comments[id];
            assert_eq!((&new.body, new.edits), (&old.body, 0), "{name}");
        }
        assert!(
            world.labels.iter().all(|label| label == "erk-plan"),
            "{name}"
        );
        for (number, issue) in &world.issues {
            if issue.own {
                assert_harmless(&issue.body, name);
            } else {
                let mut statuses = 0;
                for id in &issue.comments {
                    let Some(comment) = world.comments.get(id).filter(|it| it.own) else {
                        continue;
                    };
                    assert_eq!(*number, HERE, "{name}");
                    assert_harmless(&comment.body, name);
                    statuses += usize::from(is_status(&comment.body, run, name));
                }
                assert_eq!(statuses, usize::from(*number == HERE), "{name}");
                continue;
            }
            for id in &issue.comments {
                assert_harmless(&world.comments[id].body, name);
            }
        }
        // Only where a command is: nobody else's text is rated.
        for (_, to, _) in &world.reactions {
            let id = to.trim_start_matches("Comment(").trim_end_matches(')');
            let id: u64 = id.parse().expect(name);
            assert!(!self.comments.contains_key(&id), "{name}: {to}");
        }
    }
}

/// Whether a comment of the bot in the conversation is the status comment; it is one that the bot
/// makes in any case.
fn is_status(body: &str, run: &RunId, name: &str) -> bool {
    let blocks = keys(body);
    if body.contains("<sub>planwright · run") {
        let known: [&[&str]; 3] = [&[], &["planwright-result"], &["planwright-error"]];
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        assert!(known.contains(&blocks.as_slice()), "{name}: {body}");
        return true;
    }
    assert!(blocks.is_empty(), "{name}: {body}");
    let begins = ['❓', '⏰', '✋', '✍', '😕', '✅', '⌛'];
    assert!(body.starts_with(begins), "{name}: {body}");
    if body.starts_with(['✅', '⌛']) {
        // A round that has ended: nothing to tick.
        assert!(
            boxes::parse(body).is_none() && !body.contains("- ["),
            "{name}: {body}"
        );
    }
    if body.starts_with(['❓', '✋']) {
        let read = boxes::parse(body).expect(name);
        assert_eq!(read.run, run.0, "{name}: {body}");
        let nothing = boxes::Ticks::default();
        assert!(
            !read.send && read.questions.iter().all(|it| *it == nothing),
            "{name}: {body}"
        );
        assert!(
            !read.questions.is_empty() && read.questions.len() <= 4,
            "{name}: {body}"
        );
    }
    false
}

fn assert_harmless(body: &str, name: &str) {
    assert_eq!(live(body), None, "{name}:\n{body}");
    assert!(command::parse(body).is_empty(), "{name}:\n{body}");
    assert!(body.chars().count() <= 65_536, "{name}");
    assert!(!body.contains('\0'), "{name}");
    // The mark of the effect is the last line, and the only one.
    let marks: Vec<_> = body.match_indices("<!-- planwright:effect").collect();
    assert!(marks.len() <= 1, "{name}:\n{body}");
    if let Some((at, _)) = marks.first() {
        let mark = &body[*at..];
        assert!(
            mark.ends_with(" -->") && !mark.contains('\n'),
            "{name}:\n{body}"
        );
        assert!(!mark.contains("01K0000000000"), "{name}:\n{body}");
    }
    let shown = page(&html(body));
    for element in [
        "<img", "<picture", "<video", "<audio", "<source", "<script", "<iframe",
    ] {
        assert!(!shown.contains(element), "{name}: {element} in\n{body}");
    }
}

fn keys(body: &str) -> Vec<String> {
    let blocks = block::parse(body).blocks;
    blocks.into_iter().map(|block| block.key.clone()).collect()
}

fn title(title: &str, name: &str) {
    assert!(title.chars().count() <= 250, "{name}: {title}");
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!title.contains(unseen), "{name}: {title:?}");
    assert!(!title.trim().is_empty(), "{name}");
}

/// What the run has checked and wants to save.
pub(super) async fn prepared(rig: &Rig, run: &RunId) -> Option<Prepared> {
    let view = rig.view(run).await;
    view.progress.clone().unwrap_or_default().prepared
}
