//! The question comment: ticks that do not yet answer, its text once it is answered, and questions
//! that stay open.

use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::Origin;
use planwright::formats::command::{Command, Permission};
use planwright::formats::question::boxes;

use crate::engine_agent::{
    ASKS, GOOD, answers, answers_as, document, rig, say, status, with, work_until_idle,
};
use crate::support::fake_agent::FakeAgent;
use crate::support::fake_forge::Fault;
use crate::support::rig::{HERE, Rig};

/// Two questions, each with options; several can be chosen in the second.
const BOTH: &str = "<!--QUESTION:{\"questions\":[{\"question\":\"Where?\",\"type\":\"choice\",\"options\":[{\"label\":\"Disk\"},\
{\"label\":\"Cache\"}]},{\"question\":\"Which parts?\",\"type\":\"choice\",\"multiSelect\":true,\"options\":[{\"label\":\"API\"},\
{\"label\":\"Worker\"}]}]}-->";

/// A run that waits for answers to what `asks` asks.
async fn asked(asks: &str) -> (Rig, RunId) {
    let agent = FakeAgent::new(vec![say(asks), say(GOOD)]);
    let rig = rig(&agent).await;
    rig.forge.grant("bob", 8, Permission::Write);
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
    (rig, run)
}

/// The comment that asks, or asked: the second one here.
fn comment(rig: &Rig) -> (u64, String) {
    let world = rig.forge.world.lock().unwrap();
    let ids = &world.issues[&HERE].comments;
    let own: Vec<u64> = ids
        .iter()
        .copied()
        .filter(|id| world.comments.get(id).is_some_and(|one| one.own))
        .collect();
    (own[1], world.comments[&own[1]].body.clone())
}

/// Somebody ticks the boxes whose lines hold these words, one after the other.
async fn tick(rig: &Rig, who: (&str, u64), lines: &[&str]) {
    let (id, mut body) = comment(rig);
    for line in lines {
        let at = body.find(line).unwrap();
        let at = body[..at].rfind("- [ ] ").unwrap();
        body.replace_range(at..at + 5, "- [x]");
    }
    {
        let mut world = rig.forge.world.lock().unwrap();
        world.comments.get_mut(&id).unwrap().body.clone_from(&body);
    }
    let mut trigger = rig.trigger(Command::Answer, who.0, who.1, HERE);
    trigger.origin = Origin::Boxes {
        id,
        text: body,
        url: "https://github.test/boxes".into(),
    };
    rig.deliver(trigger).await;
    work_until_idle(rig).await;
}

fn reply(rig: &Rig) -> String {
    rig.forge.own_bodies(HERE).pop().unwrap()
}

const ADA: (&str, u64) = ("ada", 7);
const SEND: &str = "**Send these answers**";

#[tokio::test]
async fn a_refused_ticking_can_be_corrected_and_sent_again() {
    let (rig, run) = asked(BOTH).await;
    let fresh = comment(&rig).1;
    for (lines, why) in [
        (&[SEND][..], "No option is ticked."),
        (
            &["a) Disk", "b) Cache", SEND],
            "Question 1 takes one option, but several are chosen.",
        ),
    ] {
        tick(&rig, ADA, lines).await;
        assert_eq!(rig.state(&run).await, State::Waiting, "{why}");
        let said = reply(&rig);
        assert!(said.starts_with("😕 ada: ") && said.contains(why), "{said}");
        assert!(
            said.contains("*Send these answers* is unticked again"),
            "{said}"
        );
        let ticks = boxes::parse(&comment(&rig).1).unwrap();
        assert!(!ticks.send, "{why}");
        let chosen: usize = ticks.questions.iter().map(|one| one.chosen.len()).sum();
        assert_eq!(chosen, lines.len() - 1, "what was ticked stays");
    }
    // One tick taken off, one set: that is an answer.
    {
        let (id, body) = comment(&rig);
        let mut world = rig.forge.world.lock().unwrap();
        world.comments.get_mut(&id).unwrap().body = body.replace("- [x] a)", "- [ ] a)");
    }
    tick(&rig, ADA, &["a) API", "b) Worker", SEND]).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let saved = document(&rig);
    assert!(saved.contains("**Where?**: Cache"), "{saved}");
    assert!(saved.contains("**Which parts?**: API; Worker"), "{saved}");
    assert_ne!(comment(&rig).1, fresh);
}

#[tokio::test]
async fn ticks_for_some_questions_are_noted_and_the_others_wait() {
    let (rig, run) = asked(ASKS).await;
    tick(&rig, ADA, &["a) Beside", SEND]).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    let said = reply(&rig);
    assert!(
        said.starts_with(
            "✍️ Noted, ada. Question 2 is still open; `/answer skip` continues without an answer. *Send"
        ),
        "{said}"
    );
    assert!(!boxes::parse(&comment(&rig).1).unwrap().send);
    answers_as(&rig, "bob", 8, "2: about 2 GB @octocat").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let body = comment(&rig).1;
    let marker = format!("\n\n<!-- planwright:effect {run}/questions-1 -->");
    assert_eq!(
        body,
        format!(
            "✅ **Answered by ada, bob.** This was asked for `/save-plan` of ada.\n\n\
             **1. Place** – Where does the file live?\n\n> Answer: Beside the data (ada)\n\n\
             **2. Size** – How large may it grow?\n\n> Answer: about 2 GB @\u{200b}octocat (bob){marker}"
        )
    );
    // A click in the boxes as somebody still sees them changes nothing.
    let before = rig.forge.own_bodies(HERE).len();
    let (id, _) = comment(&rig);
    let mut trigger = rig.trigger(Command::Answer, "ada", 7, HERE);
    trigger.origin = Origin::Boxes {
        id,
        text: format!("- [x] a) x\n\n- [x] {SEND}\n\n<!-- planwright:questions {run} 1 -->"),
        url: String::new(),
    };
    rig.deliver(trigger).await;
    work_until_idle(&rig).await;
    assert_eq!(comment(&rig).1, body);
    assert_eq!(rig.forge.own_bodies(HERE).len(), before + 1);
    assert!(reply(&rig).contains("the bot has no open questions"));
}

#[tokio::test]
async fn questions_left_to_the_agent_are_seen_in_the_plan_and_in_the_report() {
    let (rig, run) = asked(ASKS).await;
    answers(&rig, "1: b skip").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let body = comment(&rig).1;
    assert!(body.starts_with("✅ **Answered by ada.**"), "{body}");
    assert!(
        body.contains("> Answer: In the cache folder (ada)"),
        "{body}"
    );
    assert!(body.contains("> *Left to the agent*"), "{body}");
    let saved = document(&rig);
    assert!(
        saved.contains("## Open Questions\n\n- How large may it grow? – left to the agent\n"),
        "{saved}"
    );
    let said = status(&rig);
    assert!(
        said.contains(
            "1 question was left to the agent; see “Open Questions” at the end of the plan."
        ),
        "{said}"
    );
    assert!(!said.contains("questions_unanswered"), "{said}");
}

#[tokio::test]
async fn questions_nobody_answered_in_time_are_seen_where_they_were_asked() {
    let (rig, run) = asked(ASKS).await;
    answers(&rig, "1: b").await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let body = comment(&rig).1;
    assert!(
        body.starts_with(
            "⌛ **Not all questions were answered in time.** The plan lists the open ones."
        ),
        "{body}"
    );
    assert!(
        body.contains("> Answer: In the cache folder (ada)"),
        "{body}"
    );
    assert!(body.contains("> *Not answered*"), "{body}");
    assert_eq!(boxes::parse(&body), None);
    let saved = document(&rig);
    assert!(
        saved.contains("## Open Questions\n\n- How large may it grow?\n"),
        "{saved}"
    );
    assert!(status(&rig).contains("1 question was not answered within"));
}

#[tokio::test]
async fn a_comment_that_cannot_be_edited_holds_up_nothing() {
    // The answer's own writes: 👀 aside, the reply, then the edits of the comment that asked.
    for at in 1..=8 {
        for fault in [Fault::Forbidden, Fault::LostAfter, Fault::LostBefore] {
            let (rig, run) = asked(BOTH).await;
            let before = rig.forge.world.lock().unwrap().writes;
            tick(&rig, ADA, &["a) Disk", SEND]).await;
            let edits = rig.forge.world.lock().unwrap().writes - before;
            assert!(edits >= 3, "{edits}");
            rig.forge.fail(before + edits + at, fault);
            tick(&rig, ADA, &["b) Worker", SEND]).await;
            rig.settle().await;
            let state = rig.state(&run).await;
            // Refused for good, the plan issue itself cannot be made.
            let made = fault == Fault::Forbidden && state == State::Failed;
            assert!(
                state == State::Succeeded || made,
                "{fault:?} at {at}: {}",
                status(&rig)
            );
        }
    }
}

#[tokio::test]
async fn each_question_says_how_many_options_can_be_chosen_and_how_to_say_something_else() {
    let (rig, _) = asked(BOTH).await;
    let body = comment(&rig).1;
    assert!(
        body.contains(
            "**1.** Where?\n\nChoose one option. For another answer, comment `/answer 1: your own \
             words`, or edit this comment: write it after *other* and tick that checkbox.\n\n- [ ] \
             a) Disk"
        ),
        "{body}"
    );
    assert!(
        body.contains("**2.** Which parts?\n\nChoose one or more options. For another answer, comment `/answer 2:"),
        "{body}"
    );
    answers(&rig, "1: a, b").await;
    work_until_idle(&rig).await;
    let said = reply(&rig);
    assert!(
        said.contains("Question 1 takes one option, but several are chosen. Choose one of them or, if *other* is among the options, write your own answer"),
        "{said}"
    );
    assert!(!said.contains("The box"), "{said}");
}

#[tokio::test]
async fn a_fifth_question_and_a_seventh_option_are_asked_in_the_next_round() {
    let options: Vec<String> = (1..=7)
        .map(|at| format!("{{\"label\":\"o{at}\"}}"))
        .collect();
    let questions: Vec<String> = (1..=5)
        .map(|at| {
            format!(
                "{{\"question\":\"q{at}?\",\"options\":[{}]}}",
                options.join(",")
            )
        })
        .collect();
    let asks = format!(
        "<!--QUESTION:{{\"questions\":[{}]}}-->",
        questions.join(",")
    );
    let agent = FakeAgent::new(vec![say(&asks), say(GOOD)]);
    let rig = with(&agent, |_| {}).await;
    rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers(&rig, "1: a 2: a 3: a 4: a").await;
    work_until_idle(&rig).await;
    let told = agent.prompts().pop().unwrap();
    for lost in [
        "The question “q5?” was not asked: a round has at most 4 questions.",
        "The question “q1?” was asked with its first 6 options, which is the limit; left out: “o7”.",
        "The question “q4?” was asked with its first 6 options, which is the limit; left out: “o7”.",
    ] {
        assert!(told.contains(lost), "{told}");
    }
}
