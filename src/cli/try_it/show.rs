//! Formats the output of `planwright try`.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Outcome, REPOSITORY};

/// Returns the result as text. `keep` is whether the pages stay up.
pub(super) fn as_text(outcome: &Outcome, all: Duration, keep: bool) -> String {
    let mut text = format!(
        "conversation  {}  ({})\ncommand       {} by {}, acknowledged in {:.1} ms\n",
        outcome.source,
        match outcome.posts {
            1 => "1 post".to_owned(),
            many => format!("{many} posts"),
        },
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
    if outcome.on_github > outcome.worked {
        text.push_str(&format!(
            "on GitHub     about {:.0} s: a second between two writes, three between two new issues or comments\n",
            outcome.on_github.as_secs_f64()
        ));
    }
    text.push_str("\nThe bot's report in the conversation:\n\n");
    let visible = outcome
        .report
        .split("<!-- WARNING")
        .next()
        .unwrap_or_default()
        .trim_end();
    let marker = |line: &&str| line.starts_with("<!-- planwright:effect ");
    let lines: Vec<&str> = visible.lines().filter(|line| !marker(line)).collect();
    for line in lines.join("\n").trim_end().lines() {
        text.push_str(&format!("    {line}\n"));
    }
    if !keep {
        text.push_str("\nThe pages above are closed; `planwright try --keep` keeps them open.\n");
    }
    text
}

/// Returns the message that the simulator stays up, with commands to try. The token is only valid
/// for this simulator.
pub(super) fn stays(pages: &str, api: &str, token: &SecretString) -> String {
    let token = token.expose_secret();
    format!(
        "\nThe pages stay open at {pages} until you press Ctrl-C; you can write comments and tick \
         checkboxes there. Meanwhile, in another terminal:\n\n  export PLANWRIGHT_TOKEN={token}\n  \
         planwright plan list {REPOSITORY} --set github.api_url={api}\n  planwright save --plan \
         FILE --repo {REPOSITORY} --set github.api_url={api}\n"
    )
}

/// Returns the result as JSON.
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
            "on_github": outcome.on_github.as_millis(),
        },
    })
}
