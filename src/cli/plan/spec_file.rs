//! Reads the specification that was named on the command line.

use std::path::Path;

use crate::cli::work::Project;
use crate::cli::{Failure, input};
use crate::formats::plan::title::title_of;
use crate::formats::specification::{
    self, DocumentKind, Specification, resolve, slug, title_from_name,
};

/// Maximum size of a specification, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A specification that was read from a file.
#[derive(Debug)]
pub(super) struct SpecFile {
    /// The parsed specification.
    pub(super) specification: Specification,
    /// Path of the file, for messages and saved state.
    pub(super) path: String,
    /// Name of the plan's directory: the file name without `.md`, limited to safe characters.
    pub(super) name: String,
}

impl SpecFile {
    /// Reads the specification that `arg` names.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] if the file does not exist, cannot be read, or contains no
    /// requirements.
    pub(super) fn read(arg: &str, project: &Project) -> Result<Self, Failure> {
        let here = std::env::current_dir().unwrap_or_default();
        let folder = project.config.output.specs.as_str();
        // Only the path as given is relative to the working directory; all others are relative to
        // the project.
        let is_file = |path: &Path| {
            path == Path::new(arg) && here.join(path).is_file() || project.root.join(path).is_file()
        };
        if here.join(arg).is_dir() {
            return Err(Failure::Usage(format!(
                "{arg} is a folder; give the path of a specification, or its name in {folder}"
            )));
        }
        let found = resolve(
            arg,
            DocumentKind::Specification,
            Path::new(folder),
            &is_file,
        )
        .map_err(|error| Failure::Usage(error.to_string()))?;
        let direct = here.join(&found);
        let given = found == Path::new(arg) && direct.is_file();
        let file = if given {
            direct
        } else {
            project.root.join(&found)
        };
        let within = project.within(&file);
        let text = match &within {
            // Do not follow symbolic links out of the project, which may come from another person.
            Some(path) => project
                .folder
                .read(path, MAX_BYTES)
                .map_err(|error| Failure::Usage(error.to_string()))?
                .unwrap_or_default(),
            None => input::text(&file)?,
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let title = title_of(text).unwrap_or_else(|| title_from_name(&stem));
        let specification = specification::parse(&title, text);
        let path = within.unwrap_or_else(|| file.display().to_string());
        if specification.is_empty() {
            return Err(empty(&path, &specification));
        }
        Ok(Self {
            specification,
            path,
            name: folder_name(&stem),
        })
    }
}

/// Returns the file name if it is safe as a directory name, otherwise a slug of it.
fn folder_name(stem: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let good = !stem.is_empty()
        && !stem.starts_with(['.', '-', ' '])
        && stem.chars().all(harmless)
        && stem.len() <= 200;
    if good {
        stem.to_owned()
    } else {
        slug(stem, "plan")
    }
}

/// Returns the failure for a specification that is not filled in, with the sections to fill in.
fn empty(path: &str, read: &Specification) -> Failure {
    let sections = read.empty_sections();
    let to_fill = if sections.is_empty() {
        "describe in it what you want, in plain words; `planwright new NAME` creates one with headings"
            .to_owned()
    } else {
        format!("fill in: {}", sections.join(", "))
    };
    let template = if read.placeholders.is_empty() {
        ""
    } else {
        " (template text counts as empty)"
    };
    Failure::Usage(format!("{path} is empty{template}; {to_fill}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plans_folder_is_called_like_its_specification_and_leads_nowhere() {
        for (stem, want) in [
            ("000001_csv-export", "000001_csv-export"),
            ("Größe 2.0", "Größe 2.0"),
            ("..", "plan"),
            (".hidden", "hidden"),
            ("-x", "x"),
            ("a\\b:c", "a-b-c"),
            ("", "plan"),
        ] {
            assert_eq!(folder_name(stem), want);
        }
    }

    #[test]
    fn an_empty_specification_says_what_to_fill_in() {
        let text = specification::template("Export");
        let read = specification::parse("Export", &text);
        let said = empty("x.md", &read).to_string();
        assert!(
            said.starts_with("x.md is empty (template text counts as empty); fill in: ")
                && said.contains("Requirements"),
            "{said}"
        );
        let read = specification::parse("x", "\n");
        assert_eq!(
            empty("x.md", &read).to_string(),
            "x.md is empty; describe in it what you want, in plain words; `planwright new NAME` creates one with headings"
        );
    }
}
