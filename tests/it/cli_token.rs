//! Tests of the program with a person's token: a configuration file in a cloned repository cannot
//! collect it.

use std::process::Output;

use github_simulator::Simulator;
use secrecy::ExposeSecret;
use tokio::process::Command;

use crate::simulator_support::{REPO, World};

/// Runs `planwright ARGUMENTS` in a folder whose `planwright.toml` says that GitHub is the
/// simulator.
async fn in_clone(sim: &Simulator, variable: &str, arguments: &[&str]) -> Output {
    let clone = tempfile::tempdir().unwrap();
    let configuration = format!("[github]\napi_url = \"{}\"\n", sim.api_url());
    std::fs::write(clone.path().join("planwright.toml"), configuration).unwrap();
    let token = sim.personal_token("ada");
    Command::new(env!("CARGO_BIN_EXE_planwright"))
        .args(arguments)
        .env_clear()
        .env(variable, token.expose_secret())
        .current_dir(clone.path())
        .output()
        .await
        .unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// How many requests have come, and how many of them with credentials.
fn requests(sim: &Simulator) -> (usize, usize) {
    let all = sim.requests();
    let with = all
        .iter()
        .filter(|one| one.headers.contains_key("authorization"));
    (all.len(), with.count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cloned_repository_s_configuration_gets_no_token() {
    let world = World::new().await;
    let sim = &world.simulator;
    let list = ["plan", "list", REPO];
    for variable in ["PLANWRIGHT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"] {
        let (before, credentials) = requests(sim);
        let output = in_clone(sim, variable, &list).await;
        let (after, still) = requests(sim);
        assert!(after > before, "it reads on without a token");
        assert_eq!(still, credentials, "{variable}");
        let warning = format!(
            "warning: {variable} is not sent to {}/, which planwright.toml:2 of this folder names; if that is your server, \
             allow it with --config planwright.toml or --set github.api_url=…",
            sim.api_url().trim_end_matches('/')
        );
        assert!(err(&output).starts_with(&warning), "{}", err(&output));

        let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plans/csv-export.md");
        let save = ["save", "--repo", REPO, "--plan", plan];
        let output = in_clone(sim, variable, &save).await;
        assert_eq!(requests(sim).0, after, "{variable}");
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).starts_with(&warning), "{}", err(&output));
        let error = "error: saving needs a token with write access to issues; set PLANWRIGHT_TOKEN";
        assert!(err(&output).contains(error), "{}", err(&output));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_that_is_named_may_say_where_the_token_goes() {
    let world = World::new().await;
    let sim = &world.simulator;
    let address = format!("github.api_url={}", sim.api_url());
    for allowed in [["--config", "planwright.toml"], ["--set", &address]] {
        let (_, credentials) = requests(sim);
        let arguments = ["plan", "list", REPO, allowed[0], allowed[1]];
        let output = in_clone(sim, "PLANWRIGHT_TOKEN", &arguments).await;
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(!err(&output).contains("warning"), "{}", err(&output));
        assert!(requests(sim).1 > credentials, "{allowed:?}");
    }
}
