//! A fast and deterministic agent for tests with many kills: a shell script in place of the real
//! client.

use std::fs;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use tempfile::TempDir;

use super::{REPO, issue};
use crate::engine_plan::PLAN;
use crate::support::research::report;
use crate::support::system::{Moment, Options, System};

/// The first write that shows the report of a topic, counted from 1, among all writes.
pub(crate) fn first_shown(system: &System, topic: usize) -> usize {
    let requests = system.sim.requests();
    let mut writes = requests
        .iter()
        .filter(|one| one.method != "GET" && one.path.contains("/repos/"));
    let head = format!("### Research {topic} of ");
    let shows = |body: &[u8]| {
        let body = String::from_utf8_lossy(body);
        body.contains(&head) && body.contains("✅ written")
    };
    writes
        .position(|one| shows(&one.body))
        .expect("it was shown")
}

/// Whether the report of a topic has been shown, so that it must be remembered.
pub(crate) fn is_shown(system: &System, topic: usize) -> bool {
    let head = format!("### Research {topic} of ");
    system.sim.requests().iter().any(|one| {
        let body = String::from_utf8_lossy(&one.body);
        one.method != "GET" && body.contains(&head) && body.contains("✅ written")
    })
}

/// An agent of the shell: notes what it is asked for, writes the report or the plan, and says so.
const SHELL: &str = r#"file=$(sed -n 's/.*the file `\([0-9]*-[a-z]*\.md\)`.*/\1/p' | head -n 1)
echo "${file:-plan.md}" >> "$0.asked"
if [ -n "$file" ]; then sed "s/TOPIC/$file/" "$0.report" > "$file"; else cat "$0.plan" > plan.md; fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"REPORT_CREATED","session_id":"s-1","num_turns":1}'
"#;

/// A system with it, and an issue. The folder holds what the agent reads and notes.
pub(crate) async fn quick() -> (System, u64, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.sh");
    fs::write(&script, SHELL).unwrap();
    fs::write(folder.path().join("agent.sh.report"), report("TOPIC")).unwrap();
    fs::write(folder.path().join("agent.sh.plan"), PLAN).unwrap();
    let environment = [
        ("KIND", "command"),
        ("PATH", "/bin/sh"),
        ("ARGS", script.to_str().unwrap()),
        ("OUTPUT", "stream-json"),
        // It notes in its own folder what it is asked for.
        ("SANDBOX", "off"),
    ];
    let environment = environment.map(|(name, value)| {
        let name: &'static str = String::leak(format!("PLANWRIGHT_AGENT_{name}"));
        (name, value.to_owned())
    });
    let mut environment = Vec::from(environment);
    // One after the other: the writes come in one order.
    environment.push(("PLANWRIGHT_RESEARCH_CONCURRENCY", "1".to_owned()));
    let system = System::with(Options {
        judged: true,
        environment,
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, false);
    // The file that plans name.
    system.sim.put_file(REPO, "src/index.rs", "").unwrap();
    let issue = issue(&system);
    system.sim.settle().await;
    (system, issue, folder)
}

/// How often the agent was asked for the file.
pub(crate) fn asked(folder: &TempDir, file: &str) -> usize {
    let noted = fs::read_to_string(folder.path().join("agent.sh.asked")).unwrap();
    noted.lines().filter(|line| *line == file).count()
}

/// Cases at work at the same time.
const TOGETHER: usize = 4;

/// Kills at each of the writes, at each moment; `killed_at` says whether the write came. Most of
/// them must.
pub(crate) async fn at_any<F>(writes: usize, killed_at: impl Fn(usize, Moment) -> F)
where
    F: Future<Output = bool>,
{
    let began = Instant::now();
    let moments = [Moment::Before, Moment::During, Moment::After];
    let all = (0..writes).flat_map(|write| moments.map(|moment| (write, moment)));
    let cases = all.map(|(write, moment)| killed_at(write, moment));
    let caught: Vec<bool> = stream::iter(cases)
        .buffer_unordered(TOGETHER)
        .collect()
        .await;
    let kills = caught.iter().filter(|caught| **caught).count();
    println!("{kills} kills in {:.1?}", began.elapsed());
    assert!(kills * 3 > caught.len() * 2, "{kills} of {}", caught.len());
}
