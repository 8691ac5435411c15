//! Reports: what is extracted is bounded, complaints name lines that exist, a replacement for a report
//! is recognised as one, and file names are harmless.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::front_matter;
use planwright_formats::markdown::sections;
use planwright_formats::report::{
    self, DocumentProblem, Reduction, check_plan, check_report, degraded_report,
    is_degraded, metadata, phase_heading, plan_metadata, render_digest, report_file, slug,
};

fuzz_target!(|text: &str| {
    reading(text);
    judging(text);
    standing_in(text);
    let name = slug(text);
    assert!((1..=50).contains(&name.len()) && !name.starts_with('-') && !name.ends_with('-'));
    assert!(
        name.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    );
    let file = report_file("001", text);
    let next = report::next_number([file.as_str(), text]);
    assert!(next.parse::<u32>().is_ok_and(|number| number >= 2));
});

fn reading(text: &str) {
    let read = metadata(text);
    assert!(!read.title.is_empty() && read.title.chars().count() <= 150);
    assert!(read.summary.split_whitespace().count() <= 50);
    assert!(read.recommendations.len() <= 5);
    assert!(read.file_paths.len() <= 10 && read.file_paths.len() <= read.file_paths_total);
    assert_eq!(read.degraded, is_degraded(text));
    let lines = render_digest("a.md", &read);
    assert!(lines.len() <= 10_000);
    let _ = Reduction::of(text, &lines).percent();
    let plan = plan_metadata(text);
    assert!(plan.phases.done <= plan.phases.total);
    assert!(plan.milestones.done <= plan.milestones.total);
    assert!(plan.checkboxes.done <= plan.checkboxes.total);
    if let Ok((_, body)) = front_matter::parse(text) {
        assert!(text.ends_with(body));
    }
    if let Some(found) = phase_heading(2, text) {
        assert!(text.contains(&found.number) && text.contains(&found.title));
    }
}

fn judging(text: &str) {
    let lines = text.split(['\n', '\r']).count();
    for complaint in check_report(text).into_iter().chain(check_plan(text)) {
        assert!(!complaint.to_string().contains('\n'));
        if let DocumentProblem::Placeholder { line, .. } = complaint {
            assert!((1..=lines).contains(&line));
        }
    }
}

fn standing_in(text: &str) {
    let document = degraded_report(text, "2026-01-02", text, text);
    assert!(is_degraded(&document), "{document:?}");
    let sections = sections(&document);
    let names: Vec<&str> = sections[1..4]
        .iter()
        .map(|section| section.title.as_str())
        .collect();
    assert_eq!(names, ["Metadata", "Executive Summary", "Findings"]);
}
