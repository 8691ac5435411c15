//! What operators look at and do: one run is cancelled or queued again; agents' output; lists of runs,
//! plans, usage, audit entries and decisions.

use std::collections::BTreeMap;

use planwright::adapters::store::History;
use planwright::engine::model::agent::{Spent, Tokens};
use planwright::engine::model::intake::{DecisionRecord, Subject, Verdict};
use planwright::engine::model::plan_entry::{PlanEntry, words};
use planwright::engine::operate::{Action, act};
use planwright::engine::overview::{
    AuditFilter, DayUsage, Effect, NumberedEntry, Output, PlanFilter, PlanSummary, RunFilter,
    RunSummary, StateFilter, Turn, TurnUsage, command_named,
};
use planwright::engine::store::{
    AuditEntry, Change, Lease, MAX_OUTPUT, MAX_SAVED_PLANS, OUTPUT_ENDS, SavedPlan,
};

use super::spending::{ANYTHING, leased, scope};
use super::*;

const DAY: i64 = 24 * 3_600_000;

/// Maximum number of entries of a list, larger than the lists here.
const ALL: u32 = 100;

/// A number that no entry reaches.
const END: i64 = i64::MAX;

/// The audit entry of a request to change a run.
fn request(run: &RunId, by: &str) -> AuditEntry {
    AuditEntry {
        at: at(1),
        run: Some(run.clone()),
        guid: None,
        actor: by.to_owned(),
        decision: "cancel".to_owned(),
        why: "requested".to_owned(),
    }
}

pub(crate) async fn one_run_is_cancelled_in_every_unfinished_state(store: &dyn Store) {
    let running = add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    let waiting = add(store, "b", 2, new_run(2, 1)).await;
    let parked = must_claim(store, 3).await;
    finish(store, &parked, park(1_000_000, true), 4).await;
    let blocked = add(store, "c", 5, new_run(1, 1)).await;
    let ready = add(store, "d", 6, new_run(3, 1)).await;
    let others = add(store, "e", 7, new_run(4, 1)).await;
    let all = [&running, &waiting, &blocked, &ready];
    for id in all {
        // The person who asked first is reported.
        for by in ["ada", "bob"] {
            assert_eq!(
                store.cancel_run(id, &request(id, by)).await.unwrap(),
                Change::Done
            );
        }
    }
    let leases = [claimed.lease.clone()];
    let status = store.heartbeat(&leases, at(8), LEASE).await.unwrap();
    assert_eq!(status[0].cancel_requested.as_deref(), Some("ada"));
    assert_eq!(state(store, &running).await, State::Running);
    assert_eq!(state(store, &blocked).await, State::Blocked);
    finish(store, &claimed, RunOutcome::Cancelled, 9).await;

    let mut told = BTreeMap::new();
    while let Some(claimed) = claim(store, 10).await {
        let how = match &claimed.cancel_requested {
            Some(_) => RunOutcome::Cancelled,
            None => RunOutcome::Succeeded,
        };
        finish(store, &claimed, how, 11).await;
        told.insert(claimed.lease.run, claimed.cancel_requested);
    }
    let by_ada = |id: &RunId| (id.clone(), Some("ada".to_owned()));
    let expected = [by_ada(&waiting), by_ada(&blocked), by_ada(&ready)];
    let expected = expected.into_iter().chain([(others.clone(), None)]);
    assert_eq!(told, expected.collect());

    for ended in all.into_iter().chain([&others]) {
        let change = store
            .cancel_run(ended, &request(ended, "ada"))
            .await
            .unwrap();
        assert_eq!(change, Change::NotNow);
    }
    let unknown = RunId::new();
    let change = store
        .cancel_run(&unknown, &request(&unknown, "ada"))
        .await
        .unwrap();
    assert_eq!(change, Change::Unknown);
    // What was not done is not recorded.
    for id in all {
        let audit = store.audit_of(id).await.unwrap();
        let actors: Vec<&str> = audit.iter().map(|entry| entry.actor.as_str()).collect();
        assert_eq!(actors, ["ada", "bob"]);
    }
    for id in [&others, &unknown] {
        assert!(store.audit_of(id).await.unwrap().is_empty());
    }
}

pub(crate) async fn one_failed_or_cancelled_run_is_queued_again(store: &dyn Store) {
    let refused = RunOutcome::Failed {
        code: Code::PermissionDenied,
        message: "no".into(),
    };
    for (number, how, expected) in [
        (1, failed(), Change::Done),
        (2, RunOutcome::Cancelled, Change::Done),
        (3, RunOutcome::Succeeded, Change::NotNow),
        (4, refused, Change::NotNow),
    ] {
        let id = add(store, &format!("g{number}"), 0, new_run(number, 1)).await;
        let claimed = must_claim(store, 1).await;
        let unfinished = store.retry_run(&id, &request(&id, "ada")).await.unwrap();
        assert_eq!(unfinished, Change::NotNow, "it is running");
        let saved = store.save_progress(&claimed.lease, &progress(7)).await;
        saved.unwrap();
        store.cancel_run(&id, &request(&id, "ada")).await.unwrap();
        finish(store, &claimed, how.clone(), 2).await;
        assert_eq!(
            store.retry_run(&id, &request(&id, "ada")).await.unwrap(),
            expected,
            "{how:?}"
        );
        if expected == Change::Done {
            let view = store.run(&id).await.unwrap().unwrap();
            assert_eq!((view.code, view.note, view.finished), (None, None, None));
            let again = must_claim(store, 3).await;
            assert_eq!(again.lease.run, id);
            assert_eq!((again.round, again.attempt), (1, 1));
            assert_eq!(
                (again.cancel_requested, &again.progress),
                (None, &progress(7))
            );
            let again = store.finish(&again.lease, &RunOutcome::Succeeded, at(4));
            again.await.unwrap();
        }
    }
    let nobodys = RunId::new();
    let unknown = store
        .retry_run(&nobodys, &request(&nobodys, "ada"))
        .await
        .unwrap();
    assert_eq!(unknown, Change::Unknown);
    assert!(claim(store, 5).await.is_none());
}

pub(crate) async fn a_command_is_given_again_once_at_a_time(store: &dyn Store) {
    let serial = new_run(1, 1);
    let mut beside = new_run(1, 2);
    beside.trigger.command = Command::Status;
    beside.serial = None;
    assert!(beside.trigger.serial().is_none() && serial.trigger.serial().is_some());
    for (guid, run) in [("a", serial), ("b", beside)] {
        let id = add(store, guid, 0, run).await;
        let claimed = must_claim(store, 1).await;
        finish(store, &claimed, RunOutcome::Succeeded, 2).await;
        let again = || async {
            act(store, Action::RunAgain, &id, "ada", at(3))
                .await
                .unwrap()
        };
        let (one, two, three) = tokio::join!(again(), again(), again());
        let outcomes = [one, two, three];
        let done = outcomes.iter().find(|one| one.change == Change::Done);
        let new = &done.unwrap().run;
        let others = outcomes.iter().filter(|one| one.change == Change::NotNow);
        assert_eq!(others.count(), 2, "{outcomes:?}");
        assert!(outcomes.iter().all(|one| one.run == *new), "{outcomes:?}");
        assert_eq!(store.audit_of(&id).await.unwrap().len(), 1);
        let repetition = must_claim(store, 4).await;
        assert_eq!(repetition.lease.run, *new);
        finish(store, &repetition, failed(), 5).await;
        assert!(claim(store, 6).await.is_none());
    }
}

pub(crate) async fn a_run_that_is_queued_again_waits_for_the_active_one(store: &dyn Store) {
    let first = add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    finish(store, &claimed, failed(), 2).await;
    let second = add(store, "b", 3, new_run(1, 1)).await;
    let active = must_claim(store, 4).await;
    assert_eq!(active.lease.run, second);
    assert_eq!(
        store
            .retry_run(&first, &request(&first, "ada"))
            .await
            .unwrap(),
        Change::Done
    );
    assert_eq!(state(store, &first).await, State::Blocked);
    assert!(claim(store, 5).await.is_none());
    finish(store, &active, RunOutcome::Succeeded, 6).await;
    assert_eq!(must_claim(store, 7).await.lease.run, first);
}

pub(crate) async fn runs_without_serial_are_cancelled_and_queued_again(store: &dyn Store) {
    let beside = || {
        let mut run = new_run(1, 1);
        run.serial = None;
        run
    };
    add(store, "a", 0, new_run(1, 1)).await;
    let active = must_claim(store, 1).await;
    let id = add(store, "b", 2, beside()).await;
    let claimed = must_claim(store, 3).await;
    assert_eq!(
        store.cancel_run(&id, &request(&id, "ada")).await.unwrap(),
        Change::Done
    );
    finish(store, &claimed, RunOutcome::Cancelled, 4).await;
    assert_eq!(
        store.retry_run(&id, &request(&id, "ada")).await.unwrap(),
        Change::Done
    );
    assert_eq!(state(store, &id).await, State::Ready);
    assert_eq!(must_claim(store, 5).await.lease.run, id);
    finish(store, &active, RunOutcome::Succeeded, 6).await;
}

pub(crate) async fn output_is_kept_in_order_and_deleted_with_its_run(
    store: &dyn Store,
    history: &History,
) {
    let lease = leased(store, "a").await;
    let other = leased(store, "b").await;
    let count = 20;
    for number in 0..count {
        let text = format!("{number}\n");
        let appended = store.append_output(&lease.run, &text, at(number));
        appended.await.unwrap();
    }
    // The limit of one run does not concern another.
    store
        .append_output(&other.run, "ü\r\n\u{1b}[31m", at(1))
        .await
        .unwrap();
    let unknown = RunId::new();
    store.append_output(&unknown, "lost", at(1)).await.unwrap();

    let read = |run, after, limit| history.output(run, after, limit);
    let all = read(&lease.run, 0, 1_000).await.unwrap();
    let texts: Vec<String> = all.iter().map(|portion| portion.text.clone()).collect();
    let expected: Vec<String> = (0..count).map(|number| format!("{number}\n")).collect();
    assert_eq!(texts, expected);
    assert_eq!(all[3].at, at(3));
    assert!(all.is_sorted_by(|a, b| a.id < b.id));
    let next = read(&lease.run, all[9].id, 5).await.unwrap();
    assert_eq!(next, all[10..15]);
    let last = all.last().unwrap().id;
    assert_eq!(read(&lease.run, last, 5).await.unwrap(), []);
    let others = read(&other.run, 0, 5).await.unwrap();
    assert_eq!(others[0].text, "ü\r\n\u{1b}[31m");
    assert_eq!(read(&unknown, 0, 5).await.unwrap(), []);

    let ended = store.finish(&lease, &RunOutcome::Succeeded, at(3));
    ended.await.unwrap();
    store.prune(at(1_000)).await.unwrap();
    assert!(store.run(&lease.run).await.unwrap().is_none());
    assert_eq!(read(&lease.run, 0, 5).await.unwrap(), []);
    assert_eq!(read(&other.run, 0, 5).await.unwrap(), others);
}

pub(crate) async fn output_is_kept_up_to_a_size(store: &dyn Store, history: &History) {
    let lease = leased(store, "a").await;
    let size = usize::try_from(MAX_OUTPUT).unwrap();
    // Two bytes for each character.
    let half = "ü".repeat(size / 4);
    for text in [
        "first\n",
        &half,
        "between\n",
        &half,
        "lost\n",
        "lost, too\n",
    ] {
        store.append_output(&lease.run, text, at(1)).await.unwrap();
    }
    let kept = history.output(&lease.run, 0, 100).await.unwrap();
    let texts: Vec<&str> = kept.iter().map(|portion| portion.text.as_str()).collect();
    let last = format!("{half}{OUTPUT_ENDS}");
    assert!(texts == ["first\n", &half, "between\n", &last]);
}

/// Several agents of a run print at the same time, and a viewer asks for what follows the last portion.
pub(crate) async fn no_portion_appears_before_one_that_was_seen(
    store: &dyn Store,
    history: &History,
) {
    let lease = leased(store, "a").await;
    let print = async |agent: i64| {
        for number in 0..40 {
            let text = format!("{agent} {number}\n");
            let appended = store.append_output(&lease.run, &text, at(number));
            appended.await.unwrap();
        }
    };
    let print = async { tokio::join!(print(1), print(2), print(3), print(4)) };
    let mut print = std::pin::pin!(print);
    let mut seen = Vec::new();
    let mut is_printed = false;
    while !is_printed {
        let after = seen.last().map_or(0, |portion: &Output| portion.id);
        let read = history.output(&lease.run, after, 1_000);
        // The last look comes after the last portion.
        tokio::select! {
            biased;
            portions = read => seen.extend(portions.unwrap()),
            _ = &mut print => {
                is_printed = true;
                let portions = history.output(&lease.run, after, 1_000);
                seen.extend(portions.await.unwrap());
            }
        }
    }
    let all = history.output(&lease.run, 0, 1_000).await.unwrap();
    assert_eq!(all.len(), 160);
    assert_eq!(seen, all);
}

fn repo(id: u64, owner: &str, name: &str) -> Repo {
    Repo {
        installation: 1,
        id,
        owner: owner.to_owned(),
        name: name.to_owned(),
    }
}

pub(crate) async fn repositories_are_found_by_their_last_known_name(
    store: &dyn Store,
    history: &History,
) {
    let record = async |id, owner, name| {
        let repo = repo(id, owner, name);
        // Again, without a change.
        for _ in 0..2 {
            store.record_repository(&repo).await.unwrap();
        }
        assert_eq!(history.repository_by_id(id).await.unwrap(), Some(repo));
    };
    let find = async |name: &str| history.repository(name).await.unwrap();
    assert_eq!(find("acme/tool").await, None);
    record(5, "Acme", "Tool").await;
    record(6, "acme", "other").await;
    assert_eq!(find("acme/TOOL").await, Some(5));
    // Renamed, then transferred; the old name is free for another repository.
    record(5, "Acme", "gadget").await;
    assert_eq!(find("acme/tool").await, None);
    assert_eq!(find("acme/gadget").await, Some(5));
    record(5, "umbrella", "gadget").await;
    record(9, "acme", "gadget").await;
    assert_eq!(find("acme/gadget").await, Some(9));
    assert_eq!(find("umbrella/gadget").await, Some(5));
    for unknown in [
        "",
        "acme",
        "acme/",
        "acme/%",
        "acme/g_dget",
        "' OR 1=1 --",
        "a\0b",
        "é/日",
    ] {
        assert_eq!(find(unknown).await, None, "{unknown:?}");
    }
    // A repository without a started run is found by the command that waits.
    let mut run = new_run(77, 1);
    run.trigger.place.repo = repo(77, "acme", "Fresh");
    add(store, "a", 0, run).await;
    assert_eq!(find("ACME/fresh").await, Some(77));
    assert_eq!(history.repository_by_id(77).await.unwrap(), None);
}

/// Reads a list page by page and returns its entries.
macro_rules! pages {
    ($history:ident.$list:ident, $filter:expr, $number:ident) => {{
        let mut filter = $filter.clone();
        let mut entries = Vec::new();
        loop {
            let page = $history.$list(&filter, 2).await.unwrap();
            assert!(page.len() <= 2);
            let Some(last) = page.last() else {
                break entries;
            };
            filter.before = Some(last.$number);
            entries.extend(page);
        }
    }};
}

pub(crate) async fn runs_are_selected_by_state_repository_and_command(
    store: &dyn Store,
    history: &History,
) {
    let mut names: BTreeMap<RunId, &str> = BTreeMap::new();
    for (index, (name, repo, number, outcome)) in [
        ("succeeded", 1, 1, Some(RunOutcome::Succeeded)),
        ("failed", 1, 2, Some(failed())),
        ("cancelled", 10, 1, Some(RunOutcome::Cancelled)),
        ("waiting", 2, 1, Some(park(1_000_000, true))),
        ("running", 3, 1, None),
    ]
    .into_iter()
    .enumerate()
    {
        let mut run = new_run(repo, number);
        if name == "cancelled" {
            run.command = "plan".into();
        }
        let ms = i64::try_from(index).unwrap();
        let id = add(store, name, ms, run).await;
        let claimed = must_claim(store, ms).await;
        if let Some(how) = outcome {
            finish(store, &claimed, how, 100 + ms).await;
        }
        names.insert(id, name);
    }
    for (name, number) in [("blocked", 1), ("ready", 2)] {
        names.insert(add(store, name, 10, new_run(3, number)).await, name);
    }
    let told =
        |runs: &[RunSummary]| -> Vec<&str> { runs.iter().map(|run| names[&run.id]).collect() };
    let all = [
        "ready",
        "blocked",
        "running",
        "waiting",
        "cancelled",
        "failed",
        "succeeded",
    ];
    for (state, repo, command, expected) in [
        (None, None, None, &all[..]),
        (Some("unfinished"), None, None, &all[..4]),
        (Some("blocked"), None, None, &["blocked"]),
        (Some("ready"), None, None, &["ready"]),
        (Some("running"), None, None, &["running"]),
        (Some("waiting"), None, None, &["waiting"]),
        (Some("succeeded"), None, None, &["succeeded"]),
        (Some("failed"), None, None, &["failed"]),
        (Some("cancelled"), None, None, &["cancelled"]),
        (None, Some(1), None, &["failed", "succeeded"]),
        (Some("failed"), Some(1), None, &["failed"]),
        (Some("failed"), Some(3), None, &[]),
        (Some("unfinished"), Some(3), Some("save-plan"), &all[..3]),
        (None, None, Some("plan"), &["cancelled"]),
        (None, Some(10), Some("save-plan"), &[]),
        (None, Some(99), None, &[]),
    ] {
        let filter = RunFilter {
            state: state.map(|state| StateFilter::from_name(state).unwrap()),
            repo,
            command: command.map(|name| command_named(name).unwrap()),
            before: None,
        };
        let runs = history.runs(&filter, ALL).await.unwrap();
        assert_eq!(told(&runs), expected, "{filter:?}");
        assert_eq!(told(&pages!(history.runs, filter, seq)), expected);
        let first = history.runs(&filter, 1).await.unwrap();
        assert_eq!(told(&first), &expected[..expected.len().min(1)]);
    }
    for (before, count) in [(END, all.len()), (i64::MIN, 0), (0, 0)] {
        let filter = RunFilter {
            before: Some(before),
            ..RunFilter::default()
        };
        let runs = history.runs(&filter, ALL).await.unwrap();
        assert_eq!(runs.len(), count, "{before}");
    }
    let runs = history.runs(&RunFilter::default(), ALL).await.unwrap();
    let run = runs.iter().find(|run| names[&run.id] == "failed").unwrap();
    let (place, actor) = run.origin.as_ref().unwrap();
    assert_eq!(
        (place.repo.id, place.number, &*actor.login),
        (1, 2, "octocat")
    );
    assert_eq!(
        (run.command.as_str(), run.state),
        ("save-plan", State::Failed)
    );
    assert_eq!(
        (run.code, run.note.as_deref()),
        (Some(Code::Internal), Some("it broke"))
    );
    assert_eq!(
        (run.attempt, run.created, run.finished),
        (1, at(1), Some(at(101)))
    );
}

pub(crate) async fn watching_a_run_gives_its_state_and_what_is_new(
    store: &dyn Store,
    history: &History,
) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    let watch = async |id: &RunId, after| history.watch(id, after, 2).await.unwrap();
    assert_eq!(watch(&id, 0).await, Some((State::Running, Vec::new())));
    for number in 1..=3 {
        let text = format!("{number}\n");
        store.append_output(&id, &text, at(number)).await.unwrap();
    }
    finish(store, &claimed, failed(), 4).await;
    let all = history.output(&id, 0, ALL).await.unwrap();
    let expected = (State::Failed, all[..2].to_vec());
    assert_eq!(watch(&id, 0).await, Some(expected));
    let expected = (State::Failed, all[2..].to_vec());
    assert_eq!(watch(&id, all[1].id).await, Some(expected));
    assert_eq!(
        watch(&id, all[2].id).await,
        Some((State::Failed, Vec::new()))
    );
    store.retry_run(&id, &request(&id, "ada")).await.unwrap();
    assert_eq!(watch(&id, END).await, Some((State::Ready, Vec::new())));
    assert_eq!(watch(&RunId::new(), 0).await, None);
}

/// Saves a plan from the issue `repo#number` at [`at`]`(ms)`; returns its run.
async fn save(
    store: &dyn Store,
    (repo, number): (u64, u64),
    issue: u64,
    entry: &PlanEntry,
    ms: i64,
) -> RunId {
    let run = add(store, &format!("plan {issue}"), 0, new_run(repo, number)).await;
    let claimed = must_claim(store, 1).await;
    assert_eq!(claimed.lease.run, run);
    let plan = plan(&run, issue, ms);
    let recorded = store.record_saved(&claimed.lease, &plan, entry);
    recorded.await.unwrap();
    finish(store, &claimed, RunOutcome::Succeeded, 2).await;
    run
}

fn plan(run: &RunId, issue: u64, ms: i64) -> SavedPlan {
    SavedPlan {
        run: run.clone(),
        at: at(ms),
        text: "text".into(),
        request: "request".into(),
        complete: true,
        issue,
        url: format!("https://github.com/acme/search/issues/{issue}"),
        replaces: None,
    }
}

fn issues(plans: &[PlanSummary]) -> Vec<u64> {
    plans.iter().map(|plan| plan.issue).collect()
}

/// Returns the plan issues that a search for a text finds.
async fn found(history: &History, text: &str) -> Vec<u64> {
    let filter = PlanFilter {
        words: words(text).into_iter().collect(),
        ..PlanFilter::default()
    };
    let plans = history.plans(&filter, ALL).await;
    issues(&plans.unwrap_or_else(|error| panic!("{text:?}: {error}")))
}

pub(crate) async fn plans_are_found_by_the_beginnings_of_their_words(
    store: &dyn Store,
    history: &History,
) {
    for (issue, title, text) in [
        (
            1,
            "Cache the results",
            "An LRU cache. OAuth2 tokens expire after 0x1F s.",
        ),
        (
            2,
            "Über die Größe",
            "ÅNGSTRÖM, Straße OR NEAR; 日本語のテキスト हिन्दी",
        ),
        (
            3,
            "Queue",
            "It's a \"quoted\" thing: foo_bar, 100 %, v1.2.3, e-mail@example.com",
        ),
    ] {
        save(
            store,
            (1, issue),
            issue,
            &PlanEntry::new("ada", title, text),
            0,
        )
        .await;
    }
    for (text, expected) in [
        ("cach", &[1][..]),
        ("CACHE lru", &[1]),
        ("lr results oauth", &[1]),
        ("cache queue", &[]),
        ("ache", &[]),
        ("e", &[1, 3]),
        ("oauth2", &[1]),
        ("2", &[3]),
        ("0x1", &[1]),
        ("über größ", &[2]),
        ("ÜBER", &[2]),
        ("ångström", &[2]),
        ("straße", &[2]),
        ("日本", &[2]),
        ("हिन्दी", &[2]),
        ("or", &[2]),
        ("near", &[2]),
        ("not", &[]),
        ("quoted it's", &[3]),
        ("foo", &[3]),
        ("bar", &[3]),
        ("1.2", &[3]),
        ("100", &[3]),
        ("example.com", &[3]),
    ] {
        let mut expected = expected.to_vec();
        expected.reverse();
        assert_eq!(found(history, text).await, expected, "{text}");
    }
    // Letters of other sorts are different letters, in both databases.
    assert_eq!(found(history, "uber").await, [0_u64; 0]);
}

pub(crate) async fn hostile_searches_are_searches(store: &dyn Store, history: &History) {
    let hostile = [
        "\"",
        "'",
        "''",
        "\\",
        "*",
        "cache*",
        "\"cache",
        "cache' OR 1=1 --",
        "cache OR queue",
        "NEAR(cache queue, 5)",
        "cache AND",
        "NOT cache",
        "words : cache",
        "{words}: cache",
        "- words : cache",
        "^cache",
        "cache + queue",
        "& | ! ( ) <->",
        "!cache",
        "cache:*",
        "cache:AB",
        "$8",
        "%s%_",
        "a\0b",
        "\u{feff}\u{200b}",
        "e\u{301}\u{327}",
        "Ⓐ",
        "²",
        "ﬁ ẞ İ ǅ",
        "🦀",
        "١٢٣",
        "クエリ",
        "עברית",
        "1e999 -0 0x 1.",
        "true null",
        "a/b http://example.com/a?b=c <b>&amp;</b>",
    ];
    let mut texts: Vec<String> = hostile.into_iter().map(str::to_owned).collect();
    for long in ["a", "日", "'", "\"", "a ", "é"] {
        texts.push(long.repeat(10_000));
    }
    let many: Vec<String> = (0..10_000).map(|number| format!("w{number}")).collect();
    texts.push(many.join(" "));
    for (index, text) in texts.iter().enumerate() {
        let issue = u64::try_from(index).unwrap() + 1;
        let entry = PlanEntry::new("ada", text, text);
        save(store, (1, issue), issue, &entry, 0).await;
    }
    for text in &texts {
        let plain: String = text.chars().take(40).collect();
        // As many words as a page searches for at most.
        let some: Vec<String> = words(text).into_iter().take(10).collect();
        found(history, &some.join(" ")).await;
        for (field, filter) in [
            (
                "person",
                PlanFilter {
                    actor: Some(text.clone()),
                    ..PlanFilter::default()
                },
            ),
            (
                "word",
                PlanFilter {
                    words: some.clone(),
                    ..PlanFilter::default()
                },
            ),
        ] {
            let plans = history.plans(&filter, ALL).await;
            assert!(plans.is_ok(), "{field} {plain:?}: {plans:?}");
        }
    }
    // Words that look like operators are words.
    let position = |text: &str| {
        let index = texts.iter().position(|one| one == text).unwrap();
        u64::try_from(index).unwrap() + 1
    };
    let near = position("NEAR(cache queue, 5)");
    assert_eq!(found(history, "near cache").await, [near]);
    assert_eq!(
        found(history, "w9999").await,
        [u64::try_from(texts.len()).unwrap()]
    );
}

pub(crate) async fn plans_are_selected_by_repository_person_and_date(
    store: &dyn Store,
    history: &History,
) {
    let entry = |actor, title| PlanEntry::new(actor, title, "the text");
    let run = save(store, (1, 1), 11, &entry("ada", "First"), 0).await;
    save(store, (10, 1), 12, &entry("Bob", "Second"), DAY).await;
    save(store, (1, 10), 13, &entry("Ada", "Third"), 2 * DAY).await;
    save(store, (11, 1), 14, &PlanEntry::default(), 3 * DAY).await;
    save(store, (2, 1), 15, &entry("ada\0", "Fi\0fth"), 4 * DAY).await;
    let all = PlanFilter::default;
    for (filter, expected) in [
        (all(), &[15, 14, 13, 12, 11][..]),
        (
            PlanFilter {
                repo: Some(1),
                ..all()
            },
            &[13, 11],
        ),
        (
            PlanFilter {
                repo: Some(10),
                ..all()
            },
            &[12],
        ),
        (
            PlanFilter {
                repo: Some(11),
                ..all()
            },
            &[14],
        ),
        (
            PlanFilter {
                repo: Some(111),
                ..all()
            },
            &[],
        ),
        (
            PlanFilter {
                actor: Some("ADA".into()),
                ..all()
            },
            &[13, 11],
        ),
        (
            PlanFilter {
                actor: Some("bo".into()),
                ..all()
            },
            &[],
        ),
        (
            PlanFilter {
                actor: Some("ad%".into()),
                ..all()
            },
            &[],
        ),
        (
            PlanFilter {
                since: Some(at(DAY)),
                ..all()
            },
            &[15, 14, 13, 12],
        ),
        (
            PlanFilter {
                until: Some(at(DAY)),
                ..all()
            },
            &[11],
        ),
        (
            PlanFilter {
                since: Some(at(DAY)),
                until: Some(at(3 * DAY)),
                ..all()
            },
            &[13, 12],
        ),
        (
            PlanFilter {
                words: vec!["text".into()],
                ..all()
            },
            &[15, 13, 12, 11],
        ),
        (
            PlanFilter {
                words: vec!["text".into()],
                repo: Some(1),
                actor: Some("ada".into()),
                ..all()
            },
            &[13, 11],
        ),
        (
            PlanFilter {
                before: Some(END),
                ..all()
            },
            &[15, 14, 13, 12, 11],
        ),
        (
            PlanFilter {
                before: Some(0),
                ..all()
            },
            &[],
        ),
    ] {
        let plans = history.plans(&filter, ALL).await.unwrap();
        assert_eq!(issues(&plans), expected, "{filter:?}");
        if filter.before.is_none() {
            assert_eq!(issues(&pages!(history.plans, filter, seq)), expected);
        }
    }
    store
        .record_repository(&repo(1, "acme", "search"))
        .await
        .unwrap();
    let plans = history.plans(&all(), ALL).await.unwrap();
    let first = &plans[4];
    assert_eq!((&first.run, first.number, first.at), (&run, 1, at(0)));
    assert_eq!((&*first.actor, &*first.title), ("ada", "First"));
    assert_eq!(first.url, "https://github.com/acme/search/issues/11");
    assert_eq!(first.repo, Some(repo(1, "acme", "search")));
    assert_eq!((&plans[1].repo, &*plans[1].title), (&None, ""));
}

pub(crate) async fn searches_follow_plans_that_are_replaced_and_deleted(
    store: &dyn Store,
    history: &History,
) {
    let entry = |title: &str| PlanEntry::new("ada", title, "");
    let id = add(store, "a", 0, new_run(2, 1)).await;
    let claimed = must_claim(store, 1).await;
    for (issue, title) in [(500, "alpha beta"), (501, "beta gamma")] {
        let (plan, entry) = (plan(&id, issue, 0), entry(title));
        let recorded = store.record_saved(&claimed.lease, &plan, &entry);
        recorded.await.unwrap();
    }
    finish(store, &claimed, RunOutcome::Succeeded, 2).await;
    assert_eq!(found(history, "alpha").await, [0_u64; 0]);
    assert_eq!(found(history, "beta").await, [501]);
    assert_eq!(found(history, "gamma").await, [501]);

    let most = u64::from(MAX_SAVED_PLANS);
    for issue in 1..=most + 1 {
        let title = format!("delta number{issue}x");
        save(store, (1, 1), issue, &entry(&title), 0).await;
    }
    assert_eq!(found(history, "number1x").await, [0_u64; 0]);
    let kept: Vec<u64> = (2..=most + 1).rev().collect();
    assert_eq!(found(history, "delta").await, kept);
    // A plan outlives its run.
    store.prune(at(1_000)).await.unwrap();
    assert_eq!(found(history, "gamma").await, [501]);
}

pub(crate) async fn usage_is_listed_by_day_repository_and_command(
    store: &dyn Store,
    history: &History,
) {
    let used = async |lease: &Lease, key: &str, repo, ms, cost| {
        let begun = store.begin_turn(lease, key, scope(repo, 7), &ANYTHING, at(ms));
        assert_eq!(begun.await.unwrap(), Ok(()));
        let spent = Spent {
            turns: 2,
            cost,
            tokens: Tokens {
                input: 10,
                cached: 4,
                output: 3,
            },
            ..Spent::default()
        };
        store.end_turn(lease, key, &spent).await.unwrap();
    };
    let (a, b, c) = (
        leased(store, "a").await,
        leased(store, "b").await,
        leased(store, "c").await,
    );
    used(&a, "1", 1, 0, 100).await;
    used(&a, "2", 1, 10, 100).await;
    used(&b, "1", 1, 20, 50).await;
    used(&c, "1", 2, 20, 900).await;
    used(&c, "2", 2, DAY, 7).await;
    let begun = store.begin_turn(&a, "3", scope(3, 7), &ANYTHING, at(0));
    assert_eq!(begun.await.unwrap(), Ok(()), "counts when it has ended");
    store
        .record_repository(&repo(2, "acme", "search"))
        .await
        .unwrap();
    let told = |usage: &[DayUsage]| -> Vec<(i64, Option<String>, u64, u64, u64)> {
        let day = |day: &DayUsage| {
            let name = day.repo.as_ref().map(Repo::full_name);
            assert_eq!(day.command, "save-plan");
            assert_eq!(day.day.0 % DAY, 0);
            (day.day.0 / DAY, name, day.runs, day.turns, day.cost)
        };
        usage.iter().map(day).collect()
    };
    let today = at(0).0 / DAY;
    let name = Some("acme/search".to_owned());
    let expected = [
        (today + 1, name.clone(), 0, 2, 7),
        (today, name, 1, 2, 900),
        (today, None, 2, 6, 250),
    ];
    let usage = history.usage(at(0), ALL).await.unwrap();
    assert_eq!(told(&usage), expected);
    let tokens = usage[2].tokens;
    assert_eq!((tokens.input, tokens.cached, tokens.output), (30, 12, 9));
    // A day counts as a whole.
    let usage = history.usage(at(60_000), ALL).await.unwrap();
    assert_eq!(told(&usage), expected);
    let usage = history.usage(at(DAY), ALL).await.unwrap();
    assert_eq!(told(&usage), expected[..1]);
    let usage = history.usage(at(0), 2).await.unwrap();
    assert_eq!(told(&usage), expected[..2]);
    assert!(history.usage(at(2 * DAY), ALL).await.unwrap().is_empty());
}

pub(crate) async fn audit_entries_are_selected_by_run_person_and_decision(
    store: &dyn Store,
    history: &History,
) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    for (ms, run, actor, decision) in [
        (3, Some(&id), "ada", "accepted"),
        (1, Some(&id), "", "saved"),
        (2, None, "Bob", "refused"),
        (4, Some(&RunId::new()), "ada", "saved"),
    ] {
        let entry = AuditEntry {
            at: at(ms),
            run: run.cloned(),
            guid: run.map(|_| "g".to_owned()),
            actor: actor.to_owned(),
            decision: decision.to_owned(),
            why: format!("why {ms}"),
        };
        store.audit(entry).await.unwrap();
    }
    let all = AuditFilter::default;
    let told = |entries: &[NumberedEntry]| -> Vec<String> {
        entries.iter().map(|one| one.entry.why.clone()).collect()
    };
    for (filter, expected) in [
        (all(), &["why 4", "why 2", "why 1", "why 3"][..]),
        (
            AuditFilter {
                run: Some(id.clone()),
                ..all()
            },
            &["why 1", "why 3"],
        ),
        (
            AuditFilter {
                run: Some(RunId::new()),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                actor: Some("ADA".into()),
                ..all()
            },
            &["why 4", "why 3"],
        ),
        (
            AuditFilter {
                actor: Some("bob".into()),
                ..all()
            },
            &["why 2"],
        ),
        (
            AuditFilter {
                actor: Some("b%".into()),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                actor: Some("\0".into()),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                decision: Some("saved".into()),
                ..all()
            },
            &["why 4", "why 1"],
        ),
        (
            AuditFilter {
                run: Some(id.clone()),
                actor: Some("ada".into()),
                decision: Some("saved".into()),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                before: Some(0),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                before: Some(END),
                ..all()
            },
            &["why 4", "why 2", "why 1", "why 3"],
        ),
    ] {
        let entries = history.audit(&filter, ALL).await.unwrap();
        assert_eq!(told(&entries), expected, "{filter:?}");
        if filter.before.is_none() {
            assert_eq!(told(&pages!(history.audit, filter, id)), expected);
        }
    }
    let entries = history.audit(&all(), 3).await.unwrap();
    assert_eq!(entries.len(), 3);
    let entry = &entries[2].entry;
    assert_eq!((entry.at, entry.run.as_ref()), (at(1), Some(&id)));
    assert_eq!((entry.guid.as_deref(), &*entry.actor), (Some("g"), ""));
}

pub(crate) async fn the_last_decisions_of_all_places_are_listed(
    store: &dyn Store,
    history: &History,
) {
    let ignored = |guid: &str, ms, repo, number| DecisionRecord {
        at: at(ms),
        source: Source::Webhook,
        guid: guid.to_owned(),
        event: "issue_comment".to_owned(),
        subject: Subject {
            action: Some("created".to_owned()),
            repo,
            number,
            comment: Some(5),
        },
        verdict: Verdict::Ignored("no command".to_owned()),
    };
    let first = ignored("g1", 1, Some(1), Some(7));
    let second = ignored("g2", 2, None, None);
    let third = ignored("g4", 4, Some(2), Some(7));
    store
        .record_decisions(&[first, second.clone()])
        .await
        .unwrap();
    let id = add(store, "g3", 3, new_run(3, 1)).await;
    store
        .record_decisions(std::slice::from_ref(&third))
        .await
        .unwrap();
    let all = history.recent_decisions(ALL).await.unwrap();
    let guids: Vec<&str> = all.iter().map(|one| &*one.guid).collect();
    assert_eq!(guids, ["g4", "g3", "g2", "g1"]);
    assert_eq!((&all[0], &all[2]), (&third, &second));
    assert_eq!(all[1].verdict, Verdict::Accepted(vec![id]));
    assert_eq!(
        (all[1].subject.repo, all[1].subject.number),
        (Some(3), Some(1))
    );
    let some = history.recent_decisions(2).await.unwrap();
    assert_eq!(some, all[..2]);
}

pub(crate) async fn turns_and_effects_of_a_run_are_listed_in_order(
    store: &dyn Store,
    history: &History,
) {
    let lease = leased(store, "a").await;
    let other = leased(store, "b").await;
    for (lease, key, ms) in [(&lease, "z", 10), (&lease, "a", 20), (&other, "a", 5)] {
        let begun = store.begin_turn(lease, key, scope(1, 7), &ANYTHING, at(ms));
        assert_eq!(begun.await.unwrap(), Ok(()));
        store.begin_effect(lease, key, at(ms)).await.unwrap();
    }
    let tokens = Tokens {
        input: 10,
        cached: 4,
        output: 3,
    };
    let spent = Spent {
        turns: 2,
        tools: 5,
        cost: 1_000,
        tokens,
        ..Spent::default()
    };
    store.end_turn(&lease, "z", &spent).await.unwrap();
    store
        .end_effect(&lease, "z", "{\"number\":7}", at(15))
        .await
        .unwrap();
    let used = TurnUsage {
        turns: 2,
        tools: 5,
        cost: 1_000,
        tokens,
    };
    let turn = |key: &str, ms, used| Turn {
        key: key.to_owned(),
        at: at(ms),
        used,
    };
    let turns = history.turns(&lease.run).await.unwrap();
    assert_eq!(turns, [turn("z", 10, Some(used)), turn("a", 20, None)]);
    let effect = |key: &str, ms, done| Effect {
        key: key.to_owned(),
        begun: at(ms),
        done,
    };
    let effects = history.effects(&lease.run).await.unwrap();
    assert_eq!(
        effects,
        [effect("z", 10, Some(at(15))), effect("a", 20, None)]
    );
    let results = history.effect_results(&lease.run).await.unwrap();
    assert_eq!(results, [("z".to_owned(), "{\"number\":7}".to_owned())]);
    assert_eq!(history.turns(&RunId::new()).await.unwrap(), []);
    assert_eq!(history.effects(&RunId::new()).await.unwrap(), []);
}
