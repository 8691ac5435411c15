//! Saved plans of all versions, as saved and after people have edited them.

use planwright::engine::steps::publish::comments;
use planwright::formats::block::PlanForm;
use planwright::formats::plan::document::{Enrichment, wrap};
use planwright::formats::plan::stored::{StoredComment, StoredForm, StoredPage, StoredPlan, read};
use planwright::formats::{block, thread_file};

/// Id of the first comment of a fixture.
const FIRST: u64 = 101;

fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/stored/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The plan that every fixture holds.
fn plan() -> String {
    fixture("plan.md").trim_end().to_owned()
}

fn page(name: &str) -> StoredPage {
    let file = thread_file::parse(&fixture(name)).unwrap();
    let mut posts = file.posts.into_iter();
    let opening = posts.next().unwrap();
    StoredPage {
        title: file.title,
        author: Some(opening.author),
        body: opening.body,
        pull_request: name.starts_with("pull-"),
        comments: (FIRST..)
            .zip(posts)
            .map(|(id, post)| StoredComment {
                id,
                author: Some(post.author),
                body: post.body,
            })
            .collect(),
    }
}

/// What is odd, one line each.
fn odd(found: &StoredPlan) -> Vec<String> {
    found.findings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn assert_reads(page: &StoredPage, source: StoredForm, comments: &[u64], findings: &[&str]) {
    let found = read(page).unwrap();
    assert_eq!(found.plan, plan());
    assert_eq!(found.document, plan());
    assert_eq!(found.form, source);
    assert_eq!(found.comments, comments);
    assert_eq!(odd(&found), findings);
}

#[track_caller]
fn assert_refuses(page: &StoredPage, message: &str) {
    assert_eq!(read(page).unwrap_err().to_string(), message);
}

/// One comment edited: every `from` in it becomes `to`.
#[track_caller]
fn edit(page: &mut StoredPage, comment: usize, from: &str, to: &str) {
    let body = &mut page.comments[comment].body;
    assert!(body.contains(from), "nothing to edit: {from}");
    *body = body.replace(from, to);
}

const NO_HEADER: &str = "the body: there is no plan-header";

#[test]
fn every_era_is_read() {
    for (name, source, comments, findings) in [
        (
            "whole-body.md",
            StoredForm::WholeBody,
            &[][..],
            &[
                NO_HEADER,
                "the body: there is no plan block: the whole body was used as the plan, as the first erk releases stored it",
            ][..],
        ),
        ("plan-content.md", StoredForm::PlanContent, &[101], &[]),
        ("body-block.md", StoredForm::BodyBlock, &[], &[NO_HEADER]),
        ("plan-body.md", StoredForm::PlanBody, &[102], &[]),
        ("pull-original-plan.md", StoredForm::OriginalPlan, &[], &[]),
        ("pull-behind-header.md", StoredForm::BehindHeader, &[], &[]),
    ] {
        println!("{name}");
        assert_reads(&page(name), source, comments, findings);
    }
    let found = read(&page("plan-body.md")).unwrap();
    assert_eq!(found.title, "[erk-plan] Rotate the access logs");
    let header = found.header.unwrap();
    assert_eq!(header["created_by"], "nadia-p");
    assert_eq!(header["lifecycle_stage"], "planned");
}

#[test]
fn a_browser_that_turns_line_ends_into_crlf_changes_no_plan() {
    let browser = |text: &mut String| *text = text.replace('\n', "\r\n");
    let note = |place: &str| {
        format!(
            "{place}: its line endings are CRLF, as after an edit in a browser; the plan was read with LF"
        )
    };
    for name in ["plan-content.md", "plan-body.md"] {
        let mut page = page(name);
        browser(&mut page.body);
        let at = page
            .comments
            .iter()
            .position(|one| one.body.contains("erk:"));
        let at = at.unwrap();
        browser(&mut page.comments[at].body);
        let found = read(&page).unwrap();
        assert_eq!(found.plan, plan(), "{name}");
        let place = format!("comment {}", page.comments[at].id);
        assert_eq!(odd(&found), [note(&place)], "{name}");
        assert!(found.header.is_some());
    }
    for name in ["body-block.md", "pull-original-plan.md"] {
        let mut page = page(name);
        browser(&mut page.body);
        let found = read(&page).unwrap();
        assert_eq!(found.plan, plan(), "{name}");
        assert_eq!(*odd(&found).last().unwrap(), note("the body"), "{name}");
    }
}

#[test]
fn stacked_warning_lines_are_no_trouble() {
    let mut page = page("plan-body.md");
    page.body = format!("{0}\n{0}\n{0}\n{1}", block::WARNING, page.body);
    let body = &mut page.comments[1].body;
    *body = format!("{0}\n{0}\n{body}", block::WARNING);
    assert_reads(&page, StoredForm::PlanBody, &[102], &[]);
}

#[test]
fn a_lost_header_does_not_lose_the_plan() {
    let mut page = page("plan-body.md");
    page.body = "Somebody has tidied up here.".to_owned();
    assert_reads(&page, StoredForm::PlanBody, &[102], &[NO_HEADER]);
}

#[test]
fn a_broken_header_is_told_with_its_line() {
    let mut page = page("plan-body.md");
    page.body = page
        .body
        .replace("created_by: nadia-p", "created_by: [nadia-p");
    let found = read(&page).unwrap();
    assert_eq!((found.plan, found.header), (plan(), None));
    let [finding] = found.findings.as_slice() else {
        panic!("{:?}", found.findings)
    };
    assert_eq!(finding.line, Some(2));
    let start = "the plan-header cannot be read: Failed to parse YAML content: ";
    assert!(finding.message.starts_with(start), "{}", finding.message);
}

#[test]
fn a_header_field_of_the_wrong_type_is_told() {
    let mut page = page("plan-body.md");
    page.body = page
        .body
        .replace("plan_comment_id: 102", "plan_comment_id: the second");
    assert_reads(
        &page,
        StoredForm::PlanBody,
        &[102],
        &[
            "the body: plan_comment_id in the plan-header is \"the second\", which is not a comment id; the comments were searched instead",
        ],
    );
    page.body = page.body.replace("the second", "'102'");
    assert_reads(&page, StoredForm::PlanBody, &[102], &[]);
    page.body = page
        .body
        .replace("created_by: nadia-p", "created_by: [nadia-p]");
    assert_reads(
        &page,
        StoredForm::PlanBody,
        &[102],
        &["the body: plan-header: created_by must be a string"],
    );
}

#[test]
fn two_headers_are_told_and_the_first_counts() {
    let mut page = page("plan-body.md");
    let second = page.body.replace("nadia-p", "tom-b").replace("102", "101");
    page.body = format!("{}\n\n{second}", page.body);
    assert_reads(
        &page,
        StoredForm::PlanBody,
        &[102],
        &["the body: there are 2 plan-headers; the first one counts"],
    );
    assert_eq!(
        read(&page).unwrap().header.unwrap()["created_by"],
        "nadia-p"
    );
}

#[test]
fn a_deleted_comment_is_looked_for_elsewhere_and_then_told() {
    let mut page = page("plan-body.md");
    let copy = page.comments[1].body.clone();
    page.comments.remove(1);
    assert_refuses(
        &page,
        "the plan-header names comment 102 as the plan, but that comment is gone or empty, and no other one contains a plan: save the plan again",
    );
    page.comments.push(StoredComment {
        id: 120,
        author: page.author.clone(),
        body: copy,
    });
    assert_reads(
        &page,
        StoredForm::PlanBody,
        &[120],
        &["the body: the plan-header names comment 102, which no longer exists"],
    );
    let mut emptied = self::page("plan-body.md");
    emptied.comments[1].body = "Never mind.".to_owned();
    emptied.comments.push(page.comments.pop().unwrap());
    assert_reads(
        &emptied,
        StoredForm::PlanBody,
        &[120],
        &[
            "comment 102: the plan-header names this comment, but it no longer contains a plan block",
        ],
    );
    page.body = page
        .body
        .replace("plan_comment_id: 102", "plan_comment_id: null");
    assert_refuses(
        &page,
        "there is a plan-header but no plan: the save was interrupted; comment `/retry` where the plan was requested, or save it again",
    );
}

#[test]
fn a_deleted_closing_marker_is_told_with_its_line() {
    for (name, at, closer, line) in [
        (
            "plan-body.md",
            1,
            "<!-- /erk:metadata-block:plan-body -->",
            2,
        ),
        ("plan-content.md", 0, "<!-- /erk:plan-content -->", 1),
    ] {
        let mut page = page(name);
        edit(&mut page, at, closer, "");
        let id = page.comments[at].id;
        let message = read(&page).unwrap_err().to_string();
        let start = format!(
            "the plan block in comment {id} is broken: line {line}: the block has no closing marker; "
        );
        assert!(message.starts_with(&start), "{message}");
        assert!(
            message.ends_with(", or restore the text from the edit history"),
            "{message}"
        );
    }
    // Only the closing tag is gone.
    let mut page = page("plan-body.md");
    edit(&mut page, 1, "\n</details>\n", "\n");
    let message = read(&page).unwrap_err().to_string();
    let start = "the plan block in comment 102 is broken: line 2: Body does not match expected <details> structure; ";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn an_emptied_block_is_no_plan() {
    let mut page = page("plan-body.md");
    edit(&mut page, 1, &plan(), "");
    assert_refuses(
        &page,
        "the plan block in comment 102 is broken: line 1: there is nothing in the block, or restore the text from the edit history",
    );
}

#[test]
fn an_ordinary_issue_holds_no_plan() {
    let page = StoredPage {
        title: "Login fails".to_owned(),
        author: Some("tom-b".to_owned()),
        body: "It says 500.".to_owned(),
        ..StoredPage::default()
    };
    let message = read(&page).unwrap_err().to_string();
    assert!(message.starts_with("there is no plan here: neither the body nor any comment contains a plan block, and the body is not a plan by itself: "), "{message}");
    assert!(
        message.ends_with("; `planwright plan list OWNER/REPO` shows where plans are"),
        "{message}"
    );
    let mut other = self::page("plan-body.md");
    other.comments.clear();
    other.body = other.body.replace("plan-header", "submission-queued");
    assert_refuses(
        &other,
        "there is no plan here: neither the body nor any comment contains a plan block, and the body contains blocks, but none with a plan; `planwright plan list OWNER/REPO` shows where plans are",
    );
}

#[test]
fn the_authors_plan_wins_over_a_strangers() {
    // A stranger is first, and there is no name to go by.
    let mut page = page("plan-body.md");
    page.body = page.body.replace("plan_comment_id: 102\n", "");
    page.comments[0].body = page.comments[1].body.replace("fourteen days", "no days");
    assert_reads(
        &page,
        StoredForm::PlanBody,
        &[102],
        &["comment 101: contains another plan, by tom-b, which was ignored"],
    );
    // Only the stranger's is left.
    let mut alone = page.clone();
    alone.comments.remove(1);
    let found = read(&alone).unwrap();
    assert!(found.plan.contains("no days"));
    assert_eq!(
        odd(&found),
        [
            "comment 101: the plan is by tom-b, the issue is by nadia-p: check that this is the right plan"
        ]
    );
    // A plan in the body is the author's.
    let mut body = self::page("pull-original-plan.md");
    body.comments[0].body.clone_from(&page.comments[0].body);
    let found = read(&body).unwrap();
    assert_eq!((found.form, found.plan), (StoredForm::OriginalPlan, plan()));
    // A broken block of a stranger is nothing.
    let mut broken = page;
    edit(&mut broken, 0, "<!-- /erk:metadata-block:plan-body -->", "");
    assert_reads(&broken, StoredForm::PlanBody, &[102], &[]);
}

/// A page as planwright leaves it, and its document.
fn ours(plan: &str) -> (StoredPage, String) {
    let document = wrap("Rotate the access logs", &Enrichment::raw(), plan);
    let bodies = comments(&document, PlanForm::Folded);
    let bot = Some("planwright[bot]".to_owned());
    let mut page = page("plan-body.md");
    page.author.clone_from(&bot);
    page.body = page.body.replace("102", "500");
    page.comments.truncate(1);
    page.comments
        .extend((500..).zip(bodies).map(|(id, body)| StoredComment {
            id,
            author: bot.clone(),
            body,
        }));
    (page, document)
}

/// Plans that try to break the frame, and one for many comments.
fn hard_plans() -> Vec<String> {
    let long: Vec<String> = (1..=2_600)
        .map(|step| format!("### Step {step}\n\nAsk @ada, fixes #{step}.\n\n```rust\nfn part_{step}() {{}}\n```\n\n"))
        .collect();
    let long = long.concat();
    let frames = fixture("plan-body.md") + &fixture("pull-original-plan.md");
    let markers = comments(&long, PlanForm::Folded).join("\n");
    vec![
        plan(),
        String::from("\r\n  x\r\n\r\n"),
        "</details>\n<!-- /erk:metadata-block:plan-body -->\n```\nopen".to_owned(),
        "part 2/3\n\n<!-- planwright:cut -->".to_owned(),
        frames.clone(),
        long.clone(),
        [frames, markers].concat().repeat(2),
        "word ".repeat(40_000),
        "\n".repeat(140_000) + "end",
        "`".repeat(70_000),
    ]
}

#[test]
fn what_planwright_saves_comes_back_byte_for_byte() {
    let mut most = 0;
    for plan in hard_plans() {
        let (page, document) = ours(&plan);
        let found = read(&page).unwrap();
        assert!(found.plan == plan, "{:?}", &plan[..plan.len().min(60)]);
        assert!(found.document == document);
        assert_eq!(odd(&found), [""; 0]);
        assert_eq!(found.comments.len(), page.comments.len() - 1);
        most = most.max(found.comments.len());
    }
    assert!(most > 5, "{most}");
}

/// A plan of three parts: comments 500 to 502, in places 1 to 3.
fn three_parts() -> (StoredPage, String) {
    let steps: Vec<String> = (1..=2_000)
        .map(|step| format!("## Step {step}\n\nWrite `part_{step}`, run it, and look at the result with care.\n\n"))
        .collect();
    let plan = steps.concat();
    let (page, _) = ours(&plan);
    assert_eq!(page.comments.len(), 4);
    (page, plan)
}

#[test]
fn parts_in_any_order_with_chat_between_are_put_together() {
    let (mut page, plan) = three_parts();
    page.comments.swap(2, 3);
    let chat = page.comments[0].clone();
    page.comments.insert(2, chat);
    let found = read(&page).unwrap();
    assert!(found.plan == plan);
    assert_eq!(found.comments, [500, 501, 502]);
    assert_eq!(
        odd(&found),
        [
            "comment 500: the parts of the plan are not in the order of their numbers; they were joined by number"
        ]
    );
}

#[test]
fn a_missing_part_is_told_with_what_became_of_it() {
    let missing = "the plan has 3 parts, and part 2 is missing";
    let remedy = ": restore the comments from their edit history, or save the plan again";
    let (mut page, _) = three_parts();
    let whole = page.clone();
    page.comments.remove(2);
    assert_refuses(&page, &format!("{missing}{remedy}"));
    page.comments.remove(2);
    assert_refuses(
        &page,
        &format!("the plan has 3 parts, and parts 2, 3 are missing{remedy}"),
    );

    // Somebody else offers it.
    page = whole.clone();
    page.comments[2].author = Some("mallory".to_owned());
    assert_refuses(
        &page,
        &format!(
            "{missing} (comment 501 says that it is part 2, but it is by mallory and the plan by planwright[bot]){remedy}"
        ),
    );

    // Its first line was taken away.
    page = whole.clone();
    edit(&mut page, 2, "part 2/3\n", "");
    assert_refuses(
        &page,
        &format!(
            "{missing} (comment 501 contains a plan block, but no line `part i/3` above it){remedy}"
        ),
    );

    // So was that of the first part, which the header names.
    page = whole.clone();
    edit(&mut page, 1, "part 1/3\n", "");
    assert_refuses(
        &page,
        &format!(
            "the plan has 3 parts, and part 1 is missing (comment 500 contains a plan block, but no line `part i/3` above it){remedy}"
        ),
    );

    // Its closing marker.
    page = whole;
    edit(&mut page, 2, "<!-- /erk:metadata-block:plan-body -->", "");
    let message = read(&page).unwrap_err().to_string();
    let start = format!("{missing} (comment 501, line 4: the block has no closing marker; ");
    assert!(message.starts_with(&start), "{message}");
}

#[test]
fn a_part_that_is_there_twice() {
    let (mut page, plan) = three_parts();
    let copy = StoredComment {
        id: 510,
        ..page.comments[2].clone()
    };
    page.comments.push(copy);
    let found = read(&page).unwrap();
    assert!(found.plan == plan);
    assert_eq!(
        odd(&found),
        [
            "comment 510: says that it is part 2 of 3 as well, with the same text; comment 501 was used"
        ]
    );
    edit(&mut page, 4, "look at", "look away from");
    assert_refuses(
        &page,
        "comments 501, 510 all say that they are part 2 of 3, and they differ: delete the wrong ones",
    );
    // The header says which one is the first part.
    let (mut page, plan) = three_parts();
    let mut other = StoredComment {
        id: 400,
        ..page.comments[1].clone()
    };
    other.body = other.body.replace("look at", "look away from");
    page.comments.insert(0, other);
    let found = read(&page).unwrap();
    assert!(found.plan == plan);
    assert_eq!(
        odd(&found),
        [
            "comment 400: says that it is part 1 of 3 as well, with different text; comment 500 was used"
        ]
    );
    // Part of a plan that was cut otherwise.
    let (mut page, _) = three_parts();
    let mut other = page.comments[2].clone();
    other.id = 511;
    other.body = other.body.replace("part 2/3", "part 2/4");
    page.comments.push(other);
    assert_eq!(
        odd(&read(&page).unwrap()),
        ["comment 511: says part 2/4, but the plan has 3 parts; it was ignored"]
    );
}

#[test]
fn a_part_edited_at_its_ends_is_named() {
    let restore = "restore the text from the comment's edit history";
    let (mut page, _) = three_parts();
    edit(&mut page, 2, "<!--  planwright:continued -->\n", "");
    assert_refuses(
        &page,
        &format!(
            "part 2 of 3 (comment 501) was edited by hand: its first line is not the marker that links it to part 1; {restore}"
        ),
    );
    let (mut page, _) = three_parts();
    edit(&mut page, 2, "<!--  planwright:cut -->", "That is all.");
    assert_refuses(
        &page,
        &format!(
            "part 2 of 3 (comment 501) was edited by hand: its last line is not the marker that links it to part 3; {restore}"
        ),
    );
}

#[test]
fn parts_that_a_browser_has_sent_are_exact() {
    let (mut page, plan) = three_parts();
    for index in [1, 3] {
        let body = &mut page.comments[index].body;
        *body = body.replace('\n', "\r\n");
    }
    let found = read(&page).unwrap();
    assert!(found.plan == plan);
    assert_eq!(odd(&found).len(), 2);
}

#[test]
fn a_whole_plan_is_never_put_together_from_another_plans_parts() {
    let (mut page, _) = three_parts();
    let parts = page.comments.split_off(1);
    let whole = StoredComment {
        id: 500,
        author: parts[0].author.clone(),
        body: block::plan_body("# Plan A\n\n- a step"),
    };
    let others: Vec<StoredComment> = (600..)
        .zip(&parts)
        .map(|(id, part)| StoredComment { id, ..part.clone() })
        .collect();
    let not_taken = |id: u64| {
        format!("comment {id}: contains another plan, by planwright[bot], which was ignored")
    };
    // All of the other plan, or an orphan of it.
    for others in [&others[..], &others[1..2]] {
        page.comments = [std::slice::from_ref(&whole), others].concat();
        let found = read(&page).unwrap();
        assert_eq!(found.document, "# Plan A\n\n- a step");
        assert_eq!(found.comments, [500]);
        let notes: Vec<String> = others.iter().map(|one| not_taken(one.id)).collect();
        assert_eq!(odd(&found), notes);
    }
    // The named comment is a part, but says no longer which; all parts of a copy are there.
    page.comments = [&parts[..], &others[..]].concat();
    edit(&mut page, 0, "part 1/3\n", "");
    page.comments.drain(1..3);
    assert_refuses(
        &page,
        "comment 500 contains a part of a longer plan without a line `part i/n` above it, and all 3 numbered parts exist already: restore that line from the comment's edit history, or save the plan again",
    );
    // A plan that ends as a part does is whole where there are no parts.
    page.comments = vec![StoredComment {
        body: block::plan_body("# A\n\n<!-- planwright:cut -->"),
        ..whole
    }];
    assert_eq!(
        read(&page).unwrap().document,
        "# A\n\n<!-- planwright:cut -->"
    );
}

#[test]
fn a_plan_that_lost_its_end_does_not_swallow_what_follows() {
    let mut page = page("pull-original-plan.md");
    let header = self::page("plan-body.md").body;
    let open = "<details>\n<summary>original-plan</summary>\n\n# P\n\n- a\n\n";
    page.body = format!("{open}{header}");
    assert_refuses(
        &page,
        "the plan block in the body is broken: line 1: the plan's `<details>` is not closed; write `</details>` on a line of its own below the plan, or restore the text from the edit history",
    );
    assert!(
        planwright::formats::plan::stored::header(&page.body)
            .fields
            .is_some()
    );

    // Two plans in one comment, and the first one has lost its closing marker: which of them counts
    // is anybody's guess.
    let mut page = self::page("plan-body.md");
    let closer = "<!-- /erk:metadata-block:plan-body -->";
    let first = page.comments[1].body.replace(closer, "");
    page.comments[1].body = format!("{first}\n{}", block::plan_body("# Second\n\n- b"));
    let message = read(&page).unwrap_err().to_string();
    let start =
        "the plan block in comment 102 is broken: line 2: the block has no closing marker; ";
    assert!(message.starts_with(start), "{message}");

    // A quoted block does not stand in for the end of the plan around it.
    let mut page = self::page("plan-body.md");
    let quoted = page.comments[1].body.clone();
    edit(
        &mut page,
        1,
        "## Testing",
        &format!("````\n{quoted}\n````\n\n## Testing"),
    );
    assert!(
        read(&page)
            .unwrap()
            .plan
            .ends_with(plan().rsplit_once("## Testing").unwrap().1)
    );
    let end = page.comments[1].body.rfind(closer).unwrap();
    page.comments[1].body.truncate(end);
    let message = read(&page).unwrap_err().to_string();
    assert!(message.starts_with(start), "{message}");
}

/// Pull requests of 18 and 19 February 2026.
#[test]
fn a_plan_behind_a_header_without_a_footer_keeps_what_follows_its_own_rule() {
    let mut page = page("pull-behind-header.md");
    let footer = page.body.rfind("\n---\n").unwrap();
    page.body.truncate(footer);
    page.body.push_str("\n---\n\n## More\n\nThe last part.\n");
    let found = read(&page).unwrap();
    assert_eq!(found.form, StoredForm::BehindHeader);
    assert!(
        found.plan.ends_with("\n---\n\n## More\n\nThe last part."),
        "{}",
        found.plan
    );
}

#[test]
fn a_plan_behind_a_header_is_read_after_an_edit_in_a_browser() {
    let mut page = page("pull-behind-header.md");
    page.body = page.body.replace('\n', "\r\n");
    assert_reads(
        &page,
        StoredForm::BehindHeader,
        &[],
        &[
            "the body: its line endings are CRLF, as after an edit in a browser; the plan was read with LF",
        ],
    );
}

#[test]
fn hostile_numbers_cost_nothing() {
    let (mut page, plan) = ours("# One\n\nShort.");
    for (id, line) in [
        (600, "part 9999/9999"),
        (601, "part 0/0"),
        (602, "part 5/3"),
    ] {
        let mut comment = page.comments[1].clone();
        comment.id = id;
        comment.author = Some("mallory".to_owned());
        comment.body = format!("{line}\n\n{}", comment.body);
        page.comments.push(comment);
    }
    let found = read(&page).unwrap();
    assert_eq!(found.document, plan);
    assert_eq!(found.findings.len(), 3, "{:?}", found.findings);
    page.comments[1].body = format!("part 9999/9999\n\n{}", page.comments[1].body);
    let message = read(&page).unwrap_err().to_string();
    let start = "the plan has 9999 parts, and parts 1, 2, 3, 4, 5, 6 are missing";
    assert!(message.starts_with(start), "{message}");
}
