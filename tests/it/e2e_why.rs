//! `planwright why` tells the true reason: cases are constructed with the bot's process and the
//! simulator, and the program is asked about each.

use std::collections::BTreeMap;

use github_simulator::WebhookFault;
use github_simulator::model::{Role, UserKind};
use planwright::engine::model::run::State;
use serde_json::Value;

use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

impl System {
    /// Returns the address of a comment, or of an issue.
    fn address(&self, number: u64, comment: Option<u64>) -> String {
        let issue = format!("{}/{REPO}/issues/{number}", self.sim.url());
        comment.map_or_else(|| issue.clone(), |id| format!("{issue}#issuecomment-{id}"))
    }

    /// Asks about each comment and compares the beginnings of the outcome and of the remedy, with
    /// the name of the case.
    async fn expect(&self, number: u64, cases: &[(&str, u64, &str, &str)]) {
        let mut wrong = BTreeMap::new();
        for (case, comment, outcome, remedy) in cases {
            let address = self.address(number, Some(*comment));
            let (code, out, error) = self.ask(&["why", &address, "--json"]).await;
            assert_eq!(code, 0, "{case}: {error}");
            let story: Value = serde_json::from_str(&out).unwrap();
            let told = story["outcome"].as_str().unwrap();
            let to_do = story["remedy"].as_str().unwrap_or_default();
            if !told.contains(outcome) || !to_do.contains(remedy) {
                wrong.insert(*case, out);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

async fn system(environment: Vec<(&'static str, String)>) -> System {
    let system = System::with(Options {
        environment,
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    system
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_received_is_explained() {
    let system = system(Vec::new()).await;
    let sim = &system.sim;
    sim.grant(REPO, "tess", Role::Triage).unwrap();
    sim.add_user("helper[bot]", UserKind::Bot);
    let issue = sim.open_issue(REPO, "bob", "Search", PLAN).unwrap();
    let empty = sim
        .open_issue(REPO, "bob", "Hello", "How are you?")
        .unwrap();
    let say = |login: &str, text: &str| sim.comment(REPO, issue, login, text).unwrap();
    let saved = say("ada", "/save-plan");
    system.run_to_rest().await;
    let again = say("ada", "/save-plan");
    let quoted = say("ada", "> /save-plan");
    let fenced = say("ada", "```\n/save-plan\n```");
    let listed = say("ada", "1. /save-plan");
    let within = say("ada", "Please /save-plan this");
    let misspelled = say("ada", "/safe-plan");
    let talk = say("ada", "Nice.");
    let bot = say("helper[bot]", "/save-plan");
    let triage = say("tess", "/save-plan");
    let outsider = say("eve", "/save-plan");
    let option = say("ada", "/save-plan again=perhaps");
    let edited = say("ada", "Let me think.");
    // The deliveries of a comment and of its edit may overtake each other.
    system.flushed().await;
    sim.edit_comment(edited, "bob", "/save-plan").unwrap();
    let nothing = sim.comment(REPO, empty, "ada", "/save-plan").unwrap();
    system.run_to_rest().await;
    let own = system.said(REPO, issue)[0].id;
    system.flushed().await;
    let misplaced = "outside of quotes, lists and code";
    let in_code = "/save-plan is in a quote, a list, code or an HTML comment";
    system
        .expect(
            issue,
            &[
                ("saved", saved, "The command was executed.", ""),
                ("known plan", again, "The command was executed.", ""),
                ("quote", quoted, in_code, misplaced),
                ("fence", fenced, in_code, misplaced),
                ("list", listed, in_code, misplaced),
                ("in a line", within, "no command begins a line", misplaced),
                (
                    "misspelled",
                    misspelled,
                    "/safe-plan is not a command",
                    misplaced,
                ),
                ("talk", talk, "it contains no command", misplaced),
                (
                    "bot",
                    bot,
                    "is a bot that is not in `github.allowed_bots`",
                    "github.allowed_bots",
                ),
                ("triage", triage, "its author may not give it", "permission"),
                (
                    "outsider",
                    outsider,
                    "its author may not give it",
                    "permission",
                ),
                ("option", option, "The command failed.", "/retry"),
                (
                    "edited by another",
                    edited,
                    "somebody else edited",
                    "new comment",
                ),
                ("own comment", own, "this App", ""),
            ],
        )
        .await;
    system
        .expect(
            empty,
            &[("no plan", nothing, "The command failed.", "/retry")],
        )
        .await;
    // The story has the details.
    let (_, text, _) = system
        .ask(&["why", &system.address(issue, Some(triage))])
        .await;
    assert!(
        text.contains("received as a webhook request: /save-plan (run "),
        "{text}"
    );
    assert!(
        text.contains("needs `write` permission in acme/search; you have `triage`"),
        "{text}"
    );
    assert!(
        text.contains("To do: ask somebody with the permission"),
        "{text}"
    );
    let (_, text, _) = system
        .ask(&["why", &system.address(issue, Some(saved))])
        .await;
    let plan = system.plans(REPO)[0].number;
    assert!(
        text.contains(&format!(
            "saved the plan as {}/{REPO}/issues/{plan}",
            sim.url()
        )),
        "{text}"
    );
    // Everything at the issue, the last events.
    let (_, text, _) = system.ask(&["why", &system.address(issue, None)]).await;
    assert!(
        text.starts_with("The last events at acme/search#1:\n"),
        "{text}"
    );
    assert!(
        text.contains("ignored: commands in a comment that somebody else edited"),
        "{text}"
    );
    let (_, text, _) = system.ask(&["why", &system.address(plan, None)]).await;
    assert!(text.contains("this App"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_received_is_explained() {
    // The delivery log and the comments are read at the start only.
    let level = "info,planwright::engine::scan=debug".to_owned();
    let system = system(vec![
        ("PLANWRIGHT_SWEEP_EVERY_SECONDS", "86400".to_owned()),
        ("PLANWRIGHT_LOG_LEVEL", level),
    ])
    .await;
    system.logged("repositories scanned").await;
    let sim = &system.sim;
    let issue = sim.open_issue(REPO, "bob", "Search", PLAN).unwrap();
    system.run_to_rest().await;
    let say = |text: &str| sim.comment(REPO, issue, "ada", text).unwrap();
    let faulty = |fault: WebhookFault| {
        sim.set_webhook_faults(move |_| Some(fault));
        let comment = say("/save-plan");
        sim.clear_webhook_faults();
        comment
    };
    let never = faulty(WebhookFault::NotCreated);
    let proxy = faulty(WebhookFault::Proxy(413));
    let full = faulty(WebhookFault::Proxy(503));
    let lost = faulty(WebhookFault::Proxy(200));
    let other_app = faulty(WebhookFault::Proxy(421));
    let timed_out = faulty(WebhookFault::Proxy(504));
    let deleted = faulty(WebhookFault::NotCreated);
    sim.delete_comment(deleted, "ada").unwrap();
    sim.set_webhook_secret("another secret".into());
    let unsigned = say("/save-plan");
    sim.settle().await;
    sim.set_targets(vec!["http://127.0.0.1:1/webhook".to_owned()]);
    let unreachable = say("/save-plan");
    sim.settle().await;
    let old = faulty(WebhookFault::NotCreated);
    let then = chrono::Utc::now() - std::time::Duration::from_hours(80);
    sim.set_created(REPO, issue, Some(old), then).unwrap();
    let next = "the next reading of the delivery log";
    system
        .expect(
            issue,
            &[
                (
                    "never created",
                    never,
                    "GitHub has created no delivery for it.",
                    "scan.every_minutes",
                ),
                (
                    "proxy",
                    proxy,
                    "something in front of the bot answered",
                    "check the proxy",
                ),
                ("503", full, "had no room for it (status 503)", next),
                (
                    "lost",
                    lost,
                    "it was accepted, but the database does not have it",
                    "restored",
                ),
                (
                    "other App",
                    other_app,
                    "it belongs to another App",
                    "github.app_id",
                ),
                ("timeout", timed_out, "nobody answered (status 504)", next),
                (
                    "deleted",
                    deleted,
                    "The comment does not exist, or it was deleted",
                    "check the address",
                ),
                (
                    "wrong secret",
                    unsigned,
                    "the bot refused its signature",
                    "webhook secret",
                ),
                (
                    "closed port",
                    unreachable,
                    "nobody answered (status 502)",
                    next,
                ),
                (
                    "old",
                    old,
                    "GitHub keeps its delivery log for 72 hours",
                    "give the command again",
                ),
                (
                    "no such comment",
                    12,
                    "The comment does not exist",
                    "check the address",
                ),
            ],
        )
        .await;
    // Without GitHub, the database is asked alone.
    let key = ("PLANWRIGHT_GITHUB_API_URL", "http://127.0.0.1:1");
    let address = format!("http://127.0.0.1:1/{REPO}/issues/{issue}#issuecomment-{never}");
    let (code, text, error) = system.ask_with(&["why", &address], &[key]).await;
    assert_eq!(code, 0, "{error}");
    assert!(
        text.starts_with("Nothing about this comment was received, as far as the database knows."),
        "{text}"
    );
    assert!(
        text.contains("Not checked: GitHub cannot be reached at http://127.0.0.1:1/"),
        "{text}"
    );
    // Suspended, and not installed.
    let installation = sim.install(&["other/place"]);
    assert!(installation.is_err(), "no such repository");
    sim.add_repository("other/place", false).unwrap();
    let number = sim
        .open_issue("other/place", "bob", "Search", PLAN)
        .unwrap();
    let address = format!("{}/other/place/issues/{number}", sim.url());
    let (_, text, _) = system.ask(&["why", &address]).await;
    assert!(
        text.starts_with("The App is not installed in other/place"),
        "{text}"
    );
    let installation = sim.install(&["other/place"]).unwrap();
    sim.suspend(installation).unwrap();
    let (_, text, _) = system.ask(&["why", &address]).await;
    assert!(
        text.starts_with("The installation of the App for other/place is suspended."),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_found_late_or_waits_is_explained() {
    let mut system = system(vec![
        ("PLANWRIGHT_SCAN_SETTLE_SECONDS", "0".to_owned()),
        ("PLANWRIGHT_LATE_MAX_AGE_HOURS", "1".to_owned()),
    ])
    .await;
    let issue = system.sim.open_issue(REPO, "bob", "Search", PLAN).unwrap();
    system.run_to_rest().await;
    system.stop().await;
    system.sim.set_targets(Vec::new());
    let at = |minutes: u64| chrono::Utc::now() - std::time::Duration::from_mins(minutes);
    system.sim.set_created(REPO, issue, None, at(20)).unwrap();
    let missed = system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system
        .sim
        .set_webhook_faults(|_| Some(WebhookFault::NotCreated));
    let scanned = system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system
        .sim
        .set_created(REPO, issue, Some(scanned), at(9))
        .unwrap();
    let edited = system.sim.comment(REPO, issue, "ada", "Hm.").unwrap();
    system
        .sim
        .set_created(REPO, issue, Some(edited), at(5))
        .unwrap();
    system
        .sim
        .edit_comment(edited, "ada", "/save-plan")
        .unwrap();
    system.sim.clear_webhook_faults();
    system.sim.settle().await;
    system.start_bot().await;
    system.logged("found commands for which").await;
    system.run_to_rest().await;
    system.flushed().await;
    let changed = "it was edited since";
    system
        .expect(
            issue,
            &[
                ("from the log", missed, "The command was executed.", ""),
                ("from a scan", scanned, "The command was executed.", ""),
                ("edited, no delivery", edited, changed, "new comment"),
            ],
        )
        .await;
    let (_, text, _) = system
        .ask(&["why", &system.address(issue, Some(missed))])
        .await;
    assert!(
        text.contains("picked up from GitHub's delivery log"),
        "{text}"
    );
    let (_, text, _) = system
        .ask(&["why", &system.address(issue, Some(scanned))])
        .await;
    assert!(text.contains("found by a scan of the repository"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_addresses_are_refused_with_the_right_form() {
    let system = system(Vec::new()).await;
    let web = system.sim.url();
    let host = web.strip_prefix("http://").unwrap();
    let forms = format!(
        "name a comment, an issue or a pull request, like https://{host}/OWNER/REPO/issues/12#issuecomment-1234567890"
    );
    for (address, text) in [
        (
            "acme/search#7".to_owned(),
            format!("`acme/search#7` is not an address; {forms}"),
        ),
        (
            format!("{web}/{REPO}/pull/7#discussion_r12"),
            format!(
                "`#discussion_r12` is not a comment of the conversation; commands count only there: {forms}"
            ),
        ),
        (
            format!("{web}/{REPO}/issues/7#issuecomment-0"),
            format!(
                "`#issuecomment-0` is not a comment of the conversation; commands count only there: {forms}"
            ),
        ),
        (
            format!("https://github.com/{REPO}/issues/7"),
            format!(
                "the address is on `github.com`, not on `{host}`; github.api_url selects the GitHub server"
            ),
        ),
        (
            format!("{web}/{REPO}/discussions/7"),
            format!("`{web}/{REPO}/discussions/7` is not an address; {forms}"),
        ),
        (
            format!("{web}/{REPO}/issues/0"),
            "is not an issue number".to_owned(),
        ),
    ] {
        let (code, _, error) = system.ask(&["why", &address]).await;
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(&text), "{error}\n{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.db").display().to_string();
    let address = format!("{web}/{REPO}/issues/7");
    let (code, _, error) = system
        .ask_with(&["why", &address], &[("PLANWRIGHT_STORE_PATH", &missing)])
        .await;
    assert_eq!(code, 1);
    let text =
        format!("there is no database at {missing}; store.path must be that of the running bot");
    assert!(error.contains(&text), "{error}");
}

/// Two plans by different people: the bot asks which one is meant.
const OTHER: &str = "# Plan: Drop the search index\n\n## Overview\n\nSearch the database instead, so that nothing has to be \
built at start.\n\n## Steps\n\n1. Add a full-text index to the table of posts\n2. Replace the calls of the search \
index\n3. Delete the code that builds it\n\n## Testing\n\n- Compare the results of a hundred searches\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_explained() {
    let system = system(Vec::new()).await;
    let sim = &system.sim;
    let issue = sim
        .open_issue(REPO, "bob", "Search is slow", "It is.")
        .unwrap();
    sim.comment(REPO, issue, "bob", PLAN).unwrap();
    sim.comment(REPO, issue, "ada", OTHER).unwrap();
    let asked = sim.comment(REPO, issue, "ada", "/save-plan").unwrap();
    system
        .until("question", |runs| {
            runs.iter().any(|run| run.state == State::Waiting)
        })
        .await;
    let second = sim.comment(REPO, issue, "ada", "/save-raw-plan").unwrap();
    let third = sim.comment(REPO, issue, "bob", "/save-plan").unwrap();
    let runs = system.until("queue", |runs| runs.len() == 3).await;
    let waits = "The command has started and is waiting; the reason is below.";
    let queued = "The command is waiting for an earlier one at the same place.";
    system
        .expect(
            issue,
            &[
                ("question", asked, waits, ""),
                ("second", second, queued, "/cancel"),
                ("third", third, queued, "/cancel"),
            ],
        )
        .await;
    let (_, text, _) = system
        .ask(&["why", &system.address(issue, Some(asked))])
        .await;
    assert!(text.contains("waits until 20"), "{text}");
    let (_, text, _) = system
        .ask(&["why", &system.address(issue, Some(third))])
        .await;
    let position = format!("is queued as number 2 behind run {}", runs[0].id);
    assert!(text.contains(&position), "{text}");
    sim.comment(REPO, issue, "ada", "/cancel").unwrap();
    system.run_to_rest().await;
    system
        .expect(
            issue,
            &[("cancelled", asked, "The command was cancelled.", "again")],
        )
        .await;
}
