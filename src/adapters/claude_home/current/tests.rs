//! Tests of `adapters::claude_home::current`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;

use super::*;

#[test]
fn the_running_session_is_found_in_the_environment_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("src");
    fs::create_dir_all(&below).unwrap();
    let find = |variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        CurrentSession::find(variable, &below)
    };
    let id = |variables: &[(&str, &str)]| find(variables).map(|current| current.id);
    assert_eq!(find(&[]), None);
    assert_eq!(
        id(&[
            ("SESSION_CONTEXT", "session_id= s1 \n"),
            ("CLAUDE_SESSION_ID", "s2")
        ])
        .as_deref(),
        Some("s1")
    );
    assert_eq!(
        id(&[("SESSION_CONTEXT", "other=1"), ("CLAUDE_SESSION_ID", "s2")]).as_deref(),
        Some("s2")
    );
    assert_eq!(
        id(&[
            ("SESSION_CONTEXT", "session_id="),
            ("CLAUDE_SESSION_ID", " ")
        ]),
        None
    );
    let file = folder.path().join(".erk/scratch/current-session-id");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "s3\n").unwrap();
    let current = find(&[]).unwrap();
    assert_eq!(
        (current.id.as_str(), current.origin.to_string()),
        ("s3", format!("the file {}", file.display()))
    );
    let current = find(&[("CLAUDE_SESSION_ID", "s2")]).unwrap();
    assert_eq!(
        current.origin.to_string(),
        "the environment variable CLAUDE_SESSION_ID"
    );
}
