//! Generates session logs from a seed. Entries have the shapes and sizes of real ones, with
//! invented text.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

const SEED: u64 = 20_260_102;
/// The building blocks of texts: words, code, line breaks, characters that JSON escapes, and some
/// non-ASCII text.
const WORDS: [&str; 40] = [
    "the",
    "cache",
    "of",
    "requests",
    "is",
    "read",
    "before",
    "it",
    "\"quoted\"",
    "fn main() {",
    "}\n",
    "\n    ",
    "let x = map[key];\n",
    "für",
    "→",
    "error:",
    "C:\\dir\\file",
    "tests",
    "\t",
    "returns",
    "a",
    "value",
    "when",
    "every",
    "line",
    "src/lib.rs:42",
    "0.25",
    "https://example.org/a?b=c",
    "{\"k\": 1}",
    "- [ ]",
    "## Steps\n\n",
    "and",
    "then",
    "not",
    "found",
    "in",
    "self.buffer.len()",
    "==",
    "pub struct",
    "//",
];

/// The content of a log.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Typical sessions: talk, tool calls, long results, and occasionally a plan.
    Usual,
    /// The worst case: every message mentions plans and plan files, and no call of plan mode is
    /// answered.
    Dense,
}

/// An endless log.
pub(crate) struct Log {
    kind: Kind,
    random: StdRng,
    written: u64,
}

impl Log {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            random: StdRng::seed_from_u64(SEED),
            written: 0,
        }
    }

    /// Returns the next lines, at least `size` bytes in total.
    pub(crate) fn take(&mut self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size + size / 8);
        while bytes.len() < size {
            bytes.extend_from_slice(self.entry().to_string().as_bytes());
            bytes.push(b'\n');
        }
        bytes
    }

    fn entry(&mut self) -> Value {
        self.written += 1;
        let n = self.written;
        let (role, block) = self.block(n);
        let (second, ms) = (n / 1000, n % 1000);
        json!({
            "parentUuid": format!("00000000-0000-4000-8000-{:012}", n - 1),
            "isSidechain": false, "userType": "external", "cwd": "/home/ada/code/app",
            "sessionId": "11111111-2222-4333-8444-555555555555", "version": "2.0.61", "gitBranch": "main",
            "slug": "calm-otter", "type": role,
            "message": { "role": role, "content": [block], "usage": { "input_tokens": n, "output_tokens": 12 } },
            "uuid": format!("00000000-0000-4000-8000-{n:012}"),
            "timestamp": format!("2026-01-{:02}T{:02}:{:02}:{:02}.{ms:03}Z", 1 + second / 86400, second / 3600 % 24, second / 60 % 60, second % 60),
        })
    }

    fn block(&mut self, n: u64) -> (&'static str, Value) {
        let dense = matches!(self.kind, Kind::Dense);
        let id = format!("toolu_{n}");
        let plan = if dense { n % 20 } else { n % 500 };
        match plan {
            1 => {
                let input = json!({ "file_path": "/home/ada/.claude/plans/calm-otter.md", "content": self.text(800) });
                return (
                    "assistant",
                    json!({ "type": "tool_use", "id": id, "name": "Write", "input": input }),
                );
            }
            2 => {
                let input = json!({ "plan": self.text(800) });
                return (
                    "assistant",
                    json!({ "type": "tool_use", "id": id, "name": "ExitPlanMode", "input": input }),
                );
            }
            // Results of the two calls above.
            3 | 4 if !dense => {
                let content = self.text(10);
                let id = format!("toolu_{}", n - 2);
                return (
                    "user",
                    json!({ "type": "tool_result", "tool_use_id": id, "content": content }),
                );
            }
            _ => {}
        }
        let mut talk = |words| {
            let sign = if dense {
                "ExitPlanMode wrote ~/.claude/plans/calm-otter.md "
            } else {
                ""
            };
            format!("{sign}{}", self.text(words))
        };
        match n % 4 {
            0 => ("user", json!({ "type": "text", "text": talk(40) })),
            1 => ("assistant", json!({ "type": "text", "text": talk(150) })),
            2 => {
                let input = json!({ "command": talk(15), "description": "look" });
                (
                    "assistant",
                    json!({ "type": "tool_use", "id": id, "name": "Bash", "input": input }),
                )
            }
            _ => {
                let words = if n % 64 == 3 { 15_000 } else { 700 };
                (
                    "user",
                    json!({ "type": "tool_result", "tool_use_id": format!("toolu_{}", n - 1), "content": talk(words) }),
                )
            }
        }
    }

    fn text(&mut self, words: usize) -> String {
        let words = self.random.random_range(words / 2..=words + words / 2);
        let mut text = String::with_capacity(words * 8);
        for _ in 0..words {
            text.push_str(WORDS.choose(&mut self.random).copied().unwrap_or_default());
            text.push(' ');
        }
        text
    }
}
