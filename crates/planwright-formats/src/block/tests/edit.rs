//! Tests of changes in place.

use serde_json::json;

use super::super::*;
use super::{fields, yaml_block};

fn rendered() -> String {
    render_yaml("new", json!({ "a": 1 }).as_object().unwrap())
}

#[test]
fn a_block_is_added_before_the_footer() {
    let new = rendered();
    for (text, before, after) in [
        ("", "", ""),
        ("x", "x", ""),
        ("x\n---\n\nfoot", "x", "\n---\n\nfoot"),
        ("a\n---\nb\n---\n\nfoot", "a\n---\nb", "\n---\n\nfoot"),
        // Not a separator: in a fence, behind white space, at the end without a line end.
        ("x\n```\n---\n```\n", "x\n```\n---\n```\n", ""),
        ("x\n ---\n", "x\n ---\n", ""),
        ("x\n---", "x\n---", ""),
        ("x\n---\n```\n---\n```\n", "x", "\n---\n```\n---\n```\n"),
    ] {
        let added = add(text, &new);
        assert_eq!(added, format!("{before}\n\n{new}{after}"), "{text:?}");
        let parsed = parse(&added);
        assert_eq!(
            fields(find(&parsed, "new").unwrap()),
            json!({ "a": 1 }),
            "{text:?}"
        );
    }
}

#[test]
fn a_separator_inside_another_block_is_not_the_footer_s() {
    let plan = plan_body("# A\n\n---\n\nrest");
    let added = add(&plan, &rendered());
    assert_eq!(added, format!("{plan}\n\n{}", rendered()));
}

#[test]
fn a_block_is_not_added_below_an_open_fence() {
    let text = "x\n\n```\nopen\n---\n";
    let added = add(text, &rendered());
    assert_eq!(added, format!("{}\n\n{text}", rendered()));
    assert_eq!(parse(&added).blocks.len(), 1);
}

#[test]
fn crlf_texts_get_crlf_blocks() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let new = crlf(&rendered());
    assert_eq!(
        add("a\r\n---\r\nfoot", &rendered()),
        format!("a\r\n\r\n{new}\r\n---\r\nfoot")
    );
    let text = format!("a\r\n\r\n{}\r\nb", crlf(&yaml_block("k", "a: 1")));
    assert_eq!(
        replace(&text, "k", &rendered()).unwrap(),
        format!("a\r\n\r\n{new}\r\nb")
    );
    // The block itself decides.
    let text = format!("a\r\n\r\n{}", yaml_block("k", "a: 1"));
    assert_eq!(
        replace(&text, "k", &rendered()).unwrap(),
        format!("a\r\n\r\n{}", rendered())
    );
}

#[test]
fn an_update_keeps_what_it_does_not_change() {
    let old = yaml_block(
        "k",
        "zeta: 'x'\nunknown:\n- 1\nwhen: 2025-11-25T16:00:00Z\nalpha: null",
    );
    let text = format!("before\n{old}\nafter");
    let changed = update(&text, "k", |fields| {
        fields.insert("alpha".to_owned(), json!("007"));
        fields.insert("more".to_owned(), json!(true));
    })
    .unwrap();
    assert_eq!(
        changed,
        format!(
            "before\n{WARNING}\n<!-- erk:metadata-block:k -->\n<details>\n<summary><code>k</code></summary>\n\n```yaml\n\n\
             zeta: x\nunknown:\n- 1\nwhen: '2025-11-25T16:00:00Z'\nalpha: '007'\nmore: true\n\n```\n\n</details>\n\
             <!-- /erk:metadata-block:k -->\nafter"
        )
    );
    assert_eq!(update(&text, "k", |_| ()).unwrap(), text);
    let reordered = update(&changed, "k", |fields| {
        let zeta = fields.shift_remove("zeta").unwrap();
        fields.insert("zeta".to_owned(), zeta);
    });
    assert!(reordered.unwrap().contains("more: true\nzeta: x\n"));
}

#[test]
fn a_block_that_cannot_be_read_is_never_overwritten() {
    let says = |text: &str| {
        let done = update(text, "k", |fields| {
            fields.insert("x".to_owned(), json!(1));
        });
        done.unwrap_err().to_string()
    };
    assert_eq!(
        says("x"),
        "Metadata block 'k' not found in body: add one first"
    );
    assert_eq!(
        says(&plan_body("x").replace("plan-body", "k")),
        "Metadata block 'k' contains text and has no fields: replace it as a whole"
    );
    assert_eq!(
        says("\n<!-- erk:metadata-block:k -->\n"),
        "Metadata block 'k' cannot be read and was left as it is: line 2: the block has no closing marker; write \
         `<!-- /erk:metadata-block:KEY -->` with its key on a line of its own below the block"
    );
    assert_eq!(
        says(&yaml_block("k", "- x")),
        "Metadata block 'k' cannot be read and was left as it is: line 1: YAML content is not a dict, got list; write one \
         `name: value` on each line between the fences"
    );
    assert!(says(&yaml_block("k", "a: [")).contains("line 1: Failed to parse YAML content: "));
    // The first block counts, even where a good one follows.
    let twice = format!("{}\n\n{}", yaml_block("k", "- x"), yaml_block("k", "a: 1"));
    assert!(says(&twice).contains("is not a dict"));
}
