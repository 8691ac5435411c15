//! Checks before an agent starts, and their error messages.

use super::*;

fn refusal(rig: &Rig) -> String {
    match rig.open() {
        Ok(_) => panic!("it opens"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_named_with_what_to_do() {
    let mut rig = Rig::new("");
    let script = rig.path().join("scripts/agent.sh");
    let missing = rig.path().join("missing");
    let table = [
        (
            PathBuf::from("claude"),
            "the agent's program claude is not an absolute path: set agent.path to the full path"
                .to_owned(),
        ),
        (
            missing.clone(),
            format!(
                "the agent's program {} cannot be found: No such file or directory (os error 2): \
                 install it, or set agent.path to its path",
                missing.display()
            ),
        ),
        (
            PathBuf::from("/usr"),
            "the agent's program /usr is not a file: set agent.path to the program itself"
                .to_owned(),
        ),
        (
            script.clone(),
            format!(
                "the agent's program {} cannot be executed: make it executable (chmod +x)",
                script.display()
            ),
        ),
    ];
    for (path, expected) in table {
        rig.command.path = path;
        assert_eq!(refusal(&rig), expected);
    }
}

#[tokio::test]
async fn a_program_that_goes_away_later_is_named_at_the_turn() {
    let mut rig = Rig::new("");
    let program = rig.path().join("program");
    fs::copy("/bin/true", &program).unwrap();
    rig.command.path = program.clone();
    let agent = rig.open().unwrap();
    fs::remove_file(&program).unwrap();
    let report = turn(&agent, &rig.task("the prompt")).await;
    let Ending::NotStarted(why) = report.ending else {
        panic!("{report:?}");
    };
    assert!(
        why.contains(&*program.to_string_lossy()) && why.contains("set agent.path"),
        "{why}"
    );
}

#[tokio::test]
async fn a_file_that_is_no_program_for_this_computer_is_named_by_the_helper() {
    use std::os::unix::fs::PermissionsExt;
    let mut rig = Rig::new("");
    let program = rig.path().join("scripts/agent.sh");
    fs::write(&program, "\0\0\0\0").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    rig.command.path = program.clone();
    let report = rig.turn().await;
    let Ending::NotStarted(why) = report.ending else {
        panic!("{report:?}");
    };
    assert_eq!(
        why,
        format!(
            "{} cannot be started: Exec format error (os error 8): check that it is a program for this computer",
            program.display()
        )
    );
}

#[tokio::test]
async fn an_interpreter_that_is_out_of_reach_is_told_from_a_broken_program() {
    use std::os::unix::fs::PermissionsExt;
    let mut rig = Rig::new("");
    let interpreter = rig.path().join("interpreter");
    // As good as one that the sandbox does not let it reach.
    fs::write(&interpreter, "").unwrap();
    let program = rig.path().join("scripts/agent.sh");
    fs::write(&program, format!("#!{}\n", interpreter.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    rig.command.path = program.clone();
    let Ending::NotStarted(why) = rig.turn().await.ending else {
        panic!("it starts");
    };
    assert_eq!(
        why,
        format!(
            "{} cannot be started: Permission denied (os error 13): check that this user may execute it, and name the \
             folder of its interpreter in agent.reads",
            program.display()
        )
    );
}

#[tokio::test]
async fn a_helper_that_is_gone_is_named() {
    let mut rig = Rig::new("");
    rig.settings.helper = rig.path().join("gone");
    let report = rig.turn().await;
    let expected = format!(
        "{} cannot be started: No such file or directory (os error 2): the agent's helper is this program itself; was it \
         replaced or removed?",
        rig.settings.helper.display()
    );
    assert_eq!(report.ending, Ending::NotStarted(expected));
}

#[tokio::test]
async fn a_folder_is_used_by_one_process_and_can_be_taken_over() {
    let rig = Rig::new(&result());
    let first = rig.open().unwrap();
    let folder = rig.settings.folder.canonicalize().unwrap();
    assert_eq!(
        refusal(&rig),
        format!(
            "another planwright process runs its agents in {}: stop it first, or give this one its own agent.folder",
            folder.display()
        )
    );
    drop(first);
    assert_eq!(text(&rig.turn().await), "the plan");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let mut rig = Rig::new("");
    rig.settings.folder = rig.path().join("scripts/agent.sh/agents");
    assert_eq!(
        refusal(&rig),
        format!(
            "the agents' folder {} cannot be used: Not a directory (os error 20): make it writable for this user, or name \
             another agent.folder",
            rig.settings.folder.display()
        )
    );
}

#[tokio::test]
async fn runs_cannot_be_made_readable_for_each_other() {
    let mut rig = Rig::new("");
    let wide = rig.path().to_owned();
    rig.command.reads.push(wide.clone());
    let folder = wide.canonicalize().unwrap().join("agents");
    assert_eq!(
        refusal(&rig),
        format!(
            "agents can read {}, which contains the agents' folder {}, so runs could read each \
             other's files: name a narrower path in agent.reads, or another agent.folder",
            wide.display(),
            folder.display()
        )
    );
}

#[tokio::test]
async fn a_folder_with_a_secret_of_the_bot_cannot_be_made_readable() {
    let mut rig = Rig::new("");
    let folder = rig.path().join("etc");
    fs::create_dir(&folder).unwrap();
    // A database that is made later counts, too.
    let secret = folder.join("planwright.sqlite");
    rig.settings.secrets = vec![rig.path().join("elsewhere"), secret.clone()];
    rig.command.reads.push(folder.clone());
    assert_eq!(
        refusal(&rig),
        format!(
            "agents can read {}, which contains {}, a file that only planwright may read: name a \
             narrower path in agent.reads, or move that file",
            folder.display(),
            secret.display()
        )
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_secret_in_a_folder_of_the_system_is_refused_where_the_sandbox_is_required() {
    let mut rig = Rig::new("");
    rig.settings.secrets = vec![rig.path().join("elsewhere"), "/usr/app.pem".into()];
    if !matches!(
        planwright::adapters::agent::sandbox::active(SandboxMode::Required),
        planwright::adapters::agent::sandbox::Protection::Landlock { .. }
    ) {
        eprintln!("skipped: there is no Landlock here");
        return;
    }
    rig.settings.sandbox = SandboxMode::Required;
    let said = refusal(&rig);
    assert!(
        said.starts_with("agent.sandbox is \"required\", but agents could read /usr/app.pem, "),
        "{said}"
    );
    rig.settings.secrets.pop();
    rig.open().unwrap();
}

#[test]
fn a_required_sandbox_that_is_not_there_is_said_with_what_to_do() {
    let error = OpenError::NoSandbox("the kernel has no Landlock".to_owned());
    assert_eq!(
        error.to_string(),
        "agent.sandbox is \"required\", but there is no sandbox here: the kernel has no Landlock: run on Linux 5.13 or \
         newer with Landlock enabled, or set agent.sandbox to \"auto\""
    );
}

#[test]
fn the_helper_is_not_among_the_commands_that_people_see() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("--help")
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains("agent-exec"));
}

#[tokio::test]
async fn about_names_the_program() {
    let rig = Rig::new("");
    let about = rig.open().unwrap().about();
    assert_eq!((about.name.as_str(), about.resumes), ("sh", false));
}
