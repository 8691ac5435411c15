//! Generates agent output from a seed. Events have the shapes and sizes of real ones, with invented
//! text.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

const SEED: u64 = 20_261_121;
const SESSION: &str = "11111111-2222-4333-8444-555555555555";
/// The building blocks of texts: words, code, line breaks, characters that JSON escapes, and some
/// non-ASCII text.
const WORDS: [&str; 24] = [
    "the",
    "cache",
    "of",
    "requests",
    "is",
    "read",
    "before",
    "\"quoted\"",
    "fn main() {",
    "}\n",
    "\n    ",
    "let x = map[key];\n",
    "für",
    "🧊",
    "error:",
    "C:\\dir\\file",
    "\t",
    "returns",
    "src/lib.rs:42",
    "https://example.org/a?b=c",
    "- [ ]",
    "## Steps\n\n",
    "and",
    "not",
];

/// The content of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Typical work: a few words, a tool call and the tool's answer, repeated.
    Work,
    /// Tool calls and answers without text.
    Tools,
    /// Only long answers of the model, all of which must be kept.
    Talk,
}

/// Endless output.
pub(crate) struct Output {
    kind: Kind,
    random: StdRng,
    written: u64,
}

impl Output {
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
            bytes.extend_from_slice(self.event().to_string().as_bytes());
            bytes.push(b'\n');
        }
        bytes
    }

    /// Returns the last line, which is the result event.
    pub(crate) fn result() -> Vec<u8> {
        let result = json!({
            "duration_api_ms": 900, "is_error": false, "num_turns": 2, "result": "Done.", "session_id": SESSION,
            "total_cost_usd": 0.0125, "permission_denials": [], "subtype": "success", "type": "result",
        });
        format!("{result}\n").into_bytes()
    }

    fn event(&mut self) -> Value {
        self.written += 1;
        let n = self.written;
        let turn = n / 4;
        match (self.kind, n % 4) {
            (Kind::Talk, _) => {
                let text = self.text(6_000);
                said(n, &json!({ "type": "text", "text": text }))
            }
            (Kind::Work, 0) => {
                let text = self.text(60);
                said(turn, &json!({ "type": "text", "text": text }))
            }
            (_, 1) => {
                let input = json!({ "file_path": "/scratch/src/lib.rs", "offset": n });
                said(
                    turn,
                    &json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": "Read", "input": input }),
                )
            }
            (_, 2) => {
                let words = if n % 64 == 2 { 15_000 } else { 1_500 };
                let text = self.text(words);
                let answer = json!({
                    "type": "tool_result", "tool_use_id": format!("toolu_{}", n - 1), "content": text,
                });
                json!({
                    "type": "user", "message": { "role": "user", "content": [answer] }, "parent_tool_use_id": null,
                    "session_id": SESSION, "uuid": format!("00000000-0000-4000-8000-{n:012}"),
                    "tool_use_result": { "type": "text", "file": { "filePath": "/scratch/src/lib.rs", "content": text } },
                })
            }
            _ => {
                json!({ "type": "system", "subtype": "status", "status": "requesting", "session_id": SESSION })
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

fn said(message: u64, block: &Value) -> Value {
    let usage =
        json!({ "input_tokens": 3, "cache_read_input_tokens": message, "output_tokens": 4 });
    json!({
        "type": "assistant",
        "message": {
            "id": format!("msg_{message}"), "type": "message", "role": "assistant", "model": "m-1", "content": [block],
            "stop_reason": null, "usage": usage,
        },
        "parent_tool_use_id": null, "session_id": SESSION, "request_id": format!("req_{message}"),
    })
}
