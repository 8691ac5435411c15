//! What an agent can access in the sandbox. Without Landlock in the kernel, these tests check
//! nothing.

use std::process::Stdio;

use planwright::adapters::agent::sandbox::{Protection, active};

use super::*;

/// Whether there is a sandbox of at least this version here; says so when there is none.
fn here(least: u32) -> bool {
    let active = active(SandboxMode::Required);
    let enough = matches!(active, Protection::Landlock { abi } if abi >= least);
    if !enough {
        println!("skipped: this needs Landlock ABI {least}; here: {active}");
    }
    enough
}

/// What the script prints in a required sandbox.
async fn inside(script: &str) -> String {
    let mut rig = Rig::new(script);
    rig.settings.sandbox = SandboxMode::Required;
    rig.command.output = OutputFormat::Markdown;
    let report = rig.turn().await;
    text(&report).to_owned()
}

#[tokio::test]
async fn an_agent_reads_its_own_folder_and_the_system_and_nothing_else() {
    if !here(1) {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file");
    fs::write(&file, "outside").unwrap();
    let said = inside(&format!(
        "for path in {} {} /etc/passwd /etc/shadow {} / /root /tmp /proc /proc/self/environ {}; do\n\
           if [ -d $path ]; then ls $path; else cat $path; fi >/dev/null 2>&1 && echo \"$path can be read\"\n\
         done\n\
         head -c 1 /dev/urandom >/dev/null && cat /etc/hosts >/dev/null && ls /usr >/dev/null && echo done",
        file.display(),
        outside.path().display(),
        env!("CARGO_MANIFEST_DIR"),
        env!("CARGO_BIN_EXE_planwright"),
    ))
    .await;
    assert_eq!(said, "done\n");
}

#[tokio::test]
async fn an_agent_that_lies_beside_the_keys_of_the_bot_cannot_read_them() {
    use std::os::unix::fs::PermissionsExt;
    if !here(1) {
        return;
    }
    let mut rig = Rig::new("");
    let program = rig.path().join("scripts/agent.sh");
    let key = rig.path().join("scripts/key.pem");
    fs::write(&key, "the key").unwrap();
    fs::write(
        &program,
        "#!/bin/sh\ncat \"${0%/*}/key.pem\" 2>/dev/null; echo done\n",
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    rig.command.path = program;
    rig.command.args.clear();
    rig.command.reads.clear();
    rig.command.output = OutputFormat::Markdown;
    rig.settings.sandbox = SandboxMode::Required;
    assert_eq!(text(&rig.turn().await), "the keydone\n", "it is read");
    rig.settings.secrets = vec![key];
    assert_eq!(text(&rig.turn().await), "done\n");
}

#[tokio::test]
async fn an_agent_writes_in_its_directories_and_nowhere_else() {
    if !here(3) {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "outside").unwrap();
    let at = outside.path().display();
    let said = inside(&format!(
        "for path in {at}/new {at}/file /tmp/planwright-new /usr/planwright-new $0; do\n\
           ( echo x > $path ) 2>/dev/null && echo \"$path can be written\"\n\
         done\n\
         rm -f {at}/file 2>/dev/null && echo removed\n\
         mkdir {at}/folder 2>/dev/null && echo made\n\
         ln -s /etc/passwd $HOME/link; cat $HOME/link 2>/dev/null && echo followed\n\
         for room in . $HOME $TMPDIR; do echo x > $room/file && mkdir $room/folder && rm $room/file || echo refused; done\n\
         cp /bin/echo $HOME/program; $HOME/program ran 2>/dev/null\n\
         echo done"
    ))
    .await;
    assert_eq!(said, "done\n");
    assert_eq!(
        fs::read_to_string(outside.path().join("file")).unwrap(),
        "outside"
    );
}

#[tokio::test]
async fn an_agent_cannot_look_into_this_process_or_its_helper() {
    if !here(1) {
        return;
    }
    let own = std::process::id();
    let mut rig = Rig::new(&format!(
        "for pid in {own} $PPID; do for name in environ maps mem fd/0; do\n\
           cat /proc/$pid/$name >/dev/null 2>&1 && echo \"$pid $name can be read\"\n\
         done; done\n\
         cat /proc/{own}/cmdline | tr '\\0' ' ' >/dev/null && echo done"
    ));
    rig.settings.sandbox = SandboxMode::Required;
    rig.command.output = OutputFormat::Markdown;
    // Also not when the operator lets it read the process table.
    rig.command.reads.push(PathBuf::from("/proc"));
    assert_eq!(text(&rig.turn().await), "done\n");
}

#[tokio::test]
async fn an_agent_has_no_privileges_even_when_the_bot_is_root() {
    let mut rig =
        Rig::new("grep -E '^(Cap|NoNewPrivs)' /proc/self/status | tr -d '\\t'; ulimit -c");
    rig.settings.sandbox = SandboxMode::Off;
    rig.command.output = OutputFormat::Markdown;
    let report = rig.turn().await;
    let none = "0000000000000000";
    let bounding = text(&report)
        .lines()
        .find_map(|line| line.strip_prefix("CapBnd:"))
        .unwrap();
    // Who may not change it (no root) has no use for it.
    let bounding = bounding.to_owned();
    assert_eq!(
        text(&report),
        format!(
            "CapInh:{none}\nCapPrm:{none}\nCapEff:{none}\nCapBnd:{bounding}\nCapAmb:{none}\nNoNewPrivs:1\n0\n"
        )
    );
}

#[tokio::test]
async fn an_agent_can_signal_nobody_outside() {
    if !here(6) {
        return;
    }
    let own = std::process::id();
    let said = inside(&format!(
        "for pid in {own} $PPID; do kill -0 $pid 2>/dev/null && echo \"$pid can be signalled\"; done\n\
         sleep 1000 & kill -9 $! && echo done"
    ))
    .await;
    assert_eq!(said, "done\n");
}

#[test]
fn a_sandbox_that_cannot_be_entered_is_never_left_out() {
    if !here(1) {
        return;
    }
    // The kernel puts at most 16 sandboxes into each other.
    let helper = env!("CARGO_BIN_EXE_planwright");
    let mut command = std::process::Command::new(helper);
    for sandbox in ["auto"; 17] {
        command.args(["agent-exec", "--sandbox", sandbox, "--input", "0", "--read"]);
        command.arg(Path::new(helper).parent().unwrap());
        command.args([helper, "--"]);
    }
    command.args(["completions", "bash"]);
    let mut helper = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held_open = helper.stdin.take();
    let said = helper.wait_with_output().unwrap();
    drop(held_open);
    let stderr = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(125), "{stderr}");
    assert!(stderr.starts_with("planwright agent-exec: "), "{stderr}");
    assert!(
        stderr.contains("was not started, because there is no sandbox"),
        "{stderr}"
    );
    assert!(said.stdout.is_empty());
}
