//! Files that a client leaves for its program, and files that the program is asked to write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use planwright::adapters::agent::command::Command;
use planwright::adapters::agent::{Client, LocalAgent, OutputFormat, Program, RunDirs};
use planwright::adapters::clock::SystemClock;
use planwright::engine::agent::{About, Task};
use planwright::engine::model::agent::Ending;

use super::{Rig, result, turn};

/// A command with one more file, at the path that a function chooses.
struct Filed {
    command: Command,
    place: fn(&RunDirs) -> PathBuf,
}

impl Client for Filed {
    fn about(&self) -> About {
        self.command.about()
    }

    fn executable(&self) -> &Path {
        self.command.executable()
    }

    fn program(&self, task: &Task, dirs: &RunDirs) -> Program {
        let file = ((self.place)(dirs), b"from the file".to_vec());
        Program {
            files: vec![file],
            ..self.command.program(task, dirs)
        }
    }

    fn reads(&self) -> Vec<PathBuf> {
        self.command.reads()
    }
}

fn open(rig: &Rig, place: fn(&RunDirs) -> PathBuf) -> LocalAgent {
    let command = Command(rig.command.clone());
    let client = Arc::new(Filed { command, place });
    LocalAgent::open(rig.settings.clone(), client, Arc::new(SystemClock)).unwrap()
}

#[tokio::test]
async fn a_file_is_there_at_every_turn_of_a_run() {
    let script = format!("cat \"$TMPDIR/file\" >&2\n{}", result());
    let rig = Rig::new(&script);
    let agent = open(&rig, |dirs| dirs.scratch.join("file"));
    let task = rig.task("the prompt");
    for _ in 0..2 {
        let report = turn(&agent, &task).await;
        assert_eq!(report.stderr.trim(), "from the file", "{report:?}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_said_and_nothing_starts() {
    let rig = Rig::new("");
    let agent = open(&rig, |dirs| dirs.home.join("file"));
    let report = turn(&agent, &rig.task("the prompt")).await;
    let Ending::NotStarted(why) = report.ending else {
        panic!("{report:?}");
    };
    assert!(
        why.starts_with("the agent's files cannot be written: ")
            && why.contains("home/file is in no empty folder of the run")
            && why.ends_with(": check that the disk of agent.folder is not full"),
        "{why}"
    );
}

#[tokio::test]
async fn what_a_program_without_tools_prints_is_the_file_that_it_was_asked_for() {
    let asks = "<!--QUESTION:{\"questions\":[{\"question\":\"Which?\"}]}-->";
    for (script, want) in [
        (
            "printf '# Report\\n\\nIt is so.\\n'",
            vec![("report.md", "# Report\n\nIt is so.")],
        ),
        // Its questions are no part of it, and what is only a question is no file.
        (
            &format!("echo '# Report'; echo '{asks}'"),
            vec![("report.md", "# Report")],
        ),
        (&format!("echo '{asks}'"), Vec::new()),
        // What is there comes before what is said.
        (
            "echo '# On disk' > report.md; echo '# Other' > other.md; echo '# Printed'",
            vec![("report.md", "# On disk\n"), ("other.md", "# Other\n")],
        ),
        ("echo '# Report'; exit 1", Vec::new()),
    ] {
        let mut rig = Rig::new(script);
        rig.command.output = OutputFormat::Markdown;
        let mut task = rig.task("the prompt");
        task.wanted = vec!["report.md".to_owned(), "more.md".to_owned()];
        let agent = rig.open().unwrap();
        let report = turn(&agent, &task).await;
        let files = report.files.iter();
        let files: Vec<_> = files
            .map(|file| (file.path.as_str(), file.text.as_str()))
            .collect();
        assert_eq!(files, want, "{script}: {report:?}");
        // Not asked for, it is an answer and no file.
        task.wanted.clear();
        assert_eq!(turn(&agent, &task).await.files, [], "{script}");
    }
}

#[tokio::test]
async fn a_credential_in_what_is_printed_is_taken_out_of_the_file_and_counted_once() {
    let mut rig = Rig::new("echo '# Report: ghp_0123456789abcdefghijABCDEFGHIJ012345'");
    rig.command.output = OutputFormat::Markdown;
    let mut task = rig.task("the prompt");
    task.wanted = vec!["report.md".to_owned()];
    let report = turn(&rig.open().unwrap(), &task).await;
    assert_eq!(report.redacted, 1, "{report:?}");
    assert!(!report.files[0].text.contains("ghp_"), "{report:?}");
}
