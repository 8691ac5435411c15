//! The schema of the operator's settings: the `settings!` macro declares each setting once, with
//! its type, default, allowed values and documentation.
//!
//! The macro makes the struct that holds the values, its `Default`, and a [`Section`] that
//! describes the settings. `config` reads, validates and documents the settings from these
//! descriptions.

use std::borrow::Cow;
use std::time::Duration;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};
use url::Url;

/// A section of the configuration file.
#[derive(Debug, Clone)]
pub struct Section {
    /// Name of the TOML table, with dots if it is inside another one.
    pub name: &'static str,
    /// What the settings are about.
    pub doc: Cow<'static, str>,
    /// The settings, in the order of the documentation.
    pub settings: Cow<'static, [Setting]>,
}

/// The description of one setting.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Key within its section.
    pub key: Cow<'static, str>,
    /// The default, as TOML.
    pub default: Cow<'static, str>,
    /// The allowed values.
    pub rule: Rule,
    /// What the setting does.
    pub doc: Cow<'static, str>,
}

/// The allowed values of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// An integer: minimum, maximum, unit.
    Integer(i64, i64, &'static str),
    /// An amount of US dollars from 0 to this maximum.
    Dollars(f64),
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One line of text: maximum length in characters.
    Line(usize),
    /// A value that is passed after a command-line option: maximum length in characters.
    OptionValue(usize),
    /// A path.
    Path,
    /// A path, or empty if there is none.
    OptionalPath,
    /// A list of absolute paths.
    AbsolutePaths,
    /// A list of arguments of a program.
    Arguments,
    /// A list of names of environment variables that may be passed to agents.
    Variables,
    /// A list of account IDs.
    AccountIds,
    /// The ID of the GitHub App; 0 if it is not set.
    AppId,
    /// An IP address and a port.
    SocketAddress,
    /// The path of the webhook endpoint.
    WebhookPath,
    /// The URL of a PostgreSQL database without a password; may be empty.
    PostgresUrl,
    /// The base URL of an API.
    BaseUrl,
    /// The address at which people reach this bot, without a path; may be empty.
    PublicUrl,
    /// The base URL of the model's API; may be empty.
    ModelUrl,
    /// The base URL of an OpenTelemetry collector; may be empty.
    CollectorUrl,
    /// A list of hosts that agents may reach.
    AllowedHosts,
    /// Comma-separated host names, optionally with a leading `*.`.
    HostNames,
    /// Comma-separated file names, optionally with a leading `*`.
    FileNames,
    /// A list of patterns of paths in a repository.
    Globs,
    /// A version of erk.
    ErkVersion,
    /// Next steps: a preset or a template.
    NextSteps,
    /// `tracing` filter directives.
    LogFilter,
}

impl Setting {
    /// Returns the default.
    pub(crate) fn value(&self) -> Value {
        #[expect(
            clippy::expect_used,
            reason = "the defaults are compiled in, and a test reads them all"
        )]
        let mut table: Table = format!("default = {}", self.default)
            .parse()
            .expect("the default is TOML");
        #[expect(clippy::expect_used, reason = "the key was written above")]
        table.remove("default").expect("the key is there")
    }
}

/// Returns a section struct with all of its defaults.
pub(crate) fn defaults<T: DeserializeOwned>(section: &Section) -> T {
    let settings = section.settings.iter();
    let table: Table = settings
        .map(|setting| (setting.key.clone().into_owned(), setting.value()))
        .collect();
    #[expect(
        clippy::expect_used,
        reason = "the defaults are compiled in, and a test reads them all"
    )]
    table.try_into().expect("the defaults have the right types")
}

/// Declares a section of the configuration: a struct with its `Default`, and a [`Section`] named
/// `SECTION` that describes it.
///
/// Each setting is `field("key"): Type as "deserialiser" = default, rule;`. The key can be left out
/// if it is the name of the field, and the deserialiser if the type has its own. The default is one
/// TOML value. Fields in `tables { … }` are sections inside this one. Fields in `also { … }` are
/// not settings; they start with the default of their type.
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident in $section:literal {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(($key:literal))? : $type:ty $(as $with:literal)? = $default:tt, $rule:expr;
            )+
            $(tables {
                $( $(#[doc = $table_doc:literal])+ $table:ident: $table_type:ty; )+
            })?
            $(also {
                $( $(#[doc = $also_doc:literal])+ $also:ident: $also_type:ty; )+
            })?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Deserialize)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                #[serde($(rename = $key,)? $(deserialize_with = $with,)?)]
                pub $field: $type,
            )+
            $($(
                $(#[doc = $table_doc])+
                #[serde(default)]
                pub $table: $table_type,
            )+)?
            $($(
                $(#[doc = $also_doc])+
                #[serde(skip)]
                pub $also: $also_type,
            )+)?
        }

        impl $name {
            /// The description of these settings.
            pub const SECTION: $crate::setting::Section = $crate::setting::Section {
                name: $section,
                doc: std::borrow::Cow::Borrowed(concat!($($about),+)),
                settings: std::borrow::Cow::Borrowed(&[$(
                    $crate::setting::Setting {
                        key: std::borrow::Cow::Borrowed([$($key,)? stringify!($field)][0]),
                        default: std::borrow::Cow::Borrowed(stringify!($default)),
                        rule: $rule,
                        doc: std::borrow::Cow::Borrowed(concat!($($doc),+)),
                    },
                )+]),
            };
        }

        impl Default for $name {
            fn default() -> Self {
                $crate::setting::defaults(&Self::SECTION)
            }
        }
    };
}
pub(crate) use settings;

/// Declares a deserialiser of a whole number in a unit.
macro_rules! units {
    ($($(#[$doc:meta])+ $name:ident -> $type:ty = $convert:expr;)+) => {$(
        $(#[$doc])+
        pub(crate) fn $name<'de, D: Deserializer<'de>>(value: D) -> Result<$type, D::Error> {
            u64::deserialize(value).map($convert)
        }
    )+};
}

units! {
    /// Parses a number of milliseconds.
    milliseconds -> Duration = Duration::from_millis;
    /// Parses a number of seconds.
    seconds -> Duration = Duration::from_secs;
    /// Parses a number of minutes.
    minutes -> Duration = |minutes| Duration::from_secs(minutes.saturating_mul(60));
    /// Parses a number of hours.
    hours -> Duration = |hours| Duration::from_secs(hours.saturating_mul(3_600));
    /// Parses a number of days.
    days -> Duration = |days| Duration::from_secs(days.saturating_mul(86_400));
    /// Parses a number of megabytes (MiB) to bytes.
    megabytes -> u64 = |megabytes| megabytes.saturating_mul(1024 * 1024);
    /// Parses a limit in megabytes (MiB) to bytes; zero means no limit.
    megabyte_limit -> Option<u64> = |megabytes| {
        Some(megabytes.saturating_mul(1024 * 1024)).filter(|limit| *limit > 0)
    };
    /// Parses a limit; zero means no limit.
    limit -> Option<u64> = |limit| Some(limit).filter(|limit| *limit > 0);
}

/// Converts US dollars to millionths. Zero, also after rounding, means no limit.
pub(crate) fn dollars<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    let digits = format!("{:.6}", f64::deserialize(value)?).replace('.', "");
    let micros: u64 = digits.parse().map_err(D::Error::custom)?;
    Ok(Some(micros).filter(|micros| *micros > 0))
}

/// Parses a comma-separated list; the empty string is the empty list.
pub(crate) fn list<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(value)?;
    Ok(names(&text).map(str::to_owned).collect())
}

/// Returns the names of a comma-separated list.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split(',').map(str::trim);
    names.filter(|name| !name.is_empty())
}

/// Parses an optional string. TOML has no null, so the empty string means "not set".
pub(crate) fn optional<'de, D: Deserializer<'de>, T: From<String>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(value)?;
    Ok((!text.is_empty()).then(|| text.into()))
}

/// Parses a URL.
pub(crate) fn url<'de, D: Deserializer<'de>>(value: D) -> Result<Url, D::Error> {
    let text = String::deserialize(value)?;
    Url::parse(&text).map_err(D::Error::custom)
}

/// Parses an optional URL; the empty string means "not set".
pub(crate) fn optional_url<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Url>, D::Error> {
    let text: Option<String> = optional(value)?;
    text.map(|text| Url::parse(&text).map_err(D::Error::custom))
        .transpose()
}
