//! Tests of `engine::extract`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

pub(crate) mod extents;
mod forms;
pub(crate) mod remarks;
mod rules;
mod texts;

use super::*;
use crate::engine::model::conversation::{Post, Reactions};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, IssueRef, Repo};
use crate::formats::block;
use crate::formats::command::{Command, RawOption};
use crate::formats::thread_file;
use chrono::DateTime;
use text_classifier::Features;

const BOT: u64 = 7;

impl Scan {
    /// Returns the candidates of trusted authors, unless the command refers to one of them.
    fn unnamed(&mut self, trust: &Trust) -> Vec<Found> {
        if self.inline.is_some() || self.pointer.is_some() {
            return Vec::new();
        }
        self.trusted(trust).0
    }

    /// Returns these candidates with what the models for texts consider
    /// (`extract/plausibility.rs`).
    pub(crate) fn plausible(
        mut self,
        thread: &Conversation,
        trust: &Trust,
    ) -> Vec<(Candidate, Vec<f32>, Features)> {
        let mut found = self.unnamed(trust);
        found.retain(|it| !it.candidate.text.trim().is_empty());
        let with_features = |it: Found| {
            let features = plausibility::features(&it, thread);
            let words = plausibility::words_of(&it);
            (it.candidate, features, words)
        };
        found.into_iter().map(with_features).collect()
    }

    /// Returns those that are compared with each other, with what the model for candidates
    /// considers (`extract/likelihood.rs`).
    pub(crate) fn compared(
        mut self,
        thread: &Conversation,
        trigger: &Trigger,
        trust: &Trust,
    ) -> Vec<(Candidate, Vec<f32>)> {
        let found = self.unnamed(trust);
        choice::rate(found, &self.parsed, thread, trigger, trust).compared()
    }
}

fn actor(login: &str) -> Actor {
    Actor {
        id: if login == "planwright[bot]" {
            BOT
        } else {
            // Different for every login of the tests, unlike their lengths.
            login
                .bytes()
                .fold(1, |id, byte| (id * 31 + u64::from(byte)) % 1_000_000_007)
                + 1_000
        },
        login: login.to_owned(),
        bot: login.ends_with("[bot]"),
    }
}

/// Parses the conversation of a fixture; the last post with a command is the trigger.
fn conversation(text: &str) -> (Conversation, Trigger) {
    let file = thread_file::parse(text).unwrap();
    let place = IssueRef {
        repo: Repo {
            installation: 1,
            id: 2,
            owner: "acme".to_owned(),
            name: "shop".to_owned(),
        },
        number: 3,
        pull_request: false,
    };
    let posts: Vec<Post> = file
        .posts
        .iter()
        .enumerate()
        .map(|(index, post)| {
            let time = post.created.as_deref().map_or(0, |time| {
                DateTime::parse_from_rfc3339(time)
                    .unwrap()
                    .timestamp_millis()
            });
            Post {
                id: (index > 0).then_some(index as u64),
                author: Some(actor(&post.author)),
                own: actor(&post.author).id == BOT,
                association: "NONE".to_owned(),
                created: Millis(time),
                updated: Millis(time),
                body: post.body.clone(),
                url: format!("https://github.com/acme/shop/issues/3#{index}"),
                reactions: Reactions::default(),
            }
        })
        .collect();
    let own = posts
        .iter()
        .rev()
        .find(|post| post.body.starts_with("/save-plan"))
        .unwrap();
    let (command, inline) = own.body.split_once("\n\n").unwrap_or((&own.body, ""));
    let trigger = Trigger {
        command: Command::SavePlan,
        actor: own.author.clone().unwrap(),
        place: place.clone(),
        origin: Origin::Comment {
            id: own.id.unwrap(),
            text: own.body.clone(),
            url: own.url.clone(),
        },
        options: Vec::new(),
        guidance: Some(command.trim_start_matches("/save-plan").trim().to_owned())
            .filter(|text| !text.is_empty()),
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: (!inline.is_empty()).then(|| inline.to_owned()),
        opening: None,
        at: own.created,
    };
    let thread = Conversation {
        place,
        title: file.title,
        url: String::new(),
        state: "open".to_owned(),
        dropped: 0,
        posts,
        hidden: Vec::new(),
        unlisted: 0,
    };
    (thread, trigger)
}

fn candidates(thread: &Conversation, trigger: &Trigger) -> Search {
    scan(thread, trigger).search(thread, trigger, &Trust::Everybody)
}

fn chosen(thread: &Conversation, trigger: &Trigger) -> Result<Candidate, NoPlan> {
    match choose(candidates(thread, trigger), trigger)? {
        Choice::Plan(candidate) => Ok(*candidate),
        Choice::Unclear(among, why) => panic!("unclear among {among:#?}: {why}"),
    }
}

fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/threads/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const CSV: &str = "# Plan: Export monthly reports as CSV";
const LAST: &str = "- One test through the route";

#[test]
fn conversations() {
    let whole = |post: u64| {
        Some((
            Source::Whole {
                post: (post > 0).then_some(post),
            },
            post,
        ))
    };
    let section = |post: u64, heading: Option<&str>| {
        let post_id = (post > 0).then_some(post);
        Some((
            Source::Section {
                post: post_id,
                heading: heading.map(str::to_owned),
            },
            post,
        ))
    };
    let csv = Some("Plan: Export monthly reports as CSV");
    for (name, expected, first, last) in [
        ("plan-in-opening-text", whole(0), CSV, LAST),
        ("plan-in-comment", whole(1), CSV, LAST),
        ("chat-around-titled-plan", section(1, csv), CSV, LAST),
        (
            "chat-around-untitled-sections",
            section(1, Some("Overview")),
            "## Overview",
            "Logins end once, at the first deploy.",
        ),
        (
            "plan-section-in-bug-report",
            section(0, Some("Implementation plan")),
            "## Implementation plan",
            "3. Add a test with an empty body",
        ),
        (
            "whole-issue-is-plan-with-own-title",
            whole(0),
            "# Add dark mode to the settings page",
            "A theme editor.",
        ),
        (
            "sibling-sections-belong-together",
            section(1, Some("Implementation Plan")),
            "## Implementation Plan",
            "- A test with a paused clock",
        ),
        ("plan-in-markdown-fence", section(1, csv), CSV, "```"),
        (
            "fence-example-is-not-the-plan",
            whole(0),
            "# Plan: Describe the plan format in the manual",
            "- [ ] Check the example in CI",
        ),
        ("newest-of-equals", whole(2), CSV, LAST),
        (
            "revised-plan-is-a-little-shorter",
            whole(2),
            "# Revised plan: Export monthly reports as CSV",
            LAST,
        ),
        ("later-sketch-does-not-win", whole(1), CSV, "Excel files."),
        (
            "bold-lead-and-list",
            whole(1),
            "**Plan: Cache the start page**",
            "3. Clear it when an article changes",
        ),
        (
            "plan-behind-announcement",
            section(1, None),
            "1. Measure where the time goes, with `bench/start.rs`",
            "3. Clear the cache when an article changes",
        ),
        (
            "phases-with-boxes",
            whole(1),
            "# New importer",
            "- [ ] Notes",
        ),
        ("other-bot-wrote-the-plan", whole(1), CSV, LAST),
        ("own-posts-do-not-count", None, "", ""),
        ("status-marker-does-not-count", None, "", ""),
        ("quoted-plan-does-not-count", whole(1), CSV, LAST),
        ("plan-in-details", section(1, csv), CSV, LAST),
        (
            "plan-in-block",
            Some((Source::Block { post: Some(1) }, 1)),
            CSV,
            LAST,
        ),
        ("written-after-the-command", None, "", ""),
        ("front-matter", whole(1), "---", LAST),
        (
            "open-questions-stay",
            whole(1),
            CSV,
            "Do you want TSV as well?",
        ),
        ("bug-report-is-no-plan", None, "", ""),
        ("answer-that-solved-the-problem", None, "", ""),
        ("instructions-to-a-user", None, "", ""),
        (
            "short-line-is-the-title",
            section(1, None),
            "Index the titles with trigrams",
            "3. Benchmark with the ten most frequent searches",
        ),
        (
            "chosen-by-a-word-of-the-announcement",
            section(2, None),
            "1. Write the graph to `.tool/graph.bin` with a checksum",
            "3. CI keeps the file between jobs",
        ),
        ("pull-request-template-is-no-plan", None, "", ""),
        ("talk-is-no-plan", None, "", ""),
        ("pricing-plan-is-no-plan", None, "", ""),
        ("guidance-without-plan", None, "", ""),
        (
            "inline-wins",
            Some((Source::Inline, 2)),
            "# Plan: Export as PDF",
            "1. Print it",
        ),
    ] {
        let (thread, trigger) = conversation(&fixture(name));
        match (chosen(&thread, &trigger), expected) {
            (Ok(found), Some((source, post))) => {
                assert_eq!(found.source, source, "{name}: {found:#?}");
                let lines: Vec<&str> = found.text.trim().lines().collect();
                assert_eq!((lines[0], lines[lines.len() - 1]), (first, last), "{name}");
                let post = &thread.posts[usize::try_from(post).unwrap()];
                assert!(post.body.contains(&found.text), "{name}: not verbatim");
                assert_eq!(
                    found.author,
                    post.author.as_ref().map(|author| author.login.clone()),
                    "{name}"
                );
                assert_eq!(found.url.as_ref(), Some(&post.url), "{name}");
                if matches!(found.source, Source::Whole { .. }) {
                    assert_eq!(found.text, post.body, "{name}");
                }
            }
            (Err(_), None) => {}
            (found, expected) => panic!("{name}: expected {expected:?}, found {found:#?}"),
        }
    }
}

#[test]
fn two_plans_that_nobody_has_decided_between_are_unclear() {
    let (thread, trigger) = conversation(&fixture("two-plans-in-one-post"));
    let Ok(Choice::Unclear(among, why)) = choose(candidates(&thread, &trigger), &trigger) else {
        panic!("clear")
    };
    assert_eq!(among.len(), 2);
    assert_eq!(why, "they are about equally likely, and nobody has decided");
}

#[test]
fn nothing_found_has_a_code_and_the_nearest_miss() {
    let code = |name: &str| {
        let (thread, trigger) = conversation(&fixture(name));
        chosen(&thread, &trigger).unwrap_err()
    };
    assert_eq!(code("guidance-without-plan").code, "guidance_without_plan");
    let miss = code("pull-request-template-is-no-plan");
    assert_eq!(miss.code, "no_plan_found");
    let score = miss.best.as_ref().unwrap().score;
    assert_eq!(
        miss.to_string(),
        format!(
            "no_plan_found: the best candidate in the conversation, with {score} points, is not likely enough to be the plan"
        )
    );
    assert_eq!(
        code("own-posts-do-not-count")
            .left_out
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["comment 1 by planwright[bot]: written by the bot itself"]
    );
    assert_eq!(
        code("written-after-the-command")
            .left_out
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["comment 2 by mallory: written after the command"]
    );
    assert_eq!(
        code("status-marker-does-not-count")
            .left_out
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["comment 1 by dave: carries a status or error marker of the bot"]
    );
}

#[test]
fn edited_comments_are_left_out_and_said() {
    let (mut thread, trigger) = conversation(&fixture("newest-of-equals"));
    thread.posts[2].updated = trigger.at.plus(std::time::Duration::from_secs(1));
    thread.posts[0].updated = thread.posts[2].updated;
    let found = chosen(&thread, &trigger).unwrap();
    assert_eq!(found.source, Source::Whole { post: Some(1) });
    let why = (
        0,
        "not searched: comment 2 by dave: edited after the command".into(),
    );
    assert_eq!(found.reasons.last(), Some(&why));
}

#[test]
fn the_command_s_own_text_comes_from_the_trigger() {
    let (mut thread, mut trigger) = conversation(&fixture("talk-is-no-plan"));
    let own = thread.posts.last_mut().unwrap();
    own.body = fixture("plan-in-comment");
    assert!(
        chosen(&thread, &trigger).is_err(),
        "an edit of the comment is not read"
    );
    let plan = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/plans/csv-export.md"
    ))
    .unwrap();
    if let Origin::Comment { text, .. } = &mut trigger.origin {
        *text = plan.clone();
    }
    let search = candidates(&thread, &trigger);
    let Choice::Plan(found) = choose(search, &trigger).unwrap() else {
        panic!("clear")
    };
    assert_eq!(found.text, plan);
}

#[test]
fn a_person_may_quote_a_marker_of_the_bot_within_a_plan() {
    let (mut thread, trigger) = conversation(&fixture("newest-of-equals"));
    let quoted = "\n\n<!-- planwright:error -->\n\n- The marker above is looked for\n";
    thread.posts[2].body.push_str(quoted);
    let found = chosen(&thread, &trigger).unwrap();
    assert_eq!(found.source, Source::Whole { post: Some(2) });
    // A copy of a status message begins with its marker; messages of other bots may contain it
    // anywhere.
    thread.posts[2].author = Some(actor("other[bot]"));
    let found = chosen(&thread, &trigger).unwrap();
    assert_eq!(found.source, Source::Whole { post: Some(1) });
}

#[test]
fn a_post_that_is_pointed_to_is_saved_whole_if_its_plan_is_too_short() {
    let short = "1. Write the rows one by one\n2. Offer the file on the page";
    let long = format!("{short}\n3. Describe the format of the file and its limits in the manual");
    let about = "The report is built in memory, and the process is killed for the large ones. \
                 This has been known since spring, and nobody found the time to look into it.";
    let chat = |plan: &str| format!("## What happens\n\n{about}\n\n## Plan\n\n{plan}");
    for (body, whole) in [
        (chat(short), true),
        (chat(&long), false),
        (format!("{about}\n\n{}", block::plan_body(short)), false),
    ] {
        let (mut thread, mut trigger) = conversation(&fixture("plan-in-opening-text"));
        thread.posts[0].body.clone_from(&body);
        trigger.options = vec![RawOption {
            name: "from".to_owned(),
            value: "opening".to_owned(),
        }];
        let search = candidates(&thread, &trigger);
        let source = &search.candidates[0].source;
        let is_whole = matches!(source, Source::Whole { .. });
        assert_eq!(is_whole, whole, "{source:?}\n{body}");
    }
}

/// Returns all candidates in one text, best first.
fn candidates_in_text(text: &str) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = in_post(text, &elements(text), None)
        .into_iter()
        .map(|found| Candidate {
            title: found.title(),
            ..found.candidate
        })
        .collect();
    found.sort_by_key(|candidate| Reverse(candidate.score));
    found
}
