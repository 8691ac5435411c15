//! Tests of names and ids of specifications.
#![allow(clippy::unwrap_used, reason = "tests")]

use chrono::DateTime;
use proptest::prelude::*;

use super::*;

#[test]
fn names_that_are_refused_say_what_to_do() {
    let long = "a".repeat(65);
    for (raw, error) in [
        (
            "",
            "name is required; give one with letters or digits, e.g. csv-export",
        ),
        (
            "..",
            "name is required; give one with letters or digits, e.g. csv-export",
        ),
        (
            ".md",
            "name is required; give one with letters or digits, e.g. csv-export",
        ),
        (
            "__",
            "name is required; give one with letters or digits, e.g. csv-export",
        ),
        (
            " a",
            "name must not have leading or trailing whitespace; remove it",
        ),
        (
            "a\n",
            "name must not have leading or trailing whitespace; remove it",
        ),
        (
            &long,
            "name must be at most 64 characters; shorten it, and give the rest as the title",
        ),
        (
            "../../etc/x",
            "name must not contain path separators; give the name alone, the folder is known",
        ),
        (
            "a\\b",
            "name must not contain path separators; give the name alone, the folder is known",
        ),
        (
            "a\tb",
            "name must not contain control characters; write it on one line, e.g. a-b",
        ),
        (
            "café",
            "name contains unsupported character 'é'; use a to z and digits, e.g. cafe",
        ),
        (
            "計画",
            "name contains unsupported character '計'; use a to z and digits, e.g. my-feature",
        ),
    ] {
        assert_eq!(Name::parse(raw).unwrap_err().to_string(), error, "{raw:?}");
    }
    let full = numbered(&Name::parse("a").unwrap(), ["999999_z"]).unwrap_err();
    assert_eq!(
        full.to_string(),
        "the number 999999 is taken and there is none after it; use --id timestamp or none"
    );
}

#[test]
fn names_are_the_same_on_every_computer() {
    for (raw, want) in [
        ("Billing.Export", "billing-export"),
        ("a.md", "a"),
        ("A.MD", "a"),
        ("a b & c", "a-b-c"),
        ("-a-", "a"),
        ("snake_case", "snake_case"),
        ("1.2.3", "1-2-3"),
        ("v😀1", "v-1"),
        (&"a".repeat(64), &"a".repeat(64)),
        (&format!("{}.md", "a".repeat(64)), &"a".repeat(64)),
    ] {
        assert_eq!(Name::parse(raw).unwrap().as_str(), want);
        assert_eq!(Name::parse(want).unwrap().as_str(), want);
    }
}

#[test]
fn ids_go_on_behind_what_is_there() {
    let export = Name::parse("export").unwrap();
    let count = |existing: &[&str]| numbered(&export, existing.iter().copied()).unwrap();
    assert_eq!(count(&[]), "000001_export");
    assert_eq!(
        count(&[
            "000001_a",
            "000007_b",
            "34_c",
            "1000000_d",
            "000009-e",
            "00000９_f"
        ]),
        "000008_export"
    );
    assert_eq!(number_prefix("34_feature"), None);
    assert_eq!(number_prefix("000034_"), None);
    let now = DateTime::from_timestamp(1_778_288_523, 0).unwrap();
    assert_eq!(
        timestamped(&export, now, &|_| false),
        "20260509010203-export"
    );
    let taken = |id: &str| id < "20260509010300";
    assert_eq!(timestamped(&export, now, &taken), "20260509010300-export");
}

proptest! {
    #[test]
    fn any_text_has_a_slug_that_stays_the_same(text in "(?s).{0,40}") {
        let once = slug(&text, "project");
        prop_assert!(!once.is_empty());
        prop_assert_eq!(slug(&once, "project"), once.clone());
        if let Ok(name) = Name::parse(&text) {
            prop_assert_eq!(Name::parse(name.as_str()).unwrap(), name);
        }
    }
}

#[test]
fn a_name_with_accents_keeps_its_letters() {
    for (text, want) in [
        ("Übersicht", "ubersicht"),
        ("Größe ändern", "grosse-andern"),
        ("Café à la carte", "cafe-a-la-carte"),
        ("日本", "project"),
    ] {
        assert_eq!(slug(text, "project"), want);
    }
    let refused = Name::parse("Übersicht").unwrap_err().to_string();
    assert!(refused.contains("ubersicht"), "{refused}");
}
