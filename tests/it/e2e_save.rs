//! Saving over real HTTP: every kind of request, every place to post it, and the resulting state of
//! GitHub, with deliveries as webhook requests and from GitHub's log. All exchanges are checked
//! against GitHub's published API description.

use github_simulator::model::{Role, TokenFormat};
use planwright::engine::model::run::State;
use planwright::formats::block;
use planwright::formats::plan::document::plan_text;

use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

const REPO: &str = "acme/search";

async fn judged(pull: bool) -> System {
    let system = System::with(Options {
        judged: true,
        pull,
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, false);
    system
}

/// An issue whose one comment is the plan.
fn issue_with_plan(system: &System, repository: &str) -> u64 {
    let opened = system
        .sim
        .open_issue(repository, "bob", "Search is slow", "It is.");
    let issue = opened.unwrap();
    system.sim.comment(repository, issue, "bob", PLAN).unwrap();
    issue
}

fn state_of(runs: &[RunRow], comment: u64) -> (State, Option<&str>) {
    let run = runs.iter().find(|run| run.asked_in() == Some(comment));
    let run = run.expect("the command has a run");
    (run.state, run.code.as_deref())
}

/// The one plan issue of the repository holds `plan`; the one status comment at `place` says so.
fn assert_saved(system: &System, repository: &str, place: u64, title: &str, plan: &str) {
    let plans = system.plans(repository);
    assert_eq!(plans.len(), 1, "{plans:#?}");
    let issue = &plans[0];
    assert_eq!((issue.title.as_str(), issue.via_app), (title, true));
    assert_eq!(issue.labels, ["erk-plan"]);
    let document = system.document(repository, issue.number);
    assert_eq!(plan_text(&document), plan);
    let said = system.said(repository, place);
    assert_eq!(said.len(), 1, "one status comment: {said:#?}");
    let body = &said[0].body;
    assert!(body.contains("✅"), "{body}");
    assert!(!body.contains("## Error"), "{body}");
    let parsed = block::parse(body);
    let result = block::find(&parsed, "planwright-result").expect("for programs");
    let block::Content::Yaml(fields) = &result.content else {
        panic!("{result:?}")
    };
    assert_eq!(fields["status"], "succeeded");
    assert_eq!(fields["plan_issue"], issue.number);
    assert!(
        said[0].updated >= said[0].created && body.matches("planwright:effect").count() == 1,
        "edited in place: {body}"
    );
}

async fn a_command_in_a_comment_saves_the_plan_of_the_conversation(pull: bool) {
    let mut system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    let asked = system.sim.comment(REPO, issue, "ada", "/save-plan");
    let asked = asked.unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(state_of(&runs, asked), (State::Succeeded, None));
    assert_saved(&system, REPO, issue, "Cache the search index", PLAN);
    assert_eq!(system.sim.comment_reactions(asked).unwrap(), ["rocket"]);
    // The status comment was there before the plan issue, and was edited afterwards.
    let requests = system.sim.requests();
    let at = |method: &str, end: &str| {
        let fits = |request: &github_simulator::LoggedRequest| {
            request.method == method && request.path.ends_with(end)
        };
        requests.iter().position(fits)
    };
    let created = at("POST", &format!("/issues/{issue}/comments")).unwrap();
    let plan = at("POST", "/search/issues").unwrap();
    let status = system.said(REPO, issue)[0].id;
    let edited = at("PATCH", &format!("/issues/comments/{status}")).unwrap();
    assert!(created < plan && plan < edited, "{created} {plan} {edited}");
    assert_eq!(
        runs.len(),
        1,
        "its own comments, issue and label ask for nothing"
    );
    let deliveries = system.sim.deliveries();
    let own: Vec<_> = deliveries
        .iter()
        .filter(|one| {
            String::from_utf8_lossy(&one.payload).contains(r#""login":"planwright[bot]""#)
        })
        .collect();
    assert!(own.len() >= 5, "GitHub told the bot of its own writes");
    let arrived = |code: u16| code / 100 == if pull { 5 } else { 2 };
    assert!(
        deliveries
            .iter()
            .all(|one| one.status_code.is_some_and(arrived))
    );
    system.stop().await;
    system.tap.assert_clean();
    println!("{}", system.tap.coverage());
}

async fn a_label_on_an_issue_saves_and_comes_off(pull: bool) {
    let system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    system.sim.label(REPO, issue, "ada", "save-plan").unwrap();
    system.run_to_rest().await;
    assert_saved(&system, REPO, issue, "Cache the search index", PLAN);
    let left = system.sim.issue(REPO, issue).unwrap();
    assert_eq!(left.labels, [""; 0], "taken off");
    assert_eq!(system.sim.reactions(REPO, issue).unwrap(), ["rocket"]);
    // Set again, it means the same once more.
    system
        .sim
        .label(REPO, issue, "ada", "save-raw-plan")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 2);
    assert_eq!(system.plans(REPO).len(), 1);
    let said = system.said(REPO, issue).pop().unwrap().body;
    assert!(said.starts_with("✅ Already saved as"), "{said}");
    system.tap.assert_clean();
}

async fn a_label_on_a_pull_request_saves_and_comes_off(pull: bool) {
    let system = judged(pull).await;
    let opened = system
        .sim
        .open_pull_request(REPO, "bob", "Search faster", PLAN);
    let number = opened.unwrap();
    system
        .sim
        .label(REPO, number, "ada", "save-raw-plan")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert!(runs[0].trigger.place.pull_request);
    assert_saved(&system, REPO, number, "Cache the search index", PLAN);
    let left = system.sim.issue(REPO, number).unwrap();
    assert_eq!(left.labels, [""; 0], "taken off");
    assert_eq!(system.sim.reactions(REPO, number).unwrap(), ["rocket"]);
    system.tap.assert_clean();
}

async fn guidance_is_recorded_with_the_plan(pull: bool) {
    let system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    let asked = "/save-plan keep the old endpoint\nuntil @carol says so";
    system.sim.comment(REPO, issue, "ada", asked).unwrap();
    system.run_to_rest().await;
    assert_saved(&system, REPO, issue, "Cache the search index", PLAN);
    let document = system.document(REPO, system.plans(REPO)[0].number);
    let guidance =
        "- **Guidance, not applied**: \"keep the old endpoint&#10;until @carol says so\"";
    assert!(document.lines().any(|line| line == guidance), "{document}");
    system.tap.assert_clean();
}

async fn a_plan_in_the_commands_own_comment_wins(pull: bool) {
    let system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    let inline = PLAN.replace("Cache the search index", "Drop the index");
    let asked = format!("/save-raw-plan\n\n{inline}");
    system.sim.comment(REPO, issue, "ada", &asked).unwrap();
    system.run_to_rest().await;
    let plans = system.plans(REPO);
    assert_saved(&system, REPO, issue, "Drop the index", inline.trim_end());
    assert_eq!(plans.len(), 1);
    system.tap.assert_clean();
}

/// A plan that fits into no comment, with everything that could break a frame where it is cut.
fn long_plan() -> String {
    let steps = (1..=2_400).map(|step| {
        format!(
            "### Step {step}\n\nWrite `part_{step}` — ask @ada, close #{step}.\n\n```rust\nfn part_{step}() {{}}\n```\n\n"
        )
    });
    let frames = "<details>\n\n</details>\n\n```text\n@team fixes #1\n```\n\n".to_owned();
    [format!("{PLAN}\n\n"), frames]
        .into_iter()
        .chain(steps)
        .collect()
}

async fn a_plan_for_several_comments_comes_back_byte_for_byte(pull: bool) {
    let system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    // Longer than GitHub lets a person write in one place, so that there are parts between the
    // first and the last.
    let plan = long_plan();
    assert!(plan.len() > 3 * 65_536);
    system
        .sim
        .edit_issue(REPO, issue, "bob", None, Some(&plan))
        .unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.run_to_rest().await;
    let number = system.plans(REPO)[0].number;
    let document = system.document(REPO, number);
    assert!(plan_text(&document) == plan, "differs");
    let parts = system.said(REPO, number);
    assert!(parts.len() >= 3, "{}", parts.len());
    for (index, part) in parts.iter().enumerate() {
        let head = format!("part {}/{}\n", index + 1, parts.len());
        assert!(part.body.starts_with(&head), "{}", &part.body[..40]);
        assert!(part.body.chars().count() <= 65_536 && part.body.len() <= 262_144);
    }
    system.tap.assert_clean();
}

async fn no_permission_no_plan_and_no_issues_are_said_on_the_spot(pull: bool) {
    let system = judged(pull).await;
    system.sim.grant(REPO, "tom", Role::Triage).unwrap();
    let issue = issue_with_plan(&system, REPO);
    let refused = system
        .sim
        .comment(REPO, issue, "tom", "/save-plan")
        .unwrap();
    let chat = system
        .sim
        .open_issue(REPO, "bob", "Chat", "Hello.")
        .unwrap();
    let empty = system.sim.comment(REPO, chat, "ada", "/save-plan").unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        state_of(&runs, refused),
        (State::Failed, Some("permission_denied"))
    );
    let said = system.said(REPO, issue);
    assert_eq!(said.len(), 1);
    assert!(
        said[0]
            .body
            .contains("`/save-plan` needs `write` permission in acme/search; you have `triage`."),
        "{}",
        said[0].body
    );
    assert_eq!(
        state_of(&runs, empty),
        (State::Failed, Some("no_plan_found"))
    );
    let said = system.said(REPO, chat);
    assert_eq!(said.len(), 1);
    assert!(said[0].body.starts_with("## Error: no_plan_found\n"));
    for asked in [refused, empty] {
        assert_eq!(system.sim.comment_reactions(asked).unwrap(), ["confused"]);
    }
    assert_eq!(system.plans(REPO).len(), 0);

    // Issues switched off: only pull requests are left to ask in.
    let pull = system
        .sim
        .open_pull_request(REPO, "bob", "Search faster", PLAN);
    let pull = pull.unwrap();
    system.sim.set_issues_enabled(REPO, false).unwrap();
    let disabled = system.sim.comment(REPO, pull, "ada", "/save-plan").unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        state_of(&runs, disabled),
        (State::Failed, Some("issues_disabled"))
    );
    let said = system.said(REPO, pull);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].body.starts_with("## Error: issues_disabled\n"),
        "{}",
        said[0].body
    );
    system.tap.assert_clean();
}

async fn private_repositories_stateless_tokens_and_an_enterprise_server_are_no_different(
    pull: bool,
) {
    for (enterprise, token_format, private) in [
        (false, TokenFormat::Classic, true),
        (false, TokenFormat::Stateless, false),
        (true, TokenFormat::Stateless, true),
    ] {
        let system = System::with(Options {
            enterprise,
            token_format,
            // The description's paths are those of github.com.
            judged: !enterprise,
            pull,
            ..Options::default()
        });
        let system = system.await;
        system.repository(REPO, private);
        let issue = issue_with_plan(&system, REPO);
        system
            .sim
            .comment(REPO, issue, "ada", "/save-plan")
            .unwrap();
        system.run_to_rest().await;
        assert_saved(&system, REPO, issue, "Cache the search index", PLAN);
        if !enterprise {
            system.tap.assert_clean();
        }
    }
}

async fn a_delivery_that_comes_again_changes_nothing_even_a_hundred_times_at_once(pull: bool) {
    let mut system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    let asked = system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    let command = |system: &System| {
        let deliveries = system.sim.deliveries();
        let last = deliveries.iter().rev().find(|one| {
            one.event == "issue_comment"
                && String::from_utf8_lossy(&one.payload).contains(r#""body":"/save-plan"#)
        });
        last.expect("delivered").id
    };
    let delivery = command(&system);
    // While it is being worked on, and when it is done.
    for _ in 0..2 {
        let codes = system.sim.duplicate(delivery, 100).await.unwrap();
        let arrived = |code: &Option<u16>| matches!(code, Some(200 | 202));
        assert!(pull || codes.iter().all(arrived), "{codes:?}");
        let runs = system.run_to_rest().await;
        assert_eq!(runs.len(), 1, "{runs:#?}");
    }
    let writes = system.sim.writes();
    system.sim.redeliver(delivery).unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        (runs.len(), system.sim.writes()),
        (1, writes),
        "nothing new"
    );

    // A delivery arrives a hundred times while the bot, which was away when it was made, finds it in
    // the log.
    system.stop().await;
    let second = system
        .sim
        .comment(REPO, issue, "ada", "/save-plan again=yes")
        .unwrap();
    system.sim.settle().await;
    let delivery = command(&system);
    system.start_bot().await;
    let codes = system.sim.duplicate(delivery, 100).await.unwrap();
    let accepted = codes.iter().filter(|code| **code == Some(202)).count();
    assert!(accepted <= 1 && codes.len() == 100, "{codes:?}");
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 2, "{runs:#?}");
    assert_eq!(system.plans(REPO).len(), 2, "one for each command");
    assert_eq!(system.said(REPO, issue).len(), 2);
    for comment in [asked, second] {
        assert_eq!(system.sim.comment_reactions(comment).unwrap(), ["rocket"]);
    }
    system.tap.assert_clean();
}

/// Eighteen commands and two labels at once: one plan issue, and every answer names it.
async fn a_race_of_commands_and_labels_for_one_plan_saves_it_once(pull: bool) {
    let mut system = judged(pull).await;
    let issue = issue_with_plan(&system, REPO);
    let ask = |nth: usize| match nth {
        0 => system
            .sim
            .label(REPO, issue, "ada", "save-plan")
            .map(|()| None),
        1 => system
            .sim
            .label(REPO, issue, "bob", "save-raw-plan")
            .map(|()| None),
        _ => {
            let login = if nth.is_multiple_of(2) { "ada" } else { "bob" };
            let text = if nth.is_multiple_of(5) {
                "/save-raw-plan"
            } else {
                "/save-plan"
            };
            system.sim.comment(REPO, issue, login, text).map(Some)
        }
    };
    let comments: Vec<u64> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..20).map(|nth| scope.spawn(move || ask(nth))).collect();
        let asked = asking.into_iter().map(|one| one.join().unwrap().unwrap());
        asked.flatten().collect()
    });
    let runs = system.run_to_rest().await;
    assert_eq!((runs.len(), comments.len()), (20, 18));
    assert!(runs.iter().all(|run| run.state == State::Succeeded));
    let plans = system.plans(REPO);
    assert_eq!(plans.len(), 1, "{plans:#?}");
    let number = plans[0].number;
    assert_eq!(plan_text(&system.document(REPO, number)), PLAN);
    let said = system.said(REPO, issue);
    assert_eq!(said.len(), 20);
    let known = format!("✅ Already saved as [#{number}](");
    let known = said.iter().filter(|one| one.body.starts_with(&known));
    assert_eq!(known.count(), 19);
    let saved = said
        .iter()
        .filter(|one| one.body.starts_with("✅ Plan saved"));
    assert_eq!(saved.count(), 1);
    let named = format!("plan_issue: {number}\n");
    assert!(said.iter().all(|one| one.body.contains(&named)));
    for comment in comments {
        assert_eq!(system.sim.comment_reactions(comment).unwrap(), ["rocket"]);
    }
    // Closed, it does not count any more.
    system.sim.set_closed(REPO, number, "ada", true).unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.run_to_rest().await;
    // Deleted, neither.
    let second = system.plans(REPO).iter().map(|plan| plan.number).max();
    system
        .sim
        .delete_issue(REPO, second.unwrap(), "ada")
        .unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.run_to_rest().await;
    let left: Vec<u64> = system.plans(REPO).iter().map(|plan| plan.number).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.contains(&number) && left.iter().all(|one| *one != second.unwrap()));
    system.stop().await;
    system.tap.assert_clean();
}

/// Runs every test with both transports.
macro_rules! over_both_transports {
    ($($name:ident)+) => {
        mod webhook {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(false).await;
                }
            )+
        }
        mod pull {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(true).await;
                }
            )+
        }
    };
}

over_both_transports! {
    a_command_in_a_comment_saves_the_plan_of_the_conversation
    a_label_on_an_issue_saves_and_comes_off
    a_label_on_a_pull_request_saves_and_comes_off
    guidance_is_recorded_with_the_plan
    a_plan_in_the_commands_own_comment_wins
    a_plan_for_several_comments_comes_back_byte_for_byte
    no_permission_no_plan_and_no_issues_are_said_on_the_spot
    private_repositories_stateless_tokens_and_an_enterprise_server_are_no_different
    a_delivery_that_comes_again_changes_nothing_even_a_hundred_times_at_once
    a_race_of_commands_and_labels_for_one_plan_saves_it_once
}
