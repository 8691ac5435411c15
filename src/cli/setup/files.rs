//! The folder that receives the App's key, its webhook secret and the configuration.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use crate::adapters::github::NewApp;
use crate::cli::Failure;
use crate::cli::save::make_private;

const KEY: &str = "github-private-key.pem";
const SECRETS: &str = "webhook-secrets";
/// Name of the configuration file.
pub(in crate::cli) const CONFIG: &str = "planwright.toml";
const DATABASE: &str = "planwright.db";

const HEADER: &str =
    "# Written by `planwright setup`. `planwright config --default` documents all settings.\n\n";

/// A folder that only its owner can use, locked until this is dropped.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates the folder, or checks that it is safe and has none of the files.
    ///
    /// # Errors
    /// Nothing is changed: a file exists, other users have access, or another setup is running.
    pub(super) fn prepare(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let failed = |error: &dyn std::fmt::Display| {
            Failure::failed(format!(
                "{shown}: {error}; name a folder that you may write to with --folder"
            ))
        };
        make_private(path).map_err(|error| failed(&error))?;
        let path = path.canonicalize().map_err(|error| failed(&error))?;
        if let Some(mode) = shared(&path).map_err(|error| failed(&error))? {
            return Err(Failure::Usage(format!(
                "{shown} will hold the App's private key, but other users have access to it (mode {mode:o}): run \
                 `chmod 700 {shown}`, or name another folder with --folder"
            )));
        }
        let lock = File::open(&path).map_err(|error| failed(&error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::failed(format!(
                    "another `planwright setup` is running in {shown}; finish it, or end it with Ctrl-C"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
        for name in [KEY, SECRETS, CONFIG] {
            let file = path.join(name);
            if file.symlink_metadata().is_ok() {
                return Err(Failure::Usage(format!(
                    "{} exists, and nothing is overwritten: remove it if its App is no longer used, or name another folder with \
                     --folder",
                    file.display()
                )));
            }
        }
        Ok(Self { path, _lock: lock })
    }

    /// Returns the path of the configuration file.
    pub(super) fn config(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the App's credentials, and `settings` completed with what belongs to them. Files are
    /// readable by their owner only. What was written before an error stays.
    pub(super) fn write(&self, app: &NewApp, mut settings: toml::Table) -> std::io::Result<()> {
        self.create(KEY, &app.pem)?;
        let (key, secrets) = (self.path.join(KEY), self.path.join(SECRETS));
        let text = |path: &Path| toml::Value::from(path.display().to_string());
        set(
            &mut settings,
            "github",
            "app_id",
            app.id.cast_signed().into(),
        );
        set(&mut settings, "github", "app_slug", app.slug.clone().into());
        set(&mut settings, "github", "private_key_file", text(&key));
        if let Some(secret) = &app.webhook_secret {
            self.create(SECRETS, secret)?;
            set(&mut settings, "webhook", "secrets_file", text(&secrets));
        }
        let store = settings.get("store").and_then(toml::Value::as_table);
        if store.is_none_or(|store| !store.contains_key("path")) {
            set(
                &mut settings,
                "store",
                "path",
                text(&self.path.join(DATABASE)),
            );
        }
        let config = toml::to_string(&settings).map_err(std::io::Error::other)?;
        self.create(CONFIG, &SecretString::from(format!("{HEADER}{config}")))
    }

    fn create(&self, name: &str, text: &SecretString) -> std::io::Result<()> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let written = options.open(&path).and_then(|mut file| {
            let text = text.expose_secret();
            file.write_all(text.as_bytes())?;
            if !text.ends_with('\n') {
                file.write_all(b"\n")?;
            }
            file.sync_all()
        });
        written.map_err(|error| {
            std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })
    }
}

fn set(settings: &mut toml::Table, section: &str, key: &str, value: toml::Value) {
    let section = settings
        .entry(section)
        .or_insert_with(|| toml::Table::new().into());
    if let Some(section) = section.as_table_mut() {
        section.insert(key.to_owned(), value);
    }
}

/// Returns the mode of a folder to which other users have access.
#[cfg(unix)]
fn shared(path: &Path) -> std::io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata()?.permissions().mode() & 0o7777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

/// Permissions of other users are not checked on this platform.
#[cfg(not(unix))]
fn shared(_path: &Path) -> std::io::Result<Option<u32>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn refusal(path: &Path) -> String {
        match Folder::prepare(path) {
            Ok(_) => panic!("{} was taken", path.display()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_folder_that_others_can_use_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let shown = path.display();
        for mode in [0o755, 0o750, 0o701] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(
                refusal(path),
                format!(
                    "{shown} will hold the App's private key, but other users have access to it (mode {mode:o}): run \
                     `chmod 700 {shown}`, or name another folder with --folder"
                )
            );
        }
    }

    #[test]
    fn a_folder_with_an_app_is_refused() {
        for name in [KEY, SECRETS, CONFIG] {
            let above = tempfile::tempdir().unwrap();
            let path = above.path().join("app");
            drop(Folder::prepare(&path).unwrap());
            // A link that leads nowhere exists, too.
            std::os::unix::fs::symlink("nowhere", path.join(name)).unwrap();
            assert_eq!(
                refusal(&path),
                format!(
                    "{}/{name} exists, and nothing is overwritten: remove it if its App is no longer used, or name another folder \
                     with --folder",
                    path.canonicalize().unwrap().display()
                )
            );
        }
    }

    #[test]
    fn a_folder_is_used_by_one_setup_at_a_time() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("a/b");
        let first = Folder::prepare(&path).unwrap();
        assert_eq!(
            refusal(&path),
            format!(
                "another `planwright setup` is running in {}; finish it, or end it with Ctrl-C",
                path.display()
            )
        );
        drop(first);
        Folder::prepare(&path).unwrap();
        let file = above.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(
            refusal(&file),
            format!(
                "{}: File exists (os error 17); name a folder that you may write to with --folder",
                file.display()
            )
        );
    }

    #[test]
    fn only_the_owner_can_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt as _;
        let above = tempfile::tempdir().unwrap();
        let folder = Folder::prepare(&above.path().join("app")).unwrap();
        let app = NewApp {
            id: 4711,
            slug: "planwright-acme".to_owned(),
            html_url: "https://github.com/apps/planwright-acme".parse().unwrap(),
            pem: "-----BEGIN RSA PRIVATE KEY-----\n".into(),
            webhook_secret: Some("s3cret".into()),
        };
        let settings: toml::Table = "[server]\ntransport = \"pull\"\n".parse().unwrap();
        folder.write(&app, settings.clone()).unwrap();
        let path = folder.path();
        for name in [KEY, SECRETS, CONFIG] {
            let mode = path.join(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let shown = path.display();
        assert_eq!(
            std::fs::read_to_string(folder.config()).unwrap(),
            format!(
                "# Written by `planwright setup`. `planwright config --default` documents all settings.\n\n\
                 [github]\napp_id = 4711\napp_slug = \"planwright-acme\"\nprivate_key_file = \"{shown}/github-private-key.pem\"\n\n\
                 [server]\ntransport = \"pull\"\n\n\
                 [store]\npath = \"{shown}/planwright.db\"\n\n\
                 [webhook]\nsecrets_file = \"{shown}/webhook-secrets\"\n"
            )
        );
        let error = folder.write(&app, settings).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("{shown}/github-private-key.pem: File exists (os error 17)")
        );
    }
}
