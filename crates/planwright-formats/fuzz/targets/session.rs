//! Session logs: any bytes end in a plan or none; how they are cut into chunks makes no difference;
//! transcripts are text that XML can hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::session::content::{self, chunks};
use planwright_formats::session::plan::MAX_PLAN_BYTES;
use planwright_formats::session::transcript::{Options, Piece, Transcript};
use planwright_formats::session::{Scanner, scan};

fuzz_target!(|log: &[u8]| {
    let whole = scan(log, None);
    let mut feed = Scanner::new(None);
    for piece in log.chunks(7) {
        feed.push(piece);
    }
    let fed = feed.finish();
    assert_eq!(fed, whole);
    assert!(whole.lines >= whole.malformed_count);
    if let Some(plan) = &whole.plan {
        assert!(!plan.text.is_empty() && plan.text.len() <= MAX_PLAN_BYTES);
        assert!(plan.line >= 1 && plan.line <= whole.lines);
    }
    for session in &whole.sessions {
        let _ = scan(log, Some(session));
    }
    for filter in [false, true] {
        for max_tokens in [None, Some(50)] {
            let options = || Options {
                filter,
                max_tokens,
                ..Options::default()
            };
            let whole = transcript(options(), log, log.len().max(1));
            assert_eq!(transcript(options(), log, 11), whole);
            // <https://www.w3.org/TR/xml/#charsets>
            let held = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            assert!(whole.iter().all(|part| part.chars().all(held)), "{whole:?}");
        }
    }
    if let Ok(text) = str::from_utf8(log) {
        for most in [1, 10, 100] {
            for part in chunks(text, most) {
                assert!(text.contains(part));
            }
        }
        let _ = content::parse([text, text]);
    }
});

/// The parts of a transcript.
fn transcript(options: Options, log: &[u8], size: usize) -> Vec<String> {
    let mut transcript = Transcript::new(options);
    let mut pieces = Vec::new();
    for chunk in log.chunks(size) {
        pieces.extend(transcript.push(chunk));
    }
    pieces.extend(transcript.finish().pieces);
    let mut parts = vec![String::new()];
    for piece in pieces {
        match (piece, parts.last_mut()) {
            (Piece::Text(text), Some(part)) => part.push_str(&text),
            _ => parts.push(String::new()),
        }
    }
    parts
}
