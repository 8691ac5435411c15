//! Pages of Apps: registration from a manifest, and installation.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use url::Url;

use super::forms::{field, fields, is_foreign, see_other};
use super::html::{self, escape};
use crate::app_manifest::Manifest;
use crate::model::{Repository, Role, User};
use crate::request::ApiRequest;
use crate::state::State;

/// Handles a page of Apps; `None` if the path is not one of them.
pub(super) fn handle(state: &mut State, request: &ApiRequest, path: &[&str]) -> Option<Response> {
    let visitor = state.visitor.as_ref().map(|visitor| visitor.user.clone());
    let response = match (request.method.as_str(), path) {
        ("POST", ["settings", "apps", "new"]) => propose(state, request, &visitor?),
        ("POST", ["organizations", name, "settings", "apps", "new"]) => {
            propose(state, request, state.user(name)?)
        }
        ("POST", ["settings", "apps", "manifest"]) => register(state, request, visitor?),
        ("GET", ["apps", slug]) if *slug == state.app.slug => {
            let main = format!(
                "<h1 class=\"title\">{slug}</h1>\n\
                 <p><a href=\"/apps/{slug}/installations/new\">Install</a></p>\n",
                slug = escape(slug)
            );
            super::page(StatusCode::OK, html::page(slug, "", &main))
        }
        ("GET", ["apps", slug, "installations", "new"]) if *slug == state.app.slug => {
            choose(state, &visitor?)
        }
        ("POST", ["apps", slug, "installations", "new"]) if *slug == state.app.slug => {
            install(state, request, &visitor?)
        }
        ("GET", ["settings", "installations", id]) => installed(state, id.parse().ok()?)?,
        _ => return None,
    };
    Some(response)
}

pub(super) fn refused(status: StatusCode, why: &str, errors: &[String]) -> Response {
    let mut main = format!("<h1 class=\"title\">{}</h1>\n<ul>\n", escape(why));
    for error in errors {
        let _ = writeln!(main, "<li>{}</li>", escape(error));
    }
    main.push_str("</ul>\n");
    super::page(status, html::page(why, "", &main))
}

/// Reads and checks the manifest of a form. The form comes from another site.
fn manifest(state: &State, text: &str) -> Result<Manifest, Box<Response>> {
    let invalid = |errors: &[String]| {
        Box::new(refused(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Invalid GitHub App configuration",
            errors,
        ))
    };
    let manifest: Manifest =
        serde_json::from_str(text).map_err(|error| invalid(&[error.to_string()]))?;
    let errors = manifest.errors(&state.app.slug);
    if errors.is_empty() {
        Ok(manifest)
    } else {
        Err(invalid(&errors))
    }
}

/// Shows the App that a manifest describes, with its name to be confirmed or changed.
fn propose(state: &State, request: &ApiRequest, owner: &User) -> Response {
    let text = field(request, "manifest").unwrap_or_default();
    let manifest = match manifest(state, &text) {
        Ok(manifest) => manifest,
        Err(response) => return *response,
    };
    let mut permissions = String::new();
    for (name, level) in &manifest.default_permissions {
        let _ = write!(permissions, "<li>{}: {}</li>", escape(name), escape(level));
    }
    let main = format!(
        "<h1 class=\"title\">Create GitHub App</h1>\n\
         <form method=\"post\" action=\"/settings/apps/manifest\">\n\
         <input type=\"hidden\" name=\"manifest\" value=\"{text}\">\n\
         <input type=\"hidden\" name=\"state\" value=\"{state}\">\n\
         <input type=\"hidden\" name=\"owner\" value=\"{login}\">\n\
         <p><label>GitHub App name<br><input name=\"name\" value=\"{name}\" required></label></p>\n\
         <p>Permissions:</p>\n<ul>{permissions}</ul>\n\
         <button type=\"submit\">Create GitHub App for {login}</button>\n</form>\n",
        text = escape(&text),
        state = escape(request.query("state").unwrap_or_default()),
        login = escape(&owner.login),
        name = escape(&manifest.name),
    );
    let mut response = super::page(StatusCode::OK, html::page("Create GitHub App", "", &main));
    let target = manifest.redirect_url.as_deref().map(Url::parse);
    if let Some(Ok(target)) = target {
        allow_forms_to(&mut response, &target);
    }
    response
}

/// Lets the form of a page be answered with a redirect to another site: browsers apply `form-action`
/// to that, too.
pub(super) fn allow_forms_to(response: &mut Response, target: &Url) {
    if let Ok(policy) = HeaderValue::from_str(&format!(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self' {}; frame-ancestors 'none'",
        target.origin().ascii_serialization()
    )) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// Registers the App and sends the visitor back to the site that the manifest came from.
fn register(state: &mut State, request: &ApiRequest, visitor: User) -> Response {
    if is_foreign(request) {
        let why = "The request was sent from another site";
        return refused(StatusCode::FORBIDDEN, why, &[]);
    }
    let text = field(request, "manifest").unwrap_or_default();
    let named = serde_json::from_str(&text).map(|mut manifest: serde_json::Value| {
        manifest["name"] = field(request, "name").unwrap_or_default().into();
        manifest.to_string()
    });
    let manifest = match manifest(state, &named.unwrap_or_default()) {
        Ok(manifest) => manifest,
        Err(response) => return *response,
    };
    let target = manifest.redirect_url.as_deref().map(Url::parse);
    let Some(Ok(mut target)) = target else {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "No redirect url", &[]);
    };
    let owner = field(request, "owner").and_then(|login| state.user(&login).cloned());
    let code = state.register_app(manifest, owner.unwrap_or(visitor));
    target.query_pairs_mut().append_pair("code", &code);
    if let Some(given) = field(request, "state").filter(|given| !given.is_empty()) {
        target.query_pairs_mut().append_pair("state", &given);
    }
    see_other(target.as_str())
}

/// Returns the repositories in which the visitor may install Apps.
fn administered<'a>(state: &'a State, visitor: &User) -> Vec<&'a Repository> {
    let repositories = state.repositories.values();
    repositories
        .filter(|one| one.owner.id == visitor.id || one.role(visitor.id) == Role::Admin)
        .collect()
}

/// Shows the repositories in which the App can be installed.
fn choose(state: &State, visitor: &User) -> Response {
    let mut items = String::new();
    for repository in administered(state, visitor) {
        let _ = writeln!(
            items,
            "<li><label><input type=\"checkbox\" name=\"repository\" value=\"{}\"> {}</label></li>",
            repository.id,
            escape(&repository.full_name())
        );
    }
    let title = format!("Install {}", state.app.slug);
    let main = format!(
        "<h1 class=\"title\">{title}</h1>\n<p>Only select repositories:</p>\n\
         <form method=\"post\">\n<ul class=\"list\">\n{items}</ul>\n\
         <p><button type=\"submit\">Install</button></p>\n</form>\n",
        title = escape(&title)
    );
    super::page(StatusCode::OK, html::page(&title, "", &main))
}

fn install(state: &mut State, request: &ApiRequest, visitor: &User) -> Response {
    if is_foreign(request) {
        let why = "The request was sent from another site";
        return refused(StatusCode::FORBIDDEN, why, &[]);
    }
    let allowed: BTreeSet<u64> = administered(state, visitor)
        .iter()
        .map(|one| one.id)
        .collect();
    let chosen: BTreeSet<u64> = fields(request, "repository")
        .filter_map(|id| id.parse().ok())
        .filter(|id| allowed.contains(id))
        .collect();
    if chosen.is_empty() {
        let why = "Select at least one repository";
        return refused(StatusCode::UNPROCESSABLE_ENTITY, why, &[]);
    }
    match state.install_app(chosen) {
        Ok(id) => see_other(&format!("/settings/installations/{id}")),
        Err(error) => {
            let errors = [error.to_string()];
            refused(StatusCode::UNPROCESSABLE_ENTITY, "Not installed", &errors)
        }
    }
}

fn installed(state: &State, id: u64) -> Option<Response> {
    let installation = state.installations.get(&id)?;
    let mut items = String::new();
    for id in &installation.repositories {
        if let Some(repository) = state.repositories.get(id) {
            let _ = writeln!(items, "<li>{}</li>", escape(&repository.full_name()));
        }
    }
    let main = format!(
        "<h1 class=\"title\">{} is installed</h1>\n<ul class=\"list\">\n{items}</ul>\n",
        escape(&state.app.slug)
    );
    Some(super::page(
        StatusCode::OK,
        html::page("Installed", "", &main),
    ))
}
