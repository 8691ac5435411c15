//! Who may ask: App JWTs, installation tokens, people's tokens, and what a token is allowed to do.

use crate::clock::iso;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rand::RngExt as _;
use rand::distr::Alphanumeric;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::Simulator;
use crate::api::Call;
use crate::json;
use crate::model::{Installation, Repository, Role, UserKind};
use crate::reply::Answer;
use crate::state::State;
use chrono::{DateTime, Utc};

/// How long an installation token lives.
const LIFETIME: Duration = Duration::from_hours(1);

/// An App JWT may expire at most this far ahead, in seconds
/// (<https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app>).
const MAX_AHEAD: i64 = 600;

/// Clock difference that is forgiven, in seconds; not documented, so the smallest that is believable.
const LEEWAY: i64 = 5;

/// The two shapes that GitHub's installation tokens have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenShape {
    /// `ghs_` and 36 characters.
    #[default]
    Classic,
    /// `ghs_<App id>_<JWT>`, about 520 characters with dots.
    Stateless,
}

/// Whose token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The App's in an installation.
    Installation(u64),
    /// A person's, by the account's id.
    Person(u64),
    /// There is none: what everybody may see.
    Anybody,
}

impl Holder {
    /// What requests are counted under: ids are unique over all kinds.
    pub(crate) fn id(self) -> u64 {
        match self {
            Self::Installation(id) | Self::Person(id) => id,
            Self::Anybody => 0,
        }
    }
}

/// A token that was handed out.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) holder: Holder,
    pub(crate) expires: DateTime<Utc>,
    pub(crate) permissions: BTreeMap<String, String>,
    /// Only these repositories, when the request named some.
    pub(crate) repositories: Option<BTreeSet<u64>>,
}

impl Token {
    /// What a request without a token may do.
    fn anybody() -> Self {
        Self {
            holder: Holder::Anybody,
            expires: DateTime::<Utc>::MAX_UTC,
            permissions: BTreeMap::new(),
            repositories: None,
        }
    }
}

/// Letters and digits.
fn random(length: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(length)
        .map(char::from)
        .collect()
}

fn fresh(shape: TokenShape, app: u64) -> String {
    let mut token = "ghs_".to_owned();
    match shape {
        TokenShape::Classic => token.push_str(&random(36)),
        TokenShape::Stateless => {
            let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#);
            let claims = URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"{}"}}"#, random(80)));
            // Writing to a String does not fail.
            let _ = write!(token, "{app}_{head}.{claims}.{}", random(342));
        }
    }
    token
}

fn unauthorised(message: &str) -> Answer {
    Answer::refuse(StatusCode::UNAUTHORIZED, message)
}

/// The credentials of an `Authorization` header, `Bearer` or `token`.
fn credentials(header: Option<&str>) -> Option<&str> {
    let (scheme, rest) = header?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token"))
        .then(|| rest.trim())
}

impl State {
    /// Checks an App JWT: signature, issuer, time window. GitHub's words come from public issue threads.
    pub(crate) fn check_jwt(&self, header: Option<&str>) -> Result<(), Answer> {
        let undecodable = || unauthorised("A JSON web token could not be decoded");
        let token = credentials(header).ok_or_else(undecodable)?;
        let key =
            DecodingKey::from_rsa_pem(self.app.public_pem.as_bytes()).map_err(|_| undecodable())?;
        // The times are checked below, against the simulator's clock.
        let mut validation = Validation::new(Algorithm::RS256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        let claims = decode::<Value>(token, &key, &validation)
            .map_err(|_| undecodable())?
            .claims;
        let now = self.now().timestamp();
        let time = |name: &str| claims.get(name).and_then(Value::as_f64);
        #[expect(
            clippy::cast_precision_loss,
            reason = "seconds since 1970 fit a double"
        )]
        let (now, ahead, leeway) = (now as f64, MAX_AHEAD as f64, LEEWAY as f64);
        match time("exp") {
            Some(exp) if exp + leeway < now => {
                return Err(unauthorised(
                    "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
                ));
            }
            Some(exp) if exp > now + ahead + leeway => {
                return Err(unauthorised(
                    "'Expiration time' claim ('exp') is too far in the future",
                ));
            }
            Some(_) => {}
            None => {
                return Err(unauthorised(
                    "Missing 'Expiration time' claim ('exp') in assertion",
                ));
            }
        }
        match time("iat") {
            Some(iat) if iat <= now + leeway => {}
            _ => {
                return Err(unauthorised(
                    "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
                ));
            }
        }
        let issuer = match claims.get("iss") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(unauthorised("Missing 'issuer' claim ('iss') in assertion")),
        };
        if issuer == self.app.id.to_string() || issuer == json::client_id(self.app.id) {
            Ok(())
        } else {
            Err(Answer::refuse(
                StatusCode::NOT_FOUND,
                "Integration not found",
            ))
        }
    }

    /// The live token of a request.
    pub(crate) fn check_token(&self, header: Option<&str>) -> Result<Token, Answer> {
        if header.is_none() {
            return Err(unauthorised("Requires authentication"));
        }
        let token = credentials(header)
            .and_then(|token| self.tokens.get(token))
            .filter(|token| self.now() < token.expires)
            .ok_or_else(Answer::bad_credentials)?;
        if let Holder::Installation(id) = token.holder {
            let installation = self.installations.get(&id);
            let installation = installation.ok_or_else(Answer::bad_credentials)?;
            if installation.suspended.is_some() {
                return Err(suspended());
            }
        }
        Ok(token.clone())
    }

    /// The same, or nobody's rights for a reading request without credentials.
    pub(crate) fn check_reader(&self, call: &Call) -> Result<Token, Answer> {
        match call.header("authorization") {
            None if call.method == Method::GET => Ok(Token::anybody()),
            header => self.check_token(header),
        }
    }

    /// Whether a token reaches a repository; if not, it may still be public.
    pub(crate) fn reaches(&self, token: &Token, repository: &Repository) -> bool {
        let only = token.repositories.as_ref();
        match token.holder {
            Holder::Installation(id) => {
                let installation = self.installations.get(&id);
                installation.is_some_and(|one| one.repositories.contains(&repository.id))
                    && only.is_none_or(|only| only.contains(&repository.id))
            }
            Holder::Person(id) => repository.role(id) != Role::None,
            Holder::Anybody => false,
        }
    }

    /// `POST /app/installations/{id}/access_tokens`.
    pub(crate) fn mint(&mut self, call: &Call, id: u64) -> Result<Answer, Answer> {
        let installation = self.installations.get(&id).ok_or_else(Answer::not_found)?;
        if installation.suspended.is_some() {
            return Err(suspended());
        }
        let wanted = call.members()?;
        let permissions = wanted_permissions(installation, &wanted)?;
        let repositories = self.wanted_repositories(installation, &wanted)?;
        let shape = match call.header("x-github-stateless-s2s-token") {
            Some("enabled") => TokenShape::Stateless,
            Some("disabled") => TokenShape::Classic,
            _ => self.token_shape,
        };
        let token = fresh(shape, self.app.id);
        let expires = self.now() + LIFETIME;
        let mut body = json!({
            "token": token,
            "expires_at": iso(expires),
            "permissions": permissions,
            "repository_selection": "selected",
        });
        if let (Some(ids), Some(members)) = (&repositories, body.as_object_mut()) {
            let list: Vec<Value> = ids
                .iter()
                .filter_map(|id| self.repositories.get(id))
                .map(|repository| json::repository(&call.base, repository))
                .collect();
            members.insert("repositories".to_owned(), Value::Array(list));
        }
        self.tokens.insert(
            token,
            Token {
                holder: Holder::Installation(id),
                expires,
                permissions,
                repositories,
            },
        );
        Ok(Answer::new(StatusCode::CREATED, body))
    }

    fn wanted_repositories(
        &self,
        installation: &Installation,
        wanted: &serde_json::Map<String, Value>,
    ) -> Result<Option<BTreeSet<u64>>, Answer> {
        let names = wanted.get("repositories").and_then(Value::as_array);
        let ids = wanted.get("repository_ids").and_then(Value::as_array);
        if names.is_none() && ids.is_none() {
            return Ok(None);
        }
        let reachable = || {
            installation
                .repositories
                .iter()
                .filter_map(|id| self.repositories.get(id))
        };
        let mut found = BTreeSet::new();
        for name in names.into_iter().flatten() {
            let one = reachable().find(|one| name.as_str() == Some(one.name.as_str()));
            found.insert(one.map(|one| one.id));
        }
        for id in ids.into_iter().flatten() {
            let one = reachable().find(|one| id.as_u64() == Some(one.id));
            found.insert(one.map(|one| one.id));
        }
        found.into_iter().collect::<Option<_>>().map(Some).ok_or_else(|| {
            Answer::refuse(
                StatusCode::UNPROCESSABLE_ENTITY,
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            )
        })
    }
}

impl Simulator {
    /// A person's token that may read: a fine-grained one, without expiry.
    pub fn personal_token(&self, login: &str) -> SecretString {
        self.token_of(login, "read")
    }

    /// A person's token that may also write issues.
    pub fn writing_token(&self, login: &str) -> SecretString {
        self.token_of(login, "write")
    }

    fn token_of(&self, login: &str, issues: &str) -> SecretString {
        self.shared.with(|state| {
            let person = state.user_or_new(login, UserKind::User);
            let text = format!("github_pat_{}", random(82));
            let permissions = [
                ("contents", "read"),
                ("issues", issues),
                ("metadata", "read"),
                ("pull_requests", "read"),
            ];
            let token = Token {
                holder: Holder::Person(person.id),
                permissions: permissions
                    .map(|(name, level)| (name.to_owned(), level.to_owned()))
                    .into(),
                ..Token::anybody()
            };
            state.tokens.insert(text.clone(), token);
            SecretString::from(text)
        })
    }
}

fn suspended() -> Answer {
    Answer::refuse(
        StatusCode::FORBIDDEN,
        "This installation has been suspended",
    )
}

fn wanted_permissions(
    installation: &Installation,
    wanted: &serde_json::Map<String, Value>,
) -> Result<BTreeMap<String, String>, Answer> {
    let Some(wanted) = wanted.get("permissions").and_then(Value::as_object) else {
        return Ok(installation.permissions.clone());
    };
    let mut granted = BTreeMap::new();
    for (name, level) in wanted {
        let level = level.as_str().unwrap_or_default();
        let held = installation
            .permissions
            .get(name)
            .map_or("", String::as_str);
        if held != level && !(held == "write" && level == "read") {
            return Err(Answer::refuse(
                StatusCode::UNPROCESSABLE_ENTITY,
                "The permissions requested are not granted to this installation.",
            ));
        }
        granted.insert(name.clone(), level.to_owned());
    }
    granted.insert("metadata".to_owned(), "read".to_owned());
    Ok(granted)
}
