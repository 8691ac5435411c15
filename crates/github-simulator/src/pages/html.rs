//! HTML: escaping, the layout of a page, and Markdown as GitHub renders it.

use std::fmt::Write as _;
use std::sync::LazyLock;

use ammonia::Builder;
use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

use crate::task_list::markdown_options;

/// Style sheet, embedded in every page.
const STYLE: &str = include_str!("style.css");

/// Sanitiser that, like GitHub's, keeps more than ammonia's default: checkboxes, alerts, language
/// classes.
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

/// Escapes text for HTML, including quoted attributes.
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

/// Returns the options for rendering a comment: line breaks are kept, as in GitHub's comments, and
/// raw HTML is allowed because it is sanitised afterwards.
fn options() -> Options<'static> {
    let mut options = markdown_options();
    options.extension.alerts = true;
    options.render.hardbreaks = true;
    options.render.r#unsafe = true;
    options
}

/// Renders Markdown as sanitised HTML.
pub(super) fn render(source: &str) -> String {
    SANITISER
        .clean(&comrak::markdown_to_html(source, &options()))
        .to_string()
}

/// State of the formatter for checkboxes.
#[derive(Debug, Default)]
struct CheckboxMarks {
    /// Start of the element that marks a checkbox; its index follows.
    mark: String,
    /// Whether each checkbox so far is checked.
    checked: Vec<bool>,
}

comrak::create_formatter!(CheckboxFormatter<CheckboxMarks>, {
    NodeValue::TaskItem(ref item) => |context, entering| {
        if entering {
            let index = context.user.checked.len();
            context.user.checked.push(item.symbol.is_some());
            let element = format!("<li>{}{index}\"> ", context.user.mark);
            context.write_str(&element)?;
        } else {
            context.write_str("</li>\n")?;
        }
    },
});

/// Renders Markdown as sanitised HTML with a button named `box` in place of each checkbox of a task
/// list. The value of a button is the index of the checkbox, from 0.
///
/// The sanitiser would remove buttons, so they replace elements with an unguessable mark
/// afterwards. The mark contains quotation marks, which end an attribute or are escaped in it, so
/// raw HTML around a list cannot move a button into an attribute.
pub(super) fn render_with_buttons(source: &str) -> String {
    let arena = Arena::new();
    let root = parse_document(&arena, source, &options());
    let secret = uuid::Uuid::new_v4().simple();
    let marks = CheckboxMarks {
        mark: format!("<input type=\"checkbox\" title=\"{secret}-"),
        checked: Vec::new(),
    };
    let mark = marks.mark.clone();
    let mut html = String::new();
    let Ok(marks) = CheckboxFormatter::format_document(root, &options(), &mut html, marks) else {
        return render(source);
    };
    let clean = SANITISER.clean(&html).to_string();
    let mut parts = clean.split(&mark);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (index, rest) = part.split_once("\">").unwrap_or_default();
        let checked = index.parse().ok();
        let checked = checked.and_then(|index: usize| marks.checked.get(index).copied());
        let checked = checked.unwrap_or_default();
        // Writing to a String does not fail.
        let _ = write!(
            result,
            "<button class=\"box\" name=\"box\" value=\"{index}\" role=\"checkbox\" \
             aria-checked=\"{checked}\" aria-label=\"Box {index}\"></button>{rest}"
        );
    }
    result
}

/// Renders a page; `breadcrumb` and `main` are HTML.
pub(super) fn page(title: &str, breadcrumb: &str, main: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <nav class=\"top\"><a href=\"/\">Simulated GitHub</a> {breadcrumb}\
         <span class=\"what\">nothing here is on the internet</span></nav>\n\
         <main>\n{main}</main>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_all_special_characters() {
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
    fn only_checkboxes_become_buttons() {
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

    /// If the list were inside the attribute, a button's quotation marks would end it.
    #[test]
    fn raw_html_cannot_move_a_button_into_an_attribute() {
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
    fn scripts_and_styles_are_removed() {
        let html = render(
            "[x](javascript:alert(1)) **b**\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n<style>*{}</style>\n\n<!-- hidden -->",
        );
        for bad in ["script", "onerror", "<style", "hidden"] {
            assert!(!html.contains(bad), "{bad}: {html}");
        }
        assert!(html.contains("<strong>b</strong>"), "{html}");
    }
}
