//! Loads secrets from environment variables or from separate files, never from the configuration
//! file.

use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::Config;
use super::error::ConfigError;
use super::layers::{SECRET_VARIABLES, Sources};
use crate::regular_file;

/// Minimum recommended length of a webhook secret, in characters. A shorter one can be guessed
/// offline from one recorded delivery.
const MIN_WEBHOOK_SECRET: usize = 16;

/// Minimum length of the operator's token, in characters.
const MIN_TOKEN: usize = 32;

/// Maximum size of a file with a secret, in bytes (64 KiB). A private key of 16,384 bits takes 13
/// KiB.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The secrets and their origins.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Webhook secrets. The first one signs (`replay`); any of them verifies.
    pub webhook: Vec<SecretString>,
    /// Private key of the App, in PEM form.
    pub private_key: Option<SecretString>,
    /// Key for the model's API.
    pub agent_key: Option<SecretString>,
    /// Password of the user in `store.url`.
    pub store_password: Option<SecretString>,
    /// The operator's token for the pages and the metrics.
    pub web_token: Option<SecretString>,
    /// A client secret of the App, for the login with GitHub.
    pub web_client_secret: Option<SecretString>,
    /// Environment variables of this process that are passed to the agent. Any of them may be a
    /// secret.
    pub agent_environment: Vec<(String, SecretString)>,
    pub(super) webhook_origin: String,
    pub(super) private_key_origin: String,
    pub(super) agent_key_origin: String,
    pub(super) store_password_origin: String,
    pub(super) web_token_origin: String,
    pub(super) web_client_secret_origin: String,
}

/// Loads the secrets and returns them with warnings.
pub(super) fn load(
    config: &Config,
    sources: &Sources,
) -> Result<(Secrets, Vec<String>), ConfigError> {
    let [webhook, key, agent_key, password, web_token, client_secret] = SECRET_VARIABLES;
    let mut secrets = Secrets::default();
    let webhook_file = config.webhook.secrets_file.as_deref();
    if let Some((text, origin)) = one(sources, webhook, webhook_file, "webhook.secrets_file")? {
        let separators: &[char] = if origin == webhook {
            &[',', '\n']
        } else {
            &['\n']
        };
        secrets.webhook = text
            .expose_secret()
            .split(separators)
            .map(str::trim)
            .filter(|secret| !secret.is_empty())
            .map(SecretString::from)
            .collect();
        if secrets.webhook.is_empty() {
            return Err(ConfigError::Secret {
                place: origin,
                why: "holds no webhook secret; an empty secret would let everybody in".to_owned(),
            });
        }
        secrets.webhook_origin = origin;
    }
    let key_file = config.github.private_key_file.as_deref();
    if let Some((text, origin)) = one(sources, key, key_file, "github.private_key_file")? {
        // Some environments cannot hold line breaks; they are written as `\n` there.
        let pem = text.expose_secret().trim().replace("\\n", "\n");
        if !pem.starts_with("-----BEGIN ") {
            return Err(ConfigError::Secret {
                place: origin,
                why: "holds no private key in PEM form, whose first line is -----BEGIN RSA PRIVATE KEY-----"
                    .to_owned(),
            });
        }
        secrets.private_key = Some(SecretString::from(pem));
        secrets.private_key_origin = origin;
    }
    let agent_file = config.agent.api_key_file.as_deref();
    if let Some((text, origin)) = one(sources, agent_key, agent_file, "agent.api_key_file")? {
        let key = text.expose_secret().trim();
        if key.is_empty() || key.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(ConfigError::Secret {
                place: origin,
                why: "holds no key for the model's API; it is one word, e.g. sk-ant-…".to_owned(),
            });
        }
        secrets.agent_key = Some(SecretString::from(key));
        secrets.agent_key_origin = origin;
    }
    let password_file = config.store.password_file.as_deref();
    if let Some((text, origin)) = one(sources, password, password_file, "store.password_file")? {
        let text = text.expose_secret().trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            return Err(ConfigError::Secret {
                place: origin,
                why: "holds no password".to_owned(),
            });
        }
        secrets.store_password = Some(SecretString::from(text));
        secrets.store_password_origin = origin;
    }
    let token_file = config.web.token_file.as_deref();
    if let Some((text, origin)) = one(sources, web_token, token_file, "web.token_file")? {
        let token = text.expose_secret().trim();
        if token.chars().count() < MIN_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::Secret {
                place: origin,
                why: format!(
                    "holds no operator's token: one word of at least {MIN_TOKEN} ASCII characters; \
                     `openssl rand -hex 32` makes a good one"
                ),
            });
        }
        secrets.web_token = Some(SecretString::from(token));
        secrets.web_token_origin = origin;
    }
    let client_file = config.web.client_secret_file.as_deref();
    if let Some((text, origin)) = one(
        sources,
        client_secret,
        client_file,
        "web.client_secret_file",
    )? {
        let secret = text.expose_secret().trim();
        if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::Secret {
                place: origin,
                why: "holds no client secret of the App; it is one word".to_owned(),
            });
        }
        if config.web.url.is_none() || config.web.client_id.is_none() {
            return Err(ConfigError::Secret {
                place: origin,
                why: "holds a client secret for the login with GitHub, which needs `web.url` and \
                      `web.client_id` as well"
                    .to_owned(),
            });
        }
        secrets.web_client_secret = Some(SecretString::from(secret));
        secrets.web_client_secret_origin = origin;
    }
    if config.web.client_id.is_some() && secrets.web_client_secret.is_none() {
        return Err(ConfigError::Secret {
            place: "web.client_id".to_owned(),
            why: format!(
                "is set for the login with GitHub, which needs {client_secret} or \
                 `web.client_secret_file` as well"
            ),
        });
    }
    secrets.agent_environment = config
        .agent
        .environment
        .iter()
        .filter_map(|name| Some((name.clone(), sources.environment.get(name)?.clone().into())))
        .collect();
    let files = [
        (webhook_file, "webhook.secrets_file"),
        (key_file, "github.private_key_file"),
        (agent_file, "agent.api_key_file"),
        (password_file, "store.password_file"),
        (token_file, "web.token_file"),
        (client_file, "web.client_secret_file"),
    ];
    let mut warnings: Vec<String> = files
        .into_iter()
        .filter_map(|(file, key)| readable_by_everybody(file?, key))
        .collect();
    if secrets
        .webhook
        .iter()
        .any(|secret| secret.expose_secret().len() < MIN_WEBHOOK_SECRET)
    {
        warnings.push(format!(
            "{}: a webhook secret is shorter than {MIN_WEBHOOK_SECRET} characters; `openssl rand -hex 32` makes a good one",
            secrets.webhook_origin
        ));
    }
    if secrets.webhook.len() > 1 {
        warnings.push(format!(
            "{}: {} webhook secrets are accepted; remove the old ones once the App's settings have the new one",
            secrets.webhook_origin,
            secrets.webhook.len()
        ));
    }
    Ok((secrets, warnings))
}

/// Reads a secret from its variable or its file, with its origin. It is an error if both are set,
/// because the intended one is unknown.
fn one(
    sources: &Sources,
    variable: &str,
    file: Option<&Path>,
    file_key: &str,
) -> Result<Option<(SecretString, String)>, ConfigError> {
    let value = sources.environment.get(variable);
    match (value, file) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(ConfigError::Secret {
            place: variable.to_owned(),
            why: format!("is set, and so is `{file_key}`; leave one of them out"),
        }),
        (Some(value), None) => Ok(Some((
            SecretString::from(value.clone()),
            variable.to_owned(),
        ))),
        (None, Some(path)) => match read(path) {
            Ok(text) => Ok(Some((text, path.display().to_string()))),
            Err(error) => Err(ConfigError::Secret {
                place: path.display().to_string(),
                why: format!("the file named by `{file_key}` cannot be read: {error}"),
            }),
        },
    }
}

fn read(path: &Path) -> std::io::Result<SecretString> {
    let bytes = regular_file::read(path, MAX_FILE_BYTES)?;
    String::from_utf8(bytes)
        .map(SecretString::from)
        .map_err(|_| std::io::Error::other("it is not UTF-8"))
}

/// Returns a warning if every user of this computer can read the file. Only the "others" permission
/// bits of the file and of all parent directories are considered.
#[cfg(unix)]
fn readable_by_everybody(path: &Path, file_key: &str) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    const EVERYBODY_READS: u32 = 0o004;
    const EVERYBODY_PASSES: u32 = 0o001;
    let path = path.canonicalize().ok()?;
    let mode = |path: &Path| Some(path.metadata().ok()?.permissions().mode());
    let own = mode(&path)?;
    let passes = |folder: &Path| mode(folder).is_none_or(|mode| mode & EVERYBODY_PASSES != 0);
    (own & EVERYBODY_READS != 0 && path.ancestors().skip(1).all(passes)).then(|| {
        format!(
            "{}: every user of this computer can read the secret in the file named by `{file_key}`; restrict it with \
             chmod 600",
            path.display()
        )
    })
}

/// Permissions of other users are not checked on this platform.
#[cfg(not(unix))]
fn readable_by_everybody(_path: &Path, _file_key: &str) -> Option<String> {
    None
}
