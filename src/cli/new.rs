//! `planwright new`: creates a specification from a template.

use std::path::Path;

use clap::{Args, ValueEnum};

use super::failure::print;
use super::{Failure, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::project_folder::ProjectFolder;
use crate::config::project::load;
use crate::engine::clock::Clock as _;
use crate::engine::model::time::Millis;
use crate::formats::plan::title::MAX_TITLE_CHARS;
use crate::formats::specification::{
    Name, NameError, numbered, template, timestamped, title_from_name,
};

const HELP: &str = "\
The file is created in the folder output.specs of .planwright/config.toml
(default .planwright/specs), below the working directory. Names consist of at
most 64 lower-case letters, digits, - and _; other characters become -.
Unchanged parts of the template are ignored, so there is no need to fill in or
delete everything.

Exit codes:
  0  the file was created
  1  the command failed, or the file already exists
  2  the arguments or the project's settings are wrong; nothing was written

Examples:
  planwright new csv-export
  planwright new csv-export --title \"Export reports as CSV\"
  planwright new csv-export --id counter      000001_csv-export.md, then
                                              000002_…
  planwright new csv-export --id timestamp    20260102100000-csv-export.md, in
                                              UTC";

/// Maximum number of attempts to find a free name while other processes create files in the same
/// directory.
const TRIES: usize = 100;

/// Create a specification from a template
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct New {
    /// Name of the file; `.md` is optional
    name: String,
    /// Title [default: derived from the name]
    #[arg(long)]
    title: Option<String>,
    /// Prefix of the file name
    #[arg(long, value_enum, default_value_t = Id::None)]
    id: Id,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Id {
    /// Current time in UTC
    Timestamp,
    /// Highest existing number plus one
    Counter,
    /// No prefix
    None,
}

impl New {
    pub(super) fn run(self) -> Result<(), Failure> {
        let name = Name::parse(&self.name)?;
        let title = match &self.title {
            Some(title) => one_line(title)?,
            None => title_from_name(name.as_str()),
        };
        let root = Path::new(".");
        let loaded = load(root, &|variable| std::env::var(variable).ok())?;
        if loaded
            .config
            .needs_trust()
            .contains(&"output.specs".to_owned())
        {
            // The value of the variable would become a directory name, which is visible to
            // everybody.
            return Err(Failure::Usage(
                "output.specs in .planwright/config.toml uses an environment variable; write the path of the folder instead"
                    .to_owned(),
            ));
        }
        let folder = loaded.config.output.specs.as_str();
        let project = ProjectFolder::open(root)?;
        project.make_folder(folder)?;
        let text = template(&title);
        let path = match self.id {
            Id::None => {
                let path = format!("{folder}/{name}.md");
                project.write_new(&path, &text)?.then_some(path)
            }
            id => with_id(&project, folder, &name, id, &text)?,
        };
        let Some(path) = path else {
            return Err(Failure::Usage(format!(
                "{folder}/{name}.md already exists; edit it, choose another name, or add a number with --id counter"
            )));
        };
        print(&terminal::lines(&format!(
            "{path}\nnext: fill it in, then planwright plan {path}\n"
        )))
    }
}

/// Creates the file under the first free id. Returns `None` if no free id was found.
fn with_id(
    project: &ProjectFolder,
    folder: &str,
    name: &Name,
    id: Id,
    text: &str,
) -> Result<Option<String>, Failure> {
    for _ in 0..TRIES {
        let names = project.names(folder)?;
        let stem = make_id(&names, name, id, SystemClock.now())?;
        let path = format!("{folder}/{stem}.md");
        if project.write_new(&path, text)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the name with its prefix. `names` are the files in the directory.
fn make_id(names: &[String], name: &Name, id: Id, now: Millis) -> Result<String, NameError> {
    let stems: Vec<&str> = names
        .iter()
        .map(|file| file.strip_suffix(".md").unwrap_or(file))
        .collect();
    match id {
        Id::Counter => numbered(name, stems),
        Id::Timestamp => Ok(timestamped(name, now.datetime(), &|id| stems.contains(&id))),
        Id::None => Ok(name.to_string()),
    }
}

/// Returns the trimmed title.
///
/// # Errors
/// Returns [`Failure::Usage`] if the title is empty, too long, or has more than one line.
fn one_line(title: &str) -> Result<String, Failure> {
    let title = title.trim();
    if title.is_empty()
        || title.chars().count() > MAX_TITLE_CHARS
        || title.chars().any(char::is_control)
    {
        return Err(Failure::Usage(format!(
            "--title must be 1 to {MAX_TITLE_CHARS} characters on one line; omit it to derive the title from the name"
        )));
    }
    Ok(title.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_id_goes_on_behind_the_files_that_are_there() {
        let name = Name::parse("export").unwrap();
        let files = ["000003_a.md", "20260509010203-export.md", "README.md"].map(ToOwned::to_owned);
        let now = Millis(1_778_288_523_456);
        for (id, want) in [
            (Id::Counter, "000004_export"),
            (Id::Timestamp, "20260509010204-export"),
            (Id::None, "export"),
        ] {
            assert_eq!(make_id(&files, &name, id, now).unwrap(), want);
        }
    }
}
