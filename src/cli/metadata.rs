//! `planwright metadata`: prints a summary of reports and plans.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::failure::print;
use super::{Failure, input, terminal};
use crate::formats::report::{
    DocumentProblem, PlanMetadata, Progress, ReportMetadata, check_plan, check_report,
    estimate_tokens, looks_like_plan, metadata, plan_metadata,
};

const HELP: &str = "\
Headings, checkboxes and paths in code blocks and comments are ignored. A text
with phases, with `Plan` in its title, or with checkboxes and no section of a
report is treated as a plan; --plan and --report override this. No document is
rejected: `to fix` lists what the agent that wrote it would be told.

Fields of --json (stable); one object for one FILE, an array for several:
  file, kind             name as given on the command line; `report` or `plan`
  title, size, tokens    size in bytes; tokens are estimated as a quarter of the
                         characters
  to_mend                problems to fix, one sentence each
of a report:
  summary                at most 50 words
  recommendations        the first 5; recommendations_total counts all
  file_paths             the first 10 paths; file_paths_total counts
                         all
  words, sections        outside of code blocks; headings of level 2
  findings               subsections of `Findings`, else items of its lists
  degraded               true if it was assembled from the output of an agent
                         that wrote no report
of a plan:
  date, complexity       `Unknown` if the plan does not state it
  phases, milestones, checkboxes
                         total and done

Exit codes:
  0  the files were read
  2  the arguments are wrong, or a file cannot be read; nothing was printed

Examples:
  planwright metadata 001-retries.md
  planwright metadata reports/*.md --json | jq '.[].summary'
  git show HEAD:plan.md | planwright metadata - --plan";

/// Show the metadata of reports and plans: title, summary, recommendations, phases, checkboxes
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Metadata {
    /// Files to read; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Treat the files as plans
    #[arg(long, conflicts_with = "report")]
    plan: bool,
    /// Treat the files as reports
    #[arg(long)]
    report: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Metadata {
    /// Reads all files before printing, so that an unreadable file leaves no partial output.
    pub(super) fn run(self) -> Result<(), Failure> {
        let standard = |file: &&PathBuf| file.as_os_str() == "-";
        if self.files.iter().filter(standard).count() > 1 {
            return Err(Failure::Usage(
                "standard input can be read only once; give `-` only once".to_owned(),
            ));
        }
        let documents = self.files.iter().map(|file| self.read(file));
        let documents: Vec<Document> = documents.collect::<Result<_, _>>()?;
        if self.json {
            let mut all: Vec<Value> = documents.iter().map(Document::as_json).collect();
            let shown = match all.len() {
                1 => all.remove(0),
                _ => Value::Array(all),
            };
            return print(&format!("{}\n", terminal::json(&format!("{shown:#}"))));
        }
        let rows: Vec<String> = documents.iter().map(Document::as_text).collect();
        print(&rows.join("\n"))
    }

    fn read(&self, file: &Path) -> Result<Document, Failure> {
        if file.as_os_str() != "-" && matches!(file.try_exists(), Ok(false)) {
            return Err(Failure::Usage(format!(
                "File not found: {}; give an existing file, or `-` for standard input",
                file.display()
            )));
        }
        let text = input::text(file)?;
        let plan = self.plan || !self.report && looks_like_plan(&text);
        Ok(Document {
            file: file.display().to_string(),
            tokens: estimate_tokens(&text),
            to_mend: if plan {
                check_plan(&text)
            } else {
                check_report(&text)
            },
            metadata: if plan {
                DocumentMetadata::Plan(plan_metadata(&text))
            } else {
                DocumentMetadata::Report(metadata(&text))
            },
        })
    }
}

struct Document {
    file: String,
    tokens: usize,
    to_mend: Vec<DocumentProblem>,
    metadata: DocumentMetadata,
}

enum DocumentMetadata {
    Plan(PlanMetadata),
    Report(ReportMetadata),
}

impl Document {
    fn kind(&self) -> &'static str {
        match self.metadata {
            DocumentMetadata::Plan(_) => "plan",
            DocumentMetadata::Report(_) => "report",
        }
    }

    fn as_json(&self) -> Value {
        let to_mend: Vec<String> = self.to_mend.iter().map(ToString::to_string).collect();
        let mut all = json!({"file": self.file, "kind": self.kind(), "tokens": self.tokens, "to_mend": to_mend});
        let metadata = match &self.metadata {
            DocumentMetadata::Plan(plan) => json!(plan),
            DocumentMetadata::Report(report) => json!(report),
        };
        if let (Value::Object(all), Value::Object(metadata)) = (&mut all, metadata) {
            all.extend(metadata);
        }
        all
    }

    fn as_text(&self) -> String {
        let mut text = format!("{}: {}\n", terminal::one_line(&self.file), self.kind());
        let mut row = |name: &str, value: &str| {
            text.push_str(&format!("  {name:<16} {}\n", terminal::one_line(value)));
        };
        match &self.metadata {
            DocumentMetadata::Plan(plan) => {
                row("title", &plan.title);
                row("date", &plan.date);
                row("complexity", &plan.complexity);
                row("phases", &progress(plan.phases));
                row("milestones", &progress(plan.milestones));
                row("boxes", &progress(plan.checkboxes));
                row("size", &size(plan.size, self.tokens));
            }
            DocumentMetadata::Report(report) => {
                row("title", &report.title);
                if report.degraded {
                    row(
                        "note",
                        "assembled from the agent's output; it wrote no report",
                    );
                }
                row("summary", &report.summary);
                row("recommendations", &report.recommendations_total.to_string());
                report
                    .recommendations
                    .iter()
                    .for_each(|one| row("", &format!("- {one}")));
                row("files", &report.file_paths_total.to_string());
                report
                    .file_paths
                    .iter()
                    .for_each(|one| row("", &format!("- {one}")));
                row("sections", &report.sections.to_string());
                row("findings", &report.findings.to_string());
                row("words", &report.words.to_string());
                row("size", &size(report.size, self.tokens));
            }
        }
        for complaint in &self.to_mend {
            row("to fix", &complaint.to_string());
        }
        text
    }
}

fn progress(progress: Progress) -> String {
    match progress.total {
        0 => "none".to_owned(),
        total => format!("{total}, {} done", progress.done),
    }
}

fn size(bytes: usize, tokens: usize) -> String {
    format!("{bytes} bytes, about {tokens} tokens")
}
