//! Tests of logs that somebody wrote to use up memory or time.

use super::*;

const PATH: &str = "/home/ada/.claude/plans/p.md";

fn replace_all(id: &str, old: &str, new: &str) -> Value {
    let input =
        json!({ "file_path": PATH, "old_string": old, "new_string": new, "replace_all": true });
    call("2", id, "Edit", &input)
}

fn multi(id: &str, edits: &[Value]) -> Value {
    let input = json!({ "file_path": PATH, "edits": edits });
    call("2", id, "MultiEdit", &input)
}

/// Text and stale edits of the plan.
fn kept(entries: &[Value]) -> (String, u32) {
    let plan = plan(entries);
    (plan.text, plan.stale_edits)
}

#[test]
fn an_edit_that_multiplies_the_text_is_not_made() {
    let text = "a".repeat(1_000_000);
    let first = write("1", "w", "p", &text);
    // The result would have 4 GB, so it must not be built.
    let bomb = replace_all("e", "a", &"b".repeat(4000));
    assert_eq!(kept(&[first.clone(), bomb]), (text.clone(), 1));
    // Both edits are one call; only the first one fits.
    let edits = [
        json!({ "old_string": "a", "new_string": "b", "replace_all": true }),
        json!({ "old_string": "b", "new_string": "bbbb".repeat(1000), "replace_all": true }),
        json!({ "old_string": "b", "new_string": "", "replace_all": true }),
    ];
    assert_eq!(kept(&[first, multi("e", &edits)]), (text, 1));
}

#[test]
fn a_text_may_grow_to_the_limit_and_no_further() {
    let half = "a".repeat(MAX_PLAN_BYTES / 2);
    let first = write("1", "w", "p", &half);
    let (text, stale) = kept(&[first.clone(), replace_all("e", "a", "bb")]);
    assert_eq!((text.len(), stale), (MAX_PLAN_BYTES, 0));
    let half = half + "a";
    let first = write("1", "w", "p", &half);
    assert_eq!(kept(&[first, replace_all("e", "a", "bb")]), (half, 1));
}

#[test]
fn an_id_too_long_to_be_one_is_not_looked_for() {
    let (real, long) = ("i".repeat(256), "i".repeat(257));
    for (id, approved) in [(real, Some(true)), (long, None)] {
        let found = plan(&[exit("1", &id, "text"), answer("2", &id, false, "yes")]);
        assert_eq!((found.text.as_str(), found.approved), ("text", approved));
    }
    // A write without a result counts.
    let long = "i".repeat(257);
    let entries = [
        write("1", &long, "p", "written"),
        answer("2", &long, true, "no"),
    ];
    assert_eq!(text(&entries), "written");
}

#[test]
fn edits_of_a_large_text_end_where_no_real_ones_go() {
    let text = format!("q{}", "x".repeat(MAX_PLAN_BYTES - 1));
    let entries = |rounds: usize| {
        let edits: Vec<_> = (0..2 * rounds)
            .map(|n| match n % 2 {
                0 => json!({ "old_string": "q", "new_string": "r" }),
                _ => json!({ "old_string": "r", "new_string": "q" }),
            })
            .collect();
        [write("1", "w", "p", &text), multi("e", &edits)]
    };
    // An edit reads 1 MiB and writes 1 MiB; all edits together may process 256 MiB.
    assert_eq!(kept(&entries(64)).1, 0);
    assert_eq!(kept(&entries(65)).1, 1);
    // For small plans the limit is out of reach.
    let calls = (0..2000).map(|n| match n % 2 {
        0 => edit("2", &format!("e{n}"), "p", "q", "r"),
        _ => edit("2", &format!("e{n}"), "p", "r", "q"),
    });
    let small = write("1", "w", "p", &format!("q{}", "x".repeat(10_000)));
    let all: Vec<_> = std::iter::once(small).chain(calls).collect();
    assert_eq!(kept(&all).1, 0);
}

#[test]
fn more_edits_than_a_plan_wants_are_not_held() {
    let first = write("1", "w", "p", "q");
    let nothing = json!({ "old_string": "q", "new_string": "q" });
    let edits = vec![nothing; 10_001];
    assert_eq!(kept(&[first.clone(), multi("e", &edits[1..])]).1, 0);
    assert_eq!(kept(&[first.clone(), multi("e", &edits)]).1, 1);
    let large = "q".repeat(5 * MAX_PLAN_BYTES);
    assert_eq!(
        kept(&[first.clone(), edit("2", "e", "p", "q", &large)]).1,
        1
    );
    let edits = [json!({ "old_string": "q", "new_string": large })];
    assert_eq!(kept(&[first, multi("e", &edits)]).1, 1);
}

#[test]
fn an_array_of_a_line_s_length_is_read_like_any_other() {
    let ones = "1,".repeat(200_000);
    let block = exit("1", "a", "text")["message"]["content"][0].to_string();
    let line = format!(
        r#"{{"timestamp":"1","message":{{"content":["ExitPlanMode",{ones}{block},{ones}null]}}}}"#
    );
    assert_eq!(scan(line.as_bytes(), None).plan.unwrap().text, "text");
    let bare = format!(r#"["ExitPlanMode",{ones}null]"#);
    let found = scan(bare.as_bytes(), None);
    assert_eq!((found.plan, found.malformed), (None, vec![1]));
}
