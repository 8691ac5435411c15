//! What `planwright try` prints.

use std::time::Duration;

use serde_json::json;

use super::Outcome;

/// For people.
pub(super) fn as_text(outcome: &Outcome, all: Duration) -> String {
    let mut text = format!(
        "conversation  {}  ({} posts)\ncommand       {} by {}, acknowledged in {:.1} ms\n",
        outcome.source,
        outcome.posts,
        outcome.command,
        outcome.by,
        outcome.acknowledged.as_secs_f64() * 1000.0
    );
    match &outcome.plan {
        Some(plan) => text.push_str(&format!(
            "plan issue    #{} {}\n              {}\n              label {}, {} plan comment{}, blocks plan-header and plan-body\n",
            plan.number,
            plan.title,
            plan.url,
            plan.labels.join(", "),
            plan.comments,
            if plan.comments == 1 { "" } else { "s" }
        )),
        None => text.push_str("plan issue    none\n"),
    }
    text.push_str(&format!(
        "run           {} {} in {:.0} ms: {} requests to GitHub, {} of them writes\nall           {:.2} s, of which start {:.2} s\n",
        outcome.run.id,
        outcome.run.state.name(),
        outcome.worked.as_secs_f64() * 1000.0,
        outcome.requests,
        outcome.writes,
        all.as_secs_f64(),
        outcome.started.as_secs_f64()
    ));
    text.push_str("\nThe bot's report in the conversation:\n\n");
    let visible = outcome
        .report
        .split("<!-- WARNING")
        .next()
        .unwrap_or_default()
        .trim_end();
    for line in visible.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text
}

/// For programs.
pub(super) fn as_json(outcome: &Outcome, all: Duration) -> serde_json::Value {
    let plan = outcome.plan.as_ref().map(|plan| {
        json!({
            "number": plan.number, "url": plan.url, "title": plan.title, "labels": plan.labels,
            "comments": plan.comments,
        })
    });
    json!({
        "conversation": outcome.source,
        "command": outcome.command,
        "by": outcome.by,
        "run": { "id": outcome.run.id, "state": outcome.run.state.name(), "code": outcome.run.code },
        "plan_issue": plan,
        "report": outcome.report,
        "requests": outcome.requests,
        "writes": outcome.writes,
        "milliseconds": {
            "all": all.as_millis(), "start": outcome.started.as_millis(),
            "acknowledged": outcome.acknowledged.as_millis(), "worked": outcome.worked.as_millis(),
        },
    })
}
