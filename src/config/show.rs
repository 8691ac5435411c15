//! Formats the effective configuration as a configuration file with origins.

use std::fmt::Write;

use super::layers::{Merged, SECRET_VARIABLES};
use super::secrets::Secrets;

/// Minimum column at which the origins begin.
const COLUMN: usize = 48;

pub(super) fn show(merged: &Merged, secrets: &Secrets) -> String {
    let mut out = String::from(
        "# Effective configuration. Secrets come from the environment or from files:\n",
    );
    let one = usize::from;
    let counts = [
        (secrets.webhook.len(), &secrets.webhook_origin),
        (
            one(secrets.private_key.is_some()),
            &secrets.private_key_origin,
        ),
        (one(secrets.agent_key.is_some()), &secrets.agent_key_origin),
        (
            one(secrets.store_password.is_some()),
            &secrets.store_password_origin,
        ),
        (one(secrets.web_token.is_some()), &secrets.web_token_origin),
        (
            one(secrets.web_client_secret.is_some()),
            &secrets.web_client_secret_origin,
        ),
    ];
    for (name, (count, origin)) in SECRET_VARIABLES.iter().zip(counts) {
        secret(&mut out, name, count, origin);
    }
    let mut last = "";
    for entry in &merged.0 {
        let (section, name) = entry.key.rsplit_once('.').unwrap_or(("", &entry.key));
        if section != last {
            let _ = write!(out, "\n[{section}]\n");
            last = section;
        }
        let line = format!("{name} = {}", entry.value);
        let _ = writeln!(out, "{line:COLUMN$}  # {}", entry.origin);
    }
    out
}

fn secret(out: &mut String, name: &str, count: usize, origin: &str) {
    // Writing to a String cannot fail.
    let _ = match count {
        0 => writeln!(out, "#   {name} = not set"),
        1 => writeln!(out, "#   {name} = \"***\" (set, from {origin})"),
        more => writeln!(out, "#   {name} = \"***\" ({more} set, from {origin})"),
    };
}
