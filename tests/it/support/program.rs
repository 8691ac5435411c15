//! The program as a process, and a browser without scripts.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

/// Timeout of every wait, far longer than needed.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program, in a folder of its own.
pub(crate) struct Program {
    pub(crate) child: Child,
    out: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
}

async fn line<R: AsyncRead + Unpin>(lines: &mut Lines<BufReader<R>>) -> Option<String> {
    let line = timeout(PATIENCE, lines.next_line()).await;
    line.expect("the program prints its next line in time")
        .unwrap()
}

impl Program {
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(arguments)
            .env_clear()
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            out: BufReader::new(child.stdout.take().unwrap()).lines(),
            errors: BufReader::new(child.stderr.take().unwrap()).lines(),
            child,
        }
    }

    /// Returns the first line of the output that contains `text`.
    pub(crate) async fn says(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        while let Some(line) = line(&mut self.out).await {
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        let error = line(&mut self.errors).await;
        panic!("`{text}` was not printed: {seen:#?} {error:?}");
    }

    /// Returns the first line of the log that contains `text`.
    pub(crate) async fn logs(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        while let Some(line) = line(&mut self.errors).await {
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        panic!("`{text}` was not logged: {seen:#?}");
    }

    /// Kills the program, and returns when it has ended.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits for the end. Returns the exit code and what remained on standard error.
    pub(crate) async fn ended(mut self) -> (i32, String) {
        while line(&mut self.out).await.is_some() {}
        let mut rest = String::new();
        while let Some(line) = line(&mut self.errors).await {
            rest.push_str(&line);
        }
        let status = timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        (status.code().unwrap(), rest)
    }
}

/// A browser without scripts, styles and pictures.
pub(crate) struct Visitor {
    pub(crate) cookie: Option<String>,
}

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) text: String,
}

impl Visitor {
    pub(crate) async fn send(&mut self, request: http::request::Builder, body: String) -> Page {
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new());
        let client = client.build_http::<Full<Bytes>>();
        let cookie = self.cookie.clone().unwrap_or_default();
        let request = request.header("cookie", cookie).body(body.into()).unwrap();
        let response = timeout(PATIENCE, client.request(request)).await.unwrap();
        let (parts, body) = response.unwrap().into_parts();
        let header = |name: &str| Some(parts.headers.get(name)?.to_str().unwrap().to_owned());
        if let Some(cookie) = header("set-cookie") {
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        let body = body.collect().await.unwrap().to_bytes();
        Page {
            status: parts.status.as_u16(),
            location: header("location"),
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn get(&mut self, url: &str) -> Page {
        self.send(http::Request::get(url), String::new()).await
    }

    pub(crate) async fn post(&mut self, url: &str, fields: &[(&str, &str)]) -> Page {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let form = "application/x-www-form-urlencoded";
        let request = http::Request::post(url).header("content-type", form);
        self.send(request, body).await
    }
}

/// Returns the part of `text` between `start` and `end`.
pub(crate) fn between(text: &str, start: &str, end: &str) -> String {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("{start}: {text}"));
    rest.split(end).next().unwrap().to_owned()
}

pub(crate) fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}
