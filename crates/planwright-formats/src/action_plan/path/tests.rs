//! What is a path of the project and what is not.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn paths_as_written() {
    for (text, want) in [
        ("docs/a.md", Ok("docs/a.md")),
        ("/docs/a.md", Ok("docs/a.md")),
        ("//docs//a.md/", Ok("docs/a.md")),
        ("./docs/./a.md", Ok("docs/a.md")),
        (r"docs\sub\a.md", Ok("docs/sub/a.md")),
        (r"\docs\a.md", Ok("docs/a.md")),
        ("/etc/passwd", Ok("etc/passwd")),
        ("docs/a%20b.md", Ok("docs/a%20b.md")),
        ("pkg/__main__.py", Ok("pkg/__main__.py")),
        ("a b/c.md", Ok("a b/c.md")),
        ("a..b/...", Ok("a..b/...")),
        (".github/x.yml", Ok(".github/x.yml")),
        ("src/a:b", Ok("src/a:b")),
        ("", Err(PathError::Empty)),
        ("/", Err(PathError::Empty)),
        ("./", Err(PathError::Empty)),
        ("..", Err(PathError::Parent)),
        ("../a", Err(PathError::Parent)),
        ("a/../b", Err(PathError::Parent)),
        (r"a\..\b", Err(PathError::Parent)),
        ("a/.. /b", Err(PathError::Parent)),
        ("C:/a", Err(PathError::Drive)),
        (r"C:\a", Err(PathError::Drive)),
        ("/c:/a", Err(PathError::Drive)),
        ("./C:a", Err(PathError::Drive)),
        ("https://x.test/a", Err(PathError::Url)),
        ("javascript:alert(1)", Err(PathError::Url)),
        ("./file:x", Err(PathError::Url)),
        ("a\0b", Err(PathError::Control)),
        ("a\nb", Err(PathError::Control)),
        ("a\u{7f}b", Err(PathError::Control)),
        ("a\u{202e}gnp.md", Err(PathError::Invisible('\u{202e}'))),
        ("src/a\u{200b}.rs", Err(PathError::Invisible('\u{200b}'))),
        (
            "src/\u{2066}a\u{2069}",
            Err(PathError::Invisible('\u{2066}')),
        ),
        ("a\u{fe0f}", Err(PathError::Invisible('\u{fe0f}'))),
        ("src/日本é.rs", Ok("src/日本é.rs")),
    ] {
        let found = ProjectPath::parse(text);
        assert_eq!(
            found.as_ref().map(ProjectPath::as_str),
            want.as_ref().map(|it| *it),
            "{text:?}"
        );
        if let Ok(path) = found {
            assert_eq!(
                ProjectPath::parse(path.as_str()).as_ref(),
                Ok(&path),
                "{text:?}"
            );
        }
    }
}

#[test]
fn links_are_decoded_once_and_judged_afterwards() {
    for (target, want) in [
        ("/docs/a%20b.md", Ok("docs/a b.md")),
        ("/a%2fb", Ok("a/b")),
        ("/a%5cb", Ok("a/b")),
        ("/100%25.md", Ok("100%.md")),
        ("/100%.md", Ok("100%.md")),
        ("/%252e%252e/a", Ok("%2e%2e/a")),
        ("/%2e%2e/a", Err(PathError::Parent)),
        ("/a/%2E%2e%5cb", Err(PathError::Parent)),
        ("/a%00b", Err(PathError::Control)),
        ("/a%0ab", Err(PathError::Control)),
        ("/a%E2%80%AEgnp.md", Err(PathError::Invisible('\u{202e}'))),
        ("/a\u{202e}gnp.md", Err(PathError::Invisible('\u{202e}'))),
        ("/a%ff", Err(PathError::Encoding)),
        ("C%3A/a", Err(PathError::Drive)),
        ("http%3A//x.test", Err(PathError::Url)),
        ("", Err(PathError::Empty)),
    ] {
        let found = ProjectPath::from_link(target);
        assert_eq!(
            found.as_ref().map(ProjectPath::as_str),
            want.as_ref().map(|it| *it),
            "{target:?}"
        );
    }
}

#[test]
fn addresses_only_of_the_web() {
    for (text, want) in [
        ("https://example.com/docs?a=%20#b", Ok(true)),
        ("HTTP://example.com", Ok(true)),
        ("https://example.com:8080/a", Ok(true)),
        ("docs/a.md", Ok(false)),
        ("ftp://example.com/a", Err(PathError::Scheme)),
        ("file:///etc/passwd", Err(PathError::Scheme)),
        ("javascript:alert(1)", Err(PathError::Scheme)),
        ("https:docs", Err(PathError::BadUrl)),
        ("https://", Err(PathError::BadUrl)),
        ("https://a b.test", Err(PathError::BadUrl)),
        ("https://a.test/a b", Err(PathError::BadUrl)),
        (r"https:\\a.test", Err(PathError::BadUrl)),
        ("C:/a", Err(PathError::Drive)),
    ] {
        let found = Resource::parse(text);
        assert_eq!(
            found.as_ref().map(|it| matches!(it, Resource::Url(_))),
            want.as_ref().map(|it| *it),
            "{text:?}"
        );
        if let Ok(resource) = found {
            assert_eq!(resource.as_str(), text);
        }
    }
}
