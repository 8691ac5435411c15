//! Pages for people: repositories, issues and conversations, rendered like GitHub's, with boxes that can be clicked.

mod boxes;
mod checks;
mod html;

use std::fmt::Write as _;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};

use crate::api::Call;
use crate::json::segment;
use crate::model::{Issue, Label, Reaction, Repository, User, UserKind};
use crate::state::State;
use chrono::{DateTime, Utc};
use html::escape;

/// Nothing runs, nothing is loaded, nothing is sent elsewhere, whatever a comment says.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// Colours of the round initials.
const FACES: [&str; 6] = [
    "#0969da", "#1a7f37", "#9a6700", "#bc4c00", "#8250df", "#bf3989",
];

/// The page at this path, or a 404 page; or what becomes of a click on a box and of a new comment.
pub(crate) fn answer(state: &mut State, call: &Call) -> Response {
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    let found = match (call.method.as_str(), path.as_slice()) {
        ("GET", []) => Some(home(state)),
        ("GET", [owner, name] | [owner, name, "issues"]) => {
            state.repository_named(owner, name).map(list)
        }
        ("GET", [owner, name, "issues" | "pull", number]) => {
            let source = call.query("source") == Some("1");
            issue(state, owner, name, number)
                .map(|(repository, issue)| conversation(state, repository, issue, source))
        }
        ("GET", [owner, name, "runs", id]) => state
            .repository_named(owner, name)
            .and_then(|repository| checks::page(repository, id)),
        ("POST", [owner, name, "issues" | "pull", number]) => {
            let place = issue(state, owner, name, number).map(|(repository, issue)| {
                let place = (repository.id, issue.number);
                (address(repository, issue), place, issue.comments.clone())
            });
            match place {
                Some((address, place, comments)) => {
                    return boxes::answer(state, call, &address, place, &comments);
                }
                None => None,
            }
        }
        _ => None,
    };
    let status = if found.is_some() {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    };
    let main = "<h1 class=\"title\">404: there is no such page here</h1>\n";
    page(
        status,
        found.unwrap_or_else(|| html::page("Not found", "", main)),
    )
}

/// A page as an answer.
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

/// The issue or pull request that a path names.
fn issue<'a>(
    state: &'a State,
    owner: &str,
    name: &str,
    number: &str,
) -> Option<(&'a Repository, &'a Issue)> {
    let repository = state.repository_named(owner, name)?;
    let issue = repository.issues.get(&number.parse().ok()?)?;
    Some((repository, issue))
}

/// Address of a repository's pages.
fn root(repository: &Repository) -> String {
    format!(
        "/{}/{}",
        segment(&repository.owner.login),
        segment(&repository.name)
    )
}

fn address(repository: &Repository, issue: &Issue) -> String {
    let kind = if issue.pull.is_some() {
        "pull"
    } else {
        "issues"
    };
    format!("{}/{kind}/{}", root(repository), issue.number)
}

fn trail(repository: &Repository) -> String {
    let name = escape(&repository.full_name());
    format!(
        "<span>/</span> <a href=\"{}/issues\">{name}</a>",
        root(repository)
    )
}

/// A time as people read it, in UTC.
fn time(at: DateTime<Utc>) -> String {
    format!(
        "<time datetime=\"{}\">{}</time>",
        at.format("%Y-%m-%dT%H:%M:%SZ"),
        at.format("%-d %b %Y, %H:%M UTC")
    )
}

/// A login, with a mark for an App's account.
fn who(user: &User) -> String {
    match user.login.strip_suffix("[bot]") {
        Some(slug) if user.kind == UserKind::Bot => {
            format!("<b>{}</b> <span class=\"bot\">bot</span>", escape(slug))
        }
        _ => format!("<b>{}</b>", escape(&user.login)),
    }
}

/// A label in its colour, with text that can be read on it.
fn badge(label: &Label) -> String {
    let part = |range: std::ops::Range<usize>| {
        label
            .colour
            .get(range)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .unwrap_or(0xed)
    };
    let (red, green, blue) = (part(0..2), part(2..4), part(4..6));
    // Perceived lightness, ITU-R BT.601.
    let light = red * 299 + green * 587 + blue * 114 > 140_000;
    let ink = if light { "#1f2328" } else { "#ffffff" };
    format!(
        "<span class=\"label\" style=\"background:#{red:02x}{green:02x}{blue:02x};color:{ink}\">{}</span>",
        escape(&label.name)
    )
}

fn badges(repository: &Repository, issue: &Issue) -> String {
    let labels = repository.labels_of(issue);
    let badges: Vec<String> = labels.into_iter().map(badge).collect();
    badges.join(" ")
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

fn reactions(reactions: &[Reaction]) -> String {
    let mut html = String::new();
    for content in super::reactions::CONTENTS {
        let who: Vec<&str> = reactions
            .iter()
            .filter(|reaction| reaction.content == content)
            .map(|reaction| reaction.user.login.as_str())
            .collect();
        if !who.is_empty() {
            // Writing to a String does not fail.
            let _ = write!(
                html,
                "<span class=\"reaction\" title=\"{}\">{} {}</span>",
                escape(&who.join(", ")),
                emoji(content),
                who.len()
            );
        }
    }
    if html.is_empty() {
        html
    } else {
        format!("<footer>{html}</footer>\n")
    }
}

/// One card of a conversation.
struct Card<'a> {
    id: String,
    author: &'a User,
    created: DateTime<Utc>,
    edited: bool,
    body: &'a str,
    /// The body as HTML, where it is not simply rendered.
    form: Option<String>,
    reactions: &'a [Reaction],
}

impl Card<'_> {
    fn html(&self, source: bool) -> String {
        let body = if source {
            format!("<pre class=\"source\">{}</pre>", escape(self.body))
        } else if self.body.trim().is_empty() {
            "<p><i>No description provided.</i></p>".to_owned()
        } else if let Some(form) = &self.form {
            form.clone()
        } else {
            html::render(self.body)
        };
        let face = usize::try_from(self.author.id % 6)
            .ok()
            .and_then(|index| FACES.get(index))
            .unwrap_or(&"#59636e");
        let initial: String = self.author.login.chars().take(1).collect();
        format!(
            "<article class=\"comment\" id=\"{id}\"><div class=\"face\" style=\"background:{face}\">{initial}</div>\
             <div class=\"card\"><header>{who} commented on <a href=\"#{id}\">{time}</a>{edited}</header>\n\
             <div class=\"body\">{body}</div>\n{reactions}</div></article>\n",
            id = self.id,
            initial = escape(&initial),
            who = who(self.author),
            time = time(self.created),
            edited = if self.edited { " · edited" } else { "" },
            reactions = reactions(self.reactions),
        )
    }
}

fn home(state: &State) -> String {
    let mut items = String::new();
    for repository in state.repositories.values() {
        let open = repository
            .issues
            .values()
            .filter(|issue| issue.closed.is_none())
            .count();
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
            "<li><a class=\"name\" href=\"{}/issues\">{}</a> <span class=\"bot\">{kind}</span>\
             <span class=\"small\">{open} open · {app}</span></li>",
            root(repository),
            escape(&repository.full_name()),
        );
    }
    let main =
        format!("<h1 class=\"title\">Repositories</h1>\n<ul class=\"list\">\n{items}</ul>\n");
    html::page("Simulated GitHub", "", &main)
}

fn list(repository: &Repository) -> String {
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
            "<li><span class=\"{dot}\"></span><a class=\"name\" href=\"{}\">{}</a> {}\
             <span class=\"small\">#{} · {kind} opened on {} by {} · {}</span></li>",
            address(repository, issue),
            escape(&issue.title),
            badges(repository, issue),
            issue.number,
            time(issue.created),
            who(&issue.author),
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
    html::page(&repository.full_name(), &trail(repository), &main)
}

fn conversation(state: &State, repository: &Repository, issue: &Issue, source: bool) -> String {
    let (class, word) = match issue.closed {
        Some(_) => ("closed", "Closed"),
        None => ("open", "Open"),
    };
    let (other, switch) = if source {
        ("", "show rendered")
    } else {
        ("?source=1", "show source")
    };
    let address = address(repository, issue);
    let mut main = format!(
        "<h1 class=\"title\">{title} <span class=\"number\">#{number}</span></h1>\n\
         <div class=\"meta\"><span class=\"pill {class}\">{word}</span> {kind} by {author} {badges} \
         <a href=\"{address}{other}\">{switch}</a></div>\n",
        title = escape(&issue.title),
        number = issue.number,
        kind = if issue.pull.is_some() {
            "Pull request"
        } else {
            "Issue"
        },
        author = who(&issue.author),
        badges = badges(repository, issue),
    );
    let first = Card {
        id: format!("issue-{}", issue.id),
        author: &issue.author,
        created: issue.created,
        edited: false,
        body: issue.body.as_deref().unwrap_or_default(),
        form: None,
        reactions: &issue.reactions,
    };
    main.push_str(&first.html(source));
    for comment in issue
        .comments
        .iter()
        .filter_map(|id| state.comments.get(id))
    {
        let card = Card {
            id: format!("issuecomment-{}", comment.id),
            author: &comment.author,
            created: comment.created,
            edited: comment.updated != comment.created,
            body: &comment.body,
            form: boxes::form(state, &address, comment),
            reactions: &comment.reactions,
        };
        main.push_str(&card.html(source));
    }
    main.push_str(&checks::section(repository, issue));
    if !source {
        main.push_str(&boxes::new_comment(state, &address));
    }
    let title = format!(
        "{} · #{} · {}",
        issue.title,
        issue.number,
        repository.full_name()
    );
    html::page(&title, &trail(repository), &main)
}
