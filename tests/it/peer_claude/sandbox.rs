//! What the sandbox prevents if a tool is allowed by mistake: the client is given a shell, and the
//! shell can access nothing outside its folders.

use planwright::adapters::agent::SandboxMode;
use serde_json::json;

use super::rig::{self, Rig, success};
use crate::support::model::{Model, Turn};

#[tokio::test]
async fn a_shell_reads_and_writes_nothing_outside_its_folders() {
    if rig::sandbox() != SandboxMode::Required {
        println!("skipped: this kernel has no Landlock");
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "THE-SECRET").unwrap();
    let command = format!(
        "cat '{0}/secret'; echo x > '{0}/made'; ls '{0}'; cat /etc/passwd; cat /proc/{1}/environ; kill -0 {1} \
         && echo REACHED; rm -f '{0}/secret'; echo inside > mine && cat mine; echo end",
        outside.path().display(),
        std::process::id()
    );
    let turns = [
        Turn::tool("Bash", &json!({ "command": command })),
        Turn::text("Done."),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Bash".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Look around.")).await;
    assert_eq!(success(&report), "Done.");
    let said = rig.model.asked()[1].said();
    assert!(said.contains("inside\nend"), "{said}");
    for never in ["THE-SECRET", "root:x:0", "CARGO", "REACHED"] {
        assert!(!said.contains(never), "{never}: {said}");
    }
    assert!(secret.exists());
    assert!(!outside.path().join("made").exists());
}
