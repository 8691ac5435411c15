//! Texts about session logs.

use super::{prepared, run, saved_issue, steps, trigger};
use crate::engine::forge::{NotAFile, ReadError};
use crate::engine::messages::sources::{self, Log};
use crate::engine::messages::{Exists, Used, failed, plan_issue_begun, saved};
use crate::engine::model::progress::LogPlan;
use crate::formats::command::{Command, RawOption, RepositoryFile, read_options};
use crate::formats::session::scan;

fn log() -> Log {
    let file = RepositoryFile {
        path: "logs/@dora.jsonl".into(),
        reference: Some("plans".into()),
    };
    Log {
        name: file.path.clone(),
        place: sources::place("acme/search", &file),
        url: None,
    }
}

fn attached() -> Log {
    Log {
        name: "a.jsonl".into(),
        place: sources::attached("a.jsonl", "acme/search"),
        url: Some("https://github.test/user-attachments/files/1/a.jsonl".into()),
    }
}

pub(super) fn everything() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let save = trigger(Command::SavePlan);
    let option = |name: &str, value: &str| {
        let given = [RawOption {
            name: name.to_owned(),
            value: value.to_owned(),
        }];
        let error = read_options(Command::SavePlan, &given).unwrap_err();
        sources::invalid_option(Command::SavePlan.spec(), &error)
    };
    let talk = "{\"type\":\"user\",\"sessionId\":\"s1\",\"slug\":\"calm-fox\"}\n\nnot json\n";
    let failures = [
        ("option_path", option("session", "../a /save-plan @dora")),
        ("option_typo", option("sesion", "a.jsonl")),
        ("option_id_alone", sources::session_id_alone()),
        ("log_too_many", sources::too_many_attached(5, 4)),
        (
            "log_no_ref",
            sources::unreadable(&log(), &ReadError::NoReference),
        ),
        (
            "log_no_file",
            sources::unreadable(&log(), &ReadError::NoFile),
        ),
        (
            "log_directory",
            sources::unreadable(
                &log(),
                &ReadError::NotAFile {
                    kind: NotAFile::Directory,
                },
            ),
        ),
        (
            "log_too_large",
            sources::unreadable(&log(), &ReadError::TooLarge { most: 50 << 20 }),
        ),
        (
            "log_withheld",
            sources::unreadable(
                &attached(),
                &ReadError::Withheld {
                    why: "404 Not Found".into(),
                },
            ),
        ),
        (
            "log_elsewhere",
            sources::unreadable(
                &attached(),
                &ReadError::Elsewhere {
                    to: "https://evil.example".into(),
                },
            ),
        ),
        ("log_pointer", sources::pointer(&log())),
        (
            "log_no_plan",
            sources::no_plan(&[(log(), scan(talk.as_bytes(), None))], None),
        ),
        (
            "log_other_session",
            sources::no_plan(
                &[(attached(), scan(talk.as_bytes(), Some("s2")))],
                Some("s2"),
            ),
        ),
        (
            "log_no_log",
            sources::no_plan(&[(log(), scan(b"# A plan\n\n1. x\n2. y\n", None))], None),
        ),
        ("log_none_attached", sources::no_plan(&[], Some("s2"))),
    ];
    for (name, failure) in &failures {
        all.push((
            format!("failed_{name}"),
            failed(&save, &run(), failure, &Exists::Nothing, Used::default()),
        ));
    }
    let plan = LogPlan {
        text: String::new(),
        name: "logs/@dora.jsonl".into(),
        url: Some("https://github.test/acme/search/blob/0123456789/logs/%40dora.jsonl".into()),
        commit: Some("0123456789012345678901234567890123456789".into()),
        line: 12,
        session: Some("s1".into()),
        timestamp: Some("2026-01-02T10:00:00.000Z".into()),
        plan_file: Some("calm-fox".into()),
    };
    let mut from_log = prepared();
    from_log.log = Some(sources::origin(&plan));
    from_log.found = format!("found in {}", super::super::quiet(&sources::origin(&plan)));
    from_log.notes = sources::unread(&["@dora.jsonl"], "`session=` names another log");
    from_log.notes.push(sources::not_approved());
    from_log.notes.push(sources::stale(1));
    from_log.notes.push(sources::stale(2));
    from_log.notes.push(sources::perhaps_unreadable(
        "build.log",
        &ReadError::TooLarge { most: 50 << 20 },
    ));
    all.push((
        "plan_issue_log".to_owned(),
        plan_issue_begun(&save, &run(), &from_log, "<!-- header block -->"),
    ));
    all.push((
        "saved_log".to_owned(),
        saved(
            &save,
            &run(),
            &from_log,
            &saved_issue(),
            &steps(),
            1.25,
            Used::default(),
        ),
    ));
    all
}

#[test]
fn the_saved_plan_says_where_it_comes_from() {
    let mut plan = LogPlan {
        text: String::new(),
        name: "a.jsonl".into(),
        url: None,
        commit: None,
        line: 3,
        session: None,
        timestamp: None,
        plan_file: None,
    };
    assert_eq!(
        sources::provenance(&plan),
        "The plan comes from the session log a.jsonl, line 3"
    );
    plan.url = Some("https://github.test/x".into());
    plan.commit = Some("0123456789".into());
    plan.session = Some("s1".into());
    plan.timestamp = Some("2026-01-02T10:00:00.000Z".into());
    plan.plan_file = Some("calm-fox".into());
    assert_eq!(
        sources::provenance(&plan),
        "The plan comes from the session log a.jsonl at commit 0123456, line 3, plan file calm-fox.md, session s1, \
         2026-01-02T10:00:00.000Z: https://github.test/x"
    );
}
