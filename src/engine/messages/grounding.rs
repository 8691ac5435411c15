//! Texts about the files that a plan or a report names.

use super::failures::shorten;
use super::{code_span, quiet, short};
use crate::engine::grounding::{Grounded, Grounding, MissingSymbol, Verdict};
use crate::engine::model::progress::Fault;

/// Maximum number of files that are listed in a text, of each kind.
const MAX_LISTED: usize = 10;

/// Maximum number of complaints of one kind; a last one counts the others.
pub const MAX_COMPLAINTS: usize = 10;

/// Maximum length of a path or symbol in a text, in characters.
const MAX_QUOTED: usize = 120;

/// Returns one line about the files that a document names; `None` if it names none.
pub fn summary(grounding: &Grounding) -> Option<String> {
    let counts = grounding.counts();
    let (verb, noun) = match (counts.all(), counts.exist) {
        (0, _) => return None,
        (1, _) => ("exists", "file"),
        (_, 1) => ("exists", "files"),
        _ => ("exist", "files"),
    };
    let mut text = format!(
        "{} of {} {noun} {verb} at {}",
        counts.exist,
        counts.all(),
        code_span(short(&grounding.commit))
    );
    if counts.to_be_created > 0 {
        text.push_str(&format!("; to be created: {}", counts.to_be_created));
    }
    let present = grounding
        .files
        .iter()
        .filter_map(|file| match &file.verdict {
            Verdict::AlreadyExists { path } => Some(quoted(path)),
            _ => None,
        });
    let present: Vec<String> = present.collect();
    if !present.is_empty() {
        text.push_str(&format!(
            "; to be created, but existing: {}",
            listed(&present)
        ));
    }
    let missing = grounding.not_found().map(|(file, nearest)| {
        let path = quoted(&file.path);
        match nearest.first() {
            Some(nearest) => format!("{path} (nearest: {})", quoted(nearest)),
            None => path,
        }
    });
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        text.push_str(&format!("; not found: {}", listed(&missing)));
    }
    Some(quiet(&text))
}

/// Returns the complaints for an agent that `document` ("plan", "report") names files that do not
/// exist.
pub fn not_found(document: &str, grounding: &Grounding) -> Vec<Fault> {
    let commit = code_span(short(&grounding.commit));
    let fault = |(file, nearest): (&Grounded, &[String])| {
        let path = quoted(&file.path);
        let nearest: Vec<String> = nearest.iter().map(|path| quoted(path)).collect();
        let near = match nearest.as_slice() {
            [] => String::new(),
            near => format!(" Nearest: {}.", near.join(", ")),
        };
        Fault {
            for_agent: format!(
                "The {document} names {path}, which does not exist at {commit}, and does not say \
                 that it is to be created.{near} Correct the path, or say that the file is to be \
                 created."
            ),
            for_people: format!("The {document} names {path}, which does not exist"),
        }
    };
    let faults: Vec<Fault> = grounding.not_found().map(fault).collect();
    bounded(faults, |more| {
        format!("The {document} names {more} more files that do not exist")
    })
}

/// Returns the complaints for an agent that `document` names symbols that do not occur in their
/// files.
pub fn missing_symbols(document: &str, commit: &str, missing: &[MissingSymbol]) -> Vec<Fault> {
    let commit = code_span(short(commit));
    let fault = |one: &MissingSymbol| {
        let symbol = quoted(&one.symbol);
        let files: Vec<String> = one.files.iter().map(|path| quoted(path)).collect();
        let (files, contain) = match files.as_slice() {
            [file] => (file.clone(), "does not contain it"),
            many => (listed(many), "do not contain it"),
        };
        Fault {
            for_agent: format!(
                "The {document} names {symbol} beside {files}, which {contain} at {commit}. Correct \
                 the name or the path, or say that it is to be added."
            ),
            for_people: format!("The {document} names {symbol}, which is not in {files}"),
        }
    };
    let faults: Vec<Fault> = missing.iter().map(fault).collect();
    bounded(faults, |more| {
        format!("The {document} names {more} more symbols that are not in their files")
    })
}

/// Limits the number of complaints. `others` describes those that are left out, without a full
/// stop.
fn bounded(mut faults: Vec<Fault>, others: impl Fn(usize) -> String) -> Vec<Fault> {
    let more = faults.len().saturating_sub(MAX_COMPLAINTS);
    if more > 0 {
        faults.truncate(MAX_COMPLAINTS);
        let what = others(more);
        faults.push(Fault {
            for_agent: format!("{what}. Check all of them."),
            for_people: what,
        });
    }
    faults
}

/// Quotes a path or a symbol.
fn quoted(text: &str) -> String {
    quiet(&code_span(&shorten(text, MAX_QUOTED)))
}

fn listed(texts: &[String]) -> String {
    let shown = &texts[..texts.len().min(MAX_LISTED)];
    match texts.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
