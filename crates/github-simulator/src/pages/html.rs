//! HTML by hand: escaping, the frame of a page, Markdown as GitHub renders it.

use std::fmt::Write as _;
use std::sync::LazyLock;

use ammonia::Builder;
use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

use planwright_formats::markdown;

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

/// GFM, line ends kept as in GitHub's comments, raw HTML allowed: it is sanitised afterwards.
fn options() -> Options<'static> {
    let mut options = markdown::options();
    options.extension.alerts = true;
    options.render.hardbreaks = true;
    options.render.r#unsafe = true;
    options
}

/// A comment's Markdown as HTML.
pub(super) fn render(source: &str) -> String {
    SANITISER
        .clean(&comrak::markdown_to_html(source, &options()))
        .to_string()
}

/// What the formatter knows of the boxes.
#[derive(Debug, Default)]
struct Marks {
    /// Start of a box's element; its number follows.
    mark: String,
    /// Whether each box so far is ticked.
    ticked: Vec<bool>,
}

comrak::create_formatter!(WithMarks<Marks>, {
    NodeValue::TaskItem(ref item) => |context, entering| {
        if entering {
            let number = context.user.ticked.len();
            context.user.ticked.push(item.symbol.is_some());
            let element = format!("<li>{}{number}\"> ", context.user.mark);
            context.write_str(&element)?;
        } else {
            context.write_str("</li>\n")?;
        }
    },
});

/// The same with a button called `box` in the place of each box of a task list; its value is the box's number, from 0.
///
/// The sanitiser would take buttons out, so they come in afterwards, for elements with a mark that nobody can guess. The
/// mark has quotation marks, which end an attribute or are escaped in it: raw HTML around a list cannot pull a button
/// into one.
pub(super) fn render_with_buttons(source: &str) -> String {
    let arena = Arena::new();
    let root = parse_document(&arena, source, &options());
    let secret = uuid::Uuid::new_v4().simple();
    let marks = Marks {
        mark: format!("<input type=\"checkbox\" title=\"{secret}-"),
        ticked: Vec::new(),
    };
    let mark = marks.mark.clone();
    let mut html = String::new();
    let Ok(marks) = WithMarks::format_document(root, &options(), &mut html, marks) else {
        return render(source);
    };
    let clean = SANITISER.clean(&html).to_string();
    let mut parts = clean.split(&mark);
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once("\">").unwrap_or_default();
        let ticked = number
            .parse()
            .ok()
            .and_then(|at: usize| marks.ticked.get(at).copied())
            .unwrap_or_default();
        // Writing to a String does not fail.
        let _ = write!(
            done,
            "<button class=\"box\" name=\"box\" value=\"{number}\" role=\"checkbox\" \
             aria-checked=\"{ticked}\" aria-label=\"Box {number}\"></button>{rest}"
        );
    }
    done
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
    fn boxes_become_buttons_and_nothing_else_does() {
        let html = render_with_buttons(
            "- [x] done\n- a\n  - [ ] `[ ]` **b**\n\n<form action=\"http://x\"><button name=\"box\" value=\"7\">c</button>\
             <input type=\"checkbox\" name=\"box\" form=\"f\"></form>\n\n```\n- [ ] code\n```\n",
        );
        let button = |number: usize, ticked: bool| {
            format!(
                "<li><button class=\"box\" name=\"box\" value=\"{number}\" role=\"checkbox\" \
                 aria-checked=\"{ticked}\" aria-label=\"Box {number}\"></button> "
            )
        };
        assert!(
            html.contains(&format!("{}done</li>", button(0, true))),
            "{html}"
        );
        let second = format!(
            "{}<code>[ ]</code> <strong>b</strong></li>",
            button(1, false)
        );
        assert!(html.contains(&second), "{html}");
        assert_eq!(html.matches("<button").count(), 2, "{html}");
        assert!(!html.contains("<form") && !html.contains("form="), "{html}");
        assert_eq!(html.matches("name=").count(), 2, "{html}");
        assert!(html.contains("- [ ] code"), "{html}");
    }

    /// The list would stand in the attribute, and a button's quotation marks would end it.
    #[test]
    fn raw_html_does_not_pull_a_button_into_an_attribute() {
        for (quote, kept) in [('\'', true), ('"', false)] {
            let html = render_with_buttons(&format!(
                "<div title={quote}\n\n- [ ] a onclick=alert(1)\n\n{quote}>\n\n- [ ] b\n"
            ));
            assert_eq!(html.matches("<button").count(), 1, "{html}");
            assert!(html.contains("value=\"1\""), "{html}");
            let attribute = html.split('"').nth(1).unwrap_or_default();
            assert_eq!(attribute.contains("onclick"), kept, "{html}");
            let tags = html.split('<').filter_map(|tag| tag.split_once('>'));
            let unquoted = |tag: &str| {
                tag.split('"')
                    .step_by(2)
                    .any(|part| part.contains("onclick"))
            };
            assert!(!tags.into_iter().any(|(tag, _)| unquoted(tag)), "{html}");
        }
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
