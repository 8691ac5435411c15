//! Benchmark of deciding what a comment asks for: usual comments beside the parse of their
//! deliveries, hostile comments, and searching a conversation of 500 long comments for a plan.
//!
//! Run with `cargo bench --bench decide`. `benches/README.md` explains what is measured and how.
//! The exit code is 1 if a performance bar is missed.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes of a benchmark are far below 2^52"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark ends where its data is wrong"
)]

mod delivery;
#[path = "../tests/it/support/hostile.rs"]
mod hostile;

use std::hint::black_box;
use std::process::{Command as Process, ExitCode};

use planwright::adapters::signature;
use planwright::engine::decide::{AppIdentity, Payload, decide};
use planwright::engine::extract::{self, Trust};
use planwright::engine::model::conversation::{Conversation, MAX_THREAD_BYTES, Post, Reactions};
use planwright::engine::model::progress::Logs;
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use planwright::engine::steps::verify;
use planwright::formats::command::Command;
use planwright::formats::markdown;
use rustix::time::{ClockId, clock_gettime};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::delivery::Comment;

/// Maximum length of a comment on GitHub, in characters.
const COMMENT: usize = 65_536;

/// Number of comments in the conversation, each of [`COMMENT`] characters.
const COMMENTS: usize = 500;

/// Number of shapes that are tried as a conversation: those that are slowest to parse.
const SLOWEST: usize = 30;

/// Maximum processor time for a delivery with a plan of 5 kB in the comment, in microseconds.
const USUAL_BAR: f64 = 60.0;
/// Maximum processor time for such a delivery, signature included, relative to that of its
/// signature and the typed parse of its payload alone.
const RATIO_BAR: f64 = 1.5;
/// Maximum processor time for one comment, in milliseconds.
const DECIDE_BAR: f64 = 50.0;
/// Maximum processor time for the conversation, in seconds.
const THREAD_BAR: f64 = 3.0;
/// Maximum memory for the conversation, in MiB.
const MEMORY_BAR: f64 = 200.0;
/// Maximum processor time for the opening text of headings, in milliseconds.
const HEADINGS_BAR: f64 = 500.0;

/// Commands that are put before each shape.
const HEADS: [&str; 3] = [
    "/plan-help\n\n",
    "/save-plan\n\n# Plan: x\n\n",
    "/save-raw-plan\n\n",
];

/// Number of measurements if the first one is near the bar. The minimum counts, because other work
/// on the machine only adds time.
const ROUNDS: usize = 3;

/// Number of measurements of a usual comment, each of [`REPEATS`] decisions. The medians count.
const USUAL_ROUNDS: usize = 101;
const REPEATS: usize = 50;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    if let Some(shape) = after("--thread") {
        return thread_child(shape);
    }
    if let Some(file) = after("--comment") {
        let text = std::fs::read_to_string(file).unwrap();
        println!("{:.2} ms", decided(&created(&text)));
        return ExitCode::SUCCESS;
    }
    if let Some(seconds) = after("--explore") {
        explore(seconds.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    let mut missed = false;
    let mut row = |name: &str, figure: f64, unit: &str, bar: f64| {
        let met = figure < bar;
        missed |= !met;
        let verdict = if met { "" } else { "  MISSED" };
        println!("{figure:>9.2} {unit:<4} < {bar:<5} {name}{verdict}");
    };
    println!("decide, usual deliveries, medians of a processor's time:");
    for (name, text) in usual_comments() {
        let (micros, ratio) = usual(&text);
        row(&name, micros, "µs", USUAL_BAR);
        row(
            &format!("{name}: with signature ÷ signature and parse alone"),
            ratio,
            "",
            RATIO_BAR,
        );
    }
    if arguments.iter().any(|argument| argument == "--usual") {
        return exit_code(missed);
    }
    println!();
    let mut figures: Vec<(f64, String)> = Vec::new();
    for head in HEADS {
        for (name, text) in hostile::shapes(COMMENT - head.len()) {
            let text = format!("{head}{text}");
            figures.push((decided(&created(&text)), format!("{head:?} {name}")));
            if head == HEADS[0] {
                let edit = edited(&text, &text);
                figures.push((decided(&edit), format!("edited: {head:?} {name}")));
            }
        }
    }
    figures.sort_by(|a, b| b.0.total_cmp(&a.0));
    let median = figures[figures.len() / 2].0;
    println!(
        "decide, {} comments of {COMMENT} characters, ms of a processor:",
        figures.len()
    );
    for (figure, name) in figures.iter().take(5) {
        row(name, *figure, "ms", DECIDE_BAR);
    }
    println!("{median:>9.2} ms           median\n");
    println!(
        "a conversation of {COMMENTS} comments of {COMMENT} characters, the shapes that are slowest to parse:"
    );
    let mut shapes: Vec<(f64, usize, String)> = hostile::shapes(COMMENT)
        .into_iter()
        .enumerate()
        .map(|(index, (name, text))| (once(|| markdown::blocks(&text)), index, name))
        .collect();
    shapes.sort_by(|a, b| b.0.total_cmp(&a.0));
    shapes.truncate(SLOWEST);
    let mut threads: Vec<(f64, f64, String)> = shapes
        .into_iter()
        .map(|(_, index, name)| {
            let (seconds, mebibytes) = thread(index);
            (seconds, mebibytes, name)
        })
        .collect();
    threads.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (seconds, _, name) in threads.iter().take(5) {
        row(name, *seconds, "s", THREAD_BAR);
    }
    threads.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (_, mebibytes, name) in threads.iter().take(3) {
        row(name, *mebibytes, "MiB", MEMORY_BAR);
    }
    let (mut thread, trigger) = conversation();
    thread.posts[0].body = "# a\n".repeat(100_000);
    let headings = once(|| judged(&thread, &trigger));
    row(
        "an opening text of 100,000 headings",
        headings,
        "ms",
        HEADINGS_BAR,
    );
    exit_code(missed)
}

fn exit_code(missed: bool) -> ExitCode {
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Returns the processor time used by this thread, in milliseconds.
fn processor() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

fn once<T>(work: impl FnOnce() -> T) -> f64 {
    let start = processor();
    black_box(work());
    processor() - start
}

fn facts() -> AppIdentity {
    AppIdentity {
        app_id: 1,
        ..AppIdentity::default()
    }
}

fn decided(payload: &[u8]) -> f64 {
    let facts = facts();
    let measure = || once(|| decide("issue_comment", payload, &facts).is_ok());
    let mut least = measure();
    for _ in 1..ROUNDS {
        if least > DECIDE_BAR / 2.0 {
            least = least.min(measure());
        }
    }
    least
}

/// Returns comments of usual length with their names.
fn usual_comments() -> Vec<(String, String)> {
    let plan = Comment::Plan.text(1);
    let (_, steps) = plan.split_once("## Steps\n\n").unwrap();
    let mut comments: Vec<(String, String)> = [Comment::Plan, Comment::Command, Comment::Talk]
        .map(|comment| (format!("{comment:?}"), comment.text(1)))
        .into();
    comments.push((
        "Plan without a title".to_owned(),
        format!("/save-plan\n\n{steps}"),
    ));
    comments.push((
        "Command below talk".to_owned(),
        format!("{steps}\n/save-plan\n"),
    ));
    comments
}

/// Returns the processor time of deciding a delivery of the comment `text`, in microseconds, and
/// that of verifying and deciding it relative to verifying and parsing it.
fn usual(text: &str) -> (f64, f64) {
    let facts = facts();
    let body = delivery::body(text, 8_888_888_888, 1).unwrap();
    let secrets = [SecretString::from("a secret")];
    let header = signature::sign(&secrets[0], &body);
    let repeated = |work: &dyn Fn() -> bool| once(|| (0..REPEATS).all(|_| work()));
    let verified = || signature::verify(&secrets, black_box(&body), &header).is_ok();
    let read = || Payload::read("issue_comment", black_box(&body)).is_ok();
    let decided = || decide("issue_comment", black_box(&body), &facts).is_ok();
    let (mut times, mut ratios): (Vec<f64>, Vec<f64>) = (0..USUAL_ROUNDS)
        .map(|_| {
            let limit = repeated(&|| verified() && read());
            let whole = repeated(&|| verified() && decided());
            let decide = repeated(&decided);
            (decide * 1e3 / REPEATS as f64, whole / limit)
        })
        .unzip();
    (median(&mut times), median(&mut ratios))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn created(text: &str) -> Vec<u8> {
    let mut payload: Value = serde_json::from_str(include_str!(
        "../fixtures/payloads/issue_comment.created.json"
    ))
    .unwrap();
    payload["comment"]["body"] = json!(text);
    serde_json::to_vec(&payload).unwrap()
}

fn edited(before: &str, after: &str) -> Vec<u8> {
    let mut payload: Value = serde_json::from_str(include_str!(
        "../fixtures/payloads/issue_comment.edited.json"
    ))
    .unwrap();
    payload["comment"]["body"] = json!(after);
    payload["changes"]["body"]["from"] = json!(before);
    serde_json::to_vec(&payload).unwrap()
}

/// Measures a conversation of one shape in a separate process. Returns the processor time in
/// seconds and the peak memory in MiB.
fn thread(shape: usize) -> (f64, f64) {
    let program = std::env::current_exe().unwrap();
    let output = Process::new(program)
        .args(["--thread", &shape.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut figures = text
        .split_whitespace()
        .map(|figure| figure.parse().unwrap());
    (figures.next().unwrap(), figures.next().unwrap())
}

/// Prints the processor time and the peak memory of judging a conversation of one shape. As in the
/// GitHub client, comments are added one by one and dropped above the size limit.
fn thread_child(shape: &str) -> ExitCode {
    let (_, text) = hostile::shapes(COMMENT).swap_remove(shape.parse().unwrap());
    let (mut thread, trigger) = conversation();
    let mut bytes = 0;
    let time = once(|| {
        for id in 1..=COMMENTS {
            bytes += text.len();
            thread.posts.push(post(id as u64, &text));
            while bytes > MAX_THREAD_BYTES {
                bytes -= thread.posts.remove(1).body.len();
                thread.dropped += 1;
            }
        }
        judged(&thread, &trigger)
    });
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .split_whitespace()
                .next()?
                .parse::<f64>()
                .ok()
        })
        .unwrap_or_default();
    println!("{} {}", time / 1e3, peak / 1024.0);
    ExitCode::SUCCESS
}

/// Returns whether the conversation contains a plan.
fn judged(thread: &Conversation, trigger: &Trigger) -> bool {
    let search = extract::scan(thread, trigger).search(thread, trigger, &Trust::Everybody);
    verify::find(trigger, thread, search, &Logs::default())
        .and_then(|found| verify::as_found(trigger, found, ""))
        .is_ok()
}

fn post(id: u64, body: &str) -> Post {
    Post {
        id: (id > 0).then_some(id),
        author: Some(actor()),
        own: false,
        association: "MEMBER".to_owned(),
        created: Millis(0),
        updated: Millis(0),
        body: body.to_owned(),
        url: String::new(),
        reactions: Reactions::default(),
    }
}

fn actor() -> Actor {
    Actor {
        id: 7,
        login: "mira".to_owned(),
        bot: false,
    }
}

fn conversation() -> (Conversation, Trigger) {
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
        command: Command::SavePlan,
        also: Vec::new(),
        expired: false,
        repeated: false,
        actor: actor(),
        place: place.clone(),
        origin: Origin::Label {
            name: "save-plan".to_owned(),
        },
        options: Vec::new(),
        guidance: None,
        inline: None,
        opening: None,
        at: Millis(1),
    };
    let thread = Conversation {
        place,
        title: "A title".to_owned(),
        url: String::new(),
        state: "open".to_owned(),
        posts: vec![post(0, "The opening text.")],
        hidden: Vec::new(),
        unlisted: 0,
        dropped: 0,
    };
    (thread, trigger)
}

/// Searches for slow comments for `seconds` of processor time, among random texts and variations of
/// the slowest ones so far.
fn explore(seconds: f64) {
    let mut numbers = hostile::Numbers(std::process::id().into());
    let mut best: Vec<(f64, &str, hostile::Recipe)> = Vec::new();
    let (start, mut tried) = (processor(), 0_u64);
    while processor() - start < seconds * 1e3 {
        let head = HEADS[numbers.below(HEADS.len())];
        let recipe = if best.len() < 20 || numbers.below(3) == 0 {
            hostile::recipe(&mut numbers)
        } else {
            let of = &best[numbers.below(best.len())].2;
            hostile::varied(of, &mut numbers)
        };
        let payload = created(&hostile::cooked(head, &recipe, COMMENT));
        let facts = facts();
        let first = once(|| decide("issue_comment", &payload, &facts).is_ok());
        tried += 1;
        let slow = best.len() < 20 || first > best[best.len() - 1].0;
        if !slow {
            continue;
        }
        // The minimum of both, because noise only adds time.
        best.push((decided(&payload).min(first), head, recipe));
        best.sort_by(|a, b| b.0.total_cmp(&a.0));
        best.dedup_by(|a, b| a.2 == b.2);
        best.truncate(20);
    }
    println!("{tried} comments tried; the slowest:");
    for (time, head, recipe) in best.iter().take(10) {
        println!("{time:>9.2} ms  {head:?} {recipe:?}");
    }
}
