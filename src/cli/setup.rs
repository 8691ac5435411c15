//! `planwright setup`: creates the GitHub App in the user's browser and stores its credentials.

mod files;
mod flow;
mod pages;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use clap::{Args, ValueEnum};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::failure::print;
use super::signals::stop_requested;
use super::{Failure, Settings, block_on, bot, doctor, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{RegistrationError, exchange_code};
use crate::adapters::web::health::{AppCheck, Health};
use crate::adapters::web::{self, server};
use crate::config::{Loaded, Origin, Sources, load};
use crate::engine::app_manifest::{Manifest, ManifestOptions};
use crate::engine::clock::Clock;
use crate::engine::steps::source::attachment::web_root;
use files::Folder;
use flow::{AppFacts, CREATED_PATH, Flow, FlowOptions, Register, RegisterError, Stage};

pub(super) use files::CONFIG;

const HELP: &str = "\
Opens a page in your browser that sends you to GitHub with everything filled in.
GitHub creates the App and hands over its private key and webhook secret, which
are written to the folder, readable by you only; nothing is overwritten. Then
you choose the repositories, and `planwright doctor` checks the
installation. No account name, key or secret has to be typed.

Without --url, the bot needs no address that GitHub can reach: it reads
deliveries from GitHub's log (server.transport = \"pull\"). The settings given
with --config, --set or in the environment become part of the configuration
that is written.

Over SSH, open the page on your own computer: choose a port with --port, and
forward it with `ssh -L PORT:127.0.0.1:PORT HOST`.

Exit codes:
  0  the App is installed
  1  the command failed, or a check at the end found an error
  2  the arguments or the folder cannot be used; nothing was created
  130  it was stopped; what was written stays

Examples:
  planwright setup                               for your own account
  planwright setup --org acme                    for an organisation
  planwright setup --url https://bot.example.com with webhook requests
  planwright setup --host github.example.com     on GitHub Enterprise Server";

/// Maximum length of the name that is proposed for the App.
const MAX_NAME: usize = 34;

/// Interval between questions whether the App is installed.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// Time for which the last page can still be loaded.
const LAST_PAGE: Duration = Duration::from_secs(10);

/// Maximum number of connections to the pages.
const MAX_CONNECTIONS: usize = 32;

/// Create the GitHub App in a browser, and a configuration for it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Setup {
    /// Folder for the key, the webhook secret and the configuration
    #[arg(long, value_name = "DIR", default_value = "planwright-app")]
    folder: PathBuf,
    /// Organisation that owns the App, instead of your account
    #[arg(long, value_name = "LOGIN")]
    org: Option<String>,
    /// Host of a GitHub Enterprise Server, instead of github.com
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// How deliveries are received [default: webhook with --url, otherwise pull]
    #[arg(long, value_enum)]
    transport: Option<TransportArg>,
    /// Public address of the bot, e.g. https://bot.example.com
    #[arg(long, value_name = "URL")]
    url: Option<Url>,
    /// Name of the App [default: planwright-LOGIN or a random one]
    #[arg(long)]
    name: Option<String>,
    /// Port of the page on 127.0.0.1 [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_browser: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransportArg {
    Webhook,
    Pull,
    Both,
}

impl TransportArg {
    fn name(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Pull => "pull",
            Self::Both => "both",
        }
    }
}

impl Setup {
    pub(super) fn run(self, mut settings: Settings) -> Result<(), Failure> {
        if let Some(host) = &self.host {
            let api = format!("github.api_url=https://{host}/api/v3");
            settings.set.push(api);
        }
        if let Some(transport) = self.transport {
            let transport = format!("server.transport={}", transport.name());
            settings.set.push(transport);
        }
        let mut loaded = settings.load()?;
        if self.url.is_none() && loaded.origin("server.transport") == Some(&Origin::Default) {
            settings.set.push("server.transport=pull".to_owned());
            loaded = settings.load()?;
        }
        if self.url.is_none() && loaded.config.server.transport.listens() {
            return Err(Failure::Usage(
                "webhook requests need an address that GitHub can reach: give it with --url, or choose --transport pull"
                    .to_owned(),
            ));
        }
        block_on(self.perform(loaded))
    }

    async fn perform(self, loaded: Loaded) -> Result<(), Failure> {
        let plan = Plan::new(&loaded, self.org.as_deref(), self.name, self.url)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let listener = TcpListener::bind(address).await;
        let address = listener
            .as_ref()
            .map_or(Ok(address), TcpListener::local_addr);
        let (Ok(listener), Ok(address)) = (listener, address) else {
            return Err(Failure::failed(format!(
                "cannot listen on 127.0.0.1:{}: choose another port with --port",
                self.port
            )));
        };
        let root = parse(&format!("http://{address}"))?;
        let flow = Arc::new(plan.flow(root, &self.folder, false, loaded)?);
        let link = format!("{}?code={}", flow.address(), flow.code());
        print(&format!(
            "Open this page in a browser on this computer:\n\n  {link}\n\n"
        ))?;
        if !self.no_browser {
            // There may be no browser; the link is printed.
            let _ = open::that_detached(&link);
        }
        let pages = flow::router(Arc::clone(&flow));
        let config = flow.config().display().to_string();
        serve_pages(listener, pages, flow, &|line| print(&format!("{line}\n"))).await?;
        let loaded = load(&Sources::gather(Some(Path::new(&config)), Vec::new())?)?;
        let report = doctor::examine(&loaded, &doctor::Options::default()).await;
        print(&terminal::lines(&format!(
            "\n{report}\nStart the bot with:\n\n  planwright serve --config {config}\n"
        )))?;
        match report.count(doctor::Status::Error) {
            0 => Ok(()),
            _ => Err(Failure::failed(format!(
                "the App is installed, but a check found an error; when it is corrected, repeat the checks with \
                 `planwright doctor --config {config}`"
            ))),
        }
    }
}

/// Serves the pages on the bot's own address until the App is installed. Messages are logged.
///
/// # Errors
/// The folder cannot be used, or the App's credentials were lost.
pub(super) async fn on_server(loaded: Loaded, folder: &Path, url: Url) -> Result<(), Failure> {
    let plan = Plan::new(&loaded, None, None, Some(url.clone()))?;
    let address = loaded.config.server.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::failed(format!("cannot listen on {address}: {error}")))?;
    let address = listener.local_addr().unwrap_or(address);
    let flow = Arc::new(plan.flow(url, folder, true, loaded)?);
    tracing::info!(
        %address,
        page = flow.address(),
        code = flow.code(),
        "set up the GitHub App: open the page and enter the code"
    );
    // Alive, but not ready.
    let why = "it was not created yet: open the page /setup".to_owned();
    let unconfirmed = watch::Sender::new(Some(why));
    let checks = vec![Box::new(AppCheck(unconfirmed.subscribe())) as _];
    let health = Arc::new(Health::new(Arc::new(SystemClock), checks));
    let pages = web::app(flow::router(Arc::clone(&flow)), health);
    serve_pages(listener, pages, flow, &|line| {
        tracing::info!("{line}");
        Ok(())
    })
    .await
}

/// What is decided before anything is created.
struct Plan {
    name: String,
    owner: Option<String>,
    github: Url,
    url: Option<Url>,
}

impl Plan {
    fn new(
        loaded: &Loaded,
        org: Option<&str>,
        name: Option<String>,
        url: Option<Url>,
    ) -> Result<Self, Failure> {
        let config = &loaded.config.github;
        if config.app_id != 0 {
            let origin = loaded.origin("github.app_id");
            return Err(Failure::Usage(format!(
                "this configuration has an App already: github.app_id is {} ({}); run setup without it to create another",
                config.app_id,
                origin.map(ToString::to_string).unwrap_or_default()
            )));
        }
        let web = web_root(&config.api_url);
        let page = match org {
            None => format!("{web}/settings/apps/new"),
            Some(org) if is_login(org) => format!("{web}/organizations/{org}/settings/apps/new"),
            Some(org) => {
                return Err(Failure::Usage(format!(
                    "--org: `{org}` is not the login of an organisation, such as the ACME of {web}/ACME"
                )));
            }
        };
        let name = name.unwrap_or_else(|| {
            let end = match org {
                Some(org) => org.to_lowercase(),
                None => uuid::Uuid::new_v4().simple().to_string()[..6].to_owned(),
            };
            let name = format!("planwright-{end}");
            name.chars().take(MAX_NAME).collect()
        });
        Ok(Self {
            name,
            owner: org.map(str::to_owned),
            github: parse(&page)?,
            url,
        })
    }

    /// Creates the flow for pages at `root`, and the folder.
    fn flow(
        self,
        root: Url,
        folder: &Path,
        starts_bot: bool,
        loaded: Loaded,
    ) -> Result<Flow, Failure> {
        let redirect_url = parse(&format!(
            "{}{CREATED_PATH}",
            root.as_str().trim_end_matches('/')
        ))?;
        let manifest = Manifest::new(&ManifestOptions {
            name: &self.name,
            url: self.url.as_ref(),
            webhook_path: &loaded.config.server.webhook_path,
            redirect_url: &redirect_url,
        })
        .map_err(|error| Failure::Usage(error.to_string()))?;
        // Checked before there is anything to lose.
        let folder = Folder::prepare(folder)?;
        let options = FlowOptions {
            root,
            github: self.github,
            owner: self.owner.unwrap_or_else(|| "your account".to_owned()),
            manifest,
            folder: folder.path().to_owned(),
            config: folder.config(),
            starts_bot,
        };
        let register = Registration { folder, loaded };
        Ok(Flow::new(options, Arc::new(register)))
    }
}

fn parse(url: &str) -> Result<Url, Failure> {
    url.parse()
        .map_err(|error| Failure::failed(format!("{url}: {error}")))
}

/// Returns whether `text` can be a login: letters, digits and hyphens.
fn is_login(text: &str) -> bool {
    (1..=39).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Fetches the credentials from GitHub and writes them to the folder.
struct Registration {
    folder: Folder,
    loaded: Loaded,
}

#[async_trait]
impl Register for Registration {
    async fn register(&self, code: &str) -> Result<AppFacts, RegisterError> {
        let api_url = &self.loaded.config.github.api_url;
        let app = exchange_code(api_url, code, Arc::new(SystemClock))
            .await
            .map_err(|error| {
                let why = match &error {
                    RegistrationError::Code | RegistrationError::Settings(_) => error.to_string(),
                    RegistrationError::Request(error) => {
                        format!("{error}; check the network and begin again")
                    }
                };
                RegisterError::Repeatable(why)
            })?;
        let page = app.html_url.as_str().trim_end_matches('/');
        if let Err(error) = self.folder.write(&app, self.loaded.changed()) {
            return Err(RegisterError::Final(format!(
                "the App {slug} was created, but its credentials could not be written: {error}; delete it on {page} \
                 and run setup again",
                slug = app.slug,
            )));
        }
        if app.webhook_secret.is_none() && self.loaded.config.server.transport.listens() {
            return Err(RegisterError::Final(format!(
                "GitHub gave the App {} no webhook secret: set one on its settings page, and write it to a file that \
                 webhook.secrets_file in {} names",
                app.slug,
                self.folder.config().display()
            )));
        }
        Ok(AppFacts {
            id: app.id,
            install_url: format!("{page}/installations/new"),
            slug: app.slug,
        })
    }
}

/// Serves the pages until the App is installed.
async fn serve_pages(
    listener: TcpListener,
    pages: Router,
    flow: Arc<Flow>,
    tell: &(dyn Fn(&str) -> Result<(), Failure> + Sync),
) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server::serve(
        listener,
        pages,
        MAX_CONNECTIONS,
        stop.clone(),
    ));
    let outcome = tokio::select! {
        outcome = follow(&flow, tell) => outcome,
        () = stop_requested() => Err(Failure::Stopped("the setup was stopped".to_owned())),
    };
    stop.cancel();
    // The task does not panic and is not aborted.
    let _ = serving.await;
    outcome
}

/// Tells how far the user is, and waits until the App is installed.
async fn follow(
    flow: &Flow,
    tell: &(dyn Fn(&str) -> Result<(), Failure> + Sync),
) -> Result<(), Failure> {
    let mut stages = flow.stages();
    let ended = stages
        .wait_for(|stage| matches!(stage, Stage::Created(_) | Stage::Lost(_)))
        .await
        .map(|stage| stage.clone());
    let app = match ended {
        Ok(Stage::Created(app)) => app,
        Ok(Stage::Lost(why)) => return Err(Failure::failed(why)),
        // The sender lives in `flow`.
        Ok(_) | Err(_) => return Ok(()),
    };
    tell(&terminal::one_line(&format!(
        "Created the App {} (id {}). Its key and the configuration are in {}.",
        app.slug,
        app.id,
        flow.folder().display()
    )))?;
    tell(&format!(
        "Waiting until it is installed: {}",
        terminal::one_line(&app.install_url)
    ))?;
    installed(flow).await?;
    let mut seen = flow.finish();
    tell("The App is installed.")?;
    tokio::select! {
        _ = seen.wait_for(|seen| *seen) => {}
        () = SystemClock.sleep(LAST_PAGE) => {}
    }
    Ok(())
}

/// Asks GitHub until the App has an installation. Errors may pass, and the user sees what GitHub
/// shows; the new App may not be known everywhere at once.
async fn installed(flow: &Flow) -> Result<(), Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let sources = Sources::gather(Some(flow.config()), Vec::new())?;
    let loaded = load(&sources)?;
    let github = bot::github(&loaded.config, &loaded.secrets, &clock)?;
    loop {
        match github.count_installations().await {
            Ok(0) => {}
            Ok(_) => return Ok(()),
            Err(error) => tracing::debug!(%error, "GitHub does not list the installations"),
        }
        clock.sleep(ASK_AGAIN).await;
    }
}
