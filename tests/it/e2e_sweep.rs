//! The real client reads a long log of deliveries from the simulator: number of requests, and the
//! memory of the bot's process.

use github_simulator::model::Role;

use crate::support::system::{Options, System};

const REPO: &str = "acme/search";
/// Attempts at deliveries that concern nobody.
const OTHERS: u32 = 20_000;
/// Comments, whose deliveries are read.
const OURS: usize = 300;
/// Maximum growth of the process's memory, in bytes.
const MAX_GROWTH: u64 = 8 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_of_twenty_thousand_attempts_is_read_in_little_memory() {
    let mut system = System::with(Options {
        pull: true,
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    system.sim.grant(REPO, "eve", Role::Read).unwrap();
    let issue = system.sim.open_issue(REPO, "bob", "Search", "").unwrap();
    system.run_to_rest().await;
    system.log_read().await;
    let before = system.most_memory();
    system.stop().await;

    // As if the log had last been read two days ago.
    system.forget_log_since(48).await;
    system.sim.fill_delivery_log(OTHERS);
    for number in 0..OURS {
        let text = format!("{number}: on/off");
        system.sim.comment(REPO, issue, "eve", &text).unwrap();
    }
    system.sim.settle().await;
    let attempts = system.sim.deliveries().len();
    let requests = system.sim.requests().len();
    system.start_bot().await;
    system.log_read().await;
    let after = system.most_memory();
    let all = system.sim.requests();
    let (mut lists, mut payloads) = (0, 0);
    for request in &all[requests..] {
        match request.path.strip_prefix("/app/hook/deliveries") {
            Some("") => lists += 1,
            Some(_) => payloads += 1,
            None => {}
        }
    }
    assert_eq!(payloads, OURS);
    // The log was read again since, which takes another page each time.
    assert!(lists <= attempts.div_ceil(100) + 20, "{lists} lists");
    let (Some(before), Some(after)) = (before, after) else {
        println!("skipped the memory: there is no /proc");
        return;
    };
    let growth = after.saturating_sub(before);
    println!(
        "{lists} lists and {payloads} payloads for {attempts} attempts; memory +{growth} bytes"
    );
    assert!(growth < MAX_GROWTH, "{before} bytes, then {after}");
}
