//! The time that reading a text takes is in proportion to its length: a short text, repeated, is
//! the length of a comment.
#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use planwright_formats::{command, hidden, markdown, plan};

/// Most characters of a comment on GitHub.
const COMMENT: usize = 65_536;

/// Far more than any text may take, so that other work on the machine is not taken for a finding.
const MAX_TIME: Duration = Duration::from_millis(1_500);

fuzz_target!(|parts: (&str, &str, u8)| {
    let (first, second, share) = parts;
    let length = COMMENT * usize::from(share) / 255;
    let mut text = "/save-plan\n\n".to_owned();
    for (part, end) in [(first, length), (second, COMMENT)] {
        let count = text.chars().count();
        let size = part.chars().count();
        if size > 0 {
            text.push_str(&part.repeat(end.saturating_sub(count) / size));
        }
    }
    let begin = Instant::now();
    command::parse(&text);
    markdown::blocks(&text);
    plan::title::title_of(&text);
    hidden::visible(&text);
    let took = begin.elapsed();
    assert!(took < MAX_TIME, "{took:?} for {} bytes", text.len());
});
