//! The labelled plans of `fixtures/grounding`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::engine::grounding::{CommitFiles, Verdict, judge};
use crate::formats::plan::files::named_files;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/grounding");
const REPOSITORY: &str = "https://github.com/acme/ferry";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Labels {
    #[serde(default)]
    exists: Vec<String>,
    #[serde(default)]
    create: Vec<String>,
    #[serde(default)]
    present: Vec<String>,
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    nearest: BTreeMap<String, String>,
    #[serde(default)]
    full: BTreeMap<String, String>,
}

fn files() -> Vec<String> {
    let files = fs::read_to_string(format!("{FOLDER}/files.txt")).unwrap();
    let files: Vec<String> = files.lines().map(str::to_owned).collect();
    assert!(files.is_sorted());
    files
}

/// Judges the plans of one half. Returns the number of labels, and one line for each that is wrong.
fn measure(half: &str) -> (usize, Vec<String>) {
    let files = files();
    let files = CommitFiles::new(&files, &[]);
    let mut plans: Vec<_> = fs::read_dir(Path::new(FOLDER).join(half))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect();
    plans.sort();
    let (mut all, mut wrong) = (0, Vec::new());
    for plan in plans {
        let name = plan.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&plan).unwrap();
        let labels = fs::read_to_string(plan.with_extension("toml")).unwrap();
        let labels: Labels = toml::from_str(&labels).unwrap();
        let named = named_files(&text, REPOSITORY);
        let grounding = judge(&named, &files, "abc1234");
        let mut found: BTreeMap<String, &str> = BTreeMap::new();
        for file in &grounding.files {
            let kind = match &file.verdict {
                Verdict::Exists { .. } | Verdict::Directory { .. } | Verdict::Ambiguous { .. } => {
                    "exists"
                }
                Verdict::ToBeCreated => "create",
                Verdict::AlreadyExists { .. } => "present",
                Verdict::NotFound { .. } => "missing",
                Verdict::Unknown => "unknown",
            };
            found.insert(file.path.clone(), kind);
            if let (Some(full), Verdict::Exists { path }) =
                (labels.full.get(&file.path), &file.verdict)
                && full != path
            {
                wrong.push(format!("{name}: {} is {path}, not {full}", file.path));
            }
            if let (Some(near), Verdict::NotFound { nearest }) =
                (labels.nearest.get(&file.path), &file.verdict)
                && nearest.first() != Some(near)
            {
                wrong.push(format!(
                    "{name}: nearest to {} is {nearest:?}, not {near}",
                    file.path
                ));
            }
        }
        let mut expected: BTreeMap<String, &str> = BTreeMap::new();
        for (kind, paths) in [
            ("exists", &labels.exists),
            ("create", &labels.create),
            ("present", &labels.present),
            ("missing", &labels.missing),
        ] {
            for path in paths {
                expected.insert(path.trim_end_matches('/').to_owned(), kind);
            }
        }
        all += expected.len();
        let paths: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        for path in paths {
            let (want, got) = (expected.get(path), found.get(path));
            if want != got {
                wrong.push(format!("{name}: {path} is {got:?}, not {want:?}"));
            }
        }
    }
    (all, wrong)
}

#[test]
fn named_files_are_judged_as_labelled() {
    let (tune, wrong) = measure("tune");
    let (test, wrong_test) = measure("test");
    println!(
        "tune: {} of {tune} wrong; test: {} of {test} wrong",
        wrong.len(),
        wrong_test.len()
    );
    println!("{wrong:#?}");
    assert!(tune + test >= 200, "{tune} + {test}");
    assert!(
        (wrong.len() + wrong_test.len()) * 100 <= 2 * (tune + test),
        "{wrong:#?} and {} of the test half",
        wrong_test.len()
    );
}
