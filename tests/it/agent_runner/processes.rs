//! No process of a turn survives, however the turn ends and whatever the agent did.

use std::process::{Command as Process, Stdio};

use super::*;
use planwright::engine::agent::TurnObserver;

/// Shell lines that leave a sleeper behind: a session of its own, its parents gone. `with` stands
/// before it.
fn leave(seconds: &str, with: &str) -> String {
    format!(
        "( {with} setsid sh -c 'sleep {seconds} & echo > '$HOME'/ready' & )\n\
         while [ ! -e $HOME/ready ]; do sleep 0.01; done"
    )
}

/// Starts a turn and returns when the agent has said something.
macro_rules! begun {
    ($agent:expr, $task:expr, $stop:expr => $work:ident) => {
        let (seen, mut watching) = TurnObserver::new();
        let mut $work = Box::pin($agent.work($task, &seen, $stop));
        tokio::select! {
            report = &mut $work => panic!("{report:?}"),
            said = watching.wait_for(|spent| spent.turns > 0) => drop(said.unwrap()),
        }
    };
}

#[tokio::test]
async fn no_child_survives_that_made_its_own_session_lost_its_parents_and_cleared_its_environment()
{
    for with in ["", "env -i"] {
        for end in [result(), "exit 1".to_owned(), "kill -9 $$".to_owned()] {
            let seconds = unique();
            let rig =
                Rig::new(&[leave(&seconds, with), says("a", &seconds), end.clone()].join("\n"));
            let report = rig.turn().await;
            assert_eq!(report.texts, [seconds.as_str()], "{report:?}");
            assert_eq!(running(&seconds), 0, "{with} {end}");
        }
    }
}

#[tokio::test]
async fn an_agent_that_ignores_term_is_killed_with_its_children() {
    let seconds = unique();
    let script = [
        leave(&seconds, "env -i"),
        "trap '' TERM".to_owned(),
        says("a", "on"),
    ];
    let rig = Rig::new(&format!(
        "{}\nwhile :; do sleep {seconds}; done",
        script.join("\n")
    ));
    let agent = rig.open().unwrap();
    let (task, stop) = (rig.task("the prompt"), CancellationToken::new());
    begun!(agent, &task, stop.clone() => work);
    assert_ne!(running(&seconds), 0);
    stop.cancel();
    let report = work.await;
    assert_eq!(report.ending, Ending::Cancelled);
    assert_eq!(report.texts, ["on"]);
    assert_eq!(running(&seconds), 0);
}

#[tokio::test]
async fn a_process_that_forks_and_ends_for_ever_does_not_outrun_its_end() {
    // The shell that begins the next one is gone at once. It ends by itself, should this test fail.
    let hop = r#"[ $1 -gt 20000 ] || sh "$0" $(($1 + 1)) $2 &"#;
    // Several times: one that may outrun us does not always.
    for end in ["", "", "", "sleep 1000", "sleep 1000", "sleep 1000"] {
        let mark = unique();
        let script = format!(
            "cat > $HOME/hop <<'END'\n{hop}\nEND\nsh $HOME/hop 0 {mark}\n{}\n{end}\n{}",
            says("a", "on"),
            result()
        );
        let rig = Rig::new(&script);
        let agent = rig.open().unwrap();
        let (task, stop) = (rig.task("the prompt"), CancellationToken::new());
        begun!(agent, &task, stop.clone() => work);
        if !end.is_empty() {
            stop.cancel();
        }
        work.await;
        // Each look sees only a part of what is so short-lived.
        assert!((0..50).all(|_| running(&mark) == 0), "{end}");
    }
}

#[tokio::test]
async fn an_agent_that_is_told_to_end_may_clean_up() {
    let rig = Rig::new(&format!(
        "trap 'echo bye > $HOME/bye; exit 0' TERM\n{}\nwhile :; do sleep 0.01; done",
        says("a", "on")
    ));
    let agent = rig.open().unwrap();
    let (task, stop) = (rig.task("the prompt"), CancellationToken::new());
    begun!(agent, &task, stop.clone() => work);
    stop.cancel();
    assert_eq!(work.await.ending, Ending::Cancelled);
    let home = rig.settings.folder.join(&task.run.0).join("home");
    assert_eq!(fs::read_to_string(home.join("bye")).unwrap(), "bye\n");
}

#[tokio::test]
async fn dropping_the_turn_ends_the_processes_before_the_drop_returns() {
    let seconds = unique();
    let script = [
        leave(&seconds, "env -i"),
        says("a", "on"),
        format!("sleep {seconds}"),
    ];
    let rig = Rig::new(&script.join("\n"));
    let agent = rig.open().unwrap();
    let task = rig.task("the prompt");
    begun!(agent, &task, CancellationToken::new() => work);
    assert_ne!(running(&seconds), 0);
    drop(work);
    assert_eq!(running(&seconds), 0);
}

#[tokio::test]
async fn a_helper_that_is_killed_leaves_nothing_either() {
    let seconds = unique();
    let script = [
        leave(&seconds, ""),
        says("a", "on"),
        format!("sleep {seconds}"),
    ];
    let rig = Rig::new(&script.join("\n"));
    let agent = rig.open().unwrap();
    let task = rig.task("the prompt");
    begun!(agent, &task, CancellationToken::new() => work);
    let helper = pids(&task.run.0)
        .into_iter()
        .find(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap() == "planwright\n")
        .unwrap();
    assert!(
        Process::new("kill")
            .args(["-9", &helper])
            .status()
            .unwrap()
            .success()
    );
    let killed = Ending::ProcessError {
        code: None,
        signal: Some(9),
    };
    assert_eq!(work.await.ending, killed);
    assert_eq!(running(&seconds), 0);
}

#[test]
fn when_the_bot_dies_the_helper_ends_everything() {
    let seconds = unique();
    let home = tempfile::tempdir().unwrap();
    let script = format!("{}\necho on; sleep {seconds}", leave(&seconds, "env -i"));
    let mut helper = Process::new(env!("CARGO_BIN_EXE_planwright"))
        .args(["agent-exec", "--sandbox", "auto", "--input", "0", "--write"])
        .arg(home.path())
        .args(["/bin/sh", "--", "-c", &script])
        .env("HOME", home.path())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 3];
    std::io::Read::read_exact(helper.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert_eq!(&said, b"on\n");
    assert_ne!(running(&seconds), 0);
    // The kernel closes it like this when its owner is killed.
    drop(helper.stdin.take());
    helper.wait().unwrap();
    assert_eq!(running(&seconds), 0);
}

#[tokio::test]
async fn what_an_earlier_process_left_is_ended_when_agents_are_opened() {
    let rig = Rig::new(&format!(
        "{}\necho $PLANWRIGHT_AGENT >&2\n{}",
        says("a", "on"),
        result()
    ));
    let mark = rig.turn().await.stderr;
    let (folder, token) = mark.split_once(':').unwrap();
    assert_eq!((folder.len(), token.len()), (16, 32));
    let sleeper = |mark: &str| {
        let mut command = Process::new("sleep");
        command
            .arg("1000")
            .env("PLANWRIGHT_AGENT", mark)
            .spawn()
            .unwrap()
    };
    let (mut ours, mut others) = (sleeper(&format!("{folder}:earlier")), sleeper("0:earlier"));
    rig.open().unwrap();
    let ended = ours.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&ended),
        Some(9)
    );
    assert!(others.try_wait().unwrap().is_none(), "somebody else's");
    others.kill().unwrap();
    others.wait().unwrap();
}

#[tokio::test]
async fn no_more_agents_run_at_once_than_are_allowed() {
    let mut rig = Rig::new(&format!("{}\nsleep 1000", says("a", "on")));
    rig.settings.concurrency = 1;
    let agent = rig.open().unwrap();
    let (first, second) = (rig.task("first"), rig.task("second"));
    begun!(agent, &first, CancellationToken::new() => work);
    let stop = CancellationToken::new();
    let (seen, _) = TurnObserver::new();
    let mut waiting = Box::pin(agent.work(&second, &seen, stop.clone()));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    assert!(pids(&second.run.0).is_empty());
    stop.cancel();
    assert_eq!(waiting.await.ending, Ending::Cancelled);
    drop(work);
    assert!(pids(&first.run.0).is_empty());
}

/// Processes that have this among their arguments.
fn pids(argument: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            fs::read(entry.path().join("cmdline"))
                .is_ok_and(|command| memchr::memmem::find(&command, argument.as_bytes()).is_some())
        })
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}
