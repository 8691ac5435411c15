//! Access to GitHub as a person: address, token, and messages for failed requests.

use std::sync::Arc;

use super::{Failure, Settings, terminal, trouble};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{Reader, ReaderConfig};
use crate::config::{Sources, load, user_token};
use crate::engine::forge::ForgeError;
use crate::formats::plan::reference::web_host;

/// Permissions that a token needs to read plans.
pub(super) const READING: &str = "read access to issues and pull requests";
/// Permissions that a token needs to save plans.
pub(super) const WRITING: &str = "write access to issues, from a user who can push";

/// Settings for accessing GitHub as a person.
pub(super) struct Access {
    /// Address, token and time limit.
    pub(super) config: ReaderConfig,
    /// The environment variable that holds the token.
    pub(super) variable: Option<&'static str>,
    /// Host of the web pages that belong to the API.
    pub(super) host: String,
}

impl Access {
    /// Loads the settings from configuration and environment, and prints warnings.
    pub(super) fn load(settings: &Settings) -> Result<Self, Failure> {
        let sources = Sources::gather(settings.config.as_deref(), settings.set.clone())?;
        let loaded = load(&sources)?;
        let user = user_token(&sources, &loaded)?;
        let github = loaded.config.github;
        if let Some(warning) = &user.warning {
            warn(warning);
        }
        let (token, variable) = user.token.unzip();
        Ok(Self {
            host: web_host(&github.api_url),
            config: ReaderConfig {
                api_url: github.api_url,
                token,
                request_timeout: github.request_timeout,
            },
            variable,
        })
    }

    /// Creates the client. Must be called inside the runtime.
    pub(super) fn reader(&self) -> Result<Reader, Failure> {
        Reader::new(self.config.clone(), Arc::new(SystemClock)).map_err(|error| {
            Failure::Usage(match self.variable {
                Some(variable) => format!("{variable}: {error}"),
                None => error.to_string(),
            })
        })
    }

    /// Converts a GitHub error to a failure with a remedy. `needs` names the permissions that the
    /// token needs.
    pub(super) fn failed(&self, error: &ForgeError, needs: &str) -> Failure {
        Failure::failed(self.sentence(error, needs))
    }

    /// Returns the error and its remedy as one line.
    pub(super) fn sentence(&self, error: &ForgeError, needs: &str) -> String {
        terminal::one_line(&trouble::sentence(error, self.variable, needs))
    }
}

/// Prints a warning on standard error.
pub(super) fn warn(text: &str) {
    eprintln!("warning: {}", terminal::one_line(text));
}
