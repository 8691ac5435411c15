//! End-to-end tests with the real Claude Code client: the GitHub simulator, the bot as a process,
//! the client in its sandbox, and a stub of the model's API. All exchanges with GitHub are checked
//! against its published API description.

use github_simulator::model::Issue;
use planwright::engine::model::run::State;
use planwright::formats::block;

use crate::engine_agent::{ASKS, GOOD};
use crate::peer_claude::processes;
use crate::support::model::{Model, Turn};
use crate::support::peers;
use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

const REPO: &str = "acme/search";
/// Nobody's key.
const KEY: &str = "key-of-the-stub-77ab0e12";

/// A bot whose agent is the real client in front of `model`, and an issue with a plan. `None` where
/// there is no client.
async fn system(model: &Model) -> Option<(System, u64)> {
    system_with(model, Vec::new()).await
}

/// The same with further variables of the bot.
async fn system_with(model: &Model, further: Vec<(&'static str, String)>) -> Option<(System, u64)> {
    let client = peers::claude()?;
    let mut environment = vec![
        ("PLANWRIGHT_AGENT_KIND", "claude".to_owned()),
        ("PLANWRIGHT_AGENT_PATH", client.display().to_string()),
        ("PLANWRIGHT_AGENT_API_URL", model.url()),
        ("PLANWRIGHT_AGENT_API_KEY", KEY.to_owned()),
    ];
    environment.extend(further);
    let system = System::with(Options {
        judged: true,
        environment,
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    let opened = system
        .sim
        .open_issue(REPO, "bob", "Search is slow", "It is.");
    let issue = opened.unwrap();
    system.sim.comment(REPO, issue, "bob", PLAN).unwrap();
    Some((system, issue))
}

fn only(runs: &[RunRow]) -> &RunRow {
    let saves: Vec<&RunRow> = runs
        .iter()
        .filter(|run| run.command == "save-plan")
        .collect();
    assert_eq!(saves.len(), 1, "{runs:#?}");
    saves[0]
}

fn waits(runs: &[RunRow]) -> bool {
    only(runs).state == State::Waiting
}

fn no_process_left(system: &System) {
    let left = processes::with(&[&system.agents()]);
    assert!(left.is_empty(), "{left:#?}");
}

/// The comment with the boxes.
fn question(system: &System, issue: u64) -> u64 {
    let said = system.said(REPO, issue);
    let asked: Vec<_> = said
        .iter()
        .filter(|one| one.body.contains("- [ ]"))
        .collect();
    assert_eq!(asked.len(), 1, "{said:#?}");
    asked[0].id
}

/// One plan issue with enrichment details that are true, one final status comment.
fn assert_saved(system: &System, issue: u64, questions: u32) -> (Issue, String) {
    let mut plans = system.plans(REPO);
    assert_eq!(plans.len(), 1, "{plans:#?}");
    let plan = plans.remove(0);
    assert_eq!(plan.title, "Cache the search index on disk");
    let document = system.document(REPO, plan.number);
    assert!(document.contains("- **Mode**: enriched"), "{document}");
    let asked = format!("- **Questions asked**: {questions}\n");
    assert!(document.contains(&asked), "{document}");
    assert!(
        document.contains("- **Context categories extracted**: 1 of 8"),
        "{document}"
    );
    assert!(
        document.contains("a restored backup is older than its data"),
        "{document}"
    );
    let said = system.said(REPO, issue);
    let status = &said[0].body;
    let parsed = block::parse(status);
    let result = block::find(&parsed, "planwright-result").expect("for programs");
    let block::Content::Yaml(fields) = &result.content else {
        panic!("{result:?}")
    };
    assert_eq!(fields["status"], "succeeded");
    assert_eq!(fields["enriched"], "yes");
    assert!(status.contains("agent: "), "{status}");
    no_process_left(system);
    (plan, document)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_enriched_with_guidance() {
    let model = Model::start([Turn::text(GOOD)]).await;
    let Some((mut system, issue)) = system(&model).await else {
        return;
    };
    system
        .sim
        .comment(
            REPO,
            issue,
            "ada",
            "/save-plan Use one file instead of many",
        )
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        only(&runs).state,
        State::Succeeded,
        "{:#?}",
        system.said(REPO, issue)
    );
    let (_, document) = assert_saved(&system, issue, 0);
    assert!(
        document.contains("- **Guidance applied**: yes"),
        "{document}"
    );
    assert!(
        document.contains("Use one file instead of many"),
        "{document}"
    );
    let asked = &model.asked()[0];
    assert!(asked.said().contains("Use one file instead of many"));
    assert!(asked.said().contains("Keep it on disk between starts"));
    for tool in ["Bash", "Write", "Edit", "WebFetch"] {
        assert!(!asked.tools().contains(&tool), "{:?}", asked.tools());
    }
    assert!(!asked.body.to_string().contains(KEY));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_answered_by_boxes() {
    let model = Model::start([Turn::text(ASKS), Turn::text(GOOD)]).await;
    let Some((system, issue)) = system(&model).await else {
        return;
    };
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.until("questions", waits).await;
    let comment = question(&system, issue);
    // The first option of the first question, and then the last box: the second question stays
    // open, and the last box is free again.
    system.tick(comment, "ada", &[0], true);
    let boxes = || system.sim.checkboxes(comment).unwrap();
    let freed = || {
        system
            .said(REPO, issue)
            .iter()
            .any(|one| one.body.contains("Question 2 is still open"))
    };
    system
        .shown("a free box", || {
            let boxes = boxes();
            freed() && boxes.first() == Some(&true) && boxes.last() == Some(&false)
        })
        .await;
    system
        .sim
        .comment(REPO, issue, "ada", "/answer skip")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        only(&runs).state,
        State::Succeeded,
        "{:#?}",
        system.said(REPO, issue)
    );
    let (_, document) = assert_saved(&system, issue, 2);
    assert!(
        document.contains("**Place**: Beside the data"),
        "{document}"
    );
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    // The session went on: what was said before is there, and the answer with its question.
    let said = asked[1].said();
    assert!(said.contains("Keep it on disk between starts") && said.contains("Beside the data"));
    assert_eq!(
        asked[0].system(),
        asked[1].system(),
        "the instructions hold"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_answered_by_a_command_after_a_restart() {
    let model = Model::start([Turn::text(ASKS), Turn::text(GOOD)]).await;
    let Some((mut system, issue)) = system(&model).await else {
        return;
    };
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.until("questions", waits).await;
    system.kill().await;
    system.start_bot().await;
    system
        .sim
        .comment(REPO, issue, "ada", "/answer 1: b 2: at most 2 GB")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        only(&runs).state,
        State::Succeeded,
        "{:#?}",
        system.said(REPO, issue)
    );
    let (_, document) = assert_saved(&system, issue, 2);
    assert!(
        document.contains("**Place**: In the cache folder"),
        "{document}"
    );
    assert!(document.contains("**Size**: at most 2 GB"), "{document}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_that_is_killed_while_its_agent_works_goes_on_and_leaves_no_process() {
    // Killed in the first turn and again in the turn with the answers.
    let turns = [
        Turn::text("I am thinking").hanging(),
        Turn::text(ASKS),
        Turn::text("I am thinking").hanging(),
        Turn::text(GOOD),
    ];
    let model = Model::start(turns).await;
    let Some((mut system, issue)) = system(&model).await else {
        return;
    };
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    model.wait_for(1).await;
    assert!(!processes::with(&[&system.agents()]).is_empty());
    system.kill().await;
    wait_for_no_agents(&system).await;
    system.start_bot().await;
    system.until("questions", waits).await;
    system
        .sim
        .comment(REPO, issue, "ada", "/answer 1: a 2: small")
        .unwrap();
    model.wait_for(3).await;
    system.kill().await;
    wait_for_no_agents(&system).await;
    system.start_bot().await;
    let runs = system.run_to_rest().await;
    assert_eq!(
        only(&runs).state,
        State::Succeeded,
        "{:#?}",
        system.said(REPO, issue)
    );
    assert_saved(&system, issue, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_a_deploy_interrupts_goes_on_in_the_next_process() {
    let model = Model::start([Turn::text("I am thinking").hanging(), Turn::text(GOOD)]).await;
    let further = vec![
        ("PLANWRIGHT_SERVER_SHUTDOWN_GRACE_SECONDS", "0".to_owned()),
        ("PLANWRIGHT_AGENT_TRIES", "1".to_owned()),
    ];
    let Some((mut system, issue)) = system_with(&model, further).await else {
        return;
    };
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    model.wait_for(1).await;
    system.stop().await;
    no_process_left(&system);
    system.start_bot().await;
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(only(&runs).state, State::Succeeded, "{said:#?}");
    assert!(said[0].body.starts_with("✅ Plan saved:"), "{said:#?}");
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    let told = asked[1].said();
    let first = asked[0].said();
    assert!(told.starts_with(&first), "the session has its first prompt");
    let goes_on = "The program that runs you was restarted before you had finished.";
    assert!(told.contains(goes_on), "{told}");
}

/// Returns when no process of an agent is left: the helper ends them when the bot is gone. Looks as
/// often as it can.
async fn wait_for_no_agents(system: &System) {
    let looking = async {
        while !processes::with(&[&system.agents()]).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(std::time::Duration::from_secs(30), looking).await;
    in_time.expect("agents end with the bot");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_at_each_state_leaves_no_process_and_one_final_report() {
    for asks in [false, true] {
        let first = if asks {
            Turn::text(ASKS)
        } else {
            Turn::text("I am thinking").hanging()
        };
        let model = Model::start([first]).await;
        let Some((system, issue)) = system(&model).await else {
            return;
        };
        system
            .sim
            .comment(REPO, issue, "ada", "/save-plan")
            .unwrap();
        if asks {
            system.until("questions", waits).await;
        } else {
            model.wait_for(1).await;
        }
        system.sim.comment(REPO, issue, "ada", "/cancel").unwrap();
        let runs = system.run_to_rest().await;
        assert_eq!(only(&runs).state, State::Cancelled);
        no_process_left(&system);
        let said = system.said(REPO, issue);
        let reports: Vec<_> = said
            .iter()
            .filter(|one| one.body.starts_with("## Error: cancelled"))
            .collect();
        assert_eq!(reports.len(), 1, "{said:#?}");
        assert!(system.plans(REPO).is_empty());
    }
}
