//! The pages of the login.

use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use url::form_urlencoded;

use super::super::assets::STYLE;
use super::routes::{GITHUB_PATH, TOKEN_PATH};
use super::{LOGIN_PATH, Login, Refusal};

fn page(title: &str, main: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Planwright" }
                link rel="stylesheet" href=(STYLE);
                link rel="icon" href="data:,";
            }
            body { main { h1 { (title) } (main) } }
        }
    };
    Html(page.into_string())
}

/// The login page. `next` is the path of the page that is shown afterwards.
pub(super) fn login(login: &Login, next: &str, refused: Option<Refusal>) -> Response {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("next", next)
        .finish();
    let github = format!("{GITHUB_PATH}?{query}");
    let main = html! {
        @if let Some(refused) = refused { p role="alert" { (refused.to_string()) } }
        @if login.github.is_some() {
            p { a href=(github) { "Log in with GitHub" } }
        }
        @if login.token.is_some() {
            form method="post" action=(TOKEN_PATH) {
                input type="hidden" name="next" value=(next);
                p {
                    label {
                        "Operator's token "
                        input type="password" name="token" autocomplete="current-password" required;
                    }
                }
                p { button type="submit" { "Log in with the token" } }
            }
        }
    };
    let page = page("Log in", &main);
    match refused {
        Some(refused) => (refused.status(), page).into_response(),
        None => page.into_response(),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let main = html! {
            p role="alert" { (self.to_string()) }
            p { a href=(LOGIN_PATH) { "Log in" } }
        };
        (self.status(), page("Refused", &main)).into_response()
    }
}
