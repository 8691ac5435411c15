//! Single rules about where a plan ends, what is no plan, and what decides between two.

use super::*;

/// Two proposals, posted by `henriette` and `bob-m`.
pub(super) const TWO: &str = "title: The tide table is late

--- @clara 2026-03-02T09:00:00Z
It shows yesterday's table until noon.

--- @henriette 2026-03-02T10:00:00Z
## Cache per harbour

1. Key the cache by harbour and day in `cache.rs`
2. Drop the entries of yesterday at midnight
3. Add a test with a frozen clock
4. Log every miss with the harbour

--- @bob-m 2026-03-02T11:00:00Z
## Table from the feed

1. Read the feed of the harbour office in `feed.rs`
2. Keep the last table when the feed is down
3. Add a test with a feed that is cut off
4. Show the age of the table

";

/// The two proposals, an answer to them, and the command.
fn two(said: &str) -> String {
    format!(
        "{TWO}--- @dora 2026-03-02T12:00:00Z\n{said}\n\n--- @clara 2026-03-02T13:00:00Z\n/save-plan\n"
    )
}

/// Returns the decision of the rules alone. The model (`likelihood.rs`) has the last word in
/// [`outcome`].
fn by_rules(text: &str) -> Outcome {
    let (thread, trigger) = conversation(text);
    let scan = scan(&thread, &trigger);
    let found = scan.found.clone();
    let rated = choice::rate(found, &scan.parsed, &thread, &trigger, &Trust::Everybody);
    match rated.by_rules() {
        (Some(text), Verdict::Plan) => {
            let mut lines = text.trim().lines();
            let first = lines.next().unwrap_or_default().to_owned();
            let last = lines.next_back().unwrap_or(&first).to_owned();
            Outcome::Plan(first, last)
        }
        (_, Verdict::Unclear { .. }) => Outcome::Unclear,
        _ => Outcome::Nothing,
    }
}

/// Asserts that the rules decide as `expected`, and that the bot saves that or asks.
fn assert_decided_or_asked(text: &str, expected: &Outcome) {
    assert_eq!(by_rules(text), *expected, "{text}");
    let found = outcome(text);
    assert!(
        found == *expected || found == Outcome::Unclear,
        "{text}: {found:?}"
    );
}

/// A conversation with one post between the opening text and the command.
fn one(author: &str, post: &str) -> String {
    format!(
        "title: The tide table is late

--- @clara 2026-03-02T09:00:00Z
It shows yesterday's table until noon.

--- @{author} 2026-03-02T10:00:00Z
{post}

--- @clara 2026-03-02T13:00:00Z
/save-plan
"
    )
}

/// The same, with a person who agrees.
fn agreed(author: &str, post: &str) -> String {
    one(
        author,
        &format!("{post}\n\n--- @dora 2026-03-02T11:00:00Z\nSounds good to me."),
    )
}

#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Nothing,
    Unclear,
    Plan(String, String),
}

pub(super) fn outcome(text: &str) -> Outcome {
    let (thread, trigger) = conversation(text);
    match choose(candidates(&thread, &trigger), &trigger) {
        Err(_) => Outcome::Nothing,
        Ok(Choice::Unclear(..)) => Outcome::Unclear,
        Ok(Choice::Plan(plan)) => {
            let mut lines = plan.text.trim().lines();
            let first = lines.next().unwrap_or_default().to_owned();
            let last = lines.next_back().unwrap_or(&first).to_owned();
            Outcome::Plan(first, last)
        }
    }
}

pub(super) fn plan(first: &str, last: &str) -> Outcome {
    Outcome::Plan(first.to_owned(), last.to_owned())
}

#[test]
fn a_decision_names_a_plan_in_many_ways() {
    let cache = || plan("## Cache per harbour", "4. Log every miss with the harbour");
    let feed = || plan("## Table from the feed", "4. Show the age of the table");
    for (said, expected) in [
        ("So: Henry's for the spring release.", cache()),
        ("Read both twice. The second one please.", feed()),
        (
            "We'll go with that proposal. @bob-m please open a draft.",
            feed(),
        ),
        ("It has to be right on Sunday. Henry's cache.", cache()),
        ("Both are fine with me.", Outcome::Unclear),
        ("Henry's right.", Outcome::Unclear),
        ("Henry's on holiday, by the way.", Outcome::Unclear),
        ("The second reading was better.", Outcome::Unclear),
        ("@bob-m can you take a look at the log?", Outcome::Unclear),
        (
            "The call will be on Monday. @bob-m please invite.",
            Outcome::Unclear,
        ),
    ] {
        assert_eq!(outcome(&two(said)), expected, "{said}");
    }
}

#[test]
fn a_quoted_step_stands_for_its_plan() {
    let said = "> 2. Drop the entries of yesterday at midnight\n\nThis matters most. Let's do it like that.";
    let cache = plan("## Cache per harbour", "4. Log every miss with the harbour");
    assert_decided_or_asked(&two(said), &cache);
}

#[test]
fn a_requester_who_sees_arguments_for_both_has_not_decided() {
    let said = "--- @clara 2026-03-02T12:00:00Z\nAlright, good arguments on both sides, both are possible.\n\n";
    let text = format!("{TWO}{said}--- @clara 2026-03-02T13:00:00Z\n/save-plan\n");
    assert_eq!(outcome(&text), Outcome::Unclear);
}

#[test]
fn a_rejection_concerns_the_plan_whose_words_it_names() {
    let feed = plan("## Table from the feed", "4. Show the age of the table");
    for said in [
        "A frozen clock is out of the question, sorry.",
        "Midnight is out of the question, we close at ten.",
    ] {
        assert_eq!(by_rules(&two(said)), feed, "{said}");
    }
}

#[test]
fn a_number_and_then_are_a_vote() {
    let numbered = TWO
        .replace("## Cache per", "## Option 1: cache per")
        .replace("## Table from", "## Option 2: table from");
    for said in ["2 then.", "2 then, the cache can wait"] {
        let text = format!(
            "{numbered}--- @clara 2026-03-02T12:00:00Z\n{said}\n\n--- @clara 2026-03-02T13:00:00Z\n/save-plan\n"
        );
        let feed = plan(
            "## Option 2: table from the feed",
            "4. Show the age of the table",
        );
        assert_eq!(by_rules(&text), feed, "{said}");
    }
}

#[test]
fn a_numbered_version_replaces_the_one_before() {
    for (one, two) in [
        ("Plan, version 1", "Plan, version 2"),
        ("Plan v1", "Plan v2"),
        ("Proposal 1", "Proposal 2 (replaces the first)"),
    ] {
        let text = format!(
            "title: The tide table is late

--- @clara 2026-03-02T09:00:00Z
It shows yesterday's table until noon.

--- @bob-m 2026-03-02T10:00:00Z
## {one}: cache per harbour

1. Key the cache by harbour and day in `cache.rs`
2. Drop the entries of yesterday at midnight
3. Add a test with a frozen clock

--- @bob-m 2026-03-02T11:00:00Z
## {two}: cache per harbour

1. Key the cache by harbour and day in `cache.rs`
2. Drop the entries of yesterday at noon
3. Add a test with a frozen clock
4. Log every miss with the harbour

--- @clara 2026-03-02T13:00:00Z
/save-plan
"
        );
        let newer = plan(
            &format!("## {two}: cache per harbour"),
            "4. Log every miss with the harbour",
        );
        assert_eq!(by_rules(&text), newer, "{two}");
    }
}

#[test]
fn a_plan_can_be_withdrawn_and_rejected_in_many_words() {
    let text = |author: &str, said: &str| {
        let steps = "## Cache per harbour\n\n1. Key the cache by harbour in `cache.rs`\n2. Drop the entries of yesterday\n3. Add a test with a frozen clock\n4. Log every miss";
        let later = format!(
            "--- @{author} 2026-03-02T12:00:00Z\n{said}\n\n--- @clara 2026-03-02T13:00:00Z\n"
        );
        one("henriette", steps).replace("--- @clara 2026-03-02T13:00:00Z\n", &later)
    };
    for said in [
        "I take the whole plan back, the harbours share one table.",
        "Then I'm pulling it.",
        "Dann zieh ich meinen Vorschlag von oben zurück.",
        "제가 접을게요.",
    ] {
        assert_eq!(
            outcome(&text("henriette", said)),
            Outcome::Nothing,
            "{said}"
        );
    }
    for said in ["So it's a no, sorry.", "Do projektu to nevezmu."] {
        assert_eq!(outcome(&text("olaf", said)), Outcome::Nothing, "{said}");
    }
    for said in [
        "I take the table back to the office.",
        "A second call is a no-op then.",
        "Let me say this before I forget.",
    ] {
        assert_ne!(
            outcome(&text("henriette", said)),
            Outcome::Nothing,
            "{said}"
        );
    }
}

#[test]
fn remarks_behind_the_steps_are_no_part_of_the_plan() {
    let steps = "1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n4. Log every miss with the harbour";
    let first = "1. Key the cache by harbour and day in `cache.rs`";
    let last = "4. Log every miss with the harbour";
    for (tail, kept) in [
        ("The old table stays in the archive.", false),
        ("My train is late as well.", false),
        ("Rollback: switch `cache.harbour` off.", true),
        ("Only after step 3 can this be released.", true),
    ] {
        let expected = plan(first, if kept { tail } else { last });
        assert_eq!(
            outcome(&agreed("bob-m", &format!("{steps}\n\n{tail}"))),
            expected
        );
    }
    let title = "## Cache per harbour";
    for (tail, end) in [
        (
            "Out of scope: the old table.",
            "Out of scope: the old table.",
        ),
        ("### Risks\n\nThe old table stays.", "The old table stays."),
        ("Should be two days of work. What do you think?", last),
        ("I was in Husum on Monday, it rained.", last),
    ] {
        let titled = format!("{title}\n\n{steps}\n\n{tail}");
        assert_eq!(outcome(&agreed("bob-m", &titled)), plan(title, end));
    }
    let talk = format!("Thanks for the log. It is the cache. I would do it so:\n\n{steps}");
    assert_eq!(outcome(&agreed("bob-m", &talk)), plan(first, last));
}

#[test]
fn a_label_above_the_steps_is_part_of_the_plan() {
    let steps = "1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n4. Log every miss with the harbour";
    for (above, kept) in [
        ("Goal: no table of yesterday after midnight.", true),
        (
            "**Ziel:** keine Tabelle von gestern nach Mitternacht.",
            true,
        ),
        ("Root cause: the cache has one key.", false),
    ] {
        let first = if kept {
            above
        } else {
            "1. Key the cache by harbour and day in `cache.rs`"
        };
        assert_eq!(
            outcome(&agreed(
                "bob-m",
                &format!("Thanks for the log.\n\n{above}\n\n{steps}")
            )),
            plan(first, "4. Log every miss with the harbour")
        );
    }
}

#[test]
fn parts_of_other_documents_are_left_out() {
    let steps = "1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n4. Log every miss with the harbour";
    let minutes = format!(
        "## Call of 2 March\n\nPresent: Clara, Bob\n\n### Old items\n\n- Clara asked the office\n\n### What we agreed\n\n{steps}\n\n### Next call\n\n- 9 March\n- 16 March"
    );
    let agreed = plan("### What we agreed", "4. Log every miss with the harbour");
    assert_eq!(outcome(&one("bob-m", &minutes)), agreed);
    let prompt = format!(
        "## Plan: Cache per harbour\n\n{steps}\n\n<details>\n\n<summary>Original prompt</summary>\n\n> 1. open the table\n> 2. it is late\n\n</details>"
    );
    let whole = plan(
        "## Plan: Cache per harbour",
        "4. Log every miss with the harbour",
    );
    assert_eq!(outcome(&one("agent[bot]", &prompt)), whole);
}

#[test]
fn what_was_done_or_is_wanted_is_no_plan() {
    for post in [
        "**TOP 1 – Aufgaben vom letzten Mal**\n\n1. Sensoren nachzählen → erledigt (Krüger)\n2. Schlüssel verlängern → erledigt (Yıldız)\n3. Verzeichnis ergänzen → erledigt (Petersen)\n\n**TOP 2 – Verschiedenes**\n\n- nächster Termin am Montag",
        "## User stories\n\n- As a skipper I want to see the table before I leave\n- As a harbour master I want to correct the table by hand\n- As a guest I want to print the table of today",
        "How it came about. First I dumped the old table, then I wrote the schema by looking at the forms. After that I imported one year at a time. Finally I switched the display over on Monday, and nobody noticed.",
        "## Upgrading from 2.x\n\n1. Scale the server down: `kubectl scale deploy/tide --replicas=0`\n2. Apply the new schema before the chart\n3. `helm upgrade tide tide/tide --version 3.0.0`\n4. Scale it up again",
    ] {
        assert_eq!(outcome(&one("bob-m", post)), Outcome::Nothing, "{post}");
    }
}

#[test]
fn steps_are_found_in_unusual_forms() {
    let dashes = "Here's what I'd do:\n\n- new route `/table/print`, plain HTML and a style for paper\n\n--\n\n- group the tides by day like the old table\n\n--\n\n- link it from the page of the harbour\n\n--\n\n- remove the old document that nobody can open\n\n--\n\n- ask the harbour office to print theirs before the announcement";
    let first = "- new route `/table/print`, plain HTML and a style for paper";
    let expected = plan(
        first,
        "- ask the harbour office to print theirs before the announcement",
    );
    assert_eq!(outcome(&one("bob-m", dashes)), expected);
    let lines = "This is what I do, in this order:\n\nthe table knows only harbours, the server sends the days\nyesterday's entries are dropped at midnight by the server\na test with a frozen clock goes into the nightly run\neverything else of the old table is deleted, all 412 lines\nthe last thing is a note in NEWS under changes, in capitals";
    let first = "This is what I do, in this order:";
    let last = "the last thing is a note in NEWS under changes, in capitals";
    assert_eq!(outcome(&one("bob-m", lines)), plan(first, last));
    let prose = "What I found on the train is that next to nothing is cached, and then only by luck.\n\nFirst I'd key the cache by harbour and day, since that is what people ask for. Then the entries of yesterday are dropped at midnight.\n\nAfter that comes a test with a frozen clock. At the very end we log every miss with the harbour, so that we see whether it helps.";
    let prose = format!("{prose}\n\n--- @dora 2026-03-02T11:00:00Z\nSounds good to me.");
    let Outcome::Plan(first, _) = outcome(&one("bob-m", &prose)) else {
        panic!("no plan")
    };
    assert!(first.starts_with("First I'd key the cache"), "{first}");
}

#[test]
fn authors_can_be_named_in_another_script() {
    let renamed = |said: &str| {
        two(said)
            .replace("@henriette", "@ruslan-st")
            .replace("@bob-m", "@mochi-kzt")
    };
    let cache = plan("## Cache per harbour", "4. Log every miss with the harbour");
    let feed = plan("## Table from the feed", "4. Show the age of the table");
    for (said, expected) in [
        ("Методом исключения остаётся Руслан.", cache),
        ("今回はもちさんのほうで進めさせてください。", feed),
        ("Русалка на картинке красивая.", Outcome::Unclear),
        ("みなさんのほうで進めてください。", Outcome::Unclear),
    ] {
        assert_decided_or_asked(&renamed(said), &expected);
    }
}

#[test]
fn a_figure_is_not_the_number_of_a_plan() {
    for said in ["Milestone 2.1 it is then.", "7 – 2 – 1. Thanks for voting!"] {
        assert_eq!(outcome(&two(said)), Outcome::Unclear, "{said}");
    }
}

#[test]
fn who_has_doubts_afterwards_has_not_decided() {
    let text = format!(
        "{TWO}--- @clara 2026-03-02T12:00:00Z\nLooks great.\n\n--- @clara 2026-03-02T12:30:00Z\nI'll sleep on it.\n\n--- @clara 2026-03-02T13:00:00Z\n/save-plan\n"
    );
    assert_eq!(outcome(&text), Outcome::Unclear);
}

#[test]
fn the_author_of_the_other_plan_can_concede() {
    let feed = plan("## Table from the feed", "4. Show the age of the table");
    let said = |author: &str| two("Looks good to me.").replace("@dora", author);
    assert_decided_or_asked(&said("@henriette"), &feed);
    assert_eq!(outcome(&said("@dora")), Outcome::Unclear);
}

#[test]
fn steps_can_have_letters_of_other_scripts() {
    for letters in [
        ["가.", "나.", "다.", "라."],
        ["а)", "б)", "в)", "г)"],
        ["ア.", "イ.", "ウ.", "エ."],
    ] {
        let steps = [
            "Key the cache by harbour and day in `cache.rs`",
            "Drop the entries of yesterday at midnight",
            "Add a test with a frozen clock",
            "Log every miss with the harbour",
        ];
        let lines: Vec<String> = letters
            .iter()
            .zip(steps)
            .map(|(letter, step)| format!("{letter} {step}"))
            .collect();
        let expected = plan(&lines[0], &lines[3]);
        assert_eq!(outcome(&agreed("bob-m", &lines.join("\n"))), expected);
    }
}

#[test]
fn what_a_commit_contains_is_no_plan() {
    let list = "- The cache is keyed by harbour and day\n- Entries of yesterday are dropped at midnight\n- Two tests were adapted in `cache.rs`\n- Every miss is logged with the harbour";
    let approved = |lead: &str| {
        let post =
            format!("{lead}\n\n{list}\n\n--- @dora 2026-03-02T11:00:00Z\nSounds good to me.");
        outcome(&one("bob-m", &post))
    };
    assert_eq!(approved("In 5f19c02:"), Outcome::Nothing);
    assert_ne!(approved("In the next release:"), Outcome::Nothing);
}

#[test]
fn a_section_called_plan_is_part_of_the_plan_that_the_title_names() {
    let document = "# Cache per harbour\n\n## Context\n\nThe table of yesterday is shown until noon.\n\n## Files to change\n\n- `cache.rs`\n- `table.rs`\n\n## Plan\n\n1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n\n## Risks\n\n- More memory\n\n## Testing\n\n1. A day with a frozen clock";
    let whole = plan("# Cache per harbour", "1. A day with a frozen clock");
    let post = format!("The log helped.\n\n{document}\n\nShall I start?");
    assert_eq!(outcome(&one("agent[bot]", &post)), whole);
}

#[test]
fn closing_questions_are_not_part_of_a_plan() {
    let post = "## Cache per harbour\n\n### Cache\n\n1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n\n### Tests\n\n- a day with a frozen clock\n- a harbour without a table\n\nTwo questions:\n\n- Is one day enough?\n- Who owns the clock?";
    let expected = plan("## Cache per harbour", "- a harbour without a table");
    assert_eq!(outcome(&one("bob-m", post)), expected);
}

#[test]
fn a_plan_is_found_in_a_folded_part_beside_a_list_of_what_is_done() {
    let post = "**Finished** in 3 min\n\n- [x] Read the report\n- [x] Reproduce it with the log\n- [x] Find the cause\n\nThe cache has one key for all harbours.\n\n<details>\n<summary>Details</summary>\n\n### Cache per harbour\n\n1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n4. Log every miss with the harbour\n\n</details>";
    let expected = plan(
        "### Cache per harbour",
        "4. Log every miss with the harbour",
    );
    let approved = format!("{post}\n\n--- @dora 2026-03-02T11:00:00Z\nSounds good to me.");
    assert_eq!(outcome(&one("agent[bot]", &approved)), expected);
}

#[test]
fn the_summary_of_a_folded_plan_is_its_title_where_it_says_something() {
    for (summary, title) in [
        ("Plan: cache per harbour", Some("cache per harbour")),
        ("Cache by harbour and day", Some("Cache by harbour and day")),
        (
            "<b>Cache by harbour and day</b>",
            Some("Cache by harbour and day"),
        ),
        (
            "Cache per harbour (click to open)",
            Some("Cache per harbour"),
        ),
        ("Plan (click to open)", None),
        ("Plan: queue (click to open)", Some("queue")),
        ("Cache (v2)", Some("Cache")),
        ("Show me the plan", None),
        ("Show me the plan (long)", None),
        ("Click here for more of it", None),
        ("<h3>Cache by harbour and day</h3>", None),
        ("Details", None),
    ] {
        let text = format!(
            "<details>\n<summary>{summary}</summary>\n\n1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n4. Log every miss with the harbour\n\n</details>"
        );
        let found = candidates_in_text(&text);
        assert_eq!(found[0].title.as_deref(), title, "{summary}");
    }
}

#[test]
fn a_paragraph_that_announces_prose_is_not_part_of_it() {
    let found = candidates_in_text(
        "My experience from another harbour, in short:\n\nI'd write the day into the header of \
         the table and keep one function per season.\n\nEverything before the last season we \
         declare lost.",
    );
    assert!(found[0].text.starts_with("I'd write"), "{found:?}");
}

#[test]
fn a_paragraph_with_a_colon_that_says_what_to_do_is_part_of_prose() {
    for text in [
        "Replace the loop in `main.rs` with this:\n\n```rust\nfor row in rows {}\n```\n\nAfter that we \
         can drop the counter of the old loop.",
        "On the server:\n\nWe read the table of the harbour office at noon.\n\nIn the \
         app:\n\nIt shows the age of the table.",
    ] {
        let found = candidates_in_text(text);
        assert_eq!(found[0].text, text);
    }
}

#[test]
fn the_title_of_a_plan_in_parts_has_no_number_of_a_part() {
    let title = |text: &str| multipart::without_part(text);
    let restarts = Some("Restarts on any number of nodes".to_owned());
    for text in [
        "Restarts on any number of nodes, part 1: writing",
        "Restarts on any number of nodes, part one: writing",
        "Restarts on any number of nodes (1/2): writing",
        "(1/2) Restarts on any number of nodes",
        "1/2: Restarts on any number of nodes",
        "Restarts on any number of nodes（上）",
        "Restarts on any number of nodes (하)",
        "Restarts on any number of nodes",
    ] {
        assert_eq!(title(text), restarts, "{text}");
    }
    assert_eq!(title("Part 1"), None);
    for whole in [
        "Déplacer la partie à risque dans un service",
        "Make the export part a separate service",
        "Use 1/4 of the memory",
        "İ часть 1 ①",
    ] {
        assert_eq!(title(whole).as_deref(), Some(whole));
    }
}

#[test]
fn parts_can_be_numbered_as_volumes() {
    for (one, two, is_joined) in [
        ("harbours（上）", "harbours（下）", true),
        ("harbours(上)", "harbours(中)", true),
        ("harbours（상）", "harbours（하）", true),
        // How urgent they are.
        ("harbours（중）", "bridges（하）", false),
        ("harbours（下）", "harbours（上）", false),
    ] {
        let post = format!(
            "### Table of the {one}\n\n1. Key the cache by harbour and day\n2. Drop the entries of yesterday\n\n--- @bob-m 2026-03-02T10:30:00Z\n### Table of the {two}\n\n1. Add a test with a frozen clock\n2. Log every miss with the harbour"
        );
        let (thread, trigger) = conversation(&agreed("bob-m", &post));
        let found = candidates(&thread, &trigger);
        let joined = Source::Parts {
            posts: vec![Some(1), Some(2)],
        };
        let found = found.candidates.iter().any(|it| it.source == joined);
        assert_eq!(found, is_joined, "{one} {two}");
    }
}

#[test]
fn a_line_in_lenticular_brackets_is_a_title() {
    let text = "【CSV出力の作り直し】\n\n1. 書き出しを別の処理に移す\n2. 一覧からその処理を呼ぶ\n3. テストを書く";
    let found = candidates_in_text(text);
    assert_eq!(found[0].text, text);
}

#[test]
fn a_plan_can_be_a_diff_of_another_one() {
    let diff = "```diff\n-1. Key the cache by harbour\n-2. Add a test\n+1. Key the cache by harbour and day in `cache.rs`\n+2. Drop the entries of yesterday at midnight\n+3. Add a test with a frozen clock\n 4. Log every miss with the harbour\n```";
    let post = format!("I'd change it like this:\n\n{diff}");
    assert_eq!(outcome(&agreed("bob-m", &post)), plan("```diff", "```"));
    let code = "Fixed by this:\n\n```diff\n jobs:\n   steps:\n+    - run: add the table of the harbours to the image\n+    - run: remove the table of yesterday from the image\n+    - run: check the table with a frozen clock\n+    - run: log every miss with the harbour\n```";
    assert_eq!(outcome(&agreed("bob-m", code)), Outcome::Nothing);
}

#[test]
fn what_is_said_beside_a_plan_does_not_end_it() {
    let steps = "## Cache per harbour\n\n1. Key the cache by harbour and day in `cache.rs`\n2. Drop the entries of yesterday at midnight\n3. Add a test with a frozen clock\n4. Log every miss with the harbour";
    let expected = plan("## Cache per harbour", "4. Log every miss with the harbour");
    for said in [
        "The format of the table stays as it is.",
        "Please don't start before Monday.",
        "Which of you has the log of Sunday?",
        "Der Prozess von gestern ist gestorben.",
    ] {
        let post = format!("{steps}\n\n--- @dora 2026-03-02T11:00:00Z\n{said}");
        assert_eq!(outcome(&one("bob-m", &post)), expected, "{said}");
    }
    let said = "I can't justify a second cache, so one it is.";
    let post = format!("{steps}\n\n--- @dora 2026-03-02T11:00:00Z\n{said}");
    assert_eq!(by_rules(&one("bob-m", &post)), expected);
}
