//! The texts that fuzzing begins from keep the promises of the formats. What fuzzing found is in named tests beside the
//! code.

use std::path::Path;

use planwright::formats::block::{self, Content};
use planwright::formats::plan::split::{Limits, join, split};
use planwright::formats::session::{Feed, scan};
use planwright::formats::yaml;
use serde_json::Value;

/// Name and bytes of every text of a target.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/fuzz")
        .join(target);
    let mut found: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{}", folder.display());
    found
}

#[test]
fn texts_pass_the_frame_and_the_split() {
    for target in ["block", "plan", "yaml"] {
        for (name, bytes) in corpus(target) {
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(block::restore(&block::neutralise(&text)), text, "{name}");
            let rendered = block::plan_body(&text);
            let parsed = block::parse(&rendered);
            assert_eq!(parsed.diagnostics, [], "{name}");
            assert_eq!(parsed.blocks.len(), 1, "{name}");
            assert_eq!(
                parsed.blocks[0].content,
                Content::Text(text.clone()),
                "{name}"
            );
            let limits = Limits {
                chars: 256,
                bytes: 300,
            };
            let parts = split(&text, &limits);
            let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
            assert_eq!(join(&parts).as_deref(), Some(text.as_str()), "{name}");
            if let Ok(Value::Object(fields)) = yaml::read(&text) {
                let written = yaml::write(&fields);
                assert_eq!(yaml::read(&written), Ok(Value::Object(fields)), "{name}");
            }
        }
    }
}

#[test]
fn logs_are_read_alike_however_they_are_cut() {
    for (name, bytes) in corpus("session") {
        let whole = scan(&bytes, None);
        for size in [1, 7, 64] {
            let mut feed = Feed::new(None);
            for chunk in bytes.chunks(size) {
                feed.push(chunk);
            }
            assert_eq!(feed.finish(), whole, "{name} in chunks of {size}");
        }
    }
}
