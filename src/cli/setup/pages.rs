//! The pages of the setup.

use maud::{DOCTYPE, Markup, html};
use url::Url;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}\
h1{font-size:1.5rem}\
button,a.button{display:inline-block;font:inherit;color:#fff;background:#1a7f37;border:0;border-radius:6px;padding:.5rem 1rem;text-decoration:none;cursor:pointer}\
input{font:inherit;padding:.4rem;width:24rem;max-width:100%}\
code{background:#818b981f;padding:.1rem .3rem;overflow-wrap:anywhere}";

/// A page. With `refresh`, the browser loads it again after this number of seconds.
fn page(title: &str, refresh: Option<u32>, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if let Some(seconds) = refresh {
                    meta http-equiv="refresh" content=(seconds);
                }
                title { (title) " · Planwright" }
                style { (STYLE) }
            }
            body { h1 { (title) } (main) }
        }
    }
}

/// Asks for the one-time code.
pub(super) fn ask_code(wrong: bool) -> Markup {
    let main = html! {
        @if wrong { p { strong { "This is not the code." } } }
        p { "The code was printed when the setup began: in the terminal, or in the log of the server." }
        form method="post" {
            p { label { "Code" br; input name="code" autocomplete="off" autofocus required; } }
            button type="submit" { "Continue" }
        }
    };
    page("Set up Planwright", None, &main)
}

/// Offers to create the App. `target` is GitHub's page for it.
pub(super) fn create(target: &Url, manifest: &str, owner: &str, folder: &str) -> Markup {
    let main = html! {
        p {
            "GitHub will show you the App, with a name that you can change, and create it for " strong { (owner) }
            ". Its private key and webhook secret are then written to " code { (folder) } " and shown nowhere."
        }
        form method="post" action=(target.as_str()) {
            input type="hidden" name="manifest" value=(manifest);
            button type="submit" { "Create the App on GitHub" }
        }
    };
    page("1. Create the App", None, &main)
}

/// Shown while GitHub is asked for the credentials.
pub(super) fn exchanging() -> Markup {
    page(
        "1. Create the App",
        Some(1),
        &html! { p { "GitHub has created the App. Its credentials are being fetched…" } },
    )
}

/// Sends the user to GitHub to install the App.
pub(super) fn install(slug: &str, install_url: &str) -> Markup {
    let main = html! {
        p { "The App " strong { (slug) } " exists. Choose the repositories in which it may work:" }
        p { a class="button" href=(install_url) target="_blank" rel="noreferrer" { "Install the App on GitHub" } }
        p { "This page continues by itself when the App is installed." }
    };
    page("2. Install the App", Some(2), &main)
}

/// Says what to do next; `config` is the configuration to start the bot with, unless it starts by
/// itself.
pub(super) fn installed(config: Option<&str>) -> Markup {
    let main = html! {
        @if let Some(config) = config {
            p { "The terminal shows whether everything works. Start the bot with:" }
            p { code { "planwright serve --config " (config) } }
        } @else {
            p { "The bot starts now." }
        }
        p { "Then comment " code { "/plan-help" } " on an issue of one of the repositories." }
    };
    page("3. Done", None, &main)
}

/// Explains why a step failed; `again` is the page on which to try again.
pub(super) fn failed(why: &str, again: Option<&str>) -> Markup {
    let main = html! {
        p { (why) }
        @if let Some(again) = again {
            p { a href=(again) { "Back to the setup" } }
        }
    };
    page("This did not work", None, &main)
}
