//! Tests of the flow with a fake exchange of codes.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Mutex;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::*;
use crate::engine::app_manifest::ManifestOptions;

/// Answers the exchanges of codes in turn, and records the codes.
#[derive(Default)]
struct FakeRegister {
    codes: Mutex<Vec<String>>,
    refusals: Mutex<Vec<RegisterError>>,
}

fn app() -> AppFacts {
    AppFacts {
        id: 4711,
        slug: "planwright-<acme>".to_owned(),
        install_url: "https://github.example/apps/planwright-acme/installations/new".to_owned(),
    }
}

#[async_trait]
impl Register for FakeRegister {
    async fn register(&self, code: &str) -> Result<AppFacts, RegisterError> {
        self.codes.lock().unwrap().push(code.to_owned());
        self.refusals
            .lock()
            .unwrap()
            .pop()
            .map_or_else(|| Ok(app()), Err)
    }
}

struct Rig {
    flow: Arc<Flow>,
    register: Arc<FakeRegister>,
}

struct Page {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Rig {
    fn at(root: &str) -> Self {
        let root: Url = root.parse().unwrap();
        let redirect_url = root.join(CREATED_PATH).unwrap();
        let manifest = Manifest::new(&ManifestOptions {
            name: "planwright-acme",
            url: None,
            webhook_path: "/webhook",
            redirect_url: &redirect_url,
        });
        let register = Arc::new(FakeRegister::default());
        let options = FlowOptions {
            root,
            github: "https://github.example/settings/apps/new".parse().unwrap(),
            owner: "your account".to_owned(),
            manifest: manifest.unwrap(),
            folder: "/home/ada/app".into(),
            config: "/home/ada/app/planwright.toml".into(),
            starts_bot: false,
        };
        Self {
            flow: Arc::new(Flow::new(options, Arc::clone(&register) as _)),
            register,
        }
    }

    fn new() -> Self {
        Self::at("http://127.0.0.1:4000")
    }

    async fn send(&self, request: Request<Body>) -> Page {
        let router = router(Arc::clone(&self.flow));
        let response = router.oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Page {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn get(&self, path: &str, cookie: &str) -> Page {
        let request = Request::get(path).header(COOKIE, cookie);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    async fn post_code(&self, code: &str) -> Page {
        let request = Request::post(PATH)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(format!("code={code}")));
        self.send(request.unwrap()).await
    }

    fn cookie(&self) -> String {
        format!("other=1; {COOKIE_NAME}={}", self.flow.session.text())
    }

    /// Returns the `state` in the form of the first page.
    async fn state(&self) -> String {
        let page = self.get(PATH, &self.cookie()).await;
        let (_, rest) = page.text.split_once("?state=").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    async fn created(&self, code: &str, state: &str) -> Page {
        let path = format!("{CREATED_PATH}?code={code}&state={state}");
        self.get(&path, "").await
    }

    fn codes(&self) -> Vec<String> {
        self.register.codes.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn nothing_is_shown_without_the_code() {
    let rig = Rig::new();
    for cookie in ["", "planwright_setup=", "planwright_setup=x"] {
        let page = rig.get(PATH, cookie).await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains("The code was printed"), "{}", page.text);
        assert!(!page.text.contains("state="), "{}", page.text);
    }
    for page in [
        rig.get("/setup?code=x", "").await,
        rig.get("/setup?code=", "").await,
        rig.post_code("x").await,
    ] {
        assert_eq!(page.status, 403);
        assert!(page.text.contains("This is not the code."), "{}", page.text);
        assert!(!page.headers.contains_key(SET_COOKIE));
    }
    let code = rig.flow.code().to_owned();
    for page in [
        rig.get(&format!("/setup?code={code}"), "").await,
        rig.post_code(&format!("+{code}+")).await,
    ] {
        assert_eq!(page.status, 303);
        assert_eq!(page.headers[LOCATION], "http://127.0.0.1:4000/setup");
        let cookie = page.headers[SET_COOKIE].to_str().unwrap();
        assert!(
            cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"),
            "{cookie}"
        );
    }
    let rig = Rig::at("https://bot.example.com");
    let code = rig.flow.code().to_owned();
    let page = rig.post_code(&code).await;
    assert_eq!(page.headers[LOCATION], "https://bot.example.com/setup");
    let cookie = page.headers[SET_COOKIE].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
}

#[tokio::test]
async fn the_form_goes_to_github_and_nowhere_else() {
    let rig = Rig::new();
    let page = rig.get(PATH, &rig.cookie()).await;
    let form = r#"<form method="post" action="https://github.example/settings/apps/new?state="#;
    assert!(page.text.contains(form), "{}", page.text);
    assert!(
        page.text
            .contains("&quot;name&quot;:&quot;planwright-acme&quot;"),
        "{}",
        page.text
    );
    let policy = page.headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(
        policy.contains("form-action 'self' https://github.example;"),
        "{policy}"
    );
    assert_eq!(page.headers[CACHE_CONTROL], "no-store");
    assert_eq!(page.headers[REFERRER_POLICY], "no-referrer");
}

#[tokio::test]
async fn an_answer_without_the_state_of_the_form_is_refused() {
    let rig = Rig::new();
    let state = rig.state().await;
    for query in ["", "?code=abc", &format!("?state={state}")] {
        let page = rig
            .get(&format!("{CREATED_PATH}{query}"), &rig.cookie())
            .await;
        assert_eq!(page.status, 400, "{query}");
        assert!(page.text.contains(NO_STATE), "{}", page.text);
    }
    for forged in ["", "x", &state.to_uppercase()] {
        let page = rig.created("abc", forged).await;
        assert_eq!(page.status, 403, "{forged}");
        assert!(page.text.contains(WRONG_STATE), "{}", page.text);
    }
    assert_eq!(rig.codes(), Vec::<String>::new());
    assert_eq!(rig.created("abc", &state).await.status, 303);
    assert_eq!(rig.codes(), ["abc"]);
}

#[tokio::test]
async fn a_second_answer_is_not_used() {
    let rig = Rig::new();
    let state = rig.state().await;
    assert_eq!(rig.created("abc", &state).await.status, 303);
    // The same answer again, and one of somebody who had the same form open.
    for code in ["abc", "def"] {
        let page = rig.created(code, &state).await;
        assert_eq!(page.status, 409, "{code}");
        assert!(page.text.contains(ALREADY_CREATED), "{}", page.text);
    }
    assert_eq!(rig.codes(), ["abc"]);
    let page = rig.get(PATH, &rig.cookie()).await;
    assert!(
        page.text.contains("planwright-&lt;acme&gt;"),
        "{}",
        page.text
    );
    assert!(page.text.contains(&app().install_url), "{}", page.text);
}

#[tokio::test]
async fn after_a_refused_code_the_flow_begins_again_with_another_state() {
    let rig = Rig::new();
    let refusal = RegisterError::Repeatable("GitHub does not know the code".to_owned());
    rig.register.refusals.lock().unwrap().push(refusal);
    let state = rig.state().await;
    let page = rig.created("old", &state).await;
    assert_eq!(page.status, 502);
    assert!(
        page.text.contains("GitHub does not know the code"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("http://127.0.0.1:4000/setup"),
        "{}",
        page.text
    );
    assert_eq!(rig.created("new", &state).await.status, 403, "old state");
    let next = rig.state().await;
    assert_ne!(next, state);
    assert_eq!(rig.created("new", &next).await.status, 303);
    assert_eq!(rig.codes(), ["old", "new"]);
}

#[tokio::test]
async fn lost_credentials_end_the_flow() {
    let rig = Rig::new();
    let refusal = RegisterError::Final("the disk is full".to_owned());
    rig.register.refusals.lock().unwrap().push(refusal);
    let state = rig.state().await;
    let page = rig.created("abc", &state).await;
    assert_eq!(page.status, 502);
    let page = rig.get(PATH, &rig.cookie()).await;
    assert!(page.text.contains("the disk is full"), "{}", page.text);
    assert!(matches!(&*rig.flow.stages().borrow(), Stage::Lost(_)));
}

#[tokio::test]
async fn the_last_page_says_how_to_start_the_bot() {
    let rig = Rig::new();
    let state = rig.state().await;
    rig.created("abc", &state).await;
    let seen = rig.flow.finish();
    assert!(!*seen.borrow());
    let page = rig.get(PATH, &rig.cookie()).await;
    let command = "planwright serve --config /home/ada/app/planwright.toml";
    assert!(page.text.contains(command), "{}", page.text);
    assert!(*seen.borrow());
}
