//! The cookies: names, attributes, and reading them.

use std::time::Duration;

use http::HeaderMap;
use http::header::COOKIE;

use super::session::LIFETIME;
use super::{LOGIN_PATH, MAX_LOGIN_TIME, PATH};

/// Maximum number of cookies with one name that are looked at. A browser sends several if they were
/// set for different paths or domains.
const MAX_SAME_NAME: usize = 8;

/// A cookie of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cookie {
    /// Who is logged in.
    Session,
    /// A login with GitHub that has begun.
    Begun,
}

/// The cookies of pages at one address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cookies {
    /// Whether browsers reach the pages with https.
    pub(super) https: bool,
}

impl Cookies {
    /// Returns the name. Browsers accept one with the prefix `__Host-` only over https and only from
    /// this host, so that no other host of the domain can set it. It must be valid for all paths.
    fn name(self, cookie: Cookie) -> &'static str {
        match (cookie, self.https) {
            (Cookie::Session, true) => "__Host-planwright_session",
            (Cookie::Session, false) => "planwright_session",
            (Cookie::Begun, true) => "__Host-planwright_login",
            (Cookie::Begun, false) => "planwright_login",
        }
    }

    fn header(self, cookie: Cookie, value: &str, max_age: Duration) -> String {
        let (path, secure) = match (cookie, self.https) {
            (_, true) => ("/", "; Secure"),
            (Cookie::Session, false) => (PATH, ""),
            (Cookie::Begun, false) => (LOGIN_PATH, ""),
        };
        format!(
            "{}={value}; Path={path}; Max-Age={}; HttpOnly; SameSite=Lax{secure}",
            self.name(cookie),
            max_age.as_secs()
        )
    }

    /// Returns the value of the `Set-Cookie` header that sets a cookie.
    pub(super) fn set(self, cookie: Cookie, value: &str) -> String {
        let max_age = match cookie {
            Cookie::Session => LIFETIME,
            Cookie::Begun => MAX_LOGIN_TIME,
        };
        self.header(cookie, value, max_age)
    }

    /// Returns the value of the `Set-Cookie` header that deletes a cookie.
    pub(super) fn delete(self, cookie: Cookie) -> String {
        self.header(cookie, "", Duration::ZERO)
    }

    /// Returns what `open` makes of the cookie of a request. Values that it refuses do not matter;
    /// if it takes several different ones, the result is `None`, because any of them may be forged.
    pub(super) fn read<T>(
        self,
        cookie: Cookie,
        headers: &HeaderMap,
        open: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let name = self.name(cookie);
        let pairs = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|header| header.to_str().ok())
            .flat_map(|header| header.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let values = pairs
            .filter(|(other, _)| *other == name)
            .map(|(_, value)| value);
        let mut found = None;
        for value in values.take(MAX_SAME_NAME) {
            let Some(opened) = open(value) else { continue };
            match found {
                Some((same, _)) if same != value => return None,
                _ => found = Some((value, opened)),
            }
        }
        found.map(|(_, opened)| opened)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn attributes_depend_on_the_address() {
        let [http, https] = [false, true].map(|https| Cookies { https });
        for (found, want) in [
            (
                http.set(Cookie::Session, "v"),
                "planwright_session=v; Path=/ui; Max-Age=28800; HttpOnly; SameSite=Lax",
            ),
            (
                https.set(Cookie::Session, "v"),
                "__Host-planwright_session=v; Path=/; Max-Age=28800; HttpOnly; SameSite=Lax; Secure",
            ),
            (
                http.set(Cookie::Begun, "v"),
                "planwright_login=v; Path=/ui/login; Max-Age=600; HttpOnly; SameSite=Lax",
            ),
            (
                https.delete(Cookie::Begun),
                "__Host-planwright_login=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
            ),
        ] {
            assert_eq!(found, want);
        }
    }

    #[test]
    fn cookies_are_read_from_all_headers() {
        for (headers, want) in [
            (&[][..], None),
            (&[""], None),
            (&["planwright_session=good"], Some("good")),
            (&["a=b;planwright_session=good ; c=d"], Some("good")),
            (&["a=b", "planwright_session=good"], Some("good")),
            (&["planwright_session=good=="], Some("good==")),
            (
                &["planwright_session=bad; planwright_session=good"],
                Some("good"),
            ),
            (
                &["planwright_session=good; planwright_session=bad"],
                Some("good"),
            ),
            (
                &["planwright_session=good; planwright_session=good"],
                Some("good"),
            ),
            (&["planwright_session=good; planwright_session=good2"], None),
            (
                &["planwright_session=good", "planwright_session=good2"],
                None,
            ),
            (&["planwright_session=bad"], None),
            (&["planwright_session"], None),
            (&["planwright_session="], None),
            (&["Planwright_Session=good"], None),
            (&["xplanwright_session=good"], None),
            (&["__Host-planwright_session=good"], None),
            (&["a=\"; planwright_session=good\""], Some("good\"")),
        ] {
            let mut map = HeaderMap::new();
            for header in headers {
                map.append(COOKIE, header.parse().unwrap());
            }
            let cookies = Cookies { https: false };
            let open = |value: &str| value.starts_with("good").then(|| value.to_owned());
            let found = cookies.read(Cookie::Session, &map, open);
            assert_eq!(found.as_deref(), want, "{headers:?}");
        }
        let many = "planwright_session=bad; ".repeat(MAX_SAME_NAME) + "planwright_session=good";
        let mut map = HeaderMap::new();
        map.insert(COOKIE, many.parse().unwrap());
        let found = Cookies { https: false }.read(Cookie::Session, &map, |value| {
            (value == "good").then_some(())
        });
        assert_eq!(found, None);
    }
}
