//! What each version of erk reads of a saved plan, and whether it can update the header.
//!
//! The readers here are written from the regular expressions in erk's source, not from Planwright's
//! own readers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;

use fancy_regex::{Regex, RegexBuilder};
use planwright::engine::model::run::State;
use planwright::engine::settings::{ErkSettings, Settings};
use planwright::formats::block::{PlanForm, neutralise, plan_comment};
use planwright::formats::command::{self, Command};
use planwright::formats::erk::Version;
use planwright::formats::plan::stored::{self, StoredComment, StoredPage};
use proptest::prelude::*;

use crate::frame_support::{config, text};
use crate::support::rig::{HERE, PLAN, Rig};

/// A state of erk's readers, by the date from which it holds.
struct Reader {
    date: &'static str,
    /// The pattern that takes a plan out of a `plan-body` block; the first state knows no such
    /// block.
    plan_body: Option<&'static str>,
    /// The pattern of a block with fields.
    fields: &'static str,
    /// Fields that an update refuses, of those that planwright writes.
    refused: &'static [&'static str],
    /// The comment that the header names is read, not the first one.
    by_id: bool,
}

const FIRST_FIELDS: &str =
    r"<details>\s*<summary><code>[^<]+</code></summary>\s*```yaml\s*(.*?)\s*```\s*</details>";
const LATER_FIELDS: &str = r"<details(?:\s+open)?>\s*<summary>(?:<code>)?[^<]+(?:</code>)?</summary>\s*```yaml\s*(.*?)\s*```\s*</details>";
const PLAIN: &str = r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>";
const PERHAPS_OPEN: &str = r"<details(?:\s+open)?>\s*<summary>.*?</summary>\s*(.*?)\s*</details>";

const READERS: &[Reader] = &[
    Reader {
        date: "2025-11-25",
        plan_body: None,
        fields: FIRST_FIELDS,
        refused: &["plan_comment_id"],
        by_id: false,
    },
    Reader {
        date: "2025-12-01",
        plan_body: Some(PLAIN),
        fields: FIRST_FIELDS,
        refused: &["plan_comment_id"],
        by_id: false,
    },
    Reader {
        date: "2025-12-23",
        plan_body: Some(PLAIN),
        fields: FIRST_FIELDS,
        refused: &[],
        by_id: true,
    },
    Reader {
        date: "2026-01-02",
        plan_body: Some(PLAIN),
        fields: FIRST_FIELDS,
        refused: &[],
        by_id: true,
    },
    Reader {
        date: "2026-01-15",
        plan_body: Some(PERHAPS_OPEN),
        fields: LATER_FIELDS,
        refused: &[],
        by_id: true,
    },
    Reader {
        date: "2026-02-24",
        plan_body: Some(PERHAPS_OPEN),
        fields: LATER_FIELDS,
        refused: &[],
        by_id: true,
    },
    Reader {
        date: "2026-04-01",
        plan_body: Some(PERHAPS_OPEN),
        fields: LATER_FIELDS,
        refused: &[],
        by_id: true,
    },
];

/// `pattern` as Python compiles it with `re.DOTALL`: there `\s` also means the four information
/// separators.
fn python(pattern: &str) -> Regex {
    let pattern = format!("(?s){}", pattern.replace(r"\s", r"[\s\x1c-\x1f]"));
    RegexBuilder::new(&pattern)
        .backtrack_limit(50_000_000)
        .build()
        .unwrap()
}

fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

fn first_group<'a>(pattern: &Regex, text: &'a str, group: usize) -> Option<&'a str> {
    let found = pattern.captures(text).unwrap()?;
    Some(found.get(group).unwrap().as_str())
}

struct Compiled {
    blocks: Regex,
    plan_body: Option<Regex>,
    plan_content: Regex,
    fields: Regex,
}

impl Reader {
    fn compiled(&self) -> Compiled {
        Compiled {
            blocks: python(
                r"<!-- erk:metadata-block:(.+?) -->(.+?)<!-- /erk:metadata-block(?::\1)? -->",
            ),
            plan_body: self.plan_body.map(python),
            plan_content: python(r"<!-- erk:plan-content -->\s*(.*?)\s*<!-- /erk:plan-content -->"),
            fields: python(self.fields),
        }
    }

    /// The comment with the plan: the named one where this state looks at the name, else the first.
    fn comment<'a>(&self, page: &'a StoredPage, header: &[(String, String)]) -> &'a str {
        let named = header.iter().find(|(name, _)| name == "plan_comment_id");
        let named = named.filter(|_| self.by_id).and_then(|(_, id)| {
            let found = page.comments.iter().find(|one| one.id.to_string() == *id);
            found.map(|one| one.body.as_str())
        });
        named.unwrap_or(&page.comments[0].body)
    }
}

impl Compiled {
    fn block<'a>(&self, text: &'a str, key: &str) -> Option<&'a str> {
        self.blocks
            .captures_iter(text)
            .map(Result::unwrap)
            .find(|found| strip(found.get(1).unwrap().as_str()) == key)
            .map(|found| strip(found.get(2).unwrap().as_str()))
    }

    fn plan<'a>(&self, comment: &'a str) -> Option<&'a str> {
        let block = self
            .plan_body
            .as_ref()
            .and_then(|pattern| first_group(pattern, self.block(comment, "plan-body")?, 1));
        block
            .or_else(|| first_group(&self.plan_content, comment, 1))
            .map(strip)
    }

    /// Fields of the header in order; the YAML of a header that planwright writes is one
    /// `name: value` a line.
    fn header(&self, body: &str) -> Option<Vec<(String, String)>> {
        let yaml = first_group(&self.fields, self.block(body, "plan-header")?, 1)?;
        yaml.lines()
            .map(|line| {
                let (name, value) = line.split_once(": ")?;
                let value = value.strip_prefix('\'').unwrap_or(value);
                let value = value.strip_suffix('\'').unwrap_or(value);
                Some((name.to_owned(), value.to_owned()))
            })
            .collect()
    }

    /// The body after erk has noted a dispatch in the header; an error in erk's words when it
    /// refuses.
    fn dispatched(&self, reader: &Reader, body: &str) -> Result<String, String> {
        let mut fields = self.header(body).ok_or("plan-header block not found")?;
        for required in [
            "schema_version",
            "created_at",
            "created_by",
            "worktree_name",
        ] {
            if !fields
                .iter()
                .any(|(name, value)| name == required && !value.is_empty())
            {
                return Err(format!("Missing required fields: {required}"));
            }
        }
        let unknown = fields
            .iter()
            .find(|(name, _)| reader.refused.contains(&name.as_str()));
        if let Some((name, _)) = unknown {
            return Err(format!("Unknown fields: {name}"));
        }
        fields.push(("last_dispatched_run_id".into(), "'12345'".into()));
        let yaml: Vec<String> = fields
            .iter()
            .map(|(name, value)| match name.as_str() {
                "schema_version" | "created_at" => format!("{name}: '{value}'"),
                _ => format!("{name}: {value}"),
            })
            .collect();
        let block = format!(
            "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n\
             <!-- erk:metadata-block:plan-header -->\n<details>\n<summary><code>plan-header</code></summary>\n\n\
             ```yaml\n\n{}\n\n```\n\n</details>\n<!-- /erk:metadata-block:plan-header -->",
            yaml.join("\n")
        );
        let replaced = python(
            r"<!-- erk:metadata-block:plan-header -->(.+?)<!-- /erk:metadata-block(?::plan-header)? -->",
        );
        Ok(replaced
            .replacen(body, 1, fancy_regex::NoExpand(&block))
            .into_owned())
    }
}

/// Plans that hold what the readers look for.
fn plans() -> Vec<String> {
    let block = plan_comment("# Plan: Another\n\n1. Step", PlanForm::Folded);
    let open = plan_comment("# Plan: Another\n\n1. Step", PlanForm::Unfolded);
    let markers = plan_comment("# Plan: Another\n\n1. Step", PlanForm::Markers);
    let mut plans = vec![PLAN.to_owned()];
    for inside in [
        "<details>\n<summary>Logs</summary>\n\nlines\n\n</details>",
        "<details open>\n<summary>Logs</summary>\n\nlines\n\n</details>",
        "<details>\n<summary>a</summary>\n<details>\n<summary>b</summary>\n\nx\n\n</details>\n</details>",
        "```html\n<details>\n<summary>x</summary>\n</details>\n```",
        "~~~~\n```\n~~~~",
        "<!-- /erk:metadata-block -->",
        "<!-- /erk:plan-content -->",
        "`<!-- /erk:metadata-block:plan-body -->`",
        "<!-- erk:metadata-block:plan-header -->",
        &format!("````\n{block}\n````"),
        &format!("````\n{markers}\n````"),
        &block,
        &open,
        &markers,
        "Ask @ada; fixes #1\u{200b}",
    ] {
        plans.push(format!("{PLAN}\n## More\n\n{inside}\n\nThe end.\n"));
    }
    plans.push(format!("{PLAN}\n```\nopen"));
    plans.push(format!("{PLAN}\n<!-- open"));
    plans
}

/// The page of the plan issue that `plan` is saved as under `settings`.
async fn saved(plan: &str, erk: ErkSettings) -> StoredPage {
    let rig = Rig::with(Settings {
        erk,
        ..Settings::default()
    })
    .await;
    let mut trigger = rig.trigger(Command::SaveRawPlan, "ada", 7, HERE);
    trigger.inline = Some(plan.to_owned());
    // Some of the plans hold HTML comments, which are to be saved as they are.
    trigger.options = command::parse("/save-raw-plan hidden=keep")
        .remove(0)
        .options;
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(rig.state(&run).await, State::Succeeded, "{said:#?}");
    let (_, issue) = rig.forge.plans().remove(0);
    let world = rig.forge.world.lock().unwrap();
    let bot = Some("planwright[bot]".to_owned());
    let comments = issue.comments.iter().map(|id| StoredComment {
        id: *id,
        author: bot.clone(),
        body: world.comments[id].body.clone(),
    });
    StoredPage {
        title: issue.title.clone(),
        author: bot.clone(),
        comments: comments.collect(),
        body: issue.body,
        pull_request: false,
    }
}

/// What `reader` makes of `page`; `document` is what was saved there.
fn assert_reads_and_updates(reader: &Reader, page: &StoredPage, document: &str) {
    let compiled = reader.compiled();
    let header = compiled.header(&page.body).expect(&page.body);
    let comment = reader.comment(page, &header);
    let whole = neutralise(document);
    assert_eq!(
        compiled.plan(comment),
        Some(strip(&whole)),
        "{}: {comment}",
        reader.date
    );
    let updated = compiled.dispatched(reader, &page.body).unwrap();
    let again = compiled.header(&updated).unwrap();
    assert_eq!(again[..header.len()], header, "{}", reader.date);
    assert!(
        again.contains(&("last_dispatched_run_id".to_owned(), "12345".to_owned())),
        "{again:?}"
    );
    // What planwright reads afterwards is still the whole plan.
    let page = StoredPage {
        body: updated,
        ..page.clone()
    };
    let read = stored::read(&page).unwrap();
    assert_eq!(read.document, document, "{}", reader.date);
    let header = read.header.unwrap();
    assert_eq!(header["last_dispatched_run_id"], "12345");
}

/// The readers of the month that `version` names, or of all later ones.
fn readers(version: &str) -> Vec<&'static Reader> {
    let latest = version == "latest";
    let found: Vec<&Reader> = READERS
        .iter()
        .filter(|reader| reader.date.starts_with(version) || latest && reader.date >= "2026-03")
        .collect();
    assert!(!found.is_empty(), "{version}");
    found
}

#[tokio::test]
async fn a_plan_written_for_a_version_of_erk_is_read_whole_and_updated_by_it() {
    for (version, name) in Version::NAMED {
        let erk = ErkSettings {
            version,
            details_open: false,
        };
        for plan in plans() {
            let page = saved(&plan, erk.clone()).await;
            let read = stored::read(&page).unwrap();
            assert_eq!(read.plan.trim_end(), plan.trim_end(), "{name}");
            for reader in readers(name) {
                assert_reads_and_updates(reader, &page, &read.document);
            }
        }
    }
}

#[tokio::test]
async fn a_plan_written_by_default_is_read_whole_by_every_erk_since_december_2025() {
    for plan in plans() {
        let page = saved(&plan, ErkSettings::default()).await;
        let read = stored::read(&page).unwrap();
        for reader in READERS.iter().filter(|reader| reader.date >= "2025-12") {
            let compiled = reader.compiled();
            let whole = neutralise(&read.document);
            assert_eq!(
                compiled.plan(&page.comments[0].body),
                Some(strip(&whole)),
                "{}",
                reader.date
            );
            if reader.date >= "2025-12-23" {
                assert_reads_and_updates(reader, &page, &read.document);
            } else {
                assert_eq!(
                    compiled.dispatched(reader, &page.body),
                    Err("Unknown fields: plan_comment_id".to_owned())
                );
            }
        }
    }
}

#[tokio::test]
async fn an_unfolded_plan_is_written_only_for_an_erk_that_finds_it() {
    for (version, name) in Version::NAMED {
        let erk = ErkSettings {
            version,
            details_open: true,
        };
        let page = saved(PLAN, erk).await;
        let open = page.comments[0].body.contains("<details open>");
        assert_eq!(open, name >= "2026-02", "{name}");
        let document = stored::read(&page).unwrap().document;
        for reader in readers(name) {
            assert_reads_and_updates(reader, &page, &document);
        }
    }
}

#[tokio::test]
async fn a_long_plan_says_in_the_body_and_in_its_first_part_that_it_goes_on() {
    let steps: Vec<String> = (1..=3_000)
        .map(|step| format!("{step}. Write the test of step {step}, then the step itself\n"))
        .collect();
    let long = format!("{PLAN}\n## All steps\n\n{}", steps.concat());
    for (version, name) in Version::NAMED {
        let erk = ErkSettings {
            version,
            details_open: false,
        };
        let page = saved(&long, erk).await;
        let parts = page.comments.len();
        assert!(parts > 1);
        let said = format!(
            "The plan is in the first {parts} comments. erk reads only the first of them; \
             `planwright plan get acme/search#"
        );
        assert!(page.body.contains(&said), "{}", page.body);
        for command in [
            "erk implement",
            "erk submit",
            "erk plan",
            "erk pr",
            "erk br",
        ] {
            assert!(!page.body.contains(command), "{name}: {}", page.body);
        }
        let whole = "Get the whole plan (erk reads only its first comment):";
        assert!(page.body.contains(whole), "{}", page.body);
        for reader in readers(name) {
            let compiled = reader.compiled();
            let first = compiled.plan(&page.comments[0].body).unwrap();
            let told = first.contains("\n\n*Continued in the next comment.*");
            assert!(told, "{}", &first[first.len() - 300..]);
        }
        assert!(!page.comments[parts - 1].body.contains("*Continued in"));
        let read = stored::read(&page).unwrap();
        assert_eq!(read.plan.trim_end(), long.trim_end());
    }
}

#[test]
fn every_version_and_its_name_has_a_reader() {
    let months: BTreeSet<&str> = READERS.iter().map(|reader| &reader.date[..7]).collect();
    for (_, name) in Version::NAMED {
        assert!(name == "latest" || months.contains(name), "{name}");
    }
}

proptest! {
    // Each text is written and read in every form, so there are fewer of them.
    #![proptest_config(ProptestConfig { cases: 1_000, ..config() })]

    #[test]
    fn any_text_is_read_whole_in_the_form_of_its_version(text in text()) {
        thread_local! {
            static COMPILED: Vec<(&'static str, Compiled)> = READERS
                .iter()
                .map(|reader| (reader.date, reader.compiled()))
                .collect();
        }
        let safe = neutralise(&text);
        for (version, name) in Version::NAMED {
            let body = plan_comment(&text, version.plan_form(true));
            let dates = readers(name);
            COMPILED.with(|all| {
                let mine = all.iter().filter(|(date, _)| dates.iter().any(|one| one.date == *date));
                for (date, compiled) in mine {
                    prop_assert_eq!(compiled.plan(&body), Some(strip(&safe)), "{}", date);
                }
                Ok(())
            })?;
            prop_assert_eq!(planwright::formats::block::plans(&body), match text.trim() {
                "" => Vec::new(),
                _ => vec![text.clone()],
            });
        }
    }
}
