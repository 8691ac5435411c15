//! An agent that uses too much of the computer is ended by a limit that is named, without a process
//! left, while others go on. Every script here ends by itself within bounds, should a limit fail.

use planwright::adapters::agent::limits::{Enforcement, enforcement};
use planwright::engine::model::agent::Limit;

use super::*;

const MB: u64 = 1024 * 1024;

/// No limits but those that `change` sets.
fn limited(script: &str, change: impl FnOnce(&mut ResourceLimits)) -> Rig {
    let mut rig = Rig::new(script);
    rig.settings.resources = ResourceLimits {
        memory: None,
        processes: None,
        open_files: None,
        file_size: None,
        disk: None,
    };
    change(&mut rig.settings.resources);
    rig
}

/// Fails unless the turn of `rig` ends by `limit`, and before the minute after which it would end
/// by its deadline.
async fn ends_by(rig: &Rig, limit: Limit, seconds: &str) {
    let report = rig.turn().await;
    assert_eq!(report.ending, Ending::Limited(limit), "{report:?}");
    assert_eq!(running(seconds), 0, "{limit:?}");
    println!("{limit:?} after {} ms", report.spent.millis);
}

/// Shell lines that keep doubling the number of processes, up to about 500.
fn fork_bomb(seconds: &str) -> String {
    format!(
        "grow() {{ [ $1 -gt 0 ] || exec sleep {seconds}; grow $(($1 - 1)) & grow $(($1 - 1)) & wait; }}\n\
         grow 8"
    )
}

/// A shell line that fills this number of bytes of memory, a power of two, and keeps them.
fn memory_hog(bytes: u64, seconds: &str) -> String {
    format!(
        "awk 'BEGIN {{ s = \"x\"; while (length(s) < {bytes}) s = s s; system(\"sleep {seconds}\") }}'"
    )
}

#[tokio::test]
async fn a_fork_bomb_is_ended_by_the_limit_of_processes() {
    let seconds = unique();
    let rig = limited(&fork_bomb(&seconds), |limits| limits.processes = Some(30));
    ends_by(&rig, Limit::Processes(30), &seconds).await;
}

#[tokio::test]
async fn a_fork_bomb_that_leaves_its_session_and_its_parents_is_ended_too() {
    let seconds = unique();
    let script = format!(
        "i=0\nwhile [ $i -lt 500 ]; do (setsid env -i sleep {seconds} &); i=$((i + 1)); done\n\
         sleep {seconds}"
    );
    let rig = limited(&script, |limits| limits.processes = Some(30));
    ends_by(&rig, Limit::Processes(30), &seconds).await;
}

#[tokio::test]
async fn threads_count_like_processes() {
    let seconds = unique();
    let perl = "use threads; for (1..40) { threads->create(sub { sleep 60 }) } sleep 60";
    let rig = limited(&format!("exec perl -e '{perl}' {seconds}"), |limits| {
        limits.processes = Some(30);
    });
    if !has_perl("use threads") {
        return;
    }
    ends_by(&rig, Limit::Processes(30), &seconds).await;
}

#[tokio::test]
async fn the_memory_of_one_process_is_limited() {
    let seconds = unique();
    let hog = memory_hog(256 * MB, &seconds);
    let rig = limited(&hog, |limits| limits.memory = Some(64 * MB));
    ends_by(&rig, Limit::Memory(64 * MB), &seconds).await;
}

#[tokio::test]
async fn the_memory_of_all_processes_together_is_limited() {
    let seconds = unique();
    let hogs = format!("{} &\n", memory_hog(32 * MB, &seconds)).repeat(4) + "wait";
    let rig = limited(&hogs, |limits| limits.memory = Some(96 * MB));
    ends_by(&rig, Limit::Memory(96 * MB), &seconds).await;
}

#[tokio::test]
async fn memory_that_processes_share_is_counted_once() {
    // Each of the nine shells sees all of the variable.
    let script = format!(
        "text=$(head -c {} /dev/zero | tr '\\0' x)\n\
         for i in 1 2 3 4 5 6 7 8; do (sleep 1.5; :) & done\nwait\n{}",
        16 * MB,
        result()
    );
    let rig = limited(&script, |limits| limits.memory = Some(128 * MB));
    assert_eq!(text(&rig.turn().await), "the plan");
}

#[tokio::test]
async fn many_files_are_ended_by_the_limit_of_disk_space() {
    let seconds = unique();
    for place in ["$HOME", "$TMPDIR", "."] {
        let script = format!(
            "mkdir -p {place}/a/b\ni=0\n\
             while [ $i -lt 4000 ]; do echo > {place}/a/b/$i; i=$((i + 1)); done\nsleep {seconds}"
        );
        let rig = limited(&script, |limits| limits.disk = Some(4 * MB));
        ends_by(&rig, Limit::Disk(4 * MB), &seconds).await;
    }
}

#[tokio::test]
async fn large_files_are_ended_by_the_limit_of_disk_space_even_after_an_answer() {
    let seconds = unique();
    let fill = "head -c 30000000 /dev/zero > $HOME/a; head -c 30000000 /dev/zero > b";
    for end in [format!("sleep {seconds}"), result()] {
        let rig = limited(&format!("{fill}\n{end}"), |limits| {
            limits.disk = Some(20 * MB);
            limits.file_size = Some(64 * MB);
        });
        ends_by(&rig, Limit::Disk(20 * MB), &seconds).await;
    }
}

#[tokio::test]
async fn one_file_that_grows_too_large_is_ended_by_the_limit_of_a_file() {
    let seconds = unique();
    let fill = "head -c 20000000 /dev/zero";
    for script in [
        format!("{fill} > big\nsleep {seconds}"),
        format!("{fill} > big\n{}", result()),
        // Only the signal tells: the file has no name any more.
        format!("exec 3> big; rm big\nexec {fill} >&3"),
        format!("exec 3> big; rm big\n{fill} >&3"),
    ] {
        let rig = limited(&script, |limits| limits.file_size = Some(8 * MB));
        ends_by(&rig, Limit::FileSize(8 * MB), &seconds).await;
    }
}

#[tokio::test]
async fn open_files_are_ended_by_their_limit() {
    let seconds = unique();
    let perl = r#"push @open, $file while open($file, "<", "/dev/null") and $file = \*{"f" . $n++}; sleep 60"#;
    if !has_perl("0") {
        return;
    }
    let rig = limited(&format!("exec perl -e '{perl}' {seconds}"), |limits| {
        limits.open_files = Some(100);
    });
    ends_by(&rig, Limit::OpenFiles(100), &seconds).await;
}

#[tokio::test]
async fn agents_inherit_limits_that_they_cannot_raise() {
    let script = "for which in S H; do ulimit -${which}n; ulimit -${which}f; done\n\
                  ulimit -n 200 || echo refused";
    let mut rig = limited(script, |limits| {
        limits.open_files = Some(100);
        limits.file_size = Some(8 * MB);
    });
    rig.command.output = OutputFormat::Markdown;
    let report = rig.turn().await;
    // The shell counts blocks of 512 bytes.
    assert_eq!(text(&report).trim(), "100\n16384\n100\n16384\nrefused");
}

#[tokio::test]
async fn a_turn_goes_on_while_another_is_ended_by_its_limits() {
    let seconds = unique();
    let script = format!(
        "read -r which\ncase $which in\n*bomb*) {}\n;;\n*hog*) {}\n;;\n*) sleep 2; {}\n;;\nesac",
        fork_bomb(&seconds),
        memory_hog(256 * MB, &seconds),
        result()
    );
    let mut rig = limited(&script, |limits| {
        limits.processes = Some(30);
        limits.memory = Some(64 * MB);
    });
    rig.settings.concurrency = 3;
    let agent = rig.open().unwrap();
    let task = |system: &str| Task {
        system: system.to_owned(),
        ..rig.task("the prompt")
    };
    let (bomb, hog, plain) = (task("a bomb"), task("a hog"), task("nothing special"));
    let (bomb, hog, plain) = tokio::join!(
        turn(&agent, &bomb),
        turn(&agent, &hog),
        turn(&agent, &plain)
    );
    assert_eq!(bomb.ending, Ending::Limited(Limit::Processes(30)));
    assert_eq!(hog.ending, Ending::Limited(Limit::Memory(64 * MB)));
    assert_eq!(text(&plain), "the plan");
    assert_eq!(running(&seconds), 0);
}

/// The other tests here measure the same limits with whatever the computer offers.
#[tokio::test]
async fn in_a_delegated_cgroup_the_kernel_keeps_the_limits_and_nothing_is_left_of_it() {
    let seconds = unique();
    match enforcement() {
        Enforcement::Cgroup => {}
        other => {
            println!("skipped: {other}");
            return;
        }
    }
    let rig = limited(&fork_bomb(&seconds), |limits| limits.processes = Some(30));
    let agent = rig.open().unwrap();
    assert_eq!(enforcement(), Enforcement::Cgroup, "after the move, too");
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(own.trim_end().ends_with("/planwright"), "{own}");
    let task = rig.task("the prompt");
    let report = turn(&agent, &task).await;
    assert_eq!(report.ending, Ending::Limited(Limit::Processes(30)));
    assert_eq!(running(&seconds), 0);
}

/// Whether Perl is there and can run this; says so if not.
fn has_perl(code: &str) -> bool {
    let tried = std::process::Command::new("perl")
        .args(["-e", code])
        .status();
    let can = tried.is_ok_and(|status| status.success());
    if !can {
        println!("skipped: there is no Perl that can `{code}`");
    }
    can
}
