//! Copies of repositories that are made of texts.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use planwright::engine::checkout::{Checkout, CheckoutError, Checkouts, LeftOut};
use planwright::engine::forge::Forge;
use planwright::engine::model::trigger::Repo;

/// Hands out copies without files on the disk.
#[derive(Default)]
pub(crate) struct FakeCheckouts {
    /// Paths and contents of the files.
    pub(crate) files: Vec<(&'static str, &'static str)>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Errors of the next requests.
    pub(crate) errors: Mutex<VecDeque<CheckoutError>>,
    /// The commits requested so far.
    pub(crate) requested: Mutex<Vec<String>>,
    /// Counts the copies in use.
    pub(crate) in_use: Arc<()>,
}

#[async_trait]
impl Checkouts for FakeCheckouts {
    async fn checkout(
        &self,
        _forge: &dyn Forge,
        _repo: &Repo,
        commit: &str,
    ) -> Result<Checkout, CheckoutError> {
        self.requested.lock().unwrap().push(commit.to_owned());
        if let Some(error) = self.errors.lock().unwrap().pop_front() {
            return Err(error);
        }
        Ok(Checkout {
            path: format!("/copies/42/{commit}").into(),
            commit: commit.to_owned(),
            files: self.files.len() as u64,
            bytes: self.files.iter().map(|(_, text)| text.len() as u64).sum(),
            left_out: self.left_out.clone(),
            hold: Box::new(Arc::clone(&self.in_use)),
        })
    }

    async fn paths(&self, _checkout: &Checkout) -> Result<Vec<String>, CheckoutError> {
        let mut paths: Vec<_> = self
            .files
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .collect();
        paths.sort();
        Ok(paths)
    }

    async fn read(
        &self,
        _checkout: &Checkout,
        path: &str,
        max: u64,
    ) -> Result<Option<Vec<u8>>, CheckoutError> {
        let found = self.files.iter().find(|(own, _)| *own == path);
        let text = found.map(|(_, text)| text.as_bytes().to_vec());
        Ok(text.filter(|text| text.len() as u64 <= max))
    }
}
