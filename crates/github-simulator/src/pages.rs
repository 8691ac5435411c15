//! Pages for people: repositories, issues, conversations and check runs, rendered like GitHub's,
//! with checkboxes that can be toggled and a form for comments.

mod apps;
mod checks;
mod forms;
mod html;
mod oauth;

use std::fmt::Write as _;

use axum::body::Body;
use axum::response::Response;
use chrono::{DateTime, Utc};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};

use crate::model::{Issue, Label, REACTION_CONTENTS, Reaction, Repository, User, UserKind};
use crate::request::ApiRequest;
use crate::state::State;
use crate::urls::{issue_path, repository_path};
use html::escape;

/// Forbids scripts, external resources and forms that post elsewhere, whatever a comment contains.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// Background colours of avatars.
const AVATAR_COLOURS: [&str; 6] = [
    "#0969da", "#1a7f37", "#9a6700", "#bc4c00", "#8250df", "#bf3989",
];

/// Handles a request for a page, or a form that a page submits.
pub(crate) fn handle(state: &mut State, request: &ApiRequest) -> Response {
    let path = request.segments();
    if let Some(response) = apps::handle(state, request, &path) {
        return response;
    }
    if let Some(response) = oauth::handle(state, request, &path) {
        return response;
    }
    let found = match (request.method.as_str(), path.as_slice()) {
        ("GET", []) => Some(render_home(state)),
        ("GET", [owner, name] | [owner, name, "issues"]) => {
            state.repository_named(owner, name).map(render_issue_list)
        }
        ("GET", [owner, name, "issues" | "pull", number]) => {
            let source = request.query("source") == Some("1");
            find_issue(state, owner, name, number)
                .map(|(repository, issue)| render_conversation(state, repository, issue, source))
        }
        ("GET", [owner, name, "runs", id]) => state
            .repository_named(owner, name)
            .and_then(|repository| checks::page(repository, id)),
        ("POST", [owner, name, "issues" | "pull", number]) => {
            let target = find_issue(state, owner, name, number)
                .map(|(repository, issue)| forms::FormTarget::new(repository, issue));
            if let Some(target) = target {
                return forms::submit(state, request, &target);
            }
            None
        }
        _ => None,
    };
    let status = if found.is_some() {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    };
    let main = "<h1 class=\"title\">404: page not found</h1>\n";
    page(
        status,
        found.unwrap_or_else(|| html::page("Not found", "", main)),
    )
}

/// Returns a page as a response.
fn page(status: StatusCode, html: String) -> Response {
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns the issue or pull request that a path names.
fn find_issue<'a>(
    state: &'a State,
    owner: &str,
    name: &str,
    number: &str,
) -> Option<(&'a Repository, &'a Issue)> {
    let repository = state.repository_named(owner, name)?;
    Some((repository, repository.parse_issue(number)?))
}

/// Renders the link to a repository in the navigation bar.
fn breadcrumb(repository: &Repository) -> String {
    let name = escape(&repository.full_name());
    format!(
        "<span>/</span> <a href=\"/{}/issues\">{name}</a>",
        repository_path(repository)
    )
}

/// Renders a time in UTC.
fn time(at: DateTime<Utc>) -> String {
    format!(
        "<time datetime=\"{}\">{}</time>",
        at.format("%Y-%m-%dT%H:%M:%SZ"),
        at.format("%-d %b %Y, %H:%M UTC")
    )
}

/// Renders a login, with a badge for the account of an App.
fn render_user(user: &User) -> String {
    match user.login.strip_suffix("[bot]") {
        Some(slug) if user.kind == UserKind::Bot => {
            format!("<b>{}</b> <span class=\"bot\">bot</span>", escape(slug))
        }
        _ => format!("<b>{}</b>", escape(&user.login)),
    }
}

/// Renders a label in its colour, with text in a contrasting colour.
fn render_label(label: &Label) -> String {
    let part = |range: std::ops::Range<usize>| {
        label
            .colour
            .get(range)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .unwrap_or(0xed)
    };
    let (red, green, blue) = (part(0..2), part(2..4), part(4..6));
    // Luma of ITU-R BT.601, in thousandths.
    let light = red * 299 + green * 587 + blue * 114 > 140_000;
    let ink = if light { "#1f2328" } else { "#ffffff" };
    format!(
        "<span class=\"label\" style=\"background:#{red:02x}{green:02x}{blue:02x};color:{ink}\">{}</span>",
        escape(&label.name)
    )
}

fn render_labels(repository: &Repository, issue: &Issue) -> String {
    let labels = repository.labels_of(issue).into_iter();
    labels.map(render_label).collect::<Vec<_>>().join(" ")
}

fn emoji(content: &str) -> &'static str {
    match content {
        "+1" => "👍",
        "-1" => "👎",
        "laugh" => "😄",
        "confused" => "😕",
        "heart" => "❤️",
        "hooray" => "🎉",
        "rocket" => "🚀",
        "eyes" => "👀",
        _ => "",
    }
}

fn render_reactions(reactions: &[Reaction]) -> String {
    let mut html = String::new();
    for content in REACTION_CONTENTS {
        let logins: Vec<&str> = reactions
            .iter()
            .filter(|reaction| reaction.content == content)
            .map(|reaction| reaction.user.login.as_str())
            .collect();
        if !logins.is_empty() {
            // Writing to a String does not fail.
            let _ = write!(
                html,
                "<span class=\"reaction\" title=\"{}\">{} {}</span>",
                escape(&logins.join(", ")),
                emoji(content),
                logins.len()
            );
        }
    }
    if html.is_empty() {
        html
    } else {
        format!("<footer>{html}</footer>\n")
    }
}

/// A post of a conversation.
struct Post<'a> {
    id: String,
    author: &'a User,
    created: DateTime<Utc>,
    edited: bool,
    body: &'a str,
    /// The body as a form, if the visitor can toggle its checkboxes.
    form: Option<String>,
    reactions: &'a [Reaction],
}

impl Post<'_> {
    fn render(&self, source: bool) -> String {
        let body = if source {
            format!("<pre class=\"source\">{}</pre>", escape(self.body))
        } else if self.body.trim().is_empty() {
            "<p><i>No description provided.</i></p>".to_owned()
        } else if let Some(form) = &self.form {
            form.clone()
        } else {
            html::render(self.body)
        };
        let colour = usize::try_from(self.author.id % 6)
            .ok()
            .and_then(|index| AVATAR_COLOURS.get(index))
            .unwrap_or(&"#59636e");
        let initial: String = self.author.login.chars().take(1).collect();
        format!(
            "<article class=\"comment\" id=\"{id}\"><div class=\"face\" style=\"background:{colour}\">{initial}</div>\
             <div class=\"card\"><header>{user} commented on <a href=\"#{id}\">{time}</a>{edited}</header>\n\
             <div class=\"body\">{body}</div>\n{reactions}</div></article>\n",
            id = self.id,
            initial = escape(&initial),
            user = render_user(self.author),
            time = time(self.created),
            edited = if self.edited { " · edited" } else { "" },
            reactions = render_reactions(self.reactions),
        )
    }
}

fn render_home(state: &State) -> String {
    let mut items = String::new();
    for repository in state.repositories.values() {
        let app = match state.installation_for(repository.id) {
            Some(one) if one.suspended.is_some() => "App suspended",
            Some(_) => "App installed",
            None => "App not installed",
        };
        let kind = if repository.private {
            "private"
        } else {
            "public"
        };
        let _ = writeln!(
            items,
            "<li><a class=\"name\" href=\"/{}/issues\">{}</a> <span class=\"bot\">{kind}</span>\
             <span class=\"small\">{open} open · {app}</span></li>",
            repository_path(repository),
            escape(&repository.full_name()),
            open = repository.open_issue_count(),
        );
    }
    let main =
        format!("<h1 class=\"title\">Repositories</h1>\n<ul class=\"list\">\n{items}</ul>\n");
    html::page("Simulated GitHub", "", &main)
}

fn render_issue_list(repository: &Repository) -> String {
    let mut items = String::new();
    for issue in repository.issues.values().rev() {
        let kind = if issue.pull.is_some() {
            "pull request"
        } else {
            "issue"
        };
        let dot = if issue.closed.is_some() {
            "dot closed"
        } else {
            "dot"
        };
        let _ = writeln!(
            items,
            "<li><span class=\"{dot}\"></span><a class=\"name\" href=\"/{}\">{}</a> {}\
             <span class=\"small\">#{} · {kind} opened on {} by {} · {}</span></li>",
            issue_path(repository, issue),
            escape(&issue.title),
            render_labels(repository, issue),
            issue.number,
            time(issue.created),
            render_user(&issue.author),
            match issue.comments.len() {
                1 => "1 comment".to_owned(),
                many => format!("{many} comments"),
            },
        );
    }
    if items.is_empty() {
        items.push_str("<li>There are no issues yet.</li>\n");
    }
    let main = format!("<h1 class=\"title\">Issues</h1>\n<ul class=\"list\">\n{items}</ul>\n");
    html::page(&repository.full_name(), &breadcrumb(repository), &main)
}

fn render_conversation(
    state: &State,
    repository: &Repository,
    issue: &Issue,
    source: bool,
) -> String {
    let (class, word) = match issue.closed {
        Some(_) => ("closed", "Closed"),
        None => ("open", "Open"),
    };
    let (other, switch) = if source {
        ("", "show rendered")
    } else {
        ("?source=1", "show source")
    };
    let path = format!("/{}", issue_path(repository, issue));
    let mut main = format!(
        "<h1 class=\"title\">{title} <span class=\"number\">#{number}</span></h1>\n\
         <div class=\"meta\"><span class=\"pill {class}\">{word}</span> {kind} by {author} {labels} \
         <a href=\"{path}{other}\">{switch}</a></div>\n",
        title = escape(&issue.title),
        number = issue.number,
        kind = if issue.pull.is_some() {
            "Pull request"
        } else {
            "Issue"
        },
        author = render_user(&issue.author),
        labels = render_labels(repository, issue),
    );
    let first = Post {
        id: format!("issue-{}", issue.id),
        author: &issue.author,
        created: issue.created,
        edited: false,
        body: issue.body.as_deref().unwrap_or_default(),
        form: None,
        reactions: &issue.reactions,
    };
    main.push_str(&first.render(source));
    for comment in issue
        .comments
        .iter()
        .filter_map(|id| state.comments.get(id))
    {
        let post = Post {
            id: format!("issuecomment-{}", comment.id),
            author: &comment.author,
            created: comment.created,
            edited: comment.updated != comment.created,
            body: &comment.body,
            form: forms::checkbox_form(state, &path, comment),
            reactions: &comment.reactions,
        };
        main.push_str(&post.render(source));
    }
    main.push_str(&checks::section(repository, issue));
    if !source {
        main.push_str(&forms::comment_form(state, &path));
    }
    let title = format!(
        "{} · #{} · {}",
        issue.title,
        issue.number,
        repository.full_name()
    );
    html::page(&title, &breadcrumb(repository), &main)
}
