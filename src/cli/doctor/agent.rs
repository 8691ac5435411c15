//! Checks of the coding agent.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use tokio::process::Command;

use super::report::{Report, split};
use crate::adapters::agent::sandbox;
use crate::adapters::http::Client;
use crate::cli::Failure;
use crate::cli::config::{network_warning, read_access_warning, sandbox_warning};
use crate::config::Loaded;
use crate::config::agent::AgentKind;

/// The model's API of kind `claude`, unless another one is configured.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Version of that API.
const API_VERSION: &str = "2023-06-01";

/// Variable with the key for that API.
const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// Time limit for the version and for the request to the model's API.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum length of a program's version, in characters.
const MAX_VERSION: usize = 100;

/// Checks the agent.
pub(super) async fn examine(report: &mut Report, loaded: &Loaded) {
    let agent = &loaded.config.agent;
    if agent.kind == AgentKind::None {
        report.ok("agent", "none is configured; plans are saved as found");
        return;
    }
    if let Some(why) = agent.not_runnable() {
        if let Some((seen, remedy)) = why.split_once("; ") {
            report.error("agent", seen, remedy);
        } else {
            let (what, remedy) = split(&why, ": ", "set agent.path");
            report.error("agent", format!("{what} is not set"), remedy);
        }
    } else if let Some(program) = &agent.program {
        match agent.kind {
            AgentKind::Claude => version(report, program).await,
            _ => report.ok(
                "agent",
                format!(
                    "{} can be run; it was not started, because only its author knows what it does",
                    program.display()
                ),
            ),
        }
    }
    folder(report, &agent.folder);
    sandboxed(report, loaded);
    if agent.kind == AgentKind::Claude {
        credentials(report, loaded).await;
    } else {
        report.skipped(
            "agent.credentials",
            "not tried: a turn of this program may cost something",
            None,
        );
    }
}

/// Asks the program for its version, in an empty environment and a home of its own.
async fn version(report: &mut Report, program: &Path) {
    let shown = program.display();
    let asked = async {
        let home = tempfile::tempdir()?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let run = Command::new(program)
            .arg("--version")
            .env_clear()
            .env("PATH", path)
            .env("HOME", home.path())
            .current_dir(home.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        tokio::time::timeout(TIMEOUT, run)
            .await
            .map_err(|_| std::io::Error::other("it did not end within 20 s"))?
    };
    let first = |bytes: &[u8]| -> String {
        let text = String::from_utf8_lossy(bytes);
        let line = text.lines().next().unwrap_or_default();
        line.chars().take(MAX_VERSION).collect()
    };
    let remedy = "run it yourself with --version; reinstall it, or set agent.path to another one";
    match asked.await {
        Ok(output) if output.status.success() => {
            report.ok(
                "agent",
                format!("{shown} is version {}", first(&output.stdout)),
            );
        }
        Ok(output) => report.error(
            "agent",
            format!(
                "{shown} --version ended with {}: {}",
                output.status,
                first(&output.stderr)
            ),
            remedy,
        ),
        Err(error) => report.error(
            "agent",
            format!("{shown} --version cannot be run: {error}"),
            remedy,
        ),
    }
}

/// Checks whether the folder for the agents' private folders can be used.
fn folder(report: &mut Report, folder: &Path) {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let existing = absolute.ancestors().find(|above| above.exists());
    let Some(existing) = existing else { return };
    #[cfg(unix)]
    let usable = existing.is_dir()
        && rustix::fs::access(
            existing,
            rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
        )
        .is_ok();
    #[cfg(not(unix))]
    let usable = existing.is_dir();
    if usable {
        report.ok("agent.folder", format!("{} can be used", folder.display()));
    } else {
        report.error(
            "agent.folder",
            format!(
                "{} cannot be used: {} is not a folder that this user may write to",
                folder.display(),
                existing.display()
            ),
            "set agent.folder to a folder of the bot's user, or give this user the right to write to it",
        );
    }
}

/// Checks what the agent is kept from on this computer.
fn sandboxed(report: &mut Report, loaded: &Loaded) {
    let agent = &loaded.config.agent;
    let here = sandbox::active(agent.sandbox);
    let before = report.len();
    for found in [
        sandbox_warning(agent, &here),
        read_access_warning(&loaded.config, &here),
        network_warning(loaded, &here),
    ] {
        let (text, is_error) = match found {
            Ok(None) => continue,
            Ok(Some(warning)) => (warning, false),
            Err(Failure::Usage(error)) => (error, true),
            Err(error) => (error.to_string(), true),
        };
        let separator = if text.contains("; ") { "; " } else { ": " };
        let (seen, remedy) = text
            .rsplit_once(separator)
            .unwrap_or((&text, "see `planwright config`"));
        if is_error {
            report.error("agent.sandbox", seen, remedy);
        } else {
            report.warning("agent.sandbox", seen, remedy);
        }
    }
    if report.len() == before {
        report.ok("agent.sandbox", here.to_string());
    }
}

/// Asks the model's API for its list of models, which costs nothing.
async fn credentials(report: &mut Report, loaded: &Loaded) {
    const NAME: &str = "agent.credentials";
    let environment = &loaded.secrets.agent_environment;
    let variable = |wanted: &str| {
        let found = environment.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value)
    };
    let Some(key) = loaded.secrets.agent_key.as_ref().or(variable(KEY_VARIABLE)) else {
        report.skipped(
            NAME,
            "not tried: there is no API key, and other credentials can only be tried with a turn that costs something",
            None,
        );
        return;
    };
    let proxied = environment
        .iter()
        .any(|(name, _)| name.to_ascii_lowercase().ends_with("_proxy"));
    if proxied {
        report.skipped(NAME, "not tried: agents use a proxy", None);
        return;
    }
    let configured = loaded.config.agent.api_url.as_ref();
    let base = variable("ANTHROPIC_BASE_URL").map(|url| url.expose_secret().trim().to_owned());
    let base = base.or_else(|| configured.map(ToString::to_string));
    let base = base.unwrap_or_else(|| ANTHROPIC.to_owned());
    let base = base.trim_end_matches('/');
    let Some(headers) = headers(key) else {
        report.error(
            NAME,
            "the key for the model's API has characters that no key has",
            "copy it again",
        );
        return;
    };
    let client = Client::new();
    let answer = client
        .get(&format!("{base}/v1/models?limit=1"), headers, TIMEOUT)
        .await;
    match answer.map(|answer| answer.status) {
        Ok(200) => report.ok(
            NAME,
            "the model's API accepts the key (list of models; no turn was made)",
        ),
        Ok(status @ (401 | 403)) => report.error(
            NAME,
            format!("the model's API refuses the key (status {status})"),
            "create a new key in the console of the model's provider, and set PLANWRIGHT_AGENT_API_KEY or agent.api_key_file",
        ),
        Ok(status) => report.skipped(
            NAME,
            format!("not tried: {base} has no list of models (status {status})"),
            None,
        ),
        Err(error) => report.error(
            NAME,
            format!("the model's API cannot be asked: {error}"),
            "check agent.api_url, the network and the firewall",
        ),
    }
}

fn headers(key: &SecretString) -> Option<HeaderMap> {
    let mut key = HeaderValue::from_str(key.expose_secret()).ok()?;
    key.set_sensitive(true);
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", key);
    headers.insert("anthropic-version", HeaderValue::from_static(API_VERSION));
    Some(headers)
}
