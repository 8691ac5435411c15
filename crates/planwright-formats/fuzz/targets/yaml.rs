//! YAML: reading any text ends in a value or an error of one line; what is written reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::yaml;
use serde_json::{Map, Value};

fuzz_target!(|text: &str| {
    match yaml::read(text) {
        Ok(Value::Object(fields)) => round_trip(fields),
        Ok(_) => {}
        Err(why) => assert!(!why.is_empty() && !why.contains('\n'), "{why:?}"),
    }
    if let Ok(fields) = serde_json::from_str::<Map<String, Value>>(text) {
        round_trip(fields);
    }
    let mut fields = Map::new();
    fields.insert("plain".to_owned(), text.into());
    fields.insert("list".to_owned(), vec![text, "", text].into());
    let mut inner = Map::new();
    inner.insert(text.to_owned(), Value::Null);
    fields.insert("map".to_owned(), inner.into());
    round_trip(fields);
});

fn round_trip(fields: Map<String, Value>) {
    let written = yaml::write(&fields);
    assert!(written.ends_with('\n'));
    for token in ["```", "<!--", "</details"] {
        assert!(!written.contains(token), "{written}");
    }
    assert_eq!(yaml::read(&written), Ok(Value::Object(fields)), "{written}");
}
