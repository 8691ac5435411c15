//! What agents print: any bytes give a summary whose counts add up, and how they are cut into
//! pushes makes no difference.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::agent_stream::{
    Event, MAX_LINE_BYTES, MAX_NAME_BYTES, Stream, StreamOutcome, Summary, classify, outcome,
};

fuzz_target!(|bytes: &[u8]| {
    for line_max in [MAX_LINE_BYTES, 40] {
        let (whole, events) = read(bytes, bytes.len().max(1), line_max);
        for size in [1, 7] {
            assert_eq!(read(bytes, size, line_max), (whole.clone(), events.clone()));
        }
        let lost = whole.malformed + whole.too_long;
        assert_eq!(events.len() as u64, whole.events + lost);
        assert!(whole.events >= whole.results + whole.inits + whole.retries + whole.turns);
        assert_eq!(whole.first.is_some(), whole.results > 0);
        assert!(
            whole
                .session
                .as_ref()
                .is_none_or(|id| !id.is_empty() && id.len() <= MAX_NAME_BYTES)
        );
        // A failure never makes a success, and success needs a result that says so.
        assert_ne!(outcome(&whole, Some(1)), StreamOutcome::Success);
        if outcome(&whole, Some(0)) == StreamOutcome::Success {
            let first = whole.first.as_ref().expect("a result");
            assert!(first.is_error == Some(false));
        }
        if let Some(first) = &whole.first {
            let _ = classify(&first.message(), first.api_status);
        }
    }
});

fn read(bytes: &[u8], size: usize, line_max: usize) -> (Summary, Vec<Event>) {
    let mut events = Vec::new();
    let mut on = |event: &Event| events.push(event.clone());
    let mut stream = Stream::with_line_max(line_max);
    for chunk in bytes.chunks(size) {
        stream.push(chunk, &mut on);
    }
    let summary = stream.finish(&mut on);
    (summary, events)
}
