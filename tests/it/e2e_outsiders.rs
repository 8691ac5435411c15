//! A flood of comments by people without permissions, over real HTTP and through the bot's real
//! write queue.

use http::Method;
use planwright::engine::model::run::State;

use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";
const STRANGERS: usize = 200;
const COMMENTS: usize = 1_000;
const COMMANDS: [&str; 5] = [
    "/save-plan",
    "/plan-help",
    "/plan-status",
    "/answer 1:yes",
    "/check-plan",
];

/// Counted from the request for the maintainer's role, because the reaction is queued when the role is
/// known. Replies to the maintainer's earlier commands are not writes of others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_strangers_costs_twenty_comments_and_delays_a_maintainers_reaction_by_one_write()
{
    let system = System::with(Options {
        environment: vec![
            ("PLANWRIGHT_GITHUB_WRITE_GAP_MS", "300".to_owned()),
            ("PLANWRIGHT_GITHUB_NOTIFY_GAP_MS", "300".to_owned()),
        ],
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, false);
    let open = |title: &str| system.sim.open_issue(REPO, "bob", title, PLAN).unwrap();
    let flooded: Vec<u64> = (0..4).map(|n| open(&format!("Spam {n}"))).collect();
    let maintained = open("Search is slow");
    let mut waited = Vec::new();
    let mut asked = Vec::new();
    for n in 0..COMMENTS {
        let stranger = format!("stranger{}", n % STRANGERS);
        let (issue, command) = (flooded[n % flooded.len()], COMMANDS[n % COMMANDS.len()]);
        system.sim.comment(REPO, issue, &stranger, command).unwrap();
        if n % 100 == 99 {
            let comment = system
                .sim
                .comment(REPO, maintained, "ada", "/plan-status")
                .unwrap();
            asked.push(comment);
            let before = system.sim.requests().len();
            let seen = || !system.sim.comment_reactions(comment).unwrap().is_empty();
            system.shown("a reaction to the maintainer", seen).await;
            let requests = system.sim.requests().split_off(before);
            let own = format!("/repos/{REPO}/issues/comments/{comment}/reactions");
            let role = format!("/repos/{REPO}/collaborators/ada/permission");
            let reaction = requests
                .iter()
                .position(|request| request.path == own)
                .unwrap();
            let asked_role = requests[..reaction]
                .iter()
                .rposition(|request| request.path == role)
                .expect("the role is asked for before the reaction");
            let others = requests[asked_role..reaction].iter().filter(|request| {
                let to_maintainer = request.path.contains(&format!("/issues/{maintained}/"))
                    || asked
                        .iter()
                        .any(|id| request.path.contains(&format!("/comments/{id}/")));
                request.method != Method::GET
                    && !request.path.contains("access_tokens")
                    && !to_maintainer
            });
            waited.push(others.count());
        }
    }
    let runs = system.run_to_rest().await;
    let comments: usize = flooded
        .iter()
        .map(|issue| system.said(REPO, *issue).len())
        .sum();
    println!(
        "{COMMENTS} comments of {STRANGERS} strangers: {comments} comments of the bot; writes of others before each \
         reaction to a maintainer: {waited:?}"
    );
    assert!((1..=20).contains(&comments), "{comments}");
    assert!(waited.iter().all(|writes| *writes <= 1), "{waited:?}");
    for comment in asked {
        let run = runs.iter().find(|run| run.asked_in() == Some(comment));
        assert_eq!(run.unwrap().state, State::Succeeded);
    }
}
