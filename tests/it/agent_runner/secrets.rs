//! What an agent can see of this process, and which parts of its output are passed on.

use super::*;
use planwright::engine::agent::TurnObserver;

/// Put together at run time, so that no secret scanner takes it for a leak.
fn token() -> String {
    format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT".repeat(2))
}

#[tokio::test]
async fn the_environment_holds_the_allowed_names_and_nothing_of_this_process() {
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "something to hide"
    );
    let mut rig = Rig::new("env");
    rig.command.output = OutputFormat::Markdown;
    rig.command.environment = vec![("AGENT_KEY".to_owned(), SecretString::from("the key"))];
    let report = rig.turn().await;
    let mut names: Vec<&str> = text(&report)
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        // The shell's own.
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "AGENT_KEY",
            "HOME",
            "LANG",
            "PATH",
            "PLANWRIGHT_AGENT",
            "TMPDIR"
        ]
    );
    assert!(text(&report).contains("PATH=/usr/local/bin:/usr/bin:/bin\n"));
    assert!(text(&report).contains("AGENT_KEY=the key\n"));
}

#[tokio::test]
async fn no_descriptor_of_this_process_is_passed_on() {
    let mut rig =
        Rig::new("for n in 3 4 5 6 7 8 9; do ( : <&$n ) 2>/dev/null && echo $n; done; echo none");
    rig.command.output = OutputFormat::Markdown;
    // The shell holds its script at 10 or above.
    assert_eq!(text(&rig.turn().await), "none\n");
}

#[tokio::test]
async fn the_prompt_is_not_in_the_process_list() {
    let rig = Rig::new(&format!("{}\nsleep 1000", says("a", "on")));
    let agent = rig.open().unwrap();
    let prompt = format!("secret prompt {}", unique());
    let task = rig.task(&prompt);
    let (seen, mut watching) = TurnObserver::new();
    let mut work = Box::pin(agent.work(&task, &seen, CancellationToken::new()));
    tokio::select! {
        report = &mut work => panic!("{report:?}"),
        said = watching.wait_for(|spent| spent.turns > 0) => drop(said.unwrap()),
    }
    assert_eq!(running(&prompt), 0);
    assert_ne!(running("agent-exec"), 0, "the list is read");
}

#[tokio::test]
async fn the_working_directory_is_empty_each_time_and_the_home_is_kept_until_forgotten() {
    let mut rig = Rig::new(
        "pwd; ls -A . $TMPDIR; cat $HOME/kept 2>/dev/null; echo x > left; echo x > $TMPDIR/left; echo kept > $HOME/kept",
    );
    rig.command.output = OutputFormat::Markdown;
    let agent = rig.open().unwrap();
    let task = rig.task("the prompt");
    let run = rig
        .settings
        .folder
        .canonicalize()
        .unwrap()
        .join(&task.run.0);
    let expected = format!(
        "{}\n.:\n\n{}:\n",
        run.join("work").display(),
        run.join("tmp").display()
    );
    let report = turn(&agent, &task).await;
    assert_eq!(text(&report), expected);
    let report = turn(&agent, &task).await;
    assert_eq!(text(&report), format!("{expected}kept\n"));
    agent.forget(&task.run).await;
    assert!(!run.exists());
    agent.forget(&task.run).await;
    agent.forget(&RunId("../scripts".to_owned())).await;
    assert!(rig.path().join("scripts").exists());
}

#[tokio::test]
async fn a_run_id_that_is_no_name_starts_nothing() {
    let rig = Rig::new(&result());
    let mut task = rig.task("the prompt");
    task.run = RunId("../out".to_owned());
    let report = turn(&rig.open().unwrap(), &task).await;
    let why = "the run id \"../out\" names no folder".to_owned();
    assert_eq!(report.ending, Ending::NotStarted(why));
}

#[tokio::test]
async fn an_output_that_holds_a_secret_of_this_process_is_not_given_on() {
    let secret = "the-webhook-secret-1";
    let inner = format!("it is {secret}!");
    let structured = format!(
        r#"{{"type":"result","is_error":false,"result":"ok","structured_output":{{"a":["{inner}"]}}}}"#
    );
    let failed = format!(r#"{{"type":"result","is_error":true,"result":"{inner}"}}"#);
    for script in [
        format!("{}\n{}", says("a", &inner), result()),
        says("a", &inner),
        format!("echo '{}'", RESULT.replace("the plan", &inner)),
        format!("echo '{structured}'"),
        format!("echo '{failed}'"),
    ] {
        let mut rig = Rig::new(&script);
        rig.settings.redactor = Redactor::new(vec![SecretString::from(secret)]);
        let report = rig.turn().await;
        let kind = "configured-secret".to_owned();
        assert_eq!(report.ending, Ending::Leaked { kind }, "{script}");
        assert!(!format!("{report:?}").contains(secret) && report.texts.is_empty());
    }
}

#[tokio::test]
async fn a_session_id_that_is_a_secret_does_not_become_an_argument() {
    let secret = "the-webhook-secret-1";
    let mut rig = Rig::new(&format!("echo '{}'", RESULT.replace("s-1", secret)));
    rig.settings.redactor = Redactor::new(vec![SecretString::from(secret)]);
    let report = rig.turn().await;
    assert_eq!(
        (text(&report), report.session.as_deref()),
        ("the plan", None)
    );
}

#[tokio::test]
async fn what_looks_like_a_credential_is_taken_out_everywhere_and_counted() {
    let token = token();
    let inner = format!("it is {token}!");
    let structured = format!(
        r#"{{"type":"result","is_error":false,"result":"{inner}","structured_output":{{"{token}":["{token}"]}}}}"#
    );
    let script = [
        says("a", &inner),
        format!("echo '{token}' >&2; echo '{structured}'"),
    ];
    let report = Rig::new(&script.join("\n")).turn().await;
    assert_eq!(text(&report), "it is ***REDACTED:github-token***!");
    assert_eq!(report.texts, ["it is ***REDACTED:github-token***!"]);
    assert_eq!(report.stderr, "***REDACTED:github-token***");
    // The text once, and the structured output's name and value.
    assert_eq!(report.redacted, 3);
    assert!(!format!("{report:?}").contains(&token));
}
