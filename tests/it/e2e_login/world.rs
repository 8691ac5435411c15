//! The pages with a simulated GitHub, both in this process, and a browser.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::{Form, Path, State};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use github_simulator::model::{Role, User};
use github_simulator::{Simulator, SimulatorOptions};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::adapters::web::health::Health;
use planwright::adapters::web::login::{FORM_TOKEN, GitHubLogin, Login, Session, Viewer};
use planwright::adapters::web::token::OperatorToken;
use planwright::adapters::web::{self, server};
use planwright::engine::app_manifest::LOGIN_CALLBACK;
use planwright::engine::clock::Clock;
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::Repo;
use planwright::formats::command::Permission;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::{Url, form_urlencoded};

use crate::simulator_support::KEYS;
use crate::support::program::between;

pub(crate) const TOKEN: &str = "the operator's token, which is long";
pub(crate) const PUBLIC: &str = "acme/public";
pub(crate) const PRIVATE: &str = "acme/private";

/// One clock for the bot and GitHub, which only tests move.
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

#[async_trait]
impl github_simulator::Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        Clock::now(self).datetime()
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

/// What is configured.
#[derive(Clone)]
pub(crate) struct Configured {
    pub(crate) token: Option<&'static str>,
    pub(crate) github: bool,
    /// The secret that the bot has; GitHub's if there is none.
    pub(crate) client_secret: Option<&'static str>,
}

pub(crate) const BOTH: Configured = Configured {
    token: Some(TOKEN),
    github: true,
    client_secret: None,
};

/// The pages of a bot, and its GitHub: `ada` may write in a public and a private repository, `rita`
/// may read the private one.
pub(crate) struct World {
    pub(crate) sim: Simulator,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) url: String,
    pub(crate) ids: BTreeMap<&'static str, u64>,
    installation: u64,
    servers: Vec<DropGuard>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(BOTH).await
    }

    pub(crate) async fn with(configured: Configured) -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(1_780_000_000_000)));
        let secret = SecretString::from("a webhook secret");
        let pem = KEYS.public_pem.clone();
        let options = SimulatorOptions::new("planwright", clock.clone(), pem, secret);
        let sim = Simulator::start(options).await.unwrap();
        let public = sim.add_repository(PUBLIC, false).unwrap();
        let private = sim.add_repository(PRIVATE, true).unwrap();
        let mut ids = BTreeMap::from([(PUBLIC, public), (PRIVATE, private)]);
        let mut person = |name, user: User| ids.insert(name, user.id);
        person("ada", sim.grant(PUBLIC, "ada", Role::Write).unwrap());
        sim.grant(PRIVATE, "ada", Role::Write).unwrap();
        person("rita", sim.grant(PRIVATE, "rita", Role::Read).unwrap());
        let installation = sim.install(&[PUBLIC, PRIVATE]).unwrap();
        let mut world = Self {
            sim,
            clock,
            url: String::new(),
            ids,
            installation,
            servers: Vec::new(),
        };
        world.restart(configured).await;
        let callback = format!("{}{LOGIN_CALLBACK}", world.url);
        world.sim.set_callback_urls(vec![callback]);
        world
    }

    /// Starts another process of the same bot, with another configuration. Its address is `url`
    /// afterwards.
    pub(crate) async fn restart(&mut self, configured: Configured) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.url = format!("http://{}", listener.local_addr().unwrap());
        let app = self.app(&configured);
        let stop = CancellationToken::new();
        self.servers.push(stop.clone().drop_guard());
        tokio::spawn(server::serve(listener, app, 100, stop));
    }

    fn app(&self, configured: &Configured) -> Router {
        let api_url = Url::parse(&self.sim.api_url()).unwrap();
        let key = KEYS.private_pem.clone();
        let config = GitHubConfig::new(api_url.clone(), 4711, key);
        let forge = Arc::new(GitHub::new(config, self.clock.clone()).unwrap());
        let public_url = Url::parse(&self.url).unwrap();
        let token = configured.token.map(SecretString::from);
        let github = configured.github.then(|| {
            let secret = configured.client_secret.map(SecretString::from);
            let secret = secret.unwrap_or_else(|| self.sim.client_secret());
            GitHubLogin::new(&public_url, &api_url, self.sim.client_id(), secret)
        });
        let login = Login::new(
            Some(&public_url),
            token.map(OperatorToken::new),
            github,
            forge,
            self.clock.clone(),
        );
        let health = Arc::new(Health::new(self.clock.clone(), Vec::new()));
        let app = web::app(Router::new(), health);
        login.map_or(app.clone(), |login| {
            let login = Arc::new(login);
            let ids = [PUBLIC, PRIVATE].map(|name| (name, self.ids[name]));
            let repositories = Repositories {
                login: Arc::clone(&login),
                ids: BTreeMap::from(ids),
                installation: self.installation,
            };
            let home = {
                let login = Arc::clone(&login);
                move |Extension(session): Extension<Session>| {
                    let token = login.form_token(&session);
                    async move { home(&session, &token) }
                }
            };
            let page = Router::new()
                .route("/ui", get(home))
                .route("/ui/repos/{owner}/{name}", get(see).post(act))
                .with_state(Arc::new(repositories));
            login.add_to(app, page)
        })
    }

    /// Confirms a login at GitHub as `person`, from the address to which the bot sends the browser.
    /// Returns the address to which GitHub sends it back.
    pub(crate) async fn confirm(&self, person: &str, address: &str) -> String {
        self.answer(person, address, "1").await
    }

    /// Confirms or cancels a login at GitHub.
    pub(crate) async fn answer(&self, person: &str, address: &str, authorize: &str) -> String {
        answer_at(&self.sim, person, address, authorize).await
    }
}

/// Confirms (`1`) or cancels a login at GitHub as `person`, from the address to which the bot sends
/// the browser. Returns the address to which GitHub sends it back.
pub(crate) async fn answer_at(
    sim: &Simulator,
    person: &str,
    address: &str,
    authorize: &str,
) -> String {
    sim.set_visitor(person);
    let got = send(Request::get(address).body(Full::default()).unwrap()).await;
    if let Some(location) = got.location() {
        return location;
    }
    let names = [
        "client_id",
        "redirect_uri",
        "state",
        "code_challenge",
        "code_challenge_method",
    ];
    let mut fields = form_urlencoded::Serializer::new(String::new());
    for name in names {
        let value = between(&got.text, &format!("name=\"{name}\" value=\""), "\"");
        fields.append_pair(name, &value);
    }
    fields.append_pair("authorize", authorize);
    let page = format!("{}/login/oauth/authorize", sim.url());
    let request = Request::post(page)
        .body(Full::from(fields.finish()))
        .unwrap();
    send(request).await.location().unwrap()
}

/// The pages of the test, which show a repository to people who can read it, and let maintainers
/// act.
struct Repositories {
    login: Arc<Login>,
    ids: BTreeMap<&'static str, u64>,
    installation: u64,
}

impl Repositories {
    async fn permission(&self, session: &Session, owner: &str, name: &str) -> Option<Permission> {
        let repo = Repo {
            installation: self.installation,
            id: *self.ids.get(format!("{owner}/{name}").as_str())?,
            owner: owner.to_owned(),
            name: name.to_owned(),
        };
        self.login.permission(session.viewer(), &repo).await
    }
}

async fn see(
    State(page): State<Arc<Repositories>>,
    Extension(session): Extension<Session>,
    Path((owner, name)): Path<(String, String)>,
) -> Response {
    match page.permission(&session, &owner, &name).await {
        Some(permission) => format!("{permission:?}").into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn act(
    State(page): State<Arc<Repositories>>,
    Extension(session): Extension<Session>,
    Path((owner, name)): Path<(String, String)>,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let token = form.get(FORM_TOKEN).map_or("", String::as_str);
    if let Err(refusal) = page.login.check_form(&session, &headers, token) {
        return refusal.into_response();
    }
    match page.permission(&session, &owner, &name).await {
        Some(permission) if permission >= Permission::Write => "done".into_response(),
        Some(_) => StatusCode::FORBIDDEN.into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A response.
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    pub(crate) fn location(&self) -> Option<String> {
        Some(self.headers.get("location")?.to_str().unwrap().to_owned())
    }

    /// Returns the cookies that it sets, with their attributes.
    pub(crate) fn cookies(&self) -> Vec<String> {
        let cookies = self.headers.get_all("set-cookie").iter();
        cookies
            .map(|cookie| cookie.to_str().unwrap().to_owned())
            .collect()
    }

    /// Checks status and text of a page.
    #[track_caller]
    pub(crate) fn says(&self, status: u16, text: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(self.text.contains(text), "{}", self.text);
    }

    /// Checks that the response is that of a path that does not exist.
    #[track_caller]
    pub(crate) fn assert_not_found(&self) {
        assert_eq!(self.status, 404);
        assert_eq!(self.text, "nothing here\n");
    }
}

async fn send(request: Request<Full<Bytes>>) -> Got {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let (parts, body) = client.request(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Got {
        status: parts.status.as_u16(),
        headers: parts.headers,
        text: String::from_utf8(body.to_vec()).unwrap(),
    }
}

/// A browser that keeps cookies of the bot.
#[derive(Clone)]
pub(crate) struct Browser {
    pub(crate) url: String,
    pub(crate) cookies: BTreeMap<String, String>,
    /// Headers of every request.
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Browser {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            cookies: BTreeMap::new(),
            headers: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, method: Method, path: &str, body: String) -> Got {
        let address = match path.strip_prefix('/') {
            Some(_) => format!("{}{path}", self.url),
            None => path.to_owned(),
        };
        let mut request = Request::builder().method(method).uri(address);
        let cookies = self.cookies.iter();
        let cookies: Vec<String> = cookies
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let got = send(request.body(Full::from(body)).unwrap()).await;
        for cookie in got.cookies() {
            let (pair, attributes) = cookie.split_once("; ").unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0;") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        got
    }

    pub(crate) async fn get(&mut self, path: &str) -> Got {
        self.send(Method::GET, path, String::new()).await
    }

    /// Submits a form of the bot's own pages.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Got {
        let origin = self.url.clone();
        self.post_from(&[("origin", &origin)], path, fields).await
    }

    /// Submits a form with these headers.
    pub(crate) async fn post_from(
        &mut self,
        headers: &[(&'static str, &str)],
        path: &str,
        fields: &[(&str, &str)],
    ) -> Got {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let kept = self.headers.clone();
        let sent = headers.iter();
        self.headers
            .extend(sent.map(|(name, value)| (*name, (*value).to_owned())));
        let kind = "application/x-www-form-urlencoded".to_owned();
        self.headers.push(("content-type", kind));
        let got = self.send(Method::POST, path, body).await;
        self.headers = kept;
        got
    }

    /// Begins a login with GitHub and returns GitHub's address.
    pub(crate) async fn begin(&mut self) -> String {
        let got = self.get("/ui/login/github").await;
        assert_eq!(got.status, 303, "{}", got.text);
        got.location().unwrap()
    }

    /// Logs in with GitHub.
    pub(crate) async fn log_in(&mut self, world: &World, person: &str) -> Got {
        let address = self.begin().await;
        let callback = world.confirm(person, &address).await;
        let got = self.get(&callback).await;
        assert_eq!(got.status, 303, "{}", got.text);
        got
    }

    /// Returns the token in the forms of the session.
    pub(crate) async fn form_token(&mut self) -> String {
        let page = self.get("/ui").await;
        between(&page.text, "name=\"form_token\" value=\"", "\"")
    }
}

/// A page that shows who is logged in.
fn home(session: &Session, token: &str) -> Html<String> {
    let name = match session.viewer() {
        Viewer::Operator => "the operator",
        Viewer::Person { login, .. } => login,
    };
    Html(format!(
        "<p>Logged in as <strong>{name}</strong></p>\
         <input type=\"hidden\" name=\"{FORM_TOKEN}\" value=\"{token}\">"
    ))
}
