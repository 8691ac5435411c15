//! Configuration of `planwright try`.

use std::collections::BTreeMap;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use crate::cli::{Failure, Settings};
use crate::config::{Loaded, Sources, load};
use github_simulator::{AppKeys, Simulator};

/// Returns the settings for the agent, as `KEY=VALUE`.
///
/// # Errors
/// Returns [`Failure::Usage`] if a configuration file or any other setting was given.
pub(super) fn agent(settings: &Settings) -> Result<Vec<String>, Failure> {
    if settings.config.is_some() {
        return Err(Failure::Usage(
            "`try` reads no configuration file; omit --config, and configure the agent with --set agent.KEY=VALUE"
                .to_owned(),
        ));
    }
    match settings.set.iter().find(|set| !set.starts_with("agent.")) {
        Some(other) => {
            let key = other.split('=').next().unwrap_or_default();
            Err(Failure::Usage(format!(
                "`try` sets everything except the agent; omit --set {key}, only keys that begin with agent. can be set"
            )))
        }
        None => Ok(settings.set.clone()),
    }
}

/// Returns the default configuration, changed to use the simulator. The environment is only read if
/// `agent` contains settings, because the agent may need its variables.
pub(super) fn configuration(
    simulator: &Simulator,
    app_id: u64,
    keys: &AppKeys,
    secret: &SecretString,
    folder: &Path,
    agent: Vec<String>,
) -> Result<Loaded, Failure> {
    let rooms = folder.join("agent").display().to_string();
    // This map also provides the values of the variables that `agent.environment` names.
    let mut environment: BTreeMap<String, String> = if agent.is_empty() {
        BTreeMap::new()
    } else {
        let own =
            |name: &str| !name.starts_with("PLANWRIGHT_") || name == "PLANWRIGHT_AGENT_API_KEY";
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| own(name))
            .collect()
    };
    let own = [
        ("PLANWRIGHT_WEBHOOK_SECRETS", secret),
        ("PLANWRIGHT_GITHUB_PRIVATE_KEY", &keys.private_pem),
    ];
    environment
        .extend(own.map(|(name, value)| (name.to_owned(), value.expose_secret().to_owned())));
    let path = toml::Value::from(folder.join("try.db").display().to_string());
    let mut flags = vec![
        format!("github.api_url={}", simulator.api_url()),
        format!("github.app_id={app_id}"),
        "github.write_gap_ms=0".to_owned(),
        "github.notify_gap_ms=0".to_owned(),
        "worker.settle_seconds=0".to_owned(),
        format!("store.path={}", path.as_str().unwrap_or_default()),
        format!("agent.folder={rooms}"),
    ];
    flags.extend(agent);
    let sources = Sources {
        file: None,
        file_named: false,
        environment,
        flags,
    };
    let loaded = load(&sources)?;
    loaded.ready_to_serve()?;
    Ok(loaded)
}
