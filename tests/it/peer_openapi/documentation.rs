//! The pages of the documentation that the simulator's errors refer to are those that GitHub's
//! description gives.

use std::collections::BTreeMap;

use github_simulator::OPERATIONS;
use serde_json::Value;

use crate::support::peers::peers;

/// Replaces the variables of a path by `*`.
fn pattern(path: &str) -> String {
    let segments = path.split('/').map(|segment| {
        if segment.starts_with('{') {
            "*"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn every_simulated_operation_refers_to_its_page() {
    let Some(peers) = peers() else { return };
    let file = peers.join("@octokit/openapi/generated/api.github.com.json");
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut pages = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if let Some(page) = operation["externalDocs"]["url"].as_str() {
                pages.insert((method.to_uppercase(), pattern(path)), page);
            }
        }
    }
    assert!(pages.len() > 900, "{}", pages.len());
    let mut compared = 0;
    for (method, path, page) in OPERATIONS {
        let key = (method.to_owned(), path.replace("**", "*"));
        let published = pages
            .get(&key)
            .unwrap_or_else(|| panic!("{method} {path} is unknown"));
        // Some addresses in the description are those of old versions of the documentation.
        if let Some((_, published)) = published.split_once("/rest/")
            && !published.starts_with("reference/")
        {
            assert_eq!(page, published, "{method} {path}");
            compared += 1;
        }
    }
    assert!(compared + 1 >= OPERATIONS.len(), "{compared}");
}
