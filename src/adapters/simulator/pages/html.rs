//! HTML by hand: escaping, the frame of a page, Markdown as GitHub renders it.

use std::sync::LazyLock;

use ammonia::Builder;

use crate::formats::markdown;

/// Looks, light and dark; everything is in the page, nothing is loaded.
const STYLE: &str = include_str!("style.css");

/// What GitHub's sanitiser leaves and ammonia's default does not: task boxes, alerts, language classes.
static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    builder
        .add_tags(["input"])
        .add_tag_attributes("input", ["checked", "disabled"])
        .add_tag_attribute_values("input", "type", ["checkbox"])
        .add_tag_attributes("details", ["open"])
        .add_tag_attributes("code", ["class"])
        .add_allowed_classes(
            "div",
            [
                "markdown-alert",
                "markdown-alert-note",
                "markdown-alert-tip",
                "markdown-alert-important",
                "markdown-alert-warning",
                "markdown-alert-caution",
            ],
        )
        .add_allowed_classes("p", ["markdown-alert-title"]);
    builder
});

/// Text for HTML, also inside double-quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A comment's Markdown as HTML: GFM, line ends kept as in GitHub's comments, raw HTML allowed and sanitised.
pub(super) fn render(source: &str) -> String {
    let mut options = markdown::options();
    options.render.hardbreaks = true;
    options.render.r#unsafe = true;
    SANITISER
        .clean(&comrak::markdown_to_html(source, &options))
        .to_string()
}

/// A whole page; `trail` and `main` are HTML.
pub(super) fn page(title: &str, trail: &str, main: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <nav class=\"top\"><a href=\"/\">Simulated GitHub</a> {trail}\
         <span class=\"what\">nothing here is on the internet</span></nav>\n\
         <main>\n{main}</main>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_everything_that_matters() {
        assert_eq!(
            escape("<a b=\"c\">&'"),
            "&lt;a b=&quot;c&quot;&gt;&amp;&#39;"
        );
    }

    #[test]
    fn renders_as_github_does() {
        let html = render("a\nb\n\n- [x] done\n- [ ] open\n\n|a|\n|-|\n|1|\n\n```rust\nx\n```\n");
        assert!(html.contains("a<br>"), "{html}");
        assert_eq!(html.matches("type=\"checkbox\"").count(), 2, "{html}");
        assert!(html.contains("<table>"), "{html}");
        assert!(html.contains("class=\"language-rust\""), "{html}");
        let html = render("<details>\n<summary>s</summary>\n\n**b**\n\n</details>\n");
        assert!(html.contains("<details>\n<summary>s</summary>"), "{html}");
        assert!(html.contains("<strong>b</strong>"), "{html}");
    }

    #[test]
    fn nothing_runs() {
        let html = render(
            "[x](javascript:alert(1)) **b**\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n<style>*{}</style>\n\n<!-- hidden -->",
        );
        for bad in ["script", "onerror", "<style", "hidden"] {
            assert!(!html.contains(bad), "{bad}: {html}");
        }
        assert!(html.contains("<strong>b</strong>"), "{html}");
    }
}
