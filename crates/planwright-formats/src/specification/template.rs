//! The template that `planwright new` writes.

/// Returns the template with this title. [`parse`](super::parse) reports it as empty.
pub fn template(title: &str) -> String {
    format!(
        "\
# Feature: {title}

## Overview

<!-- What is to be built, for whom, and why: two or three sentences. -->

Add description for {title} here.

## Requirements

<!-- What it must do, one thing in each line. -->

- [ ] Add first requirement
- [ ] Add second requirement
- [ ] Add third requirement

## Constraints

<!-- What the solution must keep to: platforms, interfaces, rules, limits. -->

- Add first constraint

## Acceptance Criteria

<!-- How somebody else can tell that it is done, one check in each line. -->

- [ ] Add first acceptance criterion
- [ ] Add second acceptance criterion
- [ ] Add third acceptance criterion

## Technical Approach

<!-- Only what is decided already; the plan finds the rest. -->

- Add technical approach details

## Success Metrics

<!-- How you will see later that it was worth it. -->

- Add success metrics

## Non-Goals

<!-- What somebody may expect and will not get. -->

- Add non-goals
"
    )
}

/// Returns a title for the name of a specification: `csv-export_v2` becomes `Csv Export V2`.
pub fn title_from_name(name: &str) -> String {
    let words = name.split(['-', '_']).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}
