//! `planwright runs show`: shows one run.

use clap::Args;
use serde_json::json;

use super::{no_run, run_id};
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database, terminal};
use crate::engine::model::failure::Code;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::timeline::dollars;
use crate::engine::why::{RunEvidence, run_line};

const HELP: &str = "\
JSON fields:
  id, command, state, repository, number, actor, attempts, code, note,
  accepted_at, finished_at
  now      what it does or waits for, in one clause
  step     the present or last step, or null
  failure  code, message, details, remedy; or null
  saved    number, url, comments; or null
  agents   turns, tools, cost in US dollars; or null

Exit codes:
  0  shown
  1  there is no such run, or the database cannot be read
  2  the arguments or the configuration are wrong; nothing was done";

/// Show a run: state, what it waits for, failure, result and cost
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Show {
    /// Id of the run
    #[arg(value_name = "RUN", value_parser = run_id)]
    id: RunId,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let found = block_on(async {
            let history = database::history(&loaded.config, &loaded.secrets).await?;
            let run = history.run(&self.id).await;
            run.map_err(|error| Failure::failed(error.to_string()))
        })?;
        let run = found.ok_or_else(|| no_run(&self.id))?;
        let limits = loaded.config.engine.worker.limits();
        let now = run_line(&run, &limits);
        if self.json {
            return print(&format!(
                "{}\n",
                terminal::json(&format!("{:#}", value(&run, &now)))
            ));
        }
        print(&text(&run, &now))
    }
}

fn value(run: &RunEvidence, now: &str) -> serde_json::Value {
    let view = &run.view;
    let place = view.trigger.as_ref().map(|trigger| &trigger.place);
    let progress = view.progress.as_ref();
    let failure = progress.and_then(|progress| progress.failure.as_ref());
    let spent = progress.and_then(Progress::spent);
    #[allow(clippy::cast_precision_loss, reason = "an amount of money for display")]
    let agents = spent.map(|spent| {
        json!({
            "turns": spent.turns,
            "tools": spent.tools,
            "cost": spent.cost as f64 / 1_000_000.0,
        })
    });
    json!({
        "id": view.id,
        "command": view.command,
        "state": view.state.name(),
        "repository": place.map(|place| place.repo.full_name()),
        "number": place.map(|place| place.number),
        "actor": view.trigger.as_ref().map(|trigger| &trigger.actor.login),
        "attempts": view.attempt,
        "code": view.code.map(Code::name),
        "note": view.note,
        "accepted_at": view.created.iso(),
        "finished_at": view.finished.map(Millis::iso),
        "now": now,
        "step": progress.and_then(|progress| progress.step.as_ref()),
        "failure": failure.map(|(_, failure)| failure),
        "saved": progress.and_then(|progress| progress.saved.as_ref()),
        "agents": agents,
    })
}

fn text(run: &RunEvidence, now: &str) -> String {
    let view = &run.view;
    let mut text = format!("{}\n", terminal::one_line(now));
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let value = terminal::one_line(&value);
            text.push_str(&format!("  {name:<10} {value}\n"));
        }
    };
    if let Some(trigger) = &view.trigger {
        let place = &trigger.place;
        line(
            "issue",
            format!("{}#{}", place.repo.full_name(), place.number),
        );
        line("by", trigger.actor.login.clone());
    }
    line("state", view.state.name().to_owned());
    line("accepted", view.created.iso());
    if let Some(finished) = view.finished {
        line("finished", finished.iso());
    }
    line("attempts", view.attempt.to_string());
    let Some(progress) = &view.progress else {
        return text;
    };
    if !view.state.is_terminal() {
        line("step", progress.step.clone().unwrap_or_default());
    }
    if let Some((_, failure)) = &progress.failure {
        line(
            "failed",
            format!("{}: {}", failure.code.name(), failure.message),
        );
        for detail in &failure.details {
            line("", detail.clone());
        }
        line("to do", failure.remedy.clone());
    }
    if let Some(saved) = &progress.saved {
        line("saved", saved.url.clone());
    }
    if let Some(spent) = progress.spent() {
        let (turns, tools, cost) = (spent.turns, spent.tools, dollars(spent.cost));
        line(
            "agents",
            format!("{turns} turns, {tools} tool calls, {cost}"),
        );
    }
    text
}
