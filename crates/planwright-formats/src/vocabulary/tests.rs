//! Tests of `formats::vocabulary`.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn classes(text: &str) -> Vec<(Class, String)> {
    let folded = fold(text);
    find(&folded)
        .into_iter()
        .map(|found| (found.class, folded[found.start..found.end].to_owned()))
        .collect()
}

#[test]
fn every_file_can_be_read_and_is_written_as_texts_are_compared() {
    for (code, source) in FILES {
        let language: Language =
            toml::from_str(source).unwrap_or_else(|error| panic!("{code}: {error}"));
        assert_eq!(language.ordinal.len(), 4, "{code}");
        assert_eq!(
            language.words.len(),
            40,
            "{code}: {:?}",
            language.words.keys()
        );
        let words = language.words.values().chain(&language.ordinal).flatten();
        for word in words {
            assert_eq!(&fold(word), word, "{code}");
            assert!(
                !word.trim_matches('*').trim().is_empty(),
                "{code}: {word:?}"
            );
            assert_eq!(word.trim(), word, "{code}");
            let gaps = word.matches(GAP).count();
            assert!(gaps <= 1, "{code}: {word:?}");
            assert_eq!(word.matches('~').count(), gaps, "{code}: {word:?}");
        }
    }
}

#[test]
fn whole_words_are_found_in_any_case() {
    assert!(classes("LGTM, thanks!").contains(&(Class::Approve, "lgtm".to_owned())));
    assert!(
        !classes("planet")
            .iter()
            .any(|(class, _)| *class == Class::Plan)
    );
    assert!(
        classes("Here\u{2019}s the plan")
            .iter()
            .any(|(class, _)| *class == Class::Lead)
    );
}

#[test]
fn punctuation_and_spelling_are_those_of_the_vocabulary() {
    for (text, expected) in [
        ("Ｐｌａｎ：Ｂ", "plan:b"),
        ("٤، ٥؛ ٦؟", "4, 5; 6?"),
        ("योजना।", "योजना."),
        ("خُطَّةٌ أولى", "خطه اولي"),
        ("خطــة", "خطه"),
    ] {
        assert_eq!(fold(text), expected, "{text}");
    }
}

#[test]
fn a_text_is_split_only_where_folding_keeps_the_length_of_what_precedes() {
    let split = |text: &str, offset| {
        let folded = fold(text);
        split_folded(text, &folded, offset).map(|(_, rest)| rest.to_owned())
    };
    assert_eq!(split("Plan für İ", 5).as_deref(), Some("für İ"));
    // The no-break space gets shorter and the accent longer, so that the lengths are the same.
    assert_eq!(split("План\u{a0}для Let´s", 15), None);
    assert_eq!(split("Plan", 5), None);
}

#[test]
fn the_second_part_of_a_phrase_is_in_the_same_sentence() {
    let withdraws = |text: &str| Phrases::of(&fold(text)).has(Class::Withdraw);
    assert!(withdraws("I take the plan back."));
    assert!(withdraws("Dann zieh ich meinen Vorschlag von oben zurück"));
    assert!(!withdraws("I take the plan. Back later"));
    assert!(!withdraws("I take the plan to the background team"));
    assert!(!withdraws(&format!("I take {} back", "one ".repeat(20))));
}

#[test]
fn a_phrase_can_begin_and_be_the_text() {
    let folded = fold("**Plan:**");
    let phrases = Phrases::of(&folded);
    assert!(phrases.is(Class::Empty, words(&folded)));
    assert_eq!(phrases.begins(Class::Marker, words(&folded).start), Some(6));
    assert!(!Phrases::of("plan b").is(Class::Empty, 0..6));
}
