//! Specifications: what is extracted is part of the text, and slugs and names that were made valid stay
//! as they are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::specification::{
    DocumentKind, Name, candidates, complexity, parse, slug, template,
};

fuzz_target!(|text: &str| {
    let found = parse("T", text);
    for line in found.text().split(['\n', '\r']) {
        assert!(text.contains(line), "{line:?}");
    }
    assert!((0.0..=1.0).contains(&complexity(&found)));
    for section in &found.sections {
        assert!(text.contains(&section.text), "{section:?}");
    }
    for words in &found.placeholders {
        assert!(!words.is_empty());
    }
    assert!(found.empty_sections().len() < found.sections.len());

    let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !title.contains(char::is_control) {
        assert!(parse(&title, &template(&title)).sections.len() > 7);
    }
    let once = slug(text, "project");
    assert_eq!(slug(&once, "project"), once);
    match Name::parse(text) {
        Ok(found) => {
            assert_eq!(Name::parse(found.as_str()), Ok(found.clone()));
            assert!(candidates(found.as_str(), DocumentKind::Plan, "plans".as_ref()).len() == 3);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
