//! Whether a page of this bot sent a form, or a page of another site.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName};
use url::Url;

use super::Refusal;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The origin of the pages: scheme, host and port. `None` if the public address is not configured.
pub(super) struct Origin(Option<String>);

impl Origin {
    pub(super) fn new(public_url: Option<&Url>) -> Self {
        Self(public_url.map(|url| url.origin().ascii_serialization()))
    }

    /// Checks the headers `Origin` and `Sec-Fetch-Site` of a form. Browsers send at least one of
    /// them.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let known = headers.contains_key(SEC_FETCH_SITE) || headers.contains_key(ORIGIN);
        let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
        let mut origins = headers.get_all(ORIGIN).iter();
        let is_own = known
            && sites.all(|site| site == "same-origin")
            && origins.all(|origin| origin.to_str().is_ok_and(|one| self.is_own(one, headers)));
        if is_own {
            Ok(())
        } else {
            Err(Refusal::OtherSite)
        }
    }

    /// Returns whether an origin is that of the pages: the configured one. Where none is configured,
    /// the browser's `Sec-Fetch-Site` is enough; browsers omit it on unencrypted connections, and
    /// then the origin must name the host that the request is for.
    fn is_own(&self, origin: &str, headers: &HeaderMap) -> bool {
        if let Some(own) = &self.0 {
            return own == origin;
        }
        if headers.contains_key(SEC_FETCH_SITE) {
            return true;
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        authority.is_some() && authority == host
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn check(public_url: Option<&str>, sent: &[(&str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "bot.internal:8300".parse().unwrap());
        for (name, value) in sent {
            let name = HeaderName::try_from(*name).unwrap();
            headers.append(name, value.parse().unwrap());
        }
        let public_url = public_url.map(|url| Url::parse(url).unwrap());
        Origin::new(public_url.as_ref()).check(&headers).is_ok()
    }

    #[test]
    fn forms_are_taken_from_the_configured_origin_only() {
        let own = ("origin", "https://bot.example.com");
        for (sent, taken) in [
            (&[own][..], true),
            (&[own, ("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[own, ("sec-fetch-site", "cross-site")], false),
            (&[("origin", "https://evil.example")], false),
            (
                &[
                    ("origin", "https://evil.example"),
                    ("sec-fetch-site", "same-origin"),
                ],
                false,
            ),
            (&[own, ("origin", "https://evil.example")], false),
            (&[("origin", "http://bot.example.com")], false),
            (&[("origin", "https://bot.example.com:8443")], false),
            (&[("origin", "https://bot.example.com.evil.example")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("origin", "http://bot.internal:8300")], false),
            (&[("referer", "https://bot.example.com/ui")], false),
        ] {
            assert_eq!(
                check(Some("https://bot.example.com/"), sent),
                taken,
                "{sent:?}"
            );
        }
    }

    #[test]
    fn without_a_configured_address_the_browser_or_the_host_decides() {
        for (origin, taken) in [
            ("http://bot.internal:8300", true),
            ("https://bot.internal:8300", true),
            ("http://bot.internal", false),
            ("http://bot.internal:8301", false),
            ("http://evil.example", false),
            ("bot.internal:8300", false),
            ("null", false),
        ] {
            assert_eq!(check(None, &[("origin", origin)]), taken, "{origin}");
        }
        // Behind a proxy, the host may be another one.
        let origin = ("origin", "https://bot.example.com");
        for (site, taken) in [
            ("same-origin", true),
            ("same-site", false),
            ("cross-site", false),
        ] {
            let sent = [origin, ("sec-fetch-site", site)];
            assert_eq!(check(None, &sent), taken, "{site}");
        }
    }
}
