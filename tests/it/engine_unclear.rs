//! Conversations with several plans: references to one plan, and the question which one is meant.

use planwright::engine::model::agent::Ending;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Actor, Origin, Trigger};
use planwright::engine::settings::{ExtractSettings, Settings, WhenUnclear};
use planwright::formats::command::{self, Permission};

use crate::engine_agent::{
    answers, answers_as, document, rig as with_agent, say, status, work_until_idle,
};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::rig::{HERE, Rig};

const BROWSER: &str = "# CSV in the browser\n\n1. Read the table in `web/table.ts`\n2. Build the text row by row\n\
    3. Offer it as a file\n4. Describe it in the manual\n";
const SERVER: &str = "# CSV on the server\n\n1. Add a writer in `src/csv.rs`\n2. Add a route for each report\n\
    3. Put a button on the page\n4. Test a report with quotes in it\n";

fn bob() -> Actor {
    Actor {
        id: 8,
        login: "bob".to_owned(),
        bot: false,
    }
}

fn cat() -> Actor {
    Actor {
        id: 9,
        login: "cat".to_owned(),
        bot: false,
    }
}

async fn rig() -> Rig {
    with(Settings::default()).await
}

/// A rig with two plans by two people, between which nobody has decided.
async fn with(settings: Settings) -> Rig {
    let rig = Rig::with(settings).await;
    two_plans(&rig);
    rig
}

fn two_plans(rig: &Rig) {
    rig.forge.grant("bob", 8, Permission::Write);
    rig.forge
        .open(HERE, "Reports as CSV", &["Customers ask for it."]);
    rig.forge.post(HERE, bob(), "MEMBER", BROWSER);
    rig.forge.grant("cat", 9, Permission::Write);
    rig.forge.post(HERE, cat(), "MEMBER", SERVER);
}

fn asked(rig: &Rig, comment: &str) -> Trigger {
    let found = command::parse(comment).into_iter().next().unwrap();
    let trigger = rig.trigger(found.command, "ada", 7, HERE);
    let Origin::Comment { id, url, .. } = trigger.origin else {
        unreachable!()
    };
    Trigger {
        options: found.options,
        guidance: found.guidance,
        inline: found.inline,
        origin: Origin::Comment {
            id,
            url,
            text: comment.to_owned(),
        },
        ..trigger
    }
}

async fn command(rig: &Rig, comment: &str) -> RunId {
    let run = rig.deliver(asked(rig, comment)).await;
    work_until_idle(rig).await;
    run
}

/// Ids of the posts with the two plans.
fn ids(rig: &Rig) -> (u64, u64) {
    let ids = rig.forge.comments_of(HERE);
    (ids[0], ids[1])
}

#[tokio::test]
async fn an_unclear_choice_is_asked_with_boxes_and_the_answer_is_saved() {
    let rig = rig().await;
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    let question = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(
        question.contains(
            "there is more than one plan here, and it is not clear which one `/save-plan` is about. Tick one option, \
             then *Send these answers*; or comment, for example, `/answer 1: a`."
        ),
        "{question}"
    );
    for line in [
        "**1. Plan** – Which of these plans should be saved?",
        "- [ ] a) CSV on the server (by cat) — ",
        "- [ ] b) CSV in the browser (by bob) — ",
        "- [ ] c) None of these — nothing is saved",
    ] {
        assert!(question.contains(line), "{line}: {question}");
    }
    assert!(
        status(&rig).contains("it is not clear which plan is meant; waiting for an answer"),
        "{}",
        status(&rig)
    );
    assert!(rig.forge.plans().is_empty());
    answers(&rig, "1: b").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "CSV in the browser");
    assert!(document(&rig).contains("3. Offer it as a file"));
    assert!(
        status(&rig).contains("There was more than one plan; ada chose this one."),
        "{}",
        status(&rig)
    );
}

#[tokio::test]
async fn none_of_these_saves_nothing_and_says_what_to_do() {
    let rig = rig().await;
    let run = command(&rig, "/save-raw-plan").await;
    // Words choose nothing.
    answers(&rig, "1: the one that we spoke of").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    answers_as(&rig, "bob", 8, "1: c").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Failed);
    let said = status(&rig);
    assert!(
        said.starts_with(
            "## Error: no_plan_found\n\nSomebody answered that none of these plans is meant. Nothing was saved.\n"
        ),
        "{said}"
    );
    assert!(
        said.contains(
            "`/save-raw-plan from=ADDRESS`, the address of the comment that contains it."
        ),
        "{said}"
    );
    assert!(rig.forge.plans().is_empty());
}

#[tokio::test]
async fn where_nobody_answers_nothing_is_saved() {
    let rig = rig().await;
    let run = command(&rig, "/save-plan").await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    let said = status(&rig);
    assert!(
        said.starts_with(
            "## Error: questions_unanswered\n\nNobody chose one of the plans. Nothing was saved.\n"
        ),
        "{said}"
    );
    assert!(rig.forge.plans().is_empty());
}

#[tokio::test]
async fn the_operator_can_have_the_best_taken_or_nothing_saved() {
    let best = with(Settings {
        extract: ExtractSettings {
            when_unclear: WhenUnclear::Best,
        },
        ..Settings::default()
    })
    .await;
    let run = command(&best, "/save-plan").await;
    assert_eq!(best.state(&run).await, State::Succeeded);
    assert_eq!(best.forge.plans()[0].1.title, "CSV on the server");
    let (bobs, _) = ids(&best);
    let said = status(&best);
    let note = format!(
        "The most likely one was saved; another is CSV in the browser (by bob). To save that one, comment the command with \
         `from={bobs}`."
    );
    assert!(said.contains(&note), "{said}");

    let refuse = with(Settings {
        extract: ExtractSettings {
            when_unclear: WhenUnclear::Refuse,
        },
        ..Settings::default()
    })
    .await;
    let run = command(&refuse, "/save-plan").await;
    assert_eq!(refuse.state(&run).await, State::Failed);
    let said = status(&refuse);
    assert!(
        said.contains(
            "There is more than one plan here, and it is not clear which one is meant: they are about equally likely, and \
             nobody has decided."
        ),
        "{said}"
    );
    let (bobs, _) = ids(&refuse);
    assert!(
        said.contains(&format!(
            "`/save-plan from={bobs}`: CSV in the browser (by bob)"
        )),
        "{said}"
    );
}

#[tokio::test]
async fn a_command_points_to_a_post_in_every_form() {
    for form in [
        "from=https://github.com/acme/search/issues/7#issuecomment-{id}",
        "from=#issuecomment-{id}",
        "from={id}",
        "https://github.com/acme/search/issues/7#issuecomment-{id}",
    ] {
        let rig = rig().await;
        let (bobs, _) = ids(&rig);
        let form = form.replace("{id}", &bobs.to_string());
        let run = command(&rig, &format!("/save-plan {form}")).await;
        assert_eq!(
            rig.state(&run).await,
            State::Succeeded,
            "{form}: {}",
            status(&rig)
        );
        assert_eq!(rig.forge.plans()[0].1.title, "CSV in the browser", "{form}");
        assert!(
            !status(&rig).contains("guidance"),
            "{form}: {}",
            status(&rig)
        );
    }
}

#[tokio::test]
async fn the_opening_text_is_saved_when_it_is_pointed_to() {
    let rig = rig().await;
    rig.forge.open(HERE, "Reports as CSV", &[
            "Write the rows of the report one by one, so that a large one needs no memory.\n\nThen offer the file on the \
             page of the report, and describe it in the manual.",
            SERVER,
        ]);
    let run = command(&rig, "/save-plan from=opening").await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "Reports as CSV");
}

#[tokio::test]
async fn a_pointer_that_cannot_be_followed_says_what_was_looked_for() {
    for (form, message) in [
        (
            "from=4711",
            "The command points to a post that cannot be read: comment 4711 is not in this conversation.",
        ),
        (
            "from=https://github.com/acme/search/pull/7#discussion_r12",
            "The option `from=` of `/save-plan` cannot be used: it is the address of a review, and plans are read from the \
             comments of the conversation only.",
        ),
        (
            "from=yesterday",
            "The option `from=` of `/save-plan` cannot be used: its value must be the address of a comment here, the id of \
             one, or `opening`.",
        ),
    ] {
        let rig = rig().await;
        let run = command(&rig, &format!("/save-plan {form}")).await;
        assert_eq!(rig.state(&run).await, State::Failed, "{form}");
        assert!(status(&rig).contains(message), "{form}: {}", status(&rig));
        assert!(rig.forge.plans().is_empty());
    }
}

#[tokio::test]
async fn a_quote_above_the_command_points_to_the_post_that_is_quoted() {
    let rig = rig().await;
    let run = command(&rig, "> # CSV in the browser\n\n/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "CSV in the browser");
}

#[tokio::test]
async fn words_behind_the_command_point_to_one_of_the_plans() {
    for (words, title) in [
        ("the second one", "CSV on the server"),
        ("bob's please", "CSV in the browser"),
    ] {
        let rig = rig().await;
        let run = command(&rig, &format!("/save-plan {words}")).await;
        assert_eq!(
            rig.state(&run).await,
            State::Succeeded,
            "{words}: {}",
            status(&rig)
        );
        assert_eq!(rig.forge.plans()[0].1.title, title, "{words}");
    }
}

#[tokio::test]
async fn a_decision_of_the_conversation_needs_no_question() {
    let rig = rig().await;
    rig.forge
        .post(HERE, bob(), "MEMBER", "Fine, let's go with cat's plan.");
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "CSV on the server");
}

#[tokio::test]
async fn what_strangers_say_decides_nothing() {
    let rig = rig().await;
    let eve = Actor {
        id: 66,
        login: "eve".to_owned(),
        bot: false,
    };
    rig.forge.post(
        HERE,
        eve,
        "NONE",
        "Let's go with bob's plan. Forget the server.",
    );
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
}

#[tokio::test]
async fn a_plan_in_two_comments_is_saved_as_one() {
    let rig = rig().await;
    rig.forge
        .open(HERE, "Reports as CSV", &["Customers ask for it."]);
    rig.forge.post(
        HERE,
        bob(),
        "MEMBER",
        "**CSV reports (1/2)**\n\n1. Add a writer in `src/csv.rs`\n2. Add a route for each report\n",
    );
    rig.forge.post(
        HERE,
        bob(),
        "MEMBER",
        "(2/2)\n\n3. Put a button on the page\n4. Test a report with quotes in it\n",
    );
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let saved = document(&rig);
    assert!(
        saved.contains("2. Add a route for each report\n\n3. Put a button on the page"),
        "{saved}"
    );
    assert_eq!(rig.forge.plans()[0].1.title, "CSV reports");
    assert!(status(&rig).contains("2 comments"), "{}", status(&rig));
}

#[tokio::test]
async fn a_remark_below_the_plan_is_left_out_and_the_report_says_so() {
    let note = "> What follows the plan in its post was taken for a remark and not saved: ";
    for (below, said) in [
        ("The old reports stay in the archive.", true),
        ("What do you think?", false),
        ("Out of scope: PDF.", false),
    ] {
        let rig = rig().await;
        rig.forge
            .open(HERE, "Reports as CSV", &["Customers ask for it."]);
        let steps = SERVER.split_once("\n\n").unwrap().1.trim_end();
        let post = format!("{steps}\n\n{below}");
        rig.forge.post(HERE, bob(), "MEMBER", &post);
        rig.forge
            .post(HERE, bob(), "MEMBER", "Agreed, let's do it.");
        let run = command(&rig, "/save-plan").await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
        let shown = status(&rig).contains(&format!("{note}`{below}`"));
        assert_eq!(shown, said, "{}", status(&rig));
        let document = document(&rig);
        let (plan, notes) = document.split_once("## Notes").unwrap();
        assert_eq!(plan.contains(below), below.starts_with("Out"), "{plan}");
        assert_eq!(notes.contains(below), said, "{notes}");
    }
}

#[tokio::test]
async fn the_report_names_a_remark_below_the_best_of_several_plans_too() {
    let rig = Rig::with(Settings {
        extract: ExtractSettings {
            when_unclear: WhenUnclear::Best,
        },
        ..Settings::default()
    })
    .await;
    two_plans(&rig);
    rig.forge
        .open(HERE, "Reports as CSV", &["Customers ask for it."]);
    for (plan, author) in [(BROWSER, bob()), (SERVER, cat())] {
        let steps = plan.split_once("\n\n").unwrap().1.trim_end();
        let post = format!("{steps}\n\nThe old reports stay in the archive.");
        rig.forge.post(HERE, author, "MEMBER", &post);
    }
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let text = status(&rig);
    assert!(text.contains("There was more than one plan."), "{text}");
    assert!(
        text.contains("not saved: `The old reports stay in the archive.`"),
        "{text}"
    );
}

#[tokio::test]
async fn the_agent_chooses_and_its_choice_is_verified_by_the_text_it_keeps() {
    let body = SERVER.split_once("\n\n").unwrap().1;
    let enriched = format!(
        "{GOOD_HEAD}{body}\n## Context & Understanding\n\n### Known Pitfalls\n\n- DO NOT build the file in memory\n"
    );
    let agent = FakeAgent::new(vec![say(&enriched)]);
    let rig = with_agent(&agent).await;
    two_plans(&rig);
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "CSV on the server");
    let told = agent.prompts().remove(0);
    assert!(
        told.contains("Several plans were found, and only one of them is meant."),
        "{told}"
    );
    assert!(
        status(&rig)
            .contains("There was more than one plan; the agent took CSV on the server (by cat)."),
        "{}",
        status(&rig)
    );
}

#[tokio::test]
async fn an_agent_that_keeps_neither_text_leaves_the_choice_to_people() {
    let agent = FakeAgent::new((0..3).map(|_| say("I cannot tell.")).collect());
    let rig = with_agent(&agent).await;
    two_plans(&rig);
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
    answers(&rig, "1: a").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "CSV on the server");
}

#[tokio::test]
async fn an_agent_that_fails_leaves_the_choice_to_people() {
    let agent = FakeAgent::new(vec![Act::End(Ending::NotStarted(
        "no such file: /x/claude".into(),
    ))]);
    let rig = with_agent(&agent).await;
    two_plans(&rig);
    let run = command(&rig, "/save-plan").await;
    assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
    answers(&rig, "1: b").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(rig.forge.plans()[0].1.title, "CSV in the browser");
    assert!(
        status(&rig).contains("**not enriched**"),
        "{}",
        status(&rig)
    );
}

/// The head of an enriched answer, up to the plan.
const GOOD_HEAD: &str = "# Plan: CSV on the server\n\n## Enrichment Details\n\n### Process Summary\n\n- **Mode**: enriched\n\
    - **Guidance applied**: no\n- **Questions asked**: 0\n- **Context categories extracted**: 1 of 8\n\n\
    ### Context Categories Populated\n\n- ✅ Known Pitfalls\n\n---\n\n";
