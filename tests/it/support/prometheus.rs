//! Metrics in Prometheus' text format, and how to get them from a bot.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{Page, Visitor};
use super::system::System;

/// The operator's token.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The variable with the token.
pub(crate) fn token() -> (&'static str, String) {
    ("PLANWRIGHT_WEB_TOKEN", TOKEN.to_owned())
}

/// A time series: the name of the sample and its labels.
pub(crate) type Series = (String, BTreeMap<String, String>);

/// Metrics as they were served.
pub(crate) struct Metrics {
    samples: Vec<(Series, f64)>,
    /// Type and description of each metric.
    pub(crate) described: BTreeMap<String, (String, String)>,
}

impl Metrics {
    /// Parses the text format, as far as Planwright uses it.
    pub(crate) fn parse(text: &str) -> Self {
        let mut samples = Vec::new();
        let mut described: BTreeMap<String, (String, String)> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(rest) = line.strip_prefix("# ") {
                let (what, rest) = rest.split_once(' ').unwrap();
                let (name, rest) = rest.split_once(' ').unwrap();
                let entry = described.entry(name.to_owned()).or_default();
                match what {
                    "TYPE" => rest.clone_into(&mut entry.0),
                    "HELP" => rest.clone_into(&mut entry.1),
                    _ => panic!("{line}"),
                }
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = match series.split_once('{') {
                Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
                None => (series, ""),
            };
            let labels = labels.split(',').filter(|label| !label.is_empty());
            let labels = labels.map(|label| {
                let (name, value) = label.split_once('=').unwrap();
                (name.to_owned(), value.trim_matches('"').to_owned())
            });
            samples.push(((name.to_owned(), labels.collect()), value.parse().unwrap()));
        }
        Self { samples, described }
    }

    /// Returns all series.
    pub(crate) fn series(&self) -> BTreeSet<Series> {
        let series: BTreeSet<Series> = self.samples.iter().map(|(one, _)| one.clone()).collect();
        assert_eq!(
            series.len(),
            self.samples.len(),
            "each series is there once"
        );
        series
    }

    /// Returns the sum of the samples with this name and these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let found: Vec<f64> = self
            .samples
            .iter()
            .filter(|((one, has), _)| {
                let has = |(key, value): &(&str, &str)| has.get(*key).is_some_and(|v| v == value);
                one == name && labels.iter().all(has)
            })
            .map(|(_, value)| *value)
            .collect();
        assert!(!found.is_empty(), "there is no {name} {labels:?}");
        found.iter().sum()
    }
}

/// Requests a page of the bot with these values of `Authorization`.
pub(crate) async fn request(url: &str, authorization: Option<&str>) -> Page {
    let mut request = http::Request::get(url);
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    let mut visitor = Visitor { cookie: None };
    visitor.send(request, String::new()).await
}

/// Returns the metrics of the bot's first process as text.
pub(crate) async fn text(system: &System) -> String {
    let page = request(&system.url("/metrics"), Some(&format!("Bearer {TOKEN}"))).await;
    assert_eq!(page.status, 200, "{}", page.text);
    page.text
}

/// Returns the metrics of the bot's first process.
pub(crate) async fn metrics_of(system: &System) -> Metrics {
    Metrics::parse(&text(system).await)
}
