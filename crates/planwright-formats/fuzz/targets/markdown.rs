//! Markdown: spans are slices of the source, in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::markdown;

fuzz_target!(|source: &str| {
    let lines = markdown::Lines::new(source);
    let mut start = 0;
    for block in markdown::blocks(source) {
        assert!(source.get(block.span.clone()).is_some());
        assert!(block.span.start >= start);
        assert_eq!(lines.at(block.span.start), block.line);
        start = block.span.start;
    }
    for section in markdown::sections(source) {
        assert!(source.get(section.span.clone()).is_some());
    }
    let mut end = 0;
    for range in markdown::code(source) {
        assert!(source.get(range.clone()).is_some() && range.start >= end);
        end = range.end;
    }
});
