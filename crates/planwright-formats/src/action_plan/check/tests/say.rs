//! Every finding as people see it.

use super::*;

#[test]
fn every_finding_says_what_to_do() {
    let files = tree().with("ticks", PathState::File("a\n```\nb\n````\n"));
    let fourteen: Vec<_> = (1..=14)
        .map(|number| format!("missing line {number}"))
        .collect();
    let fourteen = fourteen.join(
        "
",
    );
    let actions = vec![
        create("src/a.rs", ""),
        create("src", ""),
        create("secret", ""),
        create("src/a.rs/x", ""),
        create("new/file", "one"),
        create("new/file", "two"),
        create("new", "three"),
        create("new/file/x", "three"),
        edit("nope", &[("x", "y")]),
        edit("later", &[("x", "y")]),
        create("later", "x"),
        edit("src", &[("x", "y")]),
        edit("logo.png", &[("x", "y")]),
        edit("huge.json", &[("x", "y")]),
        edit("secret", &[("x", "y")]),
        edit(
            "src/a.rs",
            &[
                ("", "y"),
                ("one();", "one();"),
                ("one(1);\n    two();", "one();\n    two();"),
                ("one();\ntwo();", "x"),
                (&fourteen, "x"),
                ("();", "!"),
            ],
        ),
        edit("ticks", &[("a\n```\nc\n````", "x"), ("```", "~~~")]),
        edit("src/a.rs/x", &[("x", "y")]),
        read("no`pe"),
        read("secret"),
        execute("", Some("src/a.rs")),
        execute("make", Some("build")),
        invoke(&["gone.md"]),
        hand_back(&["gone.md"]),
        edit("dup.txt", &[("other one", "x")]),
    ];
    let findings = check(&plan(actions), &files);
    let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(texts.join("\n\n=====\n\n"));
}

#[test]
fn too_much_to_search() {
    let finding = Finding::new(
        &plan(vec![edit("a", &[])]).actions[0],
        K::TooMuchToSearch,
        super::super::walk::TOO_MUCH.0.to_owned(),
        super::super::walk::TOO_MUCH.1,
    );
    insta::assert_snapshot!(finding);
}

#[test]
fn the_report_counts_what_it_leaves_out() {
    let actions = (0..33).map(|number| read(&format!("no/{number}")));
    let findings = check(&plan(actions.collect()), &tree());
    let report = render(&findings);
    assert_eq!(report.matches("does not exist").count(), 30);
    assert!(report.ends_with("\n\n... and 3 more errors"), "{report}");
    assert!(render(&findings[..31]).ends_with("\n\n... and 1 more error"));
    assert_eq!(render(&[]), "");
}

#[test]
fn as_json() {
    let actions = vec![edit("src/a.rs", &[("one(1);", "x")]), execute("", None)];
    let findings = check(&plan(actions), &tree());
    insta::assert_snapshot!(serde_json::to_string_pretty(&findings).unwrap());
}

#[test]
fn as_annotations() {
    let mut actions = vec![edit("src/a.rs", &[("one(1);", "x")])];
    actions.extend((0..60).map(|_| read("no")));
    let notes = annotations(&check(&plan(actions), &tree()));
    assert_eq!(notes.len(), 61);
    insta::assert_snapshot!(serde_json::to_string_pretty(&notes[..2]).unwrap());
}
