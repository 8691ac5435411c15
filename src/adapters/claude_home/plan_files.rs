//! Plan files: by name, or the newest one.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{ClaudeHome, FindError, logs};
use crate::formats::session::{paths::is_safe_name, plan::MAX_PLAN_BYTES, time};
use crate::regular_file;

/// A plan file that was read.
#[derive(Debug)]
pub(super) struct PlanFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// When it was changed, in the form of timestamps.
    pub(super) changed: Option<String>,
}

impl ClaudeHome {
    /// The plan file of a slug; `None` where there is none, it is blank, or the slug cannot be a file name.
    pub(super) fn plan_file(&self, slug: &str) -> Result<Option<PlanFile>, FindError> {
        if !is_safe_name(slug) {
            return Ok(None);
        }
        let path = self.plans().join(format!("{slug}.md"));
        let file = if path.is_file() { read(&path)? } else { None };
        Ok(file.filter(|file| !file.text.trim().is_empty()))
    }

    /// The `*.md` file directly in the folder of plans that was changed last; of equals the first by name.
    pub(super) fn newest_plan_file(&self) -> Result<Option<PlanFile>, FindError> {
        let mut newest: Option<(SystemTime, PathBuf)> = None;
        for path in logs::entries(&self.plans())? {
            let is_plan =
                path.extension().is_some_and(|extension| extension == "md") && path.is_file();
            let changed = fs::metadata(&path).and_then(|metadata| metadata.modified());
            if let (true, Ok(changed)) = (is_plan, changed)
                && newest.as_ref().is_none_or(|(newest, _)| changed > *newest)
            {
                newest = Some((changed, path));
            }
        }
        newest.map_or(Ok(None), |(_, path)| read(&path))
    }
}

/// Reads a plan file; `None` when it went away.
fn read(path: &Path) -> Result<Option<PlanFile>, FindError> {
    let failed = |error| FindError::Read {
        path: path.to_owned(),
        error,
    };
    let mut file = match regular_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.len() > MAX_PLAN_BYTES as u64 {
        return Err(FindError::TooLarge {
            path: path.to_owned(),
            bytes: metadata.len(),
            limit: MAX_PLAN_BYTES,
        });
    }
    let mut bytes = Vec::new();
    file.by_ref()
        .take(MAX_PLAN_BYTES as u64)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| FindError::NotText {
        path: path.to_owned(),
    })?;
    let changed = metadata.modified().ok().and_then(|changed| {
        let since = changed.duration_since(UNIX_EPOCH).ok()?;
        time::written(since.as_secs_f64())
    });
    Ok(Some(PlanFile {
        path: path.to_owned(),
        text,
        changed,
    }))
}
