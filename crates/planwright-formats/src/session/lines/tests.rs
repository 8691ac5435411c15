//! Tests of `formats::session::lines`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

fn cut(text: &[u8], size: usize, limit: usize) -> Vec<Option<Vec<u8>>> {
    let mut found = Vec::new();
    let mut take = |line: Line<'_>| {
        found.push(match line {
            Line::Bytes(bytes) => Some(bytes.to_vec()),
            Line::TooLong => None,
        });
    };
    let mut lines = Lines::with_limit(limit);
    for chunk in text.chunks(size) {
        lines.push(chunk, &mut take);
    }
    lines.finish(&mut take);
    found
}

#[test]
fn chunks_make_no_difference() {
    let text = b"one\n\ntwo\r\nthree, longer\nfour";
    let whole = cut(text, text.len(), 100);
    let want: Vec<_> = ["one", "", "two\r", "three, longer", "four"]
        .map(|line| Some(line.as_bytes().to_vec()))
        .into();
    assert_eq!(whole, want);
    for size in 1..text.len() {
        assert_eq!(cut(text, size, 100), want, "chunks of {size}");
    }
}

#[test]
fn a_long_line_is_skipped_and_the_next_is_read() {
    let text = b"ab\nabcdef\nabc\nabcdefghi";
    for size in 1..=text.len() {
        let found = cut(text, size, 3);
        assert_eq!(
            found,
            [Some(b"ab".to_vec()), None, Some(b"abc".to_vec()), None],
            "chunks of {size}"
        );
    }
}

#[test]
fn the_buffer_does_not_stay_large() {
    let mut lines = Lines::default();
    lines.push(&vec![b'x'; 8 * KEPT_BUFFER_BYTES], |_| ());
    let mut length = 0;
    lines.push(b"\n", |line| {
        if let Line::Bytes(bytes) = line {
            length = bytes.len();
        }
    });
    assert_eq!(length, 8 * KEPT_BUFFER_BYTES);
    assert!(lines.begun.capacity() <= 2 * KEPT_BUFFER_BYTES);
}
