//! Finds the operation in GitHub's description for a method and a path.

use serde_json::Value;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// One segment of a path template. The variants are in order of preference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Literal(String),
    Variable(String),
    /// A variable whose value may contain slashes: a file path or a Git reference.
    Spanning(String),
}

struct Route {
    segments: Vec<Segment>,
    method: &'static str,
    template: String,
    pointer: String,
}

/// All operations, the most literal first.
pub(super) struct Routes(Vec<Route>);

/// An operation found for a path.
pub(crate) struct Operation<'a> {
    route: &'a Route,
    values: Vec<(&'a str, String)>,
}

impl Operation<'_> {
    /// Returns the method in upper case and the template, such as `GET /repos/{owner}/{repo}`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method().to_uppercase(), self.template())
    }

    /// Returns the method in lower case.
    pub(crate) fn method(&self) -> &'static str {
        self.route.method
    }

    /// Returns the path template.
    pub(crate) fn template(&self) -> &str {
        &self.route.template
    }

    /// Returns the pointer to the operation in the document: `#/paths/…`.
    pub(super) fn pointer(&self) -> &str {
        &self.route.pointer
    }

    /// Returns the names and decoded values of the path parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
    }
}

impl Routes {
    pub(super) fn of(doc: &Value) -> Self {
        let mut routes = Vec::new();
        for (template, item) in doc["paths"].as_object().into_iter().flatten() {
            let escaped = template.replace('~', "~0").replace('/', "~1");
            for method in METHODS {
                if item.get(method).is_some() {
                    routes.push(Route {
                        segments: template.split('/').skip(1).map(segment).collect(),
                        method,
                        template: template.clone(),
                        pointer: format!("#/paths/{escaped}/{method}"),
                    });
                }
            }
        }
        // If two templates have the same start, the longer one comes first, because a spanning
        // variable would match the rest.
        routes.sort_by(|a, b| {
            let shared = a.segments.iter().zip(&b.segments);
            let order = shared.map(|(a, b)| a.cmp(b)).find(|order| order.is_ne());
            order.unwrap_or_else(|| b.segments.len().cmp(&a.segments.len()))
        });
        Self(routes)
    }

    /// Finds an operation. The prefix `/api/v3` (Enterprise Server) is removed, and
    /// `/repositories/{id}` is treated as `/repos/{owner}/{repo}`.
    pub(super) fn find(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        let path = path.strip_prefix("/api/v3").unwrap_or(path);
        let mut parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        if let ["repositories", id, ..] = parts[..]
            && !id.is_empty()
            && id.bytes().all(|byte| byte.is_ascii_digit())
        {
            parts.splice(0..2, ["repos", "-", id]);
        }
        let method = method.to_ascii_lowercase();
        let mut candidates = self.0.iter().filter(|route| route.method == method);
        candidates.find_map(|route| {
            let mut values = Vec::new();
            matches(&route.segments, &parts, &mut values).then_some(Operation { route, values })
        })
    }
}

fn segment(text: &str) -> Segment {
    match text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        Some(name @ ("path" | "ref")) => Segment::Spanning(name.to_owned()),
        Some(name) => Segment::Variable(name.to_owned()),
        None => Segment::Literal(text.to_owned()),
    }
}

fn matches<'a>(
    segments: &'a [Segment],
    parts: &[&str],
    values: &mut Vec<(&'a str, String)>,
) -> bool {
    let Some((first, later)) = segments.split_first() else {
        return parts.is_empty();
    };
    let Some((part, rest)) = parts.split_first() else {
        return false;
    };
    match first {
        Segment::Literal(text) => text == part && matches(later, rest, values),
        Segment::Variable(name) => {
            values.push((name, decoded(part)));
            !part.is_empty() && matches(later, rest, values)
        }
        Segment::Spanning(name) => (1..=parts.len()).any(|count| {
            let depth = values.len();
            let (taken, rest) = parts.split_at(count);
            values.push((name, decoded(&taken.join("/"))));
            let fits = matches(later, rest, values);
            if !fits {
                values.truncate(depth);
            }
            fits
        }),
    }
}

/// Decodes percent encoding. In a path, `+` stands for itself.
fn decoded(text: &str) -> String {
    let kept = text
        .replace('+', "%2B")
        .replace('&', "%26")
        .replace('=', "%3D");
    let pair = url::form_urlencoded::parse(kept.as_bytes()).next();
    pair.map_or_else(String::new, |(name, _)| name.into_owned())
}
