//! Addresses: path segments, the `Link` header, and the check that an address belongs to the API.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

/// Everything but unreserved characters (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes one path segment or query value.
pub(super) fn encode(text: &str) -> String {
    match text {
        // As segments they would be steps in the path.
        "." | ".." => text.replace('.', "%2E"),
        _ => utf8_percent_encode(text, RESERVED).to_string(),
    }
}

/// Returns the address with `rel="next"` in a `Link` header (RFC 8288).
pub(super) fn next_page(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
        let (_, from) = rest.split_once('<')?;
        let (address, behind) = from.split_once('>')?;
        // Parameters end where the next link begins.
        let parameters = behind.split(",<").next().unwrap_or(behind);
        let parameters = parameters.split(", <").next().unwrap_or(parameters);
        let is_next = parameters.split(';').any(|parameter| {
            parameter
                .trim()
                .split_once('=')
                .is_some_and(|(name, value)| {
                    name.trim().eq_ignore_ascii_case("rel")
                        && value
                            .trim()
                            .trim_end_matches(',')
                            .trim_matches('"')
                            .split_ascii_whitespace()
                            .any(|rel| rel.eq_ignore_ascii_case("next"))
                })
        });
        if is_next {
            return Some(address);
        }
        rest = behind;
    }
}

/// Returns path and query of `address`, which may be relative to `path`, if it is below `api_url`:
/// same scheme, host, port and path prefix, no user name. Otherwise returns the address without
/// user, query and fragment for an error message: wherever GitHub's response points, the token goes
/// to GitHub only.
pub(super) fn below(api_url: &Url, path: &str, address: &str) -> Result<String, String> {
    let mut url = api_url
        .join(path)
        .and_then(|base| base.join(address))
        .map_err(|_| "an unreadable address".to_owned())?;
    let prefix = path_prefix(api_url);
    let path = url.path();
    let inside = url.scheme() == api_url.scheme()
        && url.host() == api_url.host()
        && url.port_or_known_default() == api_url.port_or_known_default()
        && url.username().is_empty()
        && url.password().is_none()
        && path
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with('/'));
    if inside {
        return Ok(match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        });
    }
    // Fails only for addresses that cannot have a user name, such as `mailto:`.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    Err(url.to_string())
}

/// Returns the path of the API's base without a trailing slash: empty on github.com, `/api/v3` on
/// GitHub Enterprise Server.
pub(super) fn path_prefix(api_url: &Url) -> &str {
    api_url.path().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
    use super::*;

    #[test]
    fn segments_are_encoded() {
        for (text, encoded) in [
            ("save-plan", "save-plan"),
            ("good first issue", "good%20first%20issue"),
            ("a/b?c#d%", "a%2Fb%3Fc%23d%25"),
            ("größe", "gr%C3%B6%C3%9Fe"),
            ("..", "%2E%2E"),
            ("v1.2", "v1.2"),
            ("planwright[bot]", "planwright%5Bbot%5D"),
        ] {
            assert_eq!(encode(text), encoded);
        }
    }

    #[test]
    fn the_next_page_is_found_in_any_order() {
        let next_url = "https://api.github.com/repositories/1/issues?page=2";
        for header in [
            format!("<{next_url}>; rel=\"next\""),
            format!(
                "<https://x/?page=1>; rel=\"prev\", <{next_url}>; rel=\"next\", <https://x/?page=9>; rel=\"last\""
            ),
            format!("<https://x/a,b>;rel=last,<{next_url}>;rel=next"),
            format!("<{next_url}>; title=\"a\"; REL=\"foo next\""),
        ] {
            assert_eq!(next_page(&header), Some(next_url), "{header}");
        }
        for header in [
            "",
            "<>",
            "<a",
            "<https://x/>; rel=\"prev\"",
            "<https://x/>; rel=\"nextish\", ",
        ] {
            assert_eq!(next_page(header), None, "{header}");
        }
    }

    #[test]
    fn only_addresses_below_the_base_are_followed() {
        let github = Url::parse("https://api.github.com").unwrap();
        let server = Url::parse("https://ghe.example/api/v3/").unwrap();
        let asked = "/repos/o/r/issues";
        assert_eq!(
            below(
                &github,
                asked,
                "https://api.github.com/repositories/1/issues?page=2"
            )
            .unwrap(),
            "/repositories/1/issues?page=2"
        );
        assert_eq!(
            below(&github, asked, "/repositories/1/issues").unwrap(),
            "/repositories/1/issues"
        );
        assert_eq!(
            below(
                &server,
                asked,
                "https://ghe.example:443/api/v3/repositories/1"
            )
            .unwrap(),
            "/api/v3/repositories/1"
        );
        for (base, evil, named) in [
            (
                &github,
                "https://evil.example/repos?token=1",
                "https://evil.example/repos",
            ),
            (
                &github,
                "http://api.github.com/repos",
                "http://api.github.com/repos",
            ),
            (
                &github,
                "https://api.github.com:8443/repos",
                "https://api.github.com:8443/repos",
            ),
            (
                &github,
                "https://api.github.com@evil.example/",
                "https://evil.example/",
            ),
            (
                &github,
                "https://user:pw@api.github.com/x",
                "https://api.github.com/x",
            ),
            (&github, "//evil.example/x", "https://evil.example/x"),
            (
                &server,
                "https://ghe.example/api/v30/x",
                "https://ghe.example/api/v30/x",
            ),
            (
                &server,
                "https://ghe.example/api/v3/../../login",
                "https://ghe.example/login",
            ),
            (&github, "https://", "an unreadable address"),
        ] {
            assert_eq!(below(base, asked, evil).unwrap_err(), named, "{evil}");
        }
    }
}
