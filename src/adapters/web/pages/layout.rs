//! What all pages have in common: the frame, links, times, and text that others wrote.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

use super::super::assets::{SCRIPT, STYLE};
use super::super::login::{FORM_TOKEN, LOGOUT_PATH, Session, Viewer};
use super::Pages;
use crate::engine::model::run::State;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::IssueRef;
use crate::formats::hidden::{self, InvisibleKind};
use crate::formats::markdown::{parse, plain_text};

const SECTIONS: [(&str, &str); 5] = [
    ("/ui", "Runs"),
    ("/ui/plans", "Plans"),
    ("/ui/costs", "Costs"),
    ("/ui/deliveries", "Deliveries"),
    ("/ui/audit", "Audit"),
];

/// Returns a page. `section` is the path of the section that it belongs to.
pub(super) fn page(
    pages: &Pages,
    session: &Session,
    section: &str,
    title: &str,
    main: &Markup,
) -> Html<String> {
    let (name, is_operator) = match session.viewer() {
        Viewer::Operator => ("the operator", true),
        Viewer::Person { login, .. } => (login.as_str(), false),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (clean(title)) " · Planwright" }
                link rel="stylesheet" href=(STYLE);
                link rel="icon" href="data:,";
                script src=(SCRIPT) defer {}
            }
            body {
                header {
                    nav aria-label="Sections" {
                        @for (path, text) in SECTIONS {
                            @if path != "/ui/audit" || is_operator {
                                a href=(path) aria-current=[(path == section).then_some("page")] { (text) }
                            }
                        }
                    }
                    form method="post" action=(LOGOUT_PATH) {
                        input type="hidden" name=(FORM_TOKEN) value=(pages.login.form_token(session));
                        strong { (clean(name)) }
                        button type="submit" { "Log out" }
                    }
                }
                main { h1 { (clean(title)) } (main) }
            }
        }
    };
    Html(page.into_string())
}

/// Returns text that others wrote without characters that control terminals or the direction of
/// writing: they become U+FFFD.
pub(super) fn clean(text: &str) -> String {
    let is_odd = |c: char| {
        c != '\t'
            && matches!(
                hidden::invisible_kind(c),
                Some(InvisibleKind::Control | InvisibleKind::Direction)
            )
    };
    text.chars()
        .map(|c| {
            if is_odd(c) {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

/// Returns a sentence that the bot writes as Markdown, without its markup.
pub(super) fn sentence(markdown: &str) -> String {
    let arena = comrak::Arena::new();
    clean(&plain_text(parse(&arena, markdown)))
}

/// Returns a time (UTC) to the minute, with the seconds as tooltip.
pub(super) fn time(at: Millis) -> Markup {
    shortened_time(at, 16)
}

/// Returns a time (UTC) to the second.
pub(super) fn exact_time(at: Millis) -> Markup {
    shortened_time(at, 19)
}

fn shortened_time(at: Millis, length: usize) -> Markup {
    let iso = at.iso();
    let short = iso.get(..length).unwrap_or(&iso).replace('T', " ");
    html! { time datetime=(iso) title=(iso) { (short) } }
}

/// Returns a duration, such as `3 min` or `2 h`.
pub(super) fn duration(millis: u64) -> String {
    match millis / 1000 {
        0 => format!("{millis} ms"),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// Returns the state of a run as a badge.
pub(super) fn badge(state: State) -> Markup {
    html! { span class={ "state " (state.name()) } { (state.name()) } }
}

/// Returns a link to another site; plain text if the address is not one of the web.
pub(super) fn external(url: &str, text: &str) -> Markup {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    html! {
        @if is_web {
            a href=(url) rel="noreferrer" { (clean(text)) }
        } @else {
            (clean(text))
        }
    }
}

/// Returns a link to an issue or pull request.
pub(super) fn issue(pages: &Pages, place: &IssueRef) -> Markup {
    let name = place.repo.full_name();
    let kind = if place.pull_request { "pull" } else { "issues" };
    let url = format!("{}/{name}/{kind}/{}", pages.github, place.number);
    external(&url, &format!("{name}#{}", place.number))
}

/// Returns the end of a list: the link to the next page, if there is one, and what to say if this page
/// is empty.
pub(super) fn older(address: Option<String>, is_empty: bool, none: &str) -> Markup {
    html! {
        @if is_empty && address.is_some() { p { "There are none among the newest ones. Continue with the older ones." } }
        @else if is_empty { p { (none) } }
        @if let Some(address) = address {
            p { a href=(address) rel="next" { "Older" } }
        }
    }
}

/// Returns a text field of a form that filters a list.
pub(super) fn field(name: &str, label: &str, kind: &str, value: Option<&str>) -> Markup {
    html! {
        label { (label) " " input type=(kind) name=(name) value=[value]; }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_become_links() {
        for (url, shown) in [
            (
                "https://h/x",
                "<a href=\"https://h/x\" rel=\"noreferrer\">t</a>",
            ),
            ("javascript:alert(1)", "t"),
            ("data:text/html,x", "t"),
            ("//h", "t"),
        ] {
            assert_eq!(external(url, "t").into_string(), shown);
        }
        let quoted = external("https://h/\"><script>", "<b>").into_string();
        assert_eq!(
            quoted,
            "<a href=\"https://h/&quot;&gt;&lt;script&gt;\" rel=\"noreferrer\">&lt;b&gt;</a>"
        );
    }

    #[test]
    fn sentences_are_shown_without_markup() {
        let text = "Comment `/retry` *here*: [a comment](https://h/x) by a\\_b \\<b>";
        assert_eq!(sentence(text), "Comment /retry here: a comment by a_b <b>");
    }

    #[test]
    fn text_of_others_cannot_change_the_direction_of_writing() {
        assert_eq!(
            clean("a\u{202e}b\u{1b}[31m\tc"),
            "a\u{fffd}b\u{fffd}[31m\tc"
        );
    }

    #[test]
    fn durations_have_one_unit() {
        for (millis, text) in [
            (5, "5 ms"),
            (1_500, "1 s"),
            (119_000, "119 s"),
            (180_000, "3 min"),
            (7_200_000, "2 h"),
            (864_000_000, "10 days"),
        ] {
            assert_eq!(duration(millis), text);
        }
    }
}
