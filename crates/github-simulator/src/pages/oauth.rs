//! The page on which a person confirms a login through the App.

use axum::response::Response;
use http::StatusCode;
use url::Url;

use super::apps::{allow_forms_to, refused};
use super::forms::{field, is_foreign, see_other};
use super::html::{self, escape};
use crate::model::Authorization;
use crate::request::ApiRequest;
use crate::state::State;

const HELP: &str = "https://docs.github.com/apps/managing-oauth-apps/troubleshooting-authorization-request-errors/";

/// What the App asks for.
struct Asked {
    redirect_uri: String,
    target: Url,
    state: Option<String>,
    code_challenge: Option<String>,
}

/// Handles the page and its form; `None` if the path is another one, or no App has the client id.
/// A person who has confirmed a login before is sent back at once.
pub(super) fn handle(state: &mut State, request: &ApiRequest, path: &[&str]) -> Option<Response> {
    let ["login", "oauth", "authorize"] = path else {
        return None;
    };
    let is_form = request.is_write();
    if is_form && is_foreign(request) {
        let why = "The request was sent from another site";
        return Some(refused(StatusCode::FORBIDDEN, why, &[]));
    }
    let parameter = |name: &str| {
        let value = if is_form {
            field(request, name)
        } else {
            request.query(name).map(str::to_owned)
        };
        value.filter(|value| !value.is_empty())
    };
    if parameter("client_id") != Some(state.app.client_id()) {
        return None;
    }
    let asked = match asked(state, parameter) {
        Ok(asked) => asked,
        Err(response) => return Some(*response),
    };
    let Some(visitor) = state.visitor.as_ref().map(|visitor| visitor.user.clone()) else {
        let why = "Nobody is signed in";
        return Some(refused(StatusCode::FORBIDDEN, why, &[]));
    };
    if is_form && parameter("authorize").as_deref() != Some("1") {
        return Some(send_back(
            asked.target,
            asked.state.as_deref(),
            &[
                ("error", "access_denied"),
                (
                    "error_description",
                    "The user has denied your application access.",
                ),
                ("error_uri", &format!("{HELP}#access-denied")),
            ],
        ));
    }
    if !is_form && !state.authorized.contains(&visitor.id) {
        return Some(confirm(state, &visitor.login, &asked));
    }
    let code = state.add_authorization(Authorization {
        person: visitor.id,
        redirect_uri: asked.redirect_uri,
        code_challenge: asked.code_challenge,
        created: state.now(),
    });
    let state = asked.state.as_deref();
    Some(send_back(asked.target, state, &[("code", &code)]))
}

/// Checks the parameters. A callback URL that is not registered is never redirected to.
fn asked(
    state: &State,
    parameter: impl Fn(&str) -> Option<String>,
) -> Result<Asked, Box<Response>> {
    let registered = &state.app.callback_urls;
    let refuse = |why: &str| Box::new(refused(StatusCode::BAD_REQUEST, why, &[]));
    let first = registered.first();
    let first = first.ok_or_else(|| refuse("The App has no callback URL"))?;
    let redirect_uri = parameter("redirect_uri").unwrap_or_else(|| first.clone());
    let is_registered = registered.contains(&redirect_uri);
    let target = Url::parse(if is_registered { &redirect_uri } else { first });
    let target = target.map_err(|_| refuse("The callback URL is not valid"))?;
    if !is_registered {
        return Err(Box::new(send_back(
            target,
            parameter("state").as_deref(),
            &[
                ("error", "redirect_uri_mismatch"),
                (
                    "error_description",
                    "The redirect_uri MUST match the registered callback URL for this application.",
                ),
                ("error_uri", &format!("{HELP}#redirect-uri-mismatch")),
            ],
        )));
    }
    let code_challenge = parameter("code_challenge");
    if code_challenge.is_some() && parameter("code_challenge_method").as_deref() != Some("S256") {
        return Err(refuse("The code_challenge_method must be S256"));
    }
    Ok(Asked {
        redirect_uri,
        target,
        state: parameter("state"),
        code_challenge,
    })
}

fn send_back(mut target: Url, state: Option<&str>, parameters: &[(&str, &str)]) -> Response {
    target
        .query_pairs_mut()
        .extend_pairs(parameters)
        .extend_pairs(state.map(|state| ("state", state)));
    see_other(target.as_str())
}

fn confirm(state: &State, login: &str, asked: &Asked) -> Response {
    let mut hidden = String::new();
    for (name, value) in [
        ("client_id", Some(state.app.client_id())),
        ("redirect_uri", Some(asked.redirect_uri.clone())),
        ("state", asked.state.clone()),
        ("code_challenge", asked.code_challenge.clone()),
        ("code_challenge_method", Some("S256".to_owned())),
    ] {
        if let Some(value) = value {
            let value = escape(&value);
            hidden.push_str(&format!(
                "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">\n"
            ));
        }
    }
    let title = format!("Authorize {}", state.app.slug);
    let main = format!(
        "<h1 class=\"title\">{title}</h1>\n\
         <p>{slug} would like permission to verify your GitHub identity ({login}).</p>\n\
         <form method=\"post\" action=\"/login/oauth/authorize\">\n{hidden}\
         <button type=\"submit\" name=\"authorize\" value=\"0\">Cancel</button>\n\
         <button type=\"submit\" name=\"authorize\" value=\"1\">{title}</button>\n</form>\n",
        title = escape(&title),
        slug = escape(&state.app.slug),
        login = escape(login),
    );
    let mut response = super::page(StatusCode::OK, html::page(&title, "", &main));
    allow_forms_to(&mut response, &asked.target);
    response
}
