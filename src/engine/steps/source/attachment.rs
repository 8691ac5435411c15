//! Recognition of links to files attached to a comment. Pure.
//!
//! GitHub serves attachments at `/user-attachments/files/<id>/<name>`, and older ones at
//! `/<owner>/<repository>/files/<id>/<name>`, on the host of its web pages. No other link in a
//! comment is ever downloaded.

use url::Url;

use crate::formats::markdown;

/// What a file name says about the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentKind {
    /// `.jsonl`: a session log.
    Log,
    /// `.json`, `.log`, `.txt`: possibly a session log, because GitHub does not accept every
    /// extension. The first line decides.
    Perhaps,
}

/// A file attached to a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// URL without query and fragment.
    pub address: String,
    /// Decoded file name.
    pub name: String,
    /// What the file name says about the content.
    pub kind: AttachmentKind,
}

/// Returns the root URL of GitHub's web pages for the REST API at `api`: `https://github.com` for
/// `https://api.github.com`, `https://HOST` for `https://HOST/api/v3`, and `https://NAME.ghe.com`
/// for `https://api.NAME.ghe.com`.
pub fn web_root(api: &Url) -> String {
    let host = api.host_str().unwrap_or_default();
    let pages = match host.strip_prefix("api.") {
        Some(rest) if rest == "github.com" || rest.ends_with(".ghe.com") => rest,
        _ => host,
    };
    match api.port() {
        Some(port) => format!("{}://{pages}:{port}", api.scheme()),
        None => format!("{}://{pages}", api.scheme()),
    }
}

/// Returns the attachments of a comment that may be session logs, in order. `web` is the root URL
/// of GitHub's web pages.
pub fn in_comment(web: &str, comment: &str) -> Vec<Attachment> {
    markdown::links(comment)
        .iter()
        .filter_map(|address| read(web, address))
        .collect()
}

/// Returns the attachment at `address` if it may be a session log.
pub fn read(web: &str, address: &str) -> Option<Attachment> {
    let url = address_of(web, address)?;
    let name = url.path_segments()?.next_back()?;
    let name = percent_encoding::percent_decode_str(name)
        .decode_utf8()
        .ok()?;
    let (stem, end) = name.rsplit_once('.')?;
    let kind = match end.to_ascii_lowercase().as_str() {
        "jsonl" => AttachmentKind::Log,
        "json" | "log" | "txt" => AttachmentKind::Perhaps,
        _ => return None,
    };
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\');
    (!stem.is_empty() && !name.contains(odd)).then(|| Attachment {
        address: url.to_string(),
        name: name.into_owned(),
        kind,
    })
}

/// Returns `address` without query and fragment if it is an attachment on the host of `web`: same
/// scheme, host and port, and no user name or password.
pub fn address_of(web: &str, address: &str) -> Option<Url> {
    let web = Url::parse(web).ok()?;
    let mut url = Url::parse(address).ok()?;
    let ours = url.scheme() == web.scheme()
        && url.host().is_some()
        && url.host() == web.host()
        && url.port_or_known_default() == web.port_or_known_default()
        && url.username().is_empty()
        && url.password().is_none();
    let segments: Vec<&str> = url.path_segments()?.collect();
    let id = match segments.as_slice() {
        ["user-attachments", "files", id, name] if !name.is_empty() => id,
        [owner, repository, "files", id, name]
            if !owner.is_empty() && !repository.is_empty() && !name.is_empty() =>
        {
            id
        }
        _ => return None,
    };
    let numbered = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    if !ours || !numbered {
        return None;
    }
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const WEB: &str = "https://github.com";

    #[test]
    fn pages_belong_to_the_api() {
        for (api, web) in [
            ("https://api.github.com", WEB),
            ("https://api.github.com/", WEB),
            ("https://ghe.example/api/v3", "https://ghe.example"),
            ("https://api.example/api/v3", "https://api.example"),
            ("https://api.acme.ghe.com", "https://acme.ghe.com"),
            ("http://127.0.0.1:4000", "http://127.0.0.1:4000"),
            ("http://127.0.0.1:4000/api/v3", "http://127.0.0.1:4000"),
            ("http://[::1]:4000", "http://[::1]:4000"),
        ] {
            assert_eq!(web_root(&Url::parse(api).unwrap()), web, "{api}");
        }
    }

    #[test]
    fn attachments_of_github_are_recognised() {
        for (address, name, kind) in [
            (
                "https://github.com/user-attachments/files/12/a.jsonl",
                "a.jsonl",
                AttachmentKind::Log,
            ),
            (
                "https://github.com/o/r/files/12/a.txt",
                "a.txt",
                AttachmentKind::Perhaps,
            ),
            (
                "https://GitHub.COM/o/r/files/12/A.JSONL",
                "A.JSONL",
                AttachmentKind::Log,
            ),
            (
                "https://github.com:443/o/r/files/12/a.log",
                "a.log",
                AttachmentKind::Perhaps,
            ),
            (
                "https://github.com/o/r/files/12/a%20b.json?x=1#y",
                "a b.json",
                AttachmentKind::Perhaps,
            ),
            (
                "https://github.com/o/../o/r/files/12/a.jsonl",
                "a.jsonl",
                AttachmentKind::Log,
            ),
            // Browsers also treat the backslash as a slash and open github.com.
            (
                "https://github.com\\@evil.example/r/files/12/a.jsonl",
                "a.jsonl",
                AttachmentKind::Log,
            ),
        ] {
            let found = read(WEB, address).unwrap();
            assert_eq!((found.name.as_str(), found.kind), (name, kind), "{address}");
            assert!(
                found.address.starts_with("https://github.com/"),
                "{address}"
            );
            assert!(!found.address.contains(['?', '#']), "{address}");
        }
    }

    #[test]
    fn nothing_else_is_one() {
        for address in [
            "https://github.com/user-attachments/files/12/a.zip",
            "https://github.com/user-attachments/files/12/jsonl",
            "https://github.com/user-attachments/files/12/.jsonl",
            "https://github.com/user-attachments/files/12/",
            "https://github.com/user-attachments/files/x/a.jsonl",
            "https://github.com/user-attachments/files//a.jsonl",
            "https://github.com/user-attachments/files/12/a/b.jsonl",
            "https://github.com/user-attachments/assets/12/a.jsonl",
            "https://github.com/user-attachments/files/12/%2e%2e%2fa.jsonl",
            "https://github.com/user-attachments/files/12/a%0Ab.jsonl",
            "https://github.com/user-attachments/files/12/a%FF.jsonl",
            "https://github.com/o/r/blob/main/a.jsonl",
            "https://github.com//r/files/12/a.jsonl",
            // Other hosts, or other ways to reach the same host.
            "http://github.com/user-attachments/files/12/a.jsonl",
            "https://github.com:8443/user-attachments/files/12/a.jsonl",
            "https://github.com.evil.example/user-attachments/files/12/a.jsonl",
            "https://evil.example/github.com/user-attachments/files/12/a.jsonl",
            "https://github.com@evil.example/user-attachments/files/12/a.jsonl",
            "https://user:pw@github.com/user-attachments/files/12/a.jsonl",
            "https://evilgithub.com/user-attachments/files/12/a.jsonl",
            "https://gist.github.com/user-attachments/files/12/a.jsonl",
            "https://127.0.0.1/user-attachments/files/12/a.jsonl",
            "https://[::1]/user-attachments/files/12/a.jsonl",
            "https://169.254.169.254/user-attachments/files/12/a.jsonl",
            "https://localhost/user-attachments/files/12/a.jsonl",
            "https://2130706433/user-attachments/files/12/a.jsonl",
            "file:///user-attachments/files/12/a.jsonl",
            "ftp://github.com/user-attachments/files/12/a.jsonl",
            "//github.com/user-attachments/files/12/a.jsonl",
            "/user-attachments/files/12/a.jsonl",
            "a.jsonl",
            "",
        ] {
            assert_eq!(read(WEB, address), None, "{address}");
        }
        assert_eq!(
            read("not an address", "https://github.com/o/r/files/1/a.txt"),
            None
        );
    }
}
