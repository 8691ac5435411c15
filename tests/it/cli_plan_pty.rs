//! Tests of the command `planwright plan SPEC` on a terminal: progress, questions, and Ctrl-C.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{self, Pty};

use crate::cli_plan_spec::{GOOD, Shop};
use crate::peer_claude::processes;

/// Longest wait for a text or for the end of a process.
const PATIENCE: Duration = Duration::from_secs(30);

/// The agent waits until the test lets it go on.
const WAITS: &str = "until [ -f \"$here/go\" ]; do sleep 0.05; done";

/// The program at a terminal of its own.
struct Terminal {
    pty: Pty,
    child: Child,
    bytes: Receiver<Vec<u8>>,
    /// All that it has shown.
    shown: String,
    /// How much of it was waited for.
    seen: usize,
}

impl Terminal {
    /// `planwright plan index --trust` and more. Standard output is a pipe: what a program reads.
    fn plan(shop: &Shop, more: &[&str]) -> Self {
        let (pty, pts) = blocking::open().unwrap();
        pty.resize(Size::new(30, 100)).unwrap();
        let arguments = [&["plan", "index", "--trust"], more].concat();
        let child = blocking::Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(arguments)
            .env_clear()
            .env("XDG_STATE_HOME", shop.state.path())
            .env("TERM", "xterm")
            .current_dir(shop.root.path())
            .spawn(pts)
            .unwrap();
        let (sender, bytes) = channel();
        let reader = std::os::fd::AsFd::as_fd(&pty).try_clone_to_owned().unwrap();
        std::thread::spawn(move || {
            let mut from = fs::File::from(reader);
            let mut buffer = [0; 4096];
            // Reading fails when nobody holds the other end any more.
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            pty,
            child,
            bytes,
            shown: String::new(),
            seen: 0,
        }
    }

    /// Reads until `wanted` is shown behind what was waited for before.
    fn until(&mut self, wanted: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.shown[self.seen..].find(wanted) {
                self.seen += at + wanted.len();
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.bytes.recv_timeout(left) else {
                panic!("{wanted:?} is not shown: {}", self.shown);
            };
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    fn type_in(&mut self, text: &str) {
        self.pty.write_all(text.as_bytes()).unwrap();
    }

    /// Its exit code; all that it has shown is read.
    fn end(mut self) -> (Option<i32>, String) {
        let end = Instant::now() + PATIENCE;
        while let Ok(bytes) = self
            .bytes
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        assert!(Instant::now() < end, "it does not end: {}", self.shown);
        (self.child.wait().unwrap().code(), self.shown)
    }
}

#[test]
fn progress_is_seen_and_questions_are_answered_by_number_and_in_own_words() {
    let shop = Shop::new(&format!(
        "if asked 'Answer 1: Disk' && asked 'Answer 2: the ops people'; then {GOOD}\n\
         elif asked 'Answer 1:'; then say done; else {WAITS}; say asks; fi"
    ));
    let mut terminal = Terminal::plan(&shop, &[]);
    terminal.until("agent.sh is working");
    shop.write("go", "");
    terminal.until("1/2 Place: Where does the file live?");
    terminal.until("  1. Cache: may be lost");
    terminal.until("  2. Disk");
    terminal.until("or Enter to leave it to the agent: ");
    terminal.type_in("1 2\n");
    terminal.until("Question 1 takes one option, but several are chosen.");
    terminal.until("or Enter to leave it to the agent: ");
    terminal.type_in("2\n");
    terminal.until("2/2 Readers: Who may read it?");
    terminal.until("Your answer");
    terminal.type_in("the ops people\n");
    terminal.until(".planwright/plans/index/plan.md");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shop.holds(".planwright/plans/index/plan.md"));
}

#[test]
fn zero_asks_for_own_words_and_enter_leaves_it_to_the_agent() {
    let shop = Shop::new(&format!(
        "if asked 'Answer 1: 2 disks' && asked 'Answer 2: (nobody answered)'; then {GOOD}; else say asks; fi"
    ));
    let mut terminal = Terminal::plan(&shop, &[]);
    terminal.until("leave it to the agent: ");
    terminal.type_in("0\n");
    terminal.until("Your own words: ");
    terminal.type_in("2 disks\n");
    terminal.until("2/2 Readers");
    terminal.until("leave it to the agent: ");
    terminal.type_in("\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn ctrl_c_while_the_agent_works_leaves_no_process_and_the_next_start_finishes() {
    let shop =
        Shop::new("if asked 'Answer 1: Cache'; then (sleep 987 & sleep 987); else say asks; fi");
    let mut terminal = Terminal::plan(&shop, &[]);
    terminal.until("leave it to the agent: ");
    terminal.type_in("cache\n");
    terminal.until("leave it to the agent: ");
    terminal.type_in("all\n");
    terminal.until("agent.sh is working");
    let mark = shop.state.path().to_str().unwrap().to_owned();
    let end = Instant::now() + PATIENCE;
    let sleeps = |processes: &[processes::Process]| {
        processes
            .iter()
            .filter(|one| one.line.contains("sleep 987"))
            .count()
    };
    while sleeps(&processes::with(&[&mark])) < 2 {
        assert!(Instant::now() < end, "the agent does not begin");
        std::thread::yield_now();
    }
    terminal.type_in("\u{3}");
    terminal.until("interrupted; run the same command again to continue");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    let left = processes::with(&[&mark]);
    assert!(left.is_empty(), "{left:?}");
    let kept = shop.remembered();
    assert_eq!(kept["work"]["rounds"][0]["closed"], true);
    assert_eq!(kept["work"]["turns"], 2);
    shop.act(&format!(
        "if asked 'Answer 1: Cache' && asked 'Answer 2: all'; then {GOOD}; else say asks; fi"
    ));
    let mut terminal = Terminal::plan(&shop, &[]);
    terminal.until("resuming");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("Who may read it?"), "{shown}");
}

#[test]
fn ctrl_c_at_a_question_keeps_the_answers_before_it() {
    let shop = Shop::new(&format!(
        "if asked 'Answer 1: Cache'; then {GOOD}; else say asks; fi"
    ));
    let mut terminal = Terminal::plan(&shop, &[]);
    terminal.until("leave it to the agent: ");
    terminal.type_in("1\n");
    terminal.until("2/2 Readers");
    terminal.until("leave it to the agent: ");
    terminal.type_in("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    let mut terminal = Terminal::plan(&shop, &[]);
    terminal.until("2/2 Readers");
    terminal.until("leave it to the agent: ");
    // Nobody types any more.
    terminal.type_in("\u{4}");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(3), "{shown}");
    let (code, _, err) = shop.plan(&["--no-questions"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn topics_are_seen_side_by_side() {
    let shop = Shop::new(&format!("{WAITS}; say chat"));
    shop.write("say/chat", &crate::cli_plan_spec::events("x"));
    let mut terminal = Terminal::plan(&shop, &["--research", "how it is stored; which format"]);
    terminal.until("1/2 how it is stored");
    terminal.until("2/2 which format");
    shop.write("go", "");
    terminal.until("failed.");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("the minimum is 1"), "{shown}");
}
