//! `planwright extract`: what would be saved from a text, and why.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::failure::print;
use super::local::{read_thread, trigger_for};
use super::{Failure, input};
use crate::engine::code::Code;
use crate::engine::progress::Prepared;
use crate::engine::say::failures::shorten;
use crate::engine::steps::extract::{Candidate, MIN_SCORE, Search, Trust, scan};
use crate::engine::steps::verify::{READERS, document, found, settle_hidden};
use crate::formats::command::read_options;
use crate::formats::hidden;

const HELP: &str = "\
FILE may hold one text, or a conversation: lines like `--- @alice
2026-01-02T10:00:00Z` begin a post, and a line `title: …` above them is the
title of the conversation. Posts of all authors count, or those of
`author=LOGIN`; on GitHub only those of the requester, of people with write
access and of Apps do.

JSON fields:
  would_save     whether a plan would be saved
  title          of the plan, or null
  document       the document that would be saved, or null
  error          why nothing would be saved, or null
  error_type     its error code, no_plan_found or validation_failed, or null
  minimum_score  points that a plan needs
  candidates     best first: score, title (or null), where, characters, and
                 reasons (points, why)
  left_out       what was not looked at, one sentence each
  hidden         parts of the plan that people do not see on GitHub, such as
                 HTML comments

Exit codes:
  0  a plan would be saved
  1  nothing would be saved; why is said
  2  the arguments are wrong, or FILE cannot be read

Examples:
  planwright extract plan.md                  the candidates with their scores,
                                              and the verdict
  planwright extract thread.md --document     print the document that would be
                                              saved
  gh issue view 12 --json body -q .body | planwright extract - --json";

/// Show what would be saved from a text, and why
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Extract {
    /// File to read; `-` for standard input
    file: PathBuf,
    /// Print the document that would be saved, and nothing else
    #[arg(long, conflicts_with = "json")]
    document: bool,
    /// Print candidates and verdict as JSON
    #[arg(long)]
    json: bool,
}

impl Extract {
    pub(super) fn run(self) -> Result<(), Failure> {
        let name = self.file.display().to_string();
        let text = input::text(&self.file)?;
        let thread =
            read_thread(&text).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        let (thread, command) = (thread.thread, thread.command);
        let trigger = trigger_for(&thread, command.as_ref());
        let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
        let trust = options.author.map_or(Trust::Everybody, Trust::Named);
        let search = scan(&thread, &trigger, READERS).search(&trust);
        let best = search.candidates.first();
        let good = best.filter(|best| best.score >= MIN_SCORE || trigger.inline.is_some());
        let hidden = good.map(|best| hidden::in_plan(&best.text));
        let hidden = hidden.unwrap_or_default();
        let verdict = match good.cloned() {
            None => Err((
                Code::NoPlanFound,
                "nothing here looks like a plan".to_owned(),
            )),
            Some(mut best) => settle_hidden(&trigger, &mut best)
                .and_then(|hidden| document(&trigger, &best, hidden, &thread.title, ""))
                .map_err(|failure| {
                    let why = format!("{} {}", failure.message, failure.details.join(" "));
                    (failure.code, why)
                }),
        };
        let text = match &verdict {
            _ if self.json => format!("{:#}\n", as_json(&search, &hidden, &verdict)),
            Ok(prepared) if self.document => prepared.document.clone(),
            Err(_) if self.document => String::new(),
            verdict => as_text(&search, &hidden, verdict.as_ref().ok()),
        };
        print(&text)?;
        match verdict {
            Ok(_) => Ok(()),
            Err((_, why)) => Err(Failure::failed(format!(
                "{name}: nothing would be saved: {why}"
            ))),
        }
    }
}

fn as_json(
    search: &Search,
    hidden: &[String],
    verdict: &Result<Prepared, (Code, String)>,
) -> serde_json::Value {
    let shown: Vec<_> = search.candidates.iter().map(describe).collect();
    let good = verdict.as_ref().ok();
    let bad = verdict.as_ref().err();
    json!({
        "would_save": verdict.is_ok(),
        "title": good.map(|prepared| &prepared.title),
        "error": bad.map(|(_, why)| why),
        "error_type": bad.map(|(code, _)| code.name()),
        "document": good.map(|prepared| &prepared.document),
        "minimum_score": MIN_SCORE,
        "candidates": shown,
        "left_out": search.left_out,
        "hidden": hidden,
    })
}

fn as_text(search: &Search, hidden: &[String], good: Option<&Prepared>) -> String {
    let mut text: String = search.candidates.iter().map(row).collect();
    for why in &search.left_out {
        text.push_str(&format!("not looked at: {why}\n"));
    }
    for part in hidden {
        text.push_str(&format!("hidden text: {}\n", shorten(part, 200)));
    }
    if let Some(prepared) = good {
        if let Some(hidden) = &prepared.hidden {
            let what = if hidden.kept { "kept" } else { "left out" };
            text.push_str(&format!("the hidden text would be {what}\n"));
        }
        text.push_str(&format!("\nwould save: {}\n", prepared.title));
    }
    text
}

fn describe(candidate: &Candidate) -> serde_json::Value {
    let reasons: Vec<_> = candidate
        .reasons
        .iter()
        .map(|(points, why)| json!({ "points": points, "why": why }))
        .collect();
    json!({
        "score": candidate.score, "title": candidate.title, "where": found(candidate),
        "characters": candidate.text.chars().count(), "reasons": reasons,
    })
}

fn row(candidate: &Candidate) -> String {
    let title = candidate.title.as_deref().unwrap_or("(no title)");
    let mut row = format!(
        "{:>4} points  {}  ({}, {} characters)\n",
        candidate.score,
        shorten(title, 70),
        found(candidate),
        candidate.text.chars().count()
    );
    for (points, why) in &candidate.reasons {
        row.push_str(&format!("     {points:+4}  {why}\n"));
    }
    row
}
