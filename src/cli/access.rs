//! A person's way to GitHub: address, token, and what to say when GitHub does not do it.

use std::sync::Arc;

use super::{Failure, Settings, terminal, trouble};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{Reader, ReaderConfig};
use crate::config::{Sources, load, user_token};
use crate::engine::forge::ForgeError;
use crate::formats::plan::reference::web_host;

/// What a token needs that reads plans.
pub(super) const READING: &str = "read access to issues and pull requests";
/// What a token needs that saves plans.
pub(super) const WRITING: &str = "write access to issues, of somebody who may push";

/// How GitHub is reached as a person.
pub(super) struct Access {
    /// Address, token and time limit.
    pub(super) config: ReaderConfig,
    /// The variable that the token came from.
    pub(super) variable: Option<&'static str>,
    /// Host of the pages that belong to the API.
    pub(super) host: String,
}

impl Access {
    /// From configuration and environment; odd things are told.
    pub(super) fn of(settings: &Settings) -> Result<Self, Failure> {
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

    /// The client. Must be called inside the runtime.
    pub(super) fn reader(&self) -> Result<Reader, Failure> {
        Reader::new(self.config.clone(), Arc::new(SystemClock)).map_err(|error| {
            Failure::Usage(match self.variable {
                Some(variable) => format!("{variable}: {error}"),
                None => error.to_string(),
            })
        })
    }

    /// What GitHub did not do, and what to do about it. `needs` is what the token has to be allowed.
    pub(super) fn failed(&self, error: &ForgeError, needs: &str) -> Failure {
        Failure::failed(self.sentence(error, needs))
    }

    /// The same as a text.
    pub(super) fn sentence(&self, error: &ForgeError, needs: &str) -> String {
        terminal::one_line(&trouble::sentence(error, self.variable, needs))
    }
}

/// Says something odd on standard error.
pub(super) fn warn(text: &str) {
    eprintln!("warning: {}", terminal::one_line(text));
}
