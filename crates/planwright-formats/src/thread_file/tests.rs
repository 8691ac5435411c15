//! Tests of `formats::thread_file`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

fn post(author: &str, created: Option<&str>, body: &str) -> FilePost {
    FilePost {
        author: author.to_owned(),
        created: created.map(str::to_owned),
        body: body.to_owned(),
        ..FilePost::default()
    }
}

#[test]
fn posts_keep_their_text() {
    let text = "Title: Export as CSV\n\n--- @alice 2026-01-02T10:00:00Z\n\n  indented\n\n---\n\nmore\n\n--- @my-bot[bot]\n\
        \\--- @alice\n\\\\--- @alice\n\\other\n--- not a separator\n";
    assert_eq!(
        parse(text).unwrap(),
        ThreadFile {
            title: "Export as CSV".to_owned(),
            pull_request: false,
            labels: BTreeMap::new(),
            posts: vec![
                post(
                    "alice",
                    Some("2026-01-02T10:00:00Z"),
                    "  indented\n\n---\n\nmore"
                ),
                post(
                    "my-bot[bot]",
                    None,
                    "--- @alice\n\\--- @alice\n\\other\n--- not a separator"
                ),
            ],
        }
    );
}

#[test]
fn a_plain_file_is_one_post_byte_for_byte() {
    let text = "\n# Plan: Add CSV\n\n---\ntitle: x\r\n\n";
    let read = parse(text).unwrap();
    assert_eq!(read.title, "Add CSV");
    assert_eq!(read.posts, [post(UNKNOWN_AUTHOR, None, text)]);
    assert_eq!(
        parse("title: x").unwrap().posts,
        [post(UNKNOWN_AUTHOR, None, "title: x")]
    );
    assert_eq!(parse("```\nx\n```").unwrap().title, "Untitled conversation");
}

#[test]
fn the_title_may_be_left_out_and_posts_may_be_empty() {
    let read = parse("--- @a\n# Add CSV\n--- @b\n\n--- @c\n/save-plan\n").unwrap();
    assert_eq!(read.title, "Add CSV");
    assert_eq!(read.posts[1], post("b", None, ""));
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    for (text, message) in [
        (
            " \n\n",
            "the file is empty; write a comment, or posts that each begin with a line like `--- @alice`",
        ),
        (
            "title: x\nstray\n--- @a\nb",
            "line 2: above the first `--- @login` line there may only be lines like `title: …`; move this text below \
             a line like `--- @alice`",
        ),
        (
            "--- @a yesterday\nb",
            "line 1: `yesterday` is not a time; write it like `2026-01-02T10:00:00Z` or leave it out",
        ),
        (
            "--- @a\nb\n--- @c 2026-01-02T10:00:00Z id=x\nd",
            "line 3: `id=x` is not an attribute of a post; use `association=NAME`, `id=NUMBER`, \
             `edited=TIME`, `hidden=REASON` and reactions like `+1=2`",
        ),
        (
            "kind: discussion\n--- @a\nb",
            "line 1: `kind` is `issue` or `pull request`",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn posts_have_attributes_and_the_head_has_labels() {
    let text = "title: CSV\nkind: pull request\nlanguage: de\nexpect: plan\nexpect-post: 2\n\
        --- @a 2026-01-02T10:00:00Z association=OWNER +1=3 -1=1\nx\n\
        --- @b id=1042 edited=2026-01-02T11:00:00Z hidden=spam\ny\n";
    let read = parse(text).unwrap();
    assert!(read.pull_request);
    let labels: Vec<(&str, &str)> = read
        .labels
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        labels,
        [("expect", "plan"), ("expect-post", "2"), ("language", "de")]
    );
    let (first, second) = (&read.posts[0], &read.posts[1]);
    assert_eq!(first.association.as_deref(), Some("OWNER"));
    assert_eq!(first.reactions.get("+1"), Some(&3));
    assert_eq!(first.reactions.get("-1"), Some(&1));
    assert_eq!(second.id, Some(1042));
    assert_eq!(second.edited.as_deref(), Some("2026-01-02T11:00:00Z"));
    assert_eq!(second.hidden.as_deref(), Some("spam"));
}
