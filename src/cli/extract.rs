//! `planwright extract`: what would be saved from a text, and why.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::local::{read_thread, trigger_for};
use super::{Failure, input};
use crate::engine::say::failures::shorten;
use crate::engine::steps::extract::{Candidate, MIN_SCORE, candidates};
use crate::engine::steps::verify::{READERS, document, found};

const EXAMPLES: &str = "\
Examples:
  planwright extract plan.md                  the candidates with their scores, and the verdict
  planwright extract thread.md --document     print the document that would be saved
  gh issue view 12 --json body -q .body | planwright extract - --json

A file may hold one text, or a conversation: lines like `--- @alice 2026-01-02T10:00:00Z` begin a post.";

/// Show what would be saved from a text, and why
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
        let search = candidates(&thread, &trigger, READERS);
        let best = search.candidates.first();
        let good = best.filter(|best| best.score >= MIN_SCORE || trigger.inline.is_some());
        let verdict = match good {
            None => Err("nothing here looks like a plan".to_owned()),
            Some(best) => document(&trigger, best, &thread.title, "")
                .map_err(|failure| format!("{} {}", failure.message, failure.details.join(" "))),
        };
        if self.json {
            let shown: Vec<_> = search.candidates.iter().map(describe).collect();
            let (title, document, error) = match &verdict {
                Ok(prepared) => (json!(prepared.title), json!(prepared.document), json!(null)),
                Err(why) => (json!(null), json!(null), json!(why)),
            };
            let all = json!({
                "would_save": verdict.is_ok(), "title": title, "error": error, "document": document,
                "minimum_score": MIN_SCORE, "candidates": shown, "left_out": search.left_out,
            });
            println!("{all:#}");
        } else if let (true, Ok(prepared)) = (self.document, &verdict) {
            print!("{}", prepared.document);
        } else if !self.document {
            for candidate in &search.candidates {
                print_candidate(candidate);
            }
            for why in &search.left_out {
                println!("not looked at: {why}");
            }
        }
        match verdict {
            Ok(prepared) => {
                if !self.json && !self.document {
                    println!("\nwould save: {}", prepared.title);
                }
                Ok(())
            }
            Err(why) => Err(Failure::failed(format!(
                "{name}: nothing would be saved: {why}"
            ))),
        }
    }
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

fn print_candidate(candidate: &Candidate) {
    let title = candidate.title.as_deref().unwrap_or("(no title)");
    println!(
        "{:>4} points  {}  ({}, {} characters)",
        candidate.score,
        shorten(title, 70),
        found(candidate),
        candidate.text.chars().count()
    );
    for (points, why) in &candidate.reasons {
        println!("     {points:+4}  {why}");
    }
}
