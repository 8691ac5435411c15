//! Blocks: what is rendered reads back, whatever the text; reading anything keeps its promises.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::{block, command, yaml};

fuzz_target!(|text: &str| {
    assert_eq!(block::restore(&block::neutralise(text)), text);
    let _ = block::restore(text);

    let rendered = block::plan_body(text);
    let parsed = block::parse(&rendered);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.blocks.len(), 1);
    assert_eq!(
        parsed.blocks[0].content,
        block::Content::Text(text.to_owned())
    );
    assert_eq!(parsed.blocks[0].span, 0..rendered.len());

    let mut at = 0;
    for found in block::parse(text).blocks {
        assert!(found.span.start >= at);
        assert!(text.get(found.span.clone()).is_some());
        at = found.span.end;
        if let block::Content::Yaml(fields) = found.content {
            let written = yaml::write(&fields);
            assert_eq!(yaml::read(&written), Ok(serde_json::Value::Object(fields)));
        }
    }

    let quiet = block::quiet(text);
    assert_eq!(command::parse(&quiet), []);
    assert_eq!(block::parse(&quiet), block::Parsed::default());

    let mut fields = serde_json::Map::new();
    fields.insert("text".to_owned(), text.into());
    let parsed = block::parse(&block::render_yaml("planwright-test", &fields));
    assert_eq!(parsed.blocks[0].content, block::Content::Yaml(fields));
});
