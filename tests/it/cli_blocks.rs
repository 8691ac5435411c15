//! Tests of the command `planwright blocks`.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/stored/pull-original-plan.md"
);

fn blocks(arguments: &[&str], input: &[u8]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("blocks")
        .args(arguments)
        .env_clear()
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end without reading it all.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_blocks_of_a_file_as_json() {
    let output = blocks(&[PAGE], b"");
    assert_eq!(
        (output.status.code(), err(&output)),
        (Some(0), String::new())
    );
    let text = std::fs::read_to_string(PAGE).unwrap();
    let found: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(found["diagnostics"], json!([]));
    let [plan, header] = found["blocks"].as_array().unwrap().as_slice() else {
        panic!("{found:#}")
    };
    assert_eq!(
        (&plan["key"], &plan["kind"]),
        (&json!("original-plan"), &json!("text"))
    );
    assert!(
        plan["text"]
            .as_str()
            .unwrap()
            .starts_with("# Rotate the access logs\n")
    );
    assert_eq!(
        (&header["key"], &header["kind"]),
        (&json!("plan-header"), &json!("yaml"))
    );
    assert_eq!(header["fields"]["schema_version"], "2");
    let part = |of: &Value, name: &str| {
        let at = |index: usize| usize::try_from(of[name][index].as_u64().unwrap()).unwrap();
        (at(0), at(1))
    };
    let slice = |(from, to): (usize, usize)| &text[from..to];
    assert!(slice(part(plan, "span")).starts_with("<details>\n<summary>original-plan"));
    assert_eq!(slice(part(plan, "inner")), plan["text"].as_str().unwrap());
    assert!(slice(part(header, "span")).starts_with("<!-- WARNING: "));
    assert!(slice(part(header, "span")).ends_with("<!-- /erk:metadata-block:plan-header -->"));
    let (first, last) = part(header, "lines");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[first - 1].starts_with("<!-- WARNING: "));
    assert_eq!(lines[last - 1], "<!-- /erk:metadata-block:plan-header -->");
}

#[test]
fn diagnostics_are_exit_code_1() {
    let text = "Hello.\n\n<!-- erk:metadata-block:plan-header -->\n```yaml\n- a\n```\n<!-- /erk:metadata-block -->\n<!-- erk:metadata-block:open -->\n";
    let output = blocks(&["-"], text.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(err(&output), "error: -: 2 unusable blocks\n");
    let found: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(found["blocks"][0]["kind"], "raw");
    assert_eq!(found["blocks"][0]["text"], "```yaml\n- a\n```");
    assert_eq!(found["diagnostics"][0]["line"], 3);
    assert_eq!(
        found["diagnostics"][0]["message"],
        "YAML content is not a dict, got list"
    );
    assert_eq!(
        found["diagnostics"][0]["remedy"],
        "write one `name: value` on each line between the fences"
    );
    assert_eq!(found["diagnostics"][1]["key"], "open");
    assert_eq!(found["diagnostics"][1]["line"], 8);

    let table = blocks(&["-", "--human"], text.as_bytes());
    assert_eq!(table.status.code(), Some(1));
    let table = out(&table);
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert_eq!(
        rows[0],
        "3-7          plan-header                   raw, 15 bytes"
    );
    assert!(
        rows[2].starts_with(
            "8            open                          the block has no closing marker; "
        ),
        "{table}"
    );
}

#[test]
fn a_text_without_blocks_is_fine_and_an_unreadable_one_is_not() {
    let none = blocks(&["-"], b"Just talk.");
    assert_eq!(none.status.code(), Some(0));
    let found: Value = serde_json::from_str(&out(&none)).unwrap();
    assert_eq!(found, json!({"blocks": [], "diagnostics": []}));
    let bytes = blocks(&["-"], b"\xff\xfe");
    assert_eq!(bytes.status.code(), Some(2));
    assert_eq!(
        err(&bytes),
        "error: - is not UTF-8 text: it is UTF-16; save it as UTF-8\n"
    );
    let bytes = blocks(&["-"], b"a\xff");
    assert_eq!(
        err(&bytes),
        "error: - is not UTF-8 text: byte 2 is invalid; save it as UTF-8\n"
    );
    let missing = blocks(&["none.md"], b"");
    assert_eq!(missing.status.code(), Some(2));
    assert!(err(&missing).starts_with("error: cannot read none.md: "));
    assert_eq!(blocks(&[], b"").status.code(), Some(2));
}

#[test]
fn a_key_cannot_steer_the_terminal() {
    let text = "<!-- erk:metadata-block:a\u{1b}[2J -->\n<details><summary>a</summary>\n\nx\n\n</details>\n<!-- /erk:metadata-block -->\n";
    let table = out(&blocks(&["-", "--human"], text.as_bytes()));
    assert!(
        table.contains("a\u{fffd}[2J") && !table.contains('\u{1b}'),
        "{table:?}"
    );
}

#[test]
fn help_names_fields_exit_codes_and_examples() {
    let help = blocks(&["--help"], b"");
    assert_eq!(help.status.code(), Some(0));
    for part in ["JSON fields:", "Exit codes:", "Examples:", "diagnostics"] {
        assert!(out(&help).contains(part), "{part}");
    }
}

#[test]
fn a_text_without_blocks_says_so() {
    let output = blocks(&["--human", "-"], b"Nothing here.\n");
    assert_eq!(
        (output.status.code(), out(&output).as_str()),
        (Some(0), "no blocks\n")
    );
}
