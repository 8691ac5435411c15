//! Where a browser is sent after the login: only ever to one of the pages.

use percent_encoding::percent_decode_str;

use super::PATH;

/// Maximum length of the path, in bytes. It is kept in a cookie.
const MAX_NEXT: usize = 1024;

/// Returns `given` if it is the path of a page, with or without a query; the first page otherwise.
pub(super) fn page_path(given: Option<&str>) -> &str {
    given.filter(|path| is_page(path)).unwrap_or(PATH)
}

fn is_page(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/?&=%-._~+,:@!$'()*;".contains(&byte);
    let decoded: Vec<u8> = percent_decode_str(path).collect();
    let mut segments = decoded.split(|byte| b"/?".contains(byte));
    path.len() <= MAX_NEXT
        && path.bytes().all(plain)
        && path
            .strip_prefix(PATH)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
        && !decoded.windows(2).any(|pair| pair == b"//")
        && !decoded
            .iter()
            .any(|byte| byte.is_ascii_control() || *byte == b'\\')
        && !segments.any(|segment| segment == b"." || segment == b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_redirected_to() {
        for path in [
            "/ui",
            "/ui/",
            "/ui?state=failed",
            "/ui/runs/01J8?x=a%20b&y=c+d",
            "/ui/repos/acme/search",
            "/ui/a..b",
            "/ui/...",
        ] {
            assert_eq!(page_path(Some(path)), path);
        }
        let long = format!("/ui/{}", "a".repeat(MAX_NEXT));
        for path in [
            "",
            "/",
            "ui",
            "//evil.example",
            "///evil.example",
            "https://evil.example/ui/",
            "https:/ui",
            "javascript:alert(1)",
            "/uix",
            "/ui.evil.example",
            "/ui@evil.example",
            "/ui:80",
            "/ui#x",
            "/ui/#x",
            "/UI",
            " /ui",
            "/ui ",
            "/ui/a b",
            "/%75i",
            "/ui%2f",
            "/ui//evil.example",
            "/ui/%2fevil.example",
            "/ui/%2F%2fevil.example",
            "/ui/\\evil.example",
            "/\\evil.example",
            "/ui/%5cevil.example",
            "/ui/..",
            "/ui/../metrics",
            "/ui/%2e%2e/metrics",
            "/ui/.%2E/metrics",
            "/ui/a/../../webhook",
            "/ui/./a",
            "/ui/..?x",
            "/ui/a%0d%0aset-cookie:x",
            "/ui/a\r\nset-cookie:x",
            "/ui/a%00",
            "/ui/\t",
            "/ui/\u{e4}",
            "/ui/\"",
            "/ui/<script>",
            long.as_str(),
        ] {
            assert_eq!(page_path(Some(path)), "/ui", "{path}");
        }
        assert_eq!(page_path(None), "/ui");
    }
}
