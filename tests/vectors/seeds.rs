//! Plans written by people: the bot saves them from a conversation, and they are read back byte for
//! byte.

use std::process::Stdio;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use comrak::Arena;
use comrak::nodes::NodeValue;
use github_simulator::model::Role;
use github_simulator::{AppKeys, Simulator, SimulatorOptions, SystemClock};
use planwright::engine::extract::{MIN_SCORE, Trust, scan};
use planwright::engine::model::candidate::Source;
use planwright::engine::model::conversation::{Conversation, Post, Reactions};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use planwright::formats::block::{self, Content};
use planwright::formats::command::Command;
use planwright::formats::markdown;
use planwright::formats::plan::document::{
    Enrichment, ParsedDocument, is_success_document, parse, plan_text, wrap,
};
use planwright::formats::plan::split::{Limits, join, split};
use planwright::formats::plan::summary::summarise;
use planwright::formats::plan::title::title_of;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::frame_support::{erk_reads_block, live, looks};
use crate::harness::{self, Tests};

crate::harness::tests!(
    texts_look_like_the_original_and_do_nothing,
    plans_survive_the_frame,
    plans_are_found_in_one_text,
    parts_leave_no_fence_open,
    titles,
    summaries,
    a_plan_in_a_block_is_a_success_document,
    a_plan_that_came_in_a_block_is_saved_as_it_stands_in_it,
    plans_come_back_byte_for_byte,
);

/// A text whose plan is in a block.
const IN_BLOCK: &str = "000_f479393f46429e10.txt";
/// Texts that are nothing but a plan, and their titles.
const PLANS: [(&str, &str); 2] = [
    (
        "002_ef6477581d4ebaa4.txt",
        "Fix /orchestrate Research Agent Report Creation Implementation Plan",
    ),
    (
        "003_ddef16d97171d1ea.txt",
        "Plan Mode - Implementation Plan",
    ),
];

fn seed(name: &str) -> String {
    harness::text(&format!("../seeds/{name}"))
}

/// Returns the text in the block of [`IN_BLOCK`].
fn inner(text: &str) -> &str {
    let start = text.find("</summary>\n\n").unwrap() + "</summary>\n\n".len();
    &text[start..text.rfind("\n\n</details>").unwrap()]
}

fn texts_look_like_the_original_and_do_nothing(tests: &mut Tests) {
    let folder = harness::path("../seeds");
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let name = entry.unwrap().file_name().into_string().unwrap();
        tests.case(&name.clone(), move || {
            let text = seed(&name);
            let safe = block::neutralise(&text);
            assert_eq!(looks(&safe, false), looks(&text, false));
            assert_eq!(live(&safe), None);
        });
    }
}

fn plans_survive_the_frame(tests: &mut Tests) {
    for name in [IN_BLOCK, PLANS[0].0, PLANS[1].0] {
        tests.case(name, || {
            let text = seed(name);
            let safe = block::neutralise(&text);
            assert_eq!(block::restore(&safe), text);
            let rendered = block::plan_body(&text);
            let parsed = block::parse(&rendered);
            assert_eq!(parsed.blocks[0].content, Content::Text(text));
            assert_eq!(parsed.diagnostics, []);
            assert_eq!(erk_reads_block(&rendered), Some(safe.trim()));
        });
    }
}

fn plans_are_found_in_one_text(tests: &mut Tests) {
    for (name, source) in [
        (IN_BLOCK, Source::Block { post: None }),
        (PLANS[0].0, Source::Whole { post: None }),
        (PLANS[1].0, Source::Whole { post: None }),
    ] {
        tests.case(name, move || {
            let text = seed(name);
            let (thread, trigger) = conversation(&text);
            let found = scan(&thread, &trigger)
                .search(&thread, &trigger, &Trust::Everybody)
                .candidates
                .remove(0);
            assert_eq!(found.source, source);
            let plan = if name == IN_BLOCK {
                inner(&text)
            } else {
                &text
            };
            assert_eq!(found.text, plan);
            assert!(found.score >= MIN_SCORE);
        });
    }
}

/// Returns a conversation that consists of `text`, and the command to save its plan.
fn conversation(text: &str) -> (Conversation, Trigger) {
    let actor = Actor {
        id: 1,
        login: "bob".to_owned(),
        bot: false,
    };
    let place = IssueRef {
        repo: Repo {
            installation: 1,
            id: 2,
            owner: "acme".to_owned(),
            name: "search".to_owned(),
        },
        number: 3,
        pull_request: false,
    };
    let post = Post {
        id: None,
        author: Some(actor.clone()),
        own: false,
        association: "NONE".to_owned(),
        created: Millis(0),
        updated: Millis(0),
        body: text.to_owned(),
        url: String::new(),
        reactions: Reactions::default(),
    };
    let trigger = Trigger {
        command: Command::SavePlan,
        actor,
        place: place.clone(),
        origin: Origin::Comment {
            id: 9,
            text: "/save-plan".to_owned(),
            url: String::new(),
        },
        options: Vec::new(),
        guidance: None,
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: None,
        opening: None,
        at: Millis(1),
    };
    let thread = Conversation {
        place,
        title: THREAD.to_owned(),
        url: String::new(),
        state: "open".to_owned(),
        dropped: 0,
        posts: vec![post],
        hidden: Vec::new(),
        unlisted: 0,
    };
    (thread, trigger)
}

fn parts_leave_no_fence_open(tests: &mut Tests) {
    for (name, _) in PLANS {
        tests.case(name, || {
            let text = seed(name);
            for limit in [400, 777, 1_500] {
                let limits = Limits {
                    chars: limit,
                    bytes: limit,
                };
                let parts = split(&text, &limits);
                let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
                assert_eq!(join(&parts).as_deref(), Some(text.as_str()), "{limit}");
                assert!(parts.iter().all(|part| part.len() <= limit), "{limit}");
                // The last part ends as the text does, which may be in a fence nobody closed.
                for part in &parts[..parts.len() - 1] {
                    let arena = Arena::new();
                    let closed =
                        markdown::parse(&arena, part).descendants().all(|node| {
                            match &node.data().value {
                                NodeValue::CodeBlock(code) => code.closed,
                                _ => true,
                            }
                        });
                    assert!(closed, "{limit}: {part}");
                }
            }
        });
    }
}

fn titles(tests: &mut Tests) {
    for (name, title) in PLANS {
        tests.case(name, move || {
            assert_eq!(title_of(&seed(name)).as_deref(), Some(title));
        });
    }
}

fn summaries(tests: &mut Tests) {
    for ((name, _), first) in PLANS.into_iter().zip([
        "Phase 1: Strengthen Agent Directive",
        "Phase 1: Configuration & Dependencies",
    ]) {
        tests.case(name, move || {
            let found = summarise(&seed(name));
            assert!(found.steps[0].starts_with(first), "{found:?}");
        });
    }
}

fn a_plan_in_a_block_is_a_success_document(tests: &mut Tests) {
    tests.case(IN_BLOCK, || {
        let text = seed(IN_BLOCK);
        let inner = inner(&text);
        assert!(is_success_document(inner));
        assert_eq!(wrap("T", &Enrichment::raw(), inner), inner);
        assert_eq!(plan_text(inner), inner);
        let ParsedDocument::Plan(read) = parse(inner) else {
            panic!("no plan document");
        };
        assert_eq!(
            read.title,
            "Convert plan-extractor from JSON to Markdown Output"
        );
        assert!(
            read.body
                .starts_with("## Overview\n\nChange the plan-extractor")
        );
        assert_eq!(read.enrichment.questions, 3);
        assert_eq!(read.enrichment.clarifications.len(), 3);
        assert_eq!(
            read.enrichment.categories,
            [false, true, false, true, true, true, false, true]
        );
    });
}

fn a_plan_that_came_in_a_block_is_saved_as_it_stands_in_it(tests: &mut Tests) {
    tests.case(IN_BLOCK, || {
        let text = seed(IN_BLOCK);
        let parsed = block::parse(&text);
        let Content::Text(inner) = &block::find(&parsed, "plan-body").unwrap().content else {
            panic!("{parsed:?}")
        };
        assert!(inner.len() > 13_000 && text.contains(inner.as_str()));
        let (title, document) = saved(&text);
        assert_eq!(title, "Convert plan-extractor from JSON to Markdown Output");
        assert!(document == *inner, "differs:\n{document}");
    });
}

fn plans_come_back_byte_for_byte(tests: &mut Tests) {
    for (name, expected) in PLANS {
        tests.case(name, move || {
            let text = seed(name);
            let (title, document) = saved(&text);
            assert_eq!(title, expected);
            assert!(plan_text(&document) == text, "differs:\n{document}");
        });
    }
}

const REPO: &str = "acme/search";
const THREAD: &str = "What we agreed on";
const SECRET: &str = "a webhook secret of good length";
/// Timeout of every wait, far longer than needed.
const PATIENCE: Duration = Duration::from_mins(2);

/// Key pair of the App. Generating one takes longer than any test.
static KEYS: LazyLock<AppKeys> = LazyLock::new(|| AppKeys::generate().unwrap());

/// Says `text` in a conversation, asks the bot to save the plan, and returns title and document of
/// the plan issue. The bot is a process, and GitHub is the simulator.
fn saved(text: &str) -> (String, String) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let saving = async { tokio::time::timeout(PATIENCE, save(text)).await };
    runtime.block_on(saving).expect("the plan is saved in time")
}

async fn save(text: &str) -> (String, String) {
    let options = SimulatorOptions::new(
        "planwright",
        Arc::new(SystemClock),
        KEYS.public_pem.clone(),
        SecretString::from(SECRET),
    );
    let sim = Simulator::start(options).await.unwrap();
    sim.add_repository(REPO, false).unwrap();
    for login in ["ada", "bob"] {
        sim.grant(REPO, login, Role::Write).unwrap();
    }
    sim.install(&[REPO]).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let mut bot = tokio::process::Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("serve")
        .env_clear()
        .env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0")
        .env("PLANWRIGHT_WEBHOOK_SECRETS", SECRET)
        .env(
            "PLANWRIGHT_GITHUB_PRIVATE_KEY",
            KEYS.private_pem.expose_secret(),
        )
        .env("PLANWRIGHT_GITHUB_API_URL", sim.api_url())
        .env("PLANWRIGHT_GITHUB_APP_ID", "4711")
        .env("PLANWRIGHT_GITHUB_APP_SLUG", "planwright")
        .env("PLANWRIGHT_GITHUB_WRITE_GAP_MS", "0")
        .env("PLANWRIGHT_GITHUB_NOTIFY_GAP_MS", "0")
        .env("PLANWRIGHT_WORKER_SETTLE_SECONDS", "0")
        .env("PLANWRIGHT_WORKER_BACKOFF_SECONDS", "1")
        .env("PLANWRIGHT_STORE_PATH", folder.path().join("planwright.db"))
        .env("PLANWRIGHT_LOG_FORMAT", "json")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut log = BufReader::new(bot.stderr.take().unwrap()).lines();
    let mut logged = async |message: &str| {
        while let Some(line) = log.next_line().await.unwrap() {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            if line["message"] == message {
                return line;
            }
        }
        panic!("the bot ended before it logged {message:?}");
    };
    let address = logged("listening").await["address"].clone();
    let address = address.as_str().unwrap();
    sim.set_targets(vec![format!("http://{address}/webhook")]);

    let issue = sim.open_issue(REPO, "bob", THREAD, "See below.").unwrap();
    for (login, body) in [
        ("bob", "I wrote it down:"),
        ("bob", text),
        ("ada", "/save-plan"),
    ] {
        sim.comment(REPO, issue, login, body).unwrap();
    }
    logged("run ended").await;

    let by_bot = |number| {
        let mut comments = sim.comments(REPO, number).unwrap();
        comments.retain(|comment| comment.author.id == sim.bot().id);
        comments
    };
    let said = by_bot(issue);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(!said[0].body.contains("## Error"), "{}", said[0].body);
    let plans = sim.issues(REPO).unwrap();
    let plan = plans.iter().rfind(|issue| issue.author.id == sim.bot().id);
    let plan = plan.expect("a plan issue");
    let parts = by_bot(plan.number);
    let parts: Vec<String> = parts
        .iter()
        .map(|comment| {
            let parsed = block::parse(&comment.body);
            assert_eq!(parsed.diagnostics, [], "{}", comment.body);
            match &block::find(&parsed, "plan-body").unwrap().content {
                Content::Text(text) => text.clone(),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let document = join(&parts).expect("the parts belong together");
    (plan.title.clone(), document)
}
