//! Tests of the command `planwright plan SPEC` in a project whose agent is a script.
#![cfg(unix)]

use serde_json::{Value, json};

pub(crate) use crate::support::shop::{GOOD, PLAN, SPECIFICATION, Shop, events, exit_and_output};

mod claude;
mod kept;
mod paid;
mod refused;

#[test]
fn a_plan_is_written_with_what_comes_with_it_and_nothing_is_kept() {
    let shop = Shop::new(
        "asked 'Start in a second' || exit 9\nasked 'no new dependency' || exit 9\n\
         asked 'always-this.md' || exit 9\ngrep -q 'Tabs, always' knowledge/*.md || exit 9\n\
         echo '# Context' > context.md; echo >> context.md; echo 'A B-tree.' >> context.md\n\
         cp \"$here/plan.good\" plan.md; say chat",
    );
    shop.write(
        ".planwright/knowledge/conventions/always-this.md",
        "# Style\n\nTabs, always.\n",
    );
    shop.write(".planwright/knowledge/odd.md", "bad\0");
    let (code, out, err) = shop.plan(&["--guidance", "no new dependency"]);
    assert_eq!(code, 0, "{err}");
    let folder = ".planwright/plans/index";
    assert_eq!(out, format!("{folder}/plan.md\n{folder}/context.md\n"));
    assert_eq!(shop.text(&format!("{folder}/plan.md")), PLAN);
    assert_eq!(
        shop.text(&format!("{folder}/context.md")),
        "# Context\n\nA B-tree.\n"
    );
    assert!(!shop.holds(&format!("{folder}/research.md")));
    assert!(err.contains("plan: agent.sh is working\n"), "{err}");
    assert!(err.contains("odd.md"), "{err}");
    assert!(!err.contains("Great choice"), "{err}");
    assert!(shop.runs().is_empty() && shop.private().is_empty());
    assert_eq!(shop.text(".planwright/runs/.gitignore"), "*\n");
}

#[test]
fn a_plan_that_is_there_is_never_lost() {
    let shop = Shop::new(GOOD);
    shop.write(".planwright/plans/index/plan.md", "mine");
    shop.write(".planwright/plans/index/context.md", "mine, too");
    let (code, out, err) = shop.plan(&[]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        err,
        "error: .planwright/plans/index/plan.md already exists; use --again to overwrite it (a \
         backup is kept as plan.md.bak), or --output to write elsewhere\n"
    );
    assert!(shop.runs().is_empty());
    let (code, out, err) = shop.plan(&["--again", "--json"]);
    assert_eq!(code, 0, "{err}");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["success"], true);
    assert_eq!(said["title"], "Keep the search index between starts");
    assert_eq!(said["plan"], ".planwright/plans/index/plan.md");
    assert_eq!(said["cost_usd"], 0.01);
    assert_eq!(
        said["kept"],
        json!([
            ".planwright/plans/index/context.md.bak",
            ".planwright/plans/index/plan.md.bak"
        ])
    );
    assert_eq!(shop.text(".planwright/plans/index/plan.md.bak"), "mine");
    assert_eq!(
        shop.text(".planwright/plans/index/context.md.bak"),
        "mine, too"
    );
    assert_eq!(shop.text(".planwright/plans/index/plan.md"), PLAN);
    assert!(!shop.holds(".planwright/plans/index/context.md"));
    let (code, out, _) = shop.plan(&["--output", "out/here"]);
    assert_eq!((code, out.as_str()), (0, "out/here/plan.md\n"));
}

#[test]
fn chat_is_corrected_twice_and_never_becomes_a_plan() {
    let shop = Shop::new(
        "echo x >> \"$HOME/turns\"\nif asked 'This is the last try'; then printf '# Plan: Keep it\\n\\n- small\\n' > plan.md; fi\nsay chat",
    );
    let (code, out, err) = shop.plan(&[]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.contains("error: no plan was written: the agent's answer did not pass the checks"),
        "{err}"
    );
    assert!(
        err.ends_with(
            "an unfinished draft is in .planwright/plans/index/plan.draft.md; run the same command to try again\n"
        ),
        "{err}"
    );
    assert!(!shop.holds(".planwright/plans/index/plan.md"));
    let draft = shop.text(".planwright/plans/index/plan.draft.md");
    assert_eq!(draft, "# Plan: Keep it\n\n- small\n");
    assert_eq!(shop.remembered()["work"]["turns"], 3);
    shop.act(GOOD);
    assert_eq!(shop.plan(&[]).0, 0);
}

#[test]
fn what_a_program_without_tools_prints_is_the_plan() {
    let shop = Shop::printing(
        "markdown",
        "asked 'Your plan was not accepted' && exec cat \"$here/plan.good\"\necho 'Here is what I would do: nothing.'",
    );
    let (code, out, err) = shop.plan(&[]);
    assert_eq!(
        (code, out.as_str()),
        (0, ".planwright/plans/index/plan.md\n"),
        "{err}"
    );
    assert_eq!(shop.text(".planwright/plans/index/plan.md"), PLAN);
}

#[test]
fn the_agent_reads_the_project_and_writes_nothing_into_it() {
    let shop = Shop::new(&format!(
        "asked \"$here\" || exit 9\ngrep -q heron \"$here/src/birds.rs\" || exit 9\necho x > \"$here/made\"; {GOOD}"
    ));
    shop.write("src/birds.rs", "// heron\n");
    let (code, _, err) = shop.plan(&[]);
    assert_eq!(code, 0, "{err}");
    let landlock = planwright::adapters::agent::sandbox::active(
        planwright::adapters::agent::SandboxMode::Auto,
    );
    if matches!(
        landlock,
        planwright::adapters::agent::sandbox::Protection::Landlock { .. }
    ) {
        assert!(!shop.holds("made"));
    } else {
        println!("skipped: without a sandbox nothing holds a script back");
    }
}

#[test]
fn without_a_terminal_questions_wait_for_a_file_of_answers() {
    let shop = Shop::new(&format!(
        "if asked 'Cache' && asked 'Everybody, it is public'; then {GOOD}; else say asks; fi"
    ));
    let (code, out, err) = shop.plan(&["--json"]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("1/2 Place: Where does the file live?\n  1. Cache: may be lost\n  2. Disk\n"),
        "{err}"
    );
    assert!(err.contains("2/2 Readers: Who may read it?\n"), "{err}");
    assert!(
        err.ends_with(
            "error: 2 questions are waiting for answers; run the same command in a terminal, with \
             --answers FILE (e.g. {\"Place\":\"1\"}), or with --no-questions to let the agent \
             decide\n"
        ),
        "{err}"
    );
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&said["success"], &said["waiting"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(said["questions"][1]["number"], 2);
    shop.write("half.toml", "place = 1\n");
    let (code, _, err) = shop.plan(&["--answers", "half.toml"]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("1 question is waiting") && err.contains("{\"Readers\":\"1\"}"),
        "{err}"
    );
    let round = &shop.remembered()["work"]["rounds"][0];
    assert_eq!(round["answers"][0]["chosen"], json!([0]));
    shop.write(
        "rest.json",
        r#"{"2": "Everybody, it is public", "Colour": "red"}"#,
    );
    let (code, out, err) = shop.plan(&["--answers", "rest.json"]);
    assert_eq!(
        (code, out.as_str()),
        (1, ".planwright/plans/index/plan.md\n"),
        "{err}"
    );
    assert!(
        err.ends_with(
            "error: the plan was written, but rest.json contains answers to questions that were not asked: \"Colour\"; \
             check that the plan decides them as you want\n"
        ),
        "{err}"
    );
}

#[test]
fn no_questions_leaves_those_that_wait_to_the_agent() {
    let shop = Shop::new(&format!(
        "if asked 'Rounds of questions you may still ask: 0' && asked '- Who may read it?'; then {GOOD}; else say asks; fi"
    ));
    assert_eq!(shop.plan(&[]).0, 3);
    let (code, _, err) = shop.plan(&["--no-questions"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn an_agent_that_obeys_the_project_is_not_used() {
    let shop = Shop::new(
        "word=$(printf '%s' \"$prompt\" | sed -n 's/.*write the word \\([^ ]*\\) somewhere.*/\\1/p')\n\
         sed \"s/B-tree/$word/\" \"$here/plan.good\" > plan.md; say done",
    );
    let (code, _, err) = shop.plan(&[]);
    assert_eq!(code, 1);
    assert!(
        err.ends_with(
            "look there for text that addresses agents, then run the same command again\n"
        ),
        "{err}"
    );
    assert!(!shop.holds(".planwright/plans/index/plan.md"));
    let kept = shop.remembered().to_string();
    assert!(!kept.contains("Keep the search index"), "{kept}");
}
