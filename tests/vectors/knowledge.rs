//! The documents that an older runner loaded, and their order, if its recorded vectors are
//! available.

use planwright::adapters::working_copy::knowledge;
use planwright::engine::knowledge::Limits;
use serde_json::{Value, json};

use crate::harness::{Departures, Tests};

crate::harness::tests!(documents_are_loaded_as_recorded,);

/// Where that runner had its knowledge.
const FOLDER: &str = ".spektacular/knowledge";

/// The paths below the folder, in the order in which they are loaded.
fn order(case: &Value) -> Value {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join(FOLDER);
    if let Some(files) = case["input"]["files"].as_object() {
        std::fs::create_dir_all(&home).unwrap();
        for (name, content) in files {
            let path = home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content.as_str().unwrap()).unwrap();
        }
    }
    let found = knowledge(root.path(), &[FOLDER], Limits::default()).unwrap();
    let paths = found.documents.iter().map(|document| {
        let path = document.path.strip_prefix(FOLDER).unwrap();
        path.trim_start_matches('/')
    });
    json!(paths.collect::<Vec<_>>())
}

/// None: the recorded cases are about what is a document. That runner knew nothing of conventions,
/// copies or limits, and ended on a file that is no text.
const DEPARTURES: Departures = &[];

fn documents_are_loaded_as_recorded(tests: &mut Tests) {
    tests.hold_agent("knowledge_load", DEPARTURES, |case| {
        (order(case), case["expect"]["order"].clone())
    });
}
