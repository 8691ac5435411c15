//! Commands: what is parsed is text of the comment, and a comment without commands is left unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::command;

fuzz_target!(|comment: &str| {
    let found = command::parse(comment);
    let lines: Vec<usize> = found.iter().map(|found| found.line).collect();
    assert!(lines.windows(2).all(|pair| pair[0] < pair[1]));
    for found in &found {
        assert!(comment.contains(&found.word));
        assert_eq!(
            command::Command::named(&found.word[1..]),
            Some(found.command)
        );
        assert!(found.inline.is_none() || found.command.spec().takes_plan);
        assert_eq!(found.guidance.trim(), found.guidance);
    }
    let rest = command::without_commands(comment);
    assert!(rest.len() <= comment.len());
    assert!(!found.is_empty() || rest == comment);
});
