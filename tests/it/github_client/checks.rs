//! Check runs: the requests, the interpretation of the responses, and what GitHub refuses.

use planwright::adapters::redact::Redactor;
use planwright::engine::forge::{
    Annotation, CheckReport, CheckRun, CheckState, Conclusion, Forge, ForgeError, Level,
    NewCheckRun,
};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::stub::*;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

fn report(state: CheckState) -> CheckReport {
    CheckReport {
        state,
        title: "2 remarks".into(),
        summary: "Look **here**.".into(),
        text: None,
        annotations: Vec::new(),
    }
}

fn new(report: CheckReport) -> NewCheckRun {
    NewCheckRun {
        name: "Plan check".into(),
        head_sha: SHA.into(),
        details_url: None,
        report,
    }
}

fn remark() -> Annotation {
    Annotation {
        path: "plans/a b.md".into(),
        start_line: 3,
        end_line: 4,
        level: Level::Warning,
        title: None,
        message: "No such step".into(),
        raw_details: None,
    }
}

/// A check run as GitHub writes it.
fn run(id: u64, app: u64, name: &str) -> Value {
    json!({
        "id": id, "name": name, "external_id": format!("ref-{id}"), "head_sha": SHA,
        "html_url": format!("https://github.com/octo/plans/runs/{id}"),
        "status": "completed", "conclusion": "success", "app": {"id": app, "slug": "x"},
        "output": {"title": null, "summary": null, "text": null, "annotations_count": 7, "surprise": []},
    })
}

#[tokio::test]
async fn check_runs_are_sent_like_this() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.line().as_str() {
        "POST /repos/octo/plans/check-runs" => reply(201, run(4_000_000_000, APP, "Plan check")),
        "PATCH /repos/octo/plans/check-runs/4000000000" => Some(Reply::Raw(200, "done, not JSON")),
        _ => None,
    })
    .await;
    let github = client(&stub, &clock);
    let mut first = new(report(CheckState::Queued));
    first.details_url = Some("https://plans.example/1".into());
    let created = github.create_check_run(&repo(), &first, "run/key").await;
    let expected = CheckRun {
        id: 4_000_000_000,
        url: "https://github.com/octo/plans/runs/4000000000".into(),
        external_id: "ref-4000000000".into(),
        annotations: 7,
    };
    assert_eq!(created, Ok(expected.clone()));
    let mut second = report(CheckState::Completed(Conclusion::Failure));
    second.text = Some("More".into());
    second.annotations = vec![
        remark(),
        Annotation {
            level: Level::Failure,
            title: Some("Step 3".into()),
            raw_details: Some("found: 2".into()),
            ..remark()
        },
    ];
    let id = expected.id;
    assert_eq!(github.update_check_run(&repo(), id, &second).await, Ok(()));
    let sent: Vec<Value> = stub
        .asked()
        .into_iter()
        .filter(|asked| asked.path.contains("check-runs"))
        .map(|asked| asked.body)
        .collect();
    let lines =
        json!({"path": "plans/a b.md", "start_line": 3, "end_line": 4, "message": "No such step"});
    let mut warning = lines.clone();
    warning["annotation_level"] = json!("warning");
    let mut failure = lines;
    failure["annotation_level"] = json!("failure");
    failure["title"] = json!("Step 3");
    failure["raw_details"] = json!("found: 2");
    assert_eq!(
        sent,
        [
            json!({
                "name": "Plan check", "head_sha": SHA, "external_id": "run/key",
                "details_url": "https://plans.example/1", "status": "queued",
                "output": {"title": "2 remarks", "summary": "Look **here**."},
            }),
            json!({
                "status": "completed", "conclusion": "failure",
                "output": {
                    "title": "2 remarks", "summary": "Look **here**.", "text": "More",
                    "annotations": [warning, failure],
                },
            }),
        ]
    );
}

#[tokio::test]
async fn every_state_has_githubs_word() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        (asked.method == "PATCH")
            .then(|| reply(200, json!({})))
            .flatten()
    })
    .await;
    let github = client(&stub, &clock);
    let table = [
        (CheckState::Queued, "queued", None),
        (CheckState::InProgress, "in_progress", None),
        (
            CheckState::Completed(Conclusion::Success),
            "completed",
            Some("success"),
        ),
        (
            CheckState::Completed(Conclusion::Failure),
            "completed",
            Some("failure"),
        ),
        (
            CheckState::Completed(Conclusion::Neutral),
            "completed",
            Some("neutral"),
        ),
        (
            CheckState::Completed(Conclusion::Skipped),
            "completed",
            Some("skipped"),
        ),
        (
            CheckState::Completed(Conclusion::Cancelled),
            "completed",
            Some("cancelled"),
        ),
        (
            CheckState::Completed(Conclusion::TimedOut),
            "completed",
            Some("timed_out"),
        ),
        (
            CheckState::Completed(Conclusion::ActionRequired),
            "completed",
            Some("action_required"),
        ),
    ];
    for (state, status, conclusion) in table {
        let said = github.update_check_run(&repo(), 1, &report(state)).await;
        assert_eq!(said, Ok(()));
        let body = stub.asked().pop().unwrap().body;
        assert_eq!(body["status"], status, "{state:?}");
        assert_eq!(body["conclusion"].as_str(), conclusion, "{state:?}");
    }
}

#[tokio::test]
async fn what_is_too_long_is_cut_after_it_was_redacted() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        (asked.method == "PATCH")
            .then(|| reply(200, json!({})))
            .flatten()
    })
    .await;
    let mut config = config(&stub.url);
    let secret = "correct-horse-battery";
    config.redactor = Redactor::new(vec![SecretString::from(secret)]);
    let github = planwright::adapters::github::GitHub::new(config, clock.clone()).unwrap();
    let mut long = report(CheckState::InProgress);
    long.title = format!("of {secret}");
    long.summary = format!("{secret}{}", "ü".repeat(40_000));
    long.text = Some("a".repeat(65_535));
    long.annotations = vec![Annotation {
        title: Some(format!("{secret}{}", "ü".repeat(300))),
        message: format!("{secret}{}", "b".repeat(70_000)),
        raw_details: Some("c".repeat(65_537)),
        ..remark()
    }];
    github.update_check_run(&repo(), 1, &long).await.unwrap();
    let output = stub.asked().pop().unwrap().body["output"].clone();
    assert!(!output.to_string().contains(secret), "{secret} went out");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let summary = text(&output["summary"]);
    assert!(
        (65_530..=65_535).contains(&summary.len()),
        "{}",
        summary.len()
    );
    assert!(summary.ends_with("ü…"));
    assert_eq!(text(&output["text"]).len(), 65_535);
    let remark = &output["annotations"][0];
    let title = text(&remark["title"]);
    assert_eq!(title.chars().count(), 255);
    assert!(title.ends_with("ü…"));
    for name in ["message", "raw_details"] {
        let long = text(&remark[name]);
        assert_eq!(long.len(), 65_536, "{name}");
        assert!(long.ends_with('…'), "{name}");
    }
}

#[tokio::test]
async fn own_check_runs_are_those_of_this_app_and_name_on_every_page() {
    let clock = TestClock::new();
    let list = format!(
        "/repos/octo/plans/commits/{SHA}/check-runs?check_name=Plan%20check&app_id={APP}&filter=all&per_page=100"
    );
    let (asked_for, next) = (list.clone(), format!("{list}&page=2"));
    let stub = Stub::start(&clock, move |asked| {
        if asked.path == asked_for {
            let page = json!({"total_count": 4, "check_runs": [
                run(1, APP, "Plan check"), run(2, APP + 1, "Plan check"),
            ]});
            let link = format!("<{asked_for}&page=2>; rel=\"next\"");
            return Some(Reply::With(200, vec![("link", link)], page));
        }
        let page = json!({"total_count": 4, "check_runs": [
            run(3, APP, "Another"), run(4, APP, "Plan check"),
        ]});
        (asked.path == next).then(|| reply(200, page)).flatten()
    })
    .await;
    let github = client(&stub, &clock);
    let own = github.own_check_runs(&repo(), SHA, "Plan check").await;
    let ids: Vec<u64> = own.unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, [1, 4]);
    assert_eq!(
        stub.lines(),
        [format!("GET {list}"), format!("GET {list}&page=2")]
    );
}

#[tokio::test]
async fn a_check_run_is_read_by_its_id() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.line().as_str() {
        "GET /repos/octo/plans/check-runs/9" => reply(200, run(9, APP, "Plan check")),
        "GET /repos/octo/plans/check-runs/10" => reply(200, json!({"id": 10})),
        _ => None,
    })
    .await;
    let github = client(&stub, &clock);
    assert_eq!(github.check_run(&repo(), 9).await.unwrap().annotations, 7);
    assert_eq!(
        github.check_run(&repo(), 10).await.unwrap_err().to_string(),
        "GitHub's answer to check run 10 in octo/plans cannot be read: missing field `output` at line 1 column 9"
    );
    assert_eq!(
        github.check_run(&repo(), 11).await.unwrap_err().to_string(),
        "GitHub answered 404 for check run 11 in octo/plans: it does not exist or the App cannot see it"
    );
}

#[tokio::test]
async fn refusals_say_what_is_missing() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let headers = vec![("x-accepted-github-permissions", "checks=write".to_owned())];
        match (asked.method.as_str(), asked.before) {
            ("POST", 0) if asked.path.ends_with("/check-runs") => Some(Reply::With(
                403,
                headers,
                json!({"message": "Resource not accessible by integration"}),
            )),
            ("POST", 1) if asked.path.ends_with("/check-runs") => reply(
                422,
                json!({"message": "Invalid request.\n\nNo more than 50 items are allowed; 51 were supplied."}),
            ),
            ("POST", 2) if asked.path.ends_with("/check-runs") => {
                reply(201, json!({"message": "somewhere"}))
            }
            ("PATCH", 0) => Some(Reply::Raw(502, "<html>")),
            _ => None,
        }
    })
    .await;
    let github = client(&stub, &clock);
    let new = new(report(CheckState::Queued));
    let mut said = Vec::new();
    for _ in 0..3 {
        let refused = github.create_check_run(&repo(), &new, "r").await;
        said.push(refused.unwrap_err().to_string());
    }
    let lost = github.update_check_run(&repo(), 5, &new.report).await;
    assert!(matches!(lost, Err(ForgeError::Unknown { .. })), "{lost:?}");
    said.push(lost.unwrap_err().to_string());
    let what = format!("a check run for commit {SHA} in octo/plans");
    assert_eq!(
        said,
        [
            format!(
                "GitHub refuses {what}: Resource not accessible by integration (the token needs the permission checks=write)"
            ),
            format!(
                "GitHub answered 422 for {what}: Invalid request. No more than 50 items are allowed; 51 were supplied."
            ),
            format!(
                "the outcome of {what} is unknown: the answer cannot be read: missing field `id` at line 1 column 23"
            ),
            "the outcome of the report of check run 5 in octo/plans is unknown: GitHub answered 502: Bad Gateway"
                .to_owned(),
        ]
    );
}
