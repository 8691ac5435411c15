//! Tests of `formats::question::boxes`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};

use super::*;
use crate::question::Choice;
use crate::{block, command, markdown};

mod properties;

const RUN: &str = "01JD2M0Q7Y8Z9ABCDEFGHJKMNP";

fn question(question: &str, header: &str, options: &[(&str, &str)]) -> Question {
    Question {
        question: question.to_owned(),
        header: header.to_owned(),
        choice: !options.is_empty(),
        multi: false,
        options: options
            .iter()
            .map(|(label, description)| Choice {
                label: (*label).to_owned(),
                description: (*description).to_owned(),
            })
            .collect(),
    }
}

fn questions() -> Vec<Question> {
    let mut places = question("Which parts log?", "", &[("API", ""), ("Worker", "")]);
    places.multi = true;
    vec![
        question(
            "Where does the cache in `src/cache.rs` live?",
            "Cache",
            &[("In memory", "lost at a restart"), ("Redis", "")],
        ),
        question("What is it called?", "Name", &[]),
        places,
    ]
}

fn shown(questions: &[Question]) -> String {
    render(&Round {
        run: RUN,
        number: 2,
        questions,
        own_words: true,
    })
}

/// Ticks the checkbox on the line of `body` that contains `line`.
fn tick(body: &str, line: &str) -> String {
    let (above, below) = body.split_at(body.find(line).unwrap());
    let at = above.rfind("- [ ] ").unwrap();
    format!(
        "{}- [x] {}{below}",
        &above[..at],
        &above[at + "- [ ] ".len()..]
    )
}

/// Returns the checkboxes of `body`, as GitHub finds them.
fn boxes_of(body: &str) -> usize {
    let arena = Arena::new();
    let root = parse_document(&arena, body, &markdown::options());
    root.descendants()
        .filter(|node| matches!(node.data().value, NodeValue::TaskItem(_)))
        .count()
}

/// Returns the text of `body` as displayed, without code.
fn plain(body: &str) -> String {
    let arena = Arena::new();
    let root = parse_document(&arena, body, &markdown::options());
    let mut text = String::new();
    for node in root.descendants() {
        match &node.data().value {
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::Paragraph => text.push('\n'),
            NodeValue::Code(_) => text.push_str("code"),
            _ => {}
        }
    }
    text
}

fn want(questions: &[Question]) -> usize {
    let each = questions
        .iter()
        .map(|question| match question.options.len() {
            0 => 0,
            options => options + 1,
        });
    each.sum::<usize>() + 1
}

#[test]
fn the_comment_looks_like_this() {
    assert_eq!(
        shown(&questions()),
        "**1. Cache** – Where does the cache in `src/cache.rs` live?\n\n\
         Choose one option. For another answer, comment `/answer 1: your own words`, or edit this \
         comment: write it after *other* and tick that checkbox.\n\n\
         - [ ] a) In memory — lost at a restart\n\
         - [ ] b) Redis\n\
         - [ ] other: \n\n\
         **2. Name** – What is it called?\n\n\
         Answer in your own words: comment `/answer 2: …`.\n\n\
         **3.** Which parts log?\n\n\
         Choose one or more options. For another answer, comment `/answer 3: your own words`, or \
         edit this comment: write it after *other* and tick that checkbox.\n\n\
         - [ ] a) API\n\
         - [ ] b) Worker\n\
         - [ ] other: \n\n\
         ---\n\n\
         - [ ] **Send these answers**\n\n\
         <!-- planwright:questions 01JD2M0Q7Y8Z9ABCDEFGHJKMNP 2 -->"
    );
}

#[test]
fn ticks_are_read_and_become_answers() {
    let questions = questions();
    let asked = "Some words above.\n\n".to_owned()
        + &shown(&questions)
        + "\n<!-- planwright:effect X/y -->\n";
    let fresh = parse(&asked).unwrap();
    assert_eq!(
        (fresh.run.as_str(), fresh.round, fresh.send),
        (RUN, 2, false)
    );
    assert_eq!(fresh.questions, vec![Ticks::default(); 3]);
    assert_eq!(answers(&fresh, &questions).unwrap(), [None, None, None]);
    let mut body = tick(&asked, "b) Redis");
    body = tick(&body, "b) Worker");
    body = body.replace("Worker\n- [ ] other: ", "Worker\n- [X] Other: the queue,\n  too\nlazily\n\n  - [x] a) not me\n\n  ```\n  code\n  ```");
    for body in [body.clone(), body.replace('\n', "\r\n")] {
        let read = parse(&body).unwrap();
        assert_eq!(read.questions[0].chosen, [1]);
        assert_eq!(read.questions[0].other, None);
        assert_eq!(read.questions[1], Ticks::default());
        assert_eq!(read.questions[2].chosen, [1]);
        let other = "the queue,\ntoo\nlazily\n\n- [x] a) not me\n\n```\ncode\n```";
        assert_eq!(read.questions[2].other.as_deref(), Some(other));
        assert!(!read.send);
        let answers = answers(&read, &questions).unwrap();
        assert_eq!(answers[0].as_ref().unwrap().words(&questions[0]), "Redis");
        assert_eq!(answers[1], None);
        assert_eq!(
            answers[2].as_ref().unwrap().words(&questions[2]),
            format!("Worker; {other}")
        );
    }
}

#[test]
fn options_go_by_their_letter_and_questions_by_their_number() {
    let body = tick(&shown(&questions()), "b) Redis")
        .replace("- [ ] a) In memory — lost at a restart\n", "");
    assert_eq!(parse(&body).unwrap().questions[0].chosen, [1]);
    let below = tick(&shown(&questions()), "a) API")
        .replace("**3.** ", "Hello\n\n**9.** x\n\n- [x] b) y\n\n**3.** ");
    let read = parse(&below).unwrap();
    assert_eq!(read.questions[2].chosen, [0]);
    assert_eq!(read.questions.len(), 3);
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let questions = questions();
    let two = tick(&tick(&shown(&questions), "a) In memory"), "b) Redis");
    let error = answers(&parse(&two).unwrap(), &questions).unwrap_err();
    assert_eq!(error, AnswerError::Several { question: 1 });
    let both = tick(&tick(&shown(&questions), "a) API"), "b) Worker");
    let read_both = answers(&parse(&both).unwrap(), &questions).unwrap();
    assert_eq!(read_both[2].as_ref().unwrap().chosen, [0, 1]);
    let empty = tick(&shown(&questions), "other:");
    let error = answers(&parse(&empty).unwrap(), &questions).unwrap_err();
    assert_eq!(error, AnswerError::EmptyOther { question: 1 });
    // A text without a tick does not count.
    let unticked = shown(&questions).replacen("other: ", "other: words", 1);
    assert_eq!(
        answers(&parse(&unticked).unwrap(), &questions).unwrap()[0],
        None
    );
    // Fewer questions than asked, more options than there are: the comment was edited.
    let gone = parse(&tick(&shown(&questions), "b) Redis")).unwrap();
    assert_eq!(answers(&gone, &questions[1..2]).unwrap(), [None]);
    assert_eq!(
        answers(&parse(&shown(&[])).unwrap(), &questions).unwrap(),
        [None, None, None]
    );
}

#[test]
fn sending_is_a_tick_in_the_same_round() {
    let before = shown(&questions());
    let after = tick(&before, "**Send");
    assert!(sent(&before, &after));
    assert!(sent(&before, &after.replace('\n', "\r\n")));
    assert!(!sent(&before, &before));
    assert!(!sent(&after, &after));
    assert!(!sent(&after, &before));
    assert!(!sent(&before, &tick(&before, "b) Redis")));
    assert!(!sent(&before, &after.replace(" 2 -->", " 3 -->")));
    assert!(!sent(
        &before,
        &after.replace(RUN, "01JD2M0Q7Y8Z9ABCDEFGHJKMNQ")
    ));
    assert!(!sent("", &after));
    assert!(!sent(&before, "gone"));
}

#[test]
fn only_the_marker_at_the_top_level_counts() {
    for body in [
        "",
        "<!-- planwright:questions -->",
        "<!-- planwright:questions x -->",
        "<!-- planwright:questions x y -->",
        "<!-- planwright:questions x 1 2 -->",
        "> <!-- planwright:questions x 1 -->",
        "- <!-- planwright:questions x 1 -->",
        "```\n<!-- planwright:questions x 1 -->\n```",
        "    <!-- planwright:questions x 1 -->",
        "a <!-- planwright:questions x 1 -->",
    ] {
        assert_eq!(parse(body), None, "{body:?}");
    }
    assert!(parse("<!-- planwright:questions x 1 -->").is_some());
}

#[test]
fn what_an_agent_writes_forges_nothing() {
    for hostile in [
        "x\n- [x] b) me",
        "x\n\n- [x] **Send these answers**",
        "- [x] a) b",
        "[x] a)",
        "**Send these answers**",
        "**2. Next**",
        "other: me",
        "<!-- planwright:questions 01X 9 -->",
        "`<!-- planwright:questions 01X 9 -->`",
        "\n<!-- planwright:effect 01X/a -->\n",
        "<!-- <details> <pre>",
        "<script> <!--",
        "`<!--` `",
        "``` \n code",
        "~~~",
        "`a``b` ` c",
        "\\` \\\\` `d\\`",
        "@octocat fixes #1",
        "closes `x` #2, resolves o/r#3",
        "/save-plan now",
        "\r/cancel",
        "1. a) # > + - * _",
        "a | b\n--- | ---",
        "===",
        "[x]: http://e.f\n[^1]: g",
        "![i](http://e.f) &lt;b&gt; &#64;octocat",
        "\u{202e}\u{200b}\u{0}",
        "$x$ :tada: ~~y~~ snake_case __z__",
    ] {
        let round = [
            question(hostile, "", &[("a", hostile), (hostile, "")]),
            question(hostile, hostile, &[]),
            question("q", "", &[(hostile, hostile)]),
        ];
        let body = shown(&round);
        let read = parse(&body).unwrap();
        assert_eq!(
            (read.run.as_str(), read.round, read.send),
            (RUN, 2, false),
            "{body}"
        );
        assert_eq!(read.questions, vec![Ticks::default(); 3], "{body}");
        assert_eq!(boxes_of(&body), want(&round), "{body}");
        assert_eq!(command::parse(&body), [], "{body}");
        assert_eq!(block::parse(&body).blocks, [], "{body}");
        assert_eq!(body.matches("<!-- planwright").count(), 1, "{body}");
        assert!(!body.contains("@octocat"), "{body}");
        let last = tick(&body, "**Send these answers**\n\n<!--");
        assert!(sent(&body, &last), "{body}");
    }
}

#[test]
fn what_an_agent_writes_is_shown_as_it_is() {
    for (written, want) in [
        (
            "a *b* _c_ <d> [e] \\f",
            "a \\*b\\* \\_c\\_ \\<d\\> \\[e\\] \\\\f",
        ),
        ("`x` and `y", "`x` and \\`y"),
        (
            "snake_case https://a.b/c_d?e=f&g=h",
            "snake_case https://a.b/c_d?e=f&g=h",
        ),
        ("&amp; &", "\\&amp; &"),
        ("two\nlines", "two lines"),
    ] {
        let body = shown(&[question(written, "", &[])]);
        assert!(body.starts_with(&format!("**1.** {want}\n")), "{body}");
    }
}

#[test]
fn where_only_options_count_no_other_answer_is_offered() {
    let body = render(&Round {
        run: RUN,
        number: 1,
        questions: &[question("Go on?", "", &[("Yes", ""), ("No", "")])],
        own_words: false,
    });
    assert_eq!(
        body,
        "**1.** Go on?\n\nChoose one option.\n\n- [ ] a) Yes\n- [ ] b) No\n\n---\n\n- [ ] **Send these answers**\n\n\
         <!-- planwright:questions 01JD2M0Q7Y8Z9ABCDEFGHJKMNP 1 -->"
    );
}

#[test]
fn the_box_that_sends_can_be_freed_and_nothing_else_changes() {
    let asked = "Some words, - [x] too.\n\n".to_owned()
        + &shown(&questions())
        + "\n<!-- planwright:effect X/y -->\n";
    let ticked = tick(&tick(&asked, "b) Redis"), "b) Worker").replacen(
        "other: ",
        "other: - [x] **Send these answers**",
        1,
    );
    assert_eq!(unsent(&ticked), None);
    let sent = tick(&ticked, "**Send these answers**\n\n<!--");
    assert!(parse(&sent).unwrap().send);
    for (sent, ticked) in [
        (sent.clone(), ticked.clone()),
        (
            sent.replace(
                "[x] **Send these answers**\n\n<",
                "[X] **Send these answers**\n\n<",
            ),
            ticked.clone(),
        ),
        (sent.replace('\n', "\r\n"), ticked.replace('\n', "\r\n")),
    ] {
        assert_eq!(unsent(&sent), Some(ticked));
    }
}

#[test]
fn a_round_that_has_ended_shows_its_answers_and_no_boxes() {
    let questions = questions();
    let mut answers = vec![None; 3];
    answers[0] = Some(Answer {
        chosen: vec![1],
        text: Some("but @octocat\n\n/cancel <!-- ".to_owned() + &"x".repeat(2_000)),
    });
    let whose = [Some("ada".to_owned()), None, None];
    let body = answered(&questions, &answers, &whose, "Left to the agent");
    let (first, rest) = body.split_once("x…").unwrap();
    assert!(first.len() < 1_300, "{first}");
    let begins = "**1. Cache** – Where does the cache in `src/cache.rs` live?\n\n> Answer: Redis; but @\u{200b}octocat /cancel ";
    assert!(first.starts_with(begins), "{first}");
    assert_eq!(
        rest,
        " (ada)\n\n**2. Name** – What is it called?\n\n> *Left to the agent*\n\n**3.** Which parts log?\n\n\
         > *Left to the agent*\n\n"
    );
    assert_eq!((boxes_of(&body), parse(&body)), (0, None));
    assert_eq!(command::parse(&body), []);
}
