//! The work on a text is proportional to its length, whatever the text is. Time is measured in
//! `benches/decide.rs`, not here.

use comrak::Arena;
use comrak::nodes::NodeValue;
use planwright::engine::extract::{MAX_SEARCHED_BYTES, Search, Trust, scan};
use planwright::engine::model::conversation::{Conversation, Post, Reactions};
use planwright::engine::model::progress::Logs;
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use planwright::engine::steps::verify::find;
use planwright::formats::command::{self, Command};
use planwright::formats::hidden;
use planwright::formats::markdown::{self, MAX_ADDED_CELLS, MAX_NESTING};
use planwright::formats::plan::summary::summarise;
use planwright::formats::plan::title::title_of;

use crate::support::hostile::{Numbers, cooked, recipe, shapes};

/// Shorter than a comment can be, so that the test is quick; the limits do not depend on it.
const LENGTH: usize = 4_096;

fn search(thread: &Conversation, trigger: &Trigger) -> Search {
    scan(thread, trigger).search(thread, trigger, &Trust::Everybody)
}

/// Every shape, and texts put together at random from fixed seeds.
fn texts() -> Vec<(String, String)> {
    let mut all = shapes(LENGTH);
    for seed in 0..100 {
        let recipe = recipe(&mut Numbers(seed));
        let text = cooked("/save-plan\n\n", &recipe, LENGTH);
        all.push((format!("seed {seed}: {recipe:?}"), text));
    }
    all
}

#[test]
fn the_tree_of_any_text_is_in_proportion_to_its_length_and_not_deep() {
    for (name, text) in texts() {
        let arena = Arena::new();
        let root = markdown::parse(&arena, &text);
        let mut nodes = 0;
        for node in root.descendants() {
            nodes += 1;
            let container = |value: &NodeValue| {
                matches!(
                    value,
                    NodeValue::BlockQuote
                        | NodeValue::Item(_)
                        | NodeValue::TaskItem(_)
                        | NodeValue::FootnoteDefinition(_)
                )
            };
            if container(&node.data().value) {
                let depth = node
                    .ancestors()
                    .filter(|node| container(&node.data().value))
                    .count();
                assert!(depth <= MAX_NESTING, "{name}: {depth} containers");
            }
        }
        // A cell has a text in it; nothing else is added to what the text itself holds.
        let most = 2 * text.len() + 2 * MAX_ADDED_CELLS + 10;
        assert!(
            nodes <= most,
            "{name}: {nodes} nodes of {} bytes",
            text.len()
        );
    }
}

#[test]
fn every_reader_of_comments_survives_hostile_texts_on_a_small_stack() {
    let work = || {
        for (name, text) in texts() {
            let found = command::parse(&text);
            let lines = command::at_line_starts(&text);
            for found in &found {
                assert!(lines.contains(&found.command), "{name}");
            }
            assert!(
                command::without_commands(&text).len() <= text.len(),
                "{name}"
            );
            let title = title_of(&text).unwrap_or_default();
            assert!(title.chars().count() <= 250, "{name}");
            summarise(&text);
            hidden::visible(&text);
        }
    };
    // Tokio's threads have 2 MiB; a debug build needs more of a stack than what is shipped.
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.unwrap().join().unwrap();
}

#[test]
fn a_command_above_nesting_that_is_too_deep_is_not_read() {
    for marker in ["> ", "- ", "1. "] {
        let text = |depth: usize| format!("/plan-help\n\n{}a\n", marker.repeat(depth));
        assert_eq!(command::parse(&text(MAX_NESTING)).len(), 1, "{marker:?}");
        assert_eq!(command::parse(&text(MAX_NESTING + 1)), [], "{marker:?}");
    }
}

fn post(id: u64, body: String) -> Post {
    Post {
        id: (id > 0).then_some(id),
        author: Some(Actor {
            id: 7,
            login: "mira".to_owned(),
            bot: false,
        }),
        own: false,
        association: "MEMBER".to_owned(),
        created: Millis(i64::try_from(id).unwrap()),
        updated: Millis(i64::try_from(id).unwrap()),
        body,
        url: format!("https://github.test/{id}"),
        reactions: Reactions::default(),
    }
}

fn conversation(bodies: impl Iterator<Item = String>) -> (Conversation, Trigger) {
    let posts: Vec<Post> = bodies.zip(0..).map(|(body, id)| post(id, body)).collect();
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
    let trigger = Trigger {
        command: Command::SaveRawPlan,
        also: Vec::new(),
        expired: false,
        repeated: false,
        actor: posts[0].author.clone().unwrap(),
        place: place.clone(),
        origin: Origin::Comment {
            id: 1_000_000,
            text: "/save-raw-plan".to_owned(),
            url: String::new(),
        },
        options: Vec::new(),
        guidance: None,
        inline: None,
        opening: None,
        at: Millis(1_000_000),
    };
    let thread = Conversation {
        place,
        title: "A title".to_owned(),
        url: String::new(),
        state: "open".to_owned(),
        posts,
        hidden: Vec::new(),
        unlisted: 0,
        dropped: 0,
    };
    (thread, trigger)
}

fn plan(name: &str) -> String {
    format!(
        "# Plan: {name}\n\n## Overview\n\nAll of it is described here in some words.\n\n## Steps\n\n1. one `src/a.rs`\n2. two\n\
         3. three\n\n## Testing\n\n- a\n- b\n- c\n"
    )
}

#[test]
fn of_a_long_conversation_the_newest_posts_are_searched_and_the_rest_is_counted() {
    let filler = "word ".repeat(12_000);
    let older = 30;
    let newest = (MAX_SEARCHED_BYTES - 10_000) / filler.len();
    let bodies = std::iter::once("The opening text.".to_owned())
        .chain([plan("an old one")])
        .chain((0..older).map(|_| filler.clone()))
        .chain([plan("a new one")])
        .chain((0..newest).map(|_| filler.clone()));
    let (thread, trigger) = conversation(bodies);
    let search = search(&thread, &trigger);
    assert_eq!(search.candidates[0].title.as_deref(), Some("a new one"));
    assert!(
        !search
            .candidates
            .iter()
            .any(|found| found.text.contains("an old one"))
    );

    let found = find(&trigger, &thread, search, &Logs::default()).unwrap();
    let said = format!(
        "The conversation is too long to search all of it: {} older comments were left out. If the plan is in one of them, \
         put it into the comment with the command.",
        older + 1
    );
    assert_eq!(found.notes, [said]);
}

#[test]
fn a_post_that_nests_too_deeply_is_no_plan_and_the_reason_is_told() {
    let deep = format!("{}\n\n{}\n", plan("hidden"), ">".repeat(1_000));
    let (thread, trigger) = conversation(["Text.".to_owned(), deep].into_iter());
    let search = search(&thread, &trigger);
    assert_eq!(
        search
            .left_out
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["comment 1 by mira: nests quotes or lists too deeply, or its tables omit too many cells"]
    );
    assert!(
        !search
            .candidates
            .iter()
            .any(|found| found.text.contains("hidden"))
    );
}
