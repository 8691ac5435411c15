//! Tests of `formats::block`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::command;

mod edit;
mod old;
mod swallow;

fn yaml_block(key: &str, body: &str) -> String {
    format!(
        "<!-- erk:metadata-block:{key} -->\n<details>\n<summary><code>{key}</code></summary>\n```yaml\n{body}\n```\n</details>\n<!-- /erk:metadata-block -->"
    )
}

fn fields(block: &Block) -> Value {
    match &block.content {
        Content::Yaml(fields) => Value::Object(fields.clone()),
        other => panic!("{other:?}"),
    }
}

fn text_of(block: &Block) -> &str {
    match &block.content {
        Content::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn messages(text: &str) -> Vec<(String, usize, String)> {
    let found = parse(text).diagnostics.into_iter();
    found
        .map(|found| (found.key, found.line, found.message))
        .collect()
}

#[test]
fn a_yaml_block_is_written_as_erk_writes_it() {
    let fields =
        json!({ "schema_version": "2", "created_at": "2025-11-25T14:37:43+00:00", "pr": null });
    let text = render_yaml("plan-header", fields.as_object().unwrap());
    assert_eq!(
        text,
        "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n\
         <!-- erk:metadata-block:plan-header -->\n<details>\n<summary><code>plan-header</code></summary>\n\n```yaml\n\n\
         schema_version: '2'\ncreated_at: '2025-11-25T14:37:43+00:00'\npr: null\n\n```\n\n</details>\n\
         <!-- /erk:metadata-block:plan-header -->"
    );
    let parsed = parse(&text);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(
        super::tests::fields(find(&parsed, "plan-header").unwrap()),
        fields
    );
    assert_eq!(parsed.blocks[0].span, 0..text.len());
}

#[test]
fn every_era_is_read() {
    let old = yaml_block("k", "a: 1");
    let new = old.replace("<code>", "").replace("</code>", "").replace(
        "<!-- /erk:metadata-block -->",
        "<!-- /erk:metadata-block:k -->",
    );
    let open = new.replace("<details>", "<details open>");
    let bare = "<!-- erk:metadata-block:k -->\n```yaml\na: 1\n```\n<!-- /erk:metadata-block:k -->"
        .to_owned();
    for text in [old.clone(), new, open, bare, old.replace('\n', "\r\n")] {
        let parsed = parse(&text);
        assert_eq!(parsed.diagnostics, [], "{text:?}");
        assert_eq!(fields(&parsed.blocks[0]), json!({ "a": 1 }), "{text:?}");
    }
}

#[test]
fn replacing_takes_the_stacked_warnings_along_and_nothing_else() {
    for (warnings, end) in [(0, "\n"), (1, "\n"), (12, "\n"), (3, "\r\n")] {
        let block = yaml_block("k", "a: 1").replace('\n', end);
        let stack = format!("{WARNING}{end}").repeat(warnings);
        let text = format!(
            "before \\1{end}{end}{stack}{block} after{end}{}",
            yaml_block("k", "second: 1")
        );
        let want = format!(
            "before \\1{end}{end}NEW \\1 $0 after{end}{}",
            yaml_block("k", "second: 1")
        );
        assert_eq!(replace(&text, "k", "NEW \\1 $0").unwrap(), want);
    }
    assert_eq!(replace("nothing", "k", "x"), None);
}

#[test]
fn a_block_in_code_is_text() {
    let block = yaml_block("k", "a: 1");
    let fenced = format!("````\n{block}\n````\n");
    assert_eq!(parse(&fenced), Parsed::default());
    let quoted = format!(
        "- x\n\n  ````\n  {}\n  ````\n\n{block}",
        block.replace('\n', "\n  ")
    );
    assert_eq!(parse(&quoted).blocks.len(), 1);
    assert_eq!(
        parse("`<!-- erk:metadata-block:k -->` and `<!-- /erk:metadata-block -->`"),
        Parsed::default()
    );
}

#[test]
fn a_plan_written_by_erk_is_read_whole_even_when_it_quotes_markers() {
    let frame = |plan: &str| {
        format!(
            "<!-- erk:metadata-block:plan-body -->\n<details>\n<summary><strong>x</strong></summary>\n\n{plan}\n\n</details>\n<!-- /erk:metadata-block:plan-body -->"
        )
    };
    for plan in [
        "# A\n\n</details>\n\nrest",
        "# A\n\n```\n<!-- /erk:metadata-block:plan-body -->\n```\n\nrest",
        "# A\n\n<!-- erk:metadata-block:other -->\n<!-- /erk:metadata-block:other -->\n\nrest",
        "# A\n\n```\nopen fence",
    ] {
        let text = format!("{}\n\n{}", frame(plan), yaml_block("k", "a: 1"));
        let parsed = parse(&text);
        assert_eq!(parsed.blocks[0].content, Content::Text(plan.to_owned()));
        assert_eq!(fields(&parsed.blocks[1]), json!({ "a": 1 }), "{plan:?}");
        assert_eq!(parsed.diagnostics, []);
    }
}

#[test]
fn what_cannot_be_read_is_reported_with_its_place() {
    let says = |text: &str| {
        messages(text)
            .into_iter()
            .map(|(key, line, message)| format!("{key}:{line}: {message}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        says("\n<!-- erk:metadata-block:a -->\nx"),
        ["a:2: the block has no closing marker"]
    );
    assert_eq!(
        says("x\n<!-- /erk:metadata-block:a -->"),
        ["a:2: the closing marker has no opening marker"]
    );
    assert_eq!(
        says("<!-- erk:metadata-block:a\n-->"),
        [":1: the opening marker is not complete"]
    );
    assert_eq!(
        says("<!-- erk:metadata-block:a -->\nfree\n<!-- /erk:metadata-block -->"),
        ["a:1: Body does not match expected <details> structure"]
    );
    assert_eq!(
        says(&yaml_block("a", "- x")),
        ["a:1: YAML content is not a dict, got list"]
    );
    assert_eq!(
        says(&yaml_block("a", "")),
        ["a:1: YAML content is not a dict, got NoneType"]
    );
    assert!(says(&yaml_block("a", "b: [1"))[0].starts_with("a:1: Failed to parse YAML content: "));
}

#[test]
fn an_unclosed_block_does_not_swallow_the_next() {
    let text = format!(
        "<!-- erk:metadata-block:a -->\n\n{}\n{}",
        yaml_block("b", "x: 1"),
        yaml_block("a", "y: 2")
    );
    let parsed = parse(&text);
    assert_eq!(
        parsed
            .blocks
            .iter()
            .map(|block| block.key.as_str())
            .collect::<Vec<_>>(),
        ["b", "a"]
    );
    assert_eq!(
        messages(&text),
        [(
            "a".to_owned(),
            1,
            "the block has no closing marker".to_owned()
        )]
    );
}

#[test]
fn open_fences_in_many_blocks_hide_nothing() {
    let one = "<!-- erk:metadata-block:plan-body -->\n<details>\n<summary>x</summary>\n\n```\nopen\n\n</details>\n<!-- /erk:metadata-block:plan-body -->\n\n";
    assert_eq!(parse(&one.repeat(30)).blocks.len(), 30);
}

/// The bench `blocks` shows that it takes linear time; in quadratic time this would take minutes.
#[test]
fn every_one_of_many_unclosed_openers_is_named() {
    let text = "<!-- erk:metadata-block:plan-body -->\n".repeat(50_000);
    assert_eq!(parse(&text).diagnostics.len(), 50_000);
}

fn piece() -> impl Strategy<Value = String> {
    let pieces: &[&'static str] = &[
        "\n",
        "\r\n",
        "\r",
        " ",
        "  ",
        "\u{200b}",
        "\u{feff}",
        "@bob",
        "@",
        "fixes",
        "Closes",
        ":",
        " #1",
        "GH-1",
        "a/b#2",
        "https://github.com/a/b/issues/3",
        "https://medium.com/@x",
        "/",
        "</details",
        "</details>",
        "</DETAILS  >",
        ">",
        "<!--",
        "<!-- erk:plan-content -->",
        "<!-- /erk:metadata-block:plan-body -->",
        "<!-- erk:metadata-block:plan-body -->",
        "<!-- /erk:metadata-block -->",
        "<!-- planwright:fence-closed -->",
        WARNING,
        "```",
        "~~~~",
        "````md",
        "`",
        "- ",
        "> ",
        "    ",
        "\t",
        "/save-plan",
        "<details>",
        "<summary>x</summary>",
        "# h",
        "é",
        "\0",
        "-",
        "_",
        "*",
    ];
    prop_oneof![
        prop::sample::select(pieces).prop_map(str::to_owned),
        "\\PC{0,4}",
        "[a-z\n]{0,5}"
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn restore_undoes_neutralise(text in text()) {
        prop_assert_eq!(restore(&neutralise(&text)), text);
    }

    #[test]
    fn parse_gives_back_what_render_was_given(text in text(), open in any::<bool>()) {
        let rendered = render_content("plan-body", "x", &text, open);
        let parsed = parse(&rendered);
        prop_assert_eq!(&parsed.diagnostics, &[]);
        prop_assert_eq!(&parsed.blocks[0].content, &Content::Text(text));
        prop_assert_eq!((parsed.blocks.len(), &parsed.blocks[0].span), (1, &(0..rendered.len())));
        prop_assert_eq!(restore(&rendered[parsed.blocks[0].inner.clone()]), text_of(&parsed.blocks[0]));
    }

    #[test]
    fn a_neutralised_text_leaves_no_fence_open_and_no_marker(text in text()) {
        let safe = neutralise(&text);
        prop_assert_eq!(super::frame::open_fence(&safe), None);
        prop_assert_eq!(parse(&safe), Parsed::default());
        prop_assert!(!safe.contains("</details>"));
    }

    #[test]
    fn parsing_anything_gives_spans_in_order(text in text()) {
        let mut at = 0;
        for block in parse(&text).blocks {
            prop_assert!(block.span.start >= at && text.get(block.span.clone()).is_some());
            at = block.span.end;
        }
        let _ = restore(&text);
    }

    #[test]
    fn a_quiet_text_commands_nothing_and_is_no_marker(text in text()) {
        let quiet = quiet(&text);
        prop_assert!(text.contains(['\n', '\r']) || !quiet.contains(['\n', '\r']), "{}", quiet);
        prop_assert_eq!(command::parse(&quiet), []);
        prop_assert_eq!(parse(&quiet), Parsed::default());
        prop_assert_eq!(super::frame::open_fence(&quiet), None);
    }
}
