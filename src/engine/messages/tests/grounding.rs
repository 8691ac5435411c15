//! Texts about named files.

use crate::engine::grounding::{CommitFiles, Grounding, MissingSymbol, judge};
use crate::engine::messages::grounding::{missing_symbols, not_found, summary};
use crate::engine::model::progress::Fault;
use crate::formats::plan::files::named_files;

const COMMIT: &str = "abc1234def5678900000000000000000000000ff";

fn grounding(plan: &str) -> Grounding {
    let files = [
        "src/@dora/queue.rs",
        "src/`fixes #3`.rs",
        "src/lib.rs",
        "src/queue.rs",
    ];
    let files: Vec<String> = files.map(str::to_owned).to_vec();
    let files = CommitFiles::new(&files, &[]);
    judge(&named_files(plan, ""), &files, COMMIT)
}

fn told(faults: &[Fault]) -> String {
    let lines = faults
        .iter()
        .map(|fault| format!("{}\n({})", fault.for_agent, fault.for_people));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn everything() -> Vec<(String, String)> {
    let some = grounding(
        "Create `src/csv.rs` and use it in `src/lib.rs` and `src/quue.rs`. Create the file \
         `src/queue.rs`. Read `other/lib.rs` and `src/nothing-like-it.rs`.",
    );
    let all = grounding("Change `src/lib.rs` and `src/queue.rs`.");
    let one = grounding("Change `src/lib.rs`.");
    let none = grounding("Create `src/csv.rs`.");
    let plan: Vec<String> = (1..=15).map(|n| format!("- `x{n}/y{n}.py`")).collect();
    let many = grounding(&plan.join("\n"));
    let hostile = grounding(
        "- `src/@dora/quue.rs`\n- `/save-plan.rs/save-plan`\n- `src/fixes #3.rs`\n- `src/#3.rs`\n\
         - `fixes/@dora/a.rs`",
    );
    let symbol = |symbol: &str, files: &[&str]| MissingSymbol {
        symbol: symbol.to_owned(),
        files: files.iter().map(|&file| file.to_owned()).collect(),
    };
    let symbols = [
        symbol("Queue::nxt()", &["src/queue.rs"]),
        symbol("`@dora` /save-plan", &["src/queue.rs", "src/lib.rs"]),
    ];
    [
        ("files_some", summary(&some).unwrap()),
        ("files_all", summary(&all).unwrap()),
        ("files_one", summary(&one).unwrap()),
        ("files_none_yet", summary(&none).unwrap()),
        ("files_many", summary(&many).unwrap()),
        ("files_hostile", summary(&hostile).unwrap()),
        ("files_complaints", told(&not_found("plan", &some))),
        ("files_complaints_many", told(&not_found("report", &many))),
        (
            "files_complaints_hostile",
            told(&not_found("plan", &hostile)),
        ),
        (
            "files_symbols",
            told(&missing_symbols("plan", COMMIT, &symbols)),
        ),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .to_vec()
}

#[test]
fn a_document_that_names_no_files_has_no_line_about_them() {
    assert_eq!(summary(&grounding("Read and/or write.")), None);
}

#[test]
fn the_texts_are_bounded() {
    let long = "x".repeat(250);
    let plan: Vec<String> = (0..400).map(|n| format!("- `{long}/{n}.py`")).collect();
    let grounding = grounding(&plan.join("\n"));
    assert_eq!(grounding.files.len(), 400);
    assert!(summary(&grounding).unwrap().len() < 3_000);
    let faults = not_found("plan", &grounding);
    assert_eq!(faults.len(), 11);
    assert!(faults.iter().all(|fault| fault.for_agent.len() < 1_000));
}
