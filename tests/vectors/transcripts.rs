//! erk's test vectors for transcripts, their parts, and chunks.

use planwright::formats::session::content::{MAX_CHUNK_BYTES, chunks};
use planwright::formats::session::transcript::{Options, Piece, Transcript};
use serde_json::{Value, json};

use crate::harness::{Departures, Tests};

crate::harness::tests!(
    transcripts_are_as_erk_writes_them,
    parts_are_as_erk_splits_them,
    chunks_are_as_erk_cuts_them,
);

/// The parts of a transcript of `input.entries`, nothing left out.
fn parts(input: &Value) -> Vec<String> {
    let mut transcript = Transcript::new(Options {
        source: input["source_label"].as_str().map(str::to_owned),
        max_tokens: input["max_tokens"]
            .as_u64()
            .map(|most| usize::try_from(most).unwrap()),
        ..Options::default()
    });
    let mut pieces: Vec<Piece> = input["entries"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|entry| transcript.push(format!("{entry}\n").as_bytes()))
        .collect();
    pieces.extend(transcript.finish().pieces);
    let mut parts = vec![String::new()];
    for piece in pieces {
        match piece {
            Piece::Text(text) => parts.last_mut().unwrap().push_str(&text),
            Piece::NextPart => parts.push(String::new()),
        }
    }
    parts
}

const COMPRESSION: Departures = &[
    (
        "session_compress_xml-003",
        "the first era leaves token counts out, the last one writes <usage>; we write it",
    ),
    (
        "session_compress_xml-004",
        "the first era leaves token counts out, the last one writes <usage>; we write it",
    ),
];

fn transcripts_are_as_erk_writes_them(tests: &mut Tests) {
    tests.hold(
        "session_compress_xml",
        |_| true,
        COMPRESSION,
        |case| {
            let ours = parts(&case["input"]);
            assert_eq!(ours.len(), 1);
            (json!(ours[0]), case["expected"]["xml"].clone())
        },
    );
}

fn parts_are_as_erk_splits_them(tests: &mut Tests) {
    tests.hold(
        "session_split_by_tokens",
        |_| true,
        &[],
        |case| {
            (
                json!(parts(&case["input"])),
                case["expected"]["chunks"].clone(),
            )
        },
    );
}

fn chunks_are_as_erk_cuts_them(tests: &mut Tests) {
    tests.hold(
        "session_chunking",
        |_| true,
        &[],
        |case| {
            let most = case["input"]["max_chunk_size"]
                .as_u64()
                .map_or(MAX_CHUNK_BYTES, |most| usize::try_from(most).unwrap());
            let content = case["input"]["content"].as_str().unwrap();
            (
                json!(chunks(content, most)),
                case["expected"]["chunks"].clone(),
            )
        },
    );
}
