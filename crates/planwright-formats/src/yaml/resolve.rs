//! Resolves plain scalars by the rules of PyYAML's `resolver.py` and `constructor.py`, which
//! implement YAML 1.1.
//!
//! They differ from YAML 1.2: a float needs a decimal point and its exponent a sign, so that
//! the commit id `1234e56` is text; `yes`, `no`, `on` and `off` are booleans, `y` and `n` are text;
//! `010` is octal, `08` is text.

use serde_json::{Number, Value};

/// Returns the value of an unquoted scalar.
///
/// Numbers that JSON cannot represent (`.inf`, `.nan`, integers beyond 64 bits) and timestamps
/// stay strings.
pub(super) fn plain(text: &str) -> Value {
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => {
            let number = number_form(text).and_then(|form| number(text, form));
            number.map_or_else(|| Value::from(text), Value::Number)
        }
        Some(b'a'..=b'z' | b'A'..=b'Z') => word(text),
        None => Value::Null,
        Some(b'~') if text == "~" => Value::Null,
        Some(_) => Value::from(text),
    }
}

/// Words with a value of their own.
const WORDS: [(&str, Value); 7] = [
    ("null", Value::Null),
    ("true", Value::Bool(true)),
    ("yes", Value::Bool(true)),
    ("on", Value::Bool(true)),
    ("false", Value::Bool(false)),
    ("no", Value::Bool(false)),
    ("off", Value::Bool(false)),
];

fn word(text: &str) -> Value {
    let known = WORDS.iter().find(|(word, _)| matches_word(text, word));
    known.map_or_else(|| Value::from(text), |(_, value)| value.clone())
}

/// Whether `text` is `word` in lower case, upper case, or capitalised.
fn matches_word(text: &str, word: &str) -> bool {
    text.eq_ignore_ascii_case(word)
        && (text[1..] == word[1..] || text.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// Notation of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberForm {
    /// Digits of this base, after `0b`, `0x`, `0` or nothing.
    Integer(u32),
    /// A sexagesimal integer such as `1:30`.
    SexagesimalInteger,
    /// A number with a decimal point.
    Float,
    /// A sexagesimal float such as `1:30.5`.
    SexagesimalFloat,
    /// Infinity or NaN.
    NotFinite,
}

/// Whether PyYAML reads `text` as a number.
pub(super) fn is_number(text: &str) -> bool {
    number_form(text).is_some()
}

/// Matches the patterns `int` and `float` of PyYAML's `resolver.py`.
fn number_form(text: &str) -> Option<NumberForm> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let all = |part: &str, accepts: fn(u8) -> bool| part.bytes().all(accepts);
    let some = |part: &str, accepts: fn(u8) -> bool| !part.is_empty() && all(part, accepts);
    let digits = |part: &str| all(part, |byte| byte.is_ascii_digit() || byte == b'_');
    let number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit()) && digits(part);
    let exponent = |part: &str| {
        part.is_empty()
            || part
                .strip_prefix(['e', 'E'])
                .and_then(|part| part.strip_prefix(['-', '+']))
                .is_some_and(|part| some(part, |byte| byte.is_ascii_digit()))
    };
    let fraction = |part: &str| {
        let end = part.find(['e', 'E']).unwrap_or(part.len());
        digits(&part[..end]) && exponent(&part[end..])
    };
    if let Some(rest) = unsigned.strip_prefix("0b") {
        let binary = some(rest, |byte| matches!(byte, b'0' | b'1' | b'_'));
        return binary.then_some(NumberForm::Integer(2));
    }
    if let Some(rest) = unsigned.strip_prefix("0x") {
        let hex = some(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_');
        return hex.then_some(NumberForm::Integer(16));
    }
    if let Some(rest) = unsigned.strip_prefix('.') {
        if ["inf", "Inf", "INF"].contains(&rest)
            || ["nan", "NaN", "NAN"].contains(&rest) && unsigned == text
        {
            return Some(NumberForm::NotFinite);
        }
        let begun = unsigned == text && rest.starts_with(|c: char| c.is_ascii_digit());
        return (begun && fraction(rest)).then_some(NumberForm::Float);
    }
    if let Some((first, rest)) = unsigned.split_once(':') {
        let (parts, fraction) = match rest.split_once('.') {
            Some((parts, fraction)) => (parts, Some(fraction)),
            None => (rest, None),
        };
        let sixty =
            |part: &str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
        let sixties = number(first) && parts.split(':').all(sixty);
        return match fraction {
            Some(fraction) => (sixties && digits(fraction)).then_some(NumberForm::SexagesimalFloat),
            None => (sixties && !first.starts_with('0')).then_some(NumberForm::SexagesimalInteger),
        };
    }
    if let Some((whole, rest)) = unsigned.split_once('.') {
        return (number(whole) && fraction(rest)).then_some(NumberForm::Float);
    }
    match unsigned.strip_prefix('0') {
        Some("") => Some(NumberForm::Integer(10)),
        Some(octal) => {
            all(octal, |byte| matches!(byte, b'0'..=b'7' | b'_')).then_some(NumberForm::Integer(8))
        }
        None => number(unsigned).then_some(NumberForm::Integer(10)),
    }
}

/// Returns the value of `text`, which has this form; `None` where JSON has no such number or PyYAML
/// fails (`0x_`).
fn number(text: &str, form: NumberForm) -> Option<Number> {
    let text = text.replace('_', "");
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let signed = |value: f64| Number::from_f64(if negative { -value } else { value });
    match form {
        NumberForm::Integer(base) => {
            let digits = match base {
                2 | 16 => &unsigned[2..],
                _ => unsigned,
            };
            integer(negative, u64::from_str_radix(digits, base).ok()?)
        }
        NumberForm::SexagesimalInteger => {
            let part = |sum: u64, part: &str| {
                let part = part.parse::<u64>().ok()?;
                sum.checked_mul(60)?.checked_add(part)
            };
            integer(negative, unsigned.split(':').try_fold(0, part)?)
        }
        NumberForm::Float => signed(unsigned.parse().ok()?),
        NumberForm::SexagesimalFloat => {
            // Summed from the last part to the first, as Python does.
            let (mut sum, mut base) = (0.0, 1.0);
            for part in unsigned.rsplit(':') {
                sum += part.parse::<f64>().ok()? * base;
                base *= 60.0;
            }
            signed(sum)
        }
        NumberForm::NotFinite => None,
    }
}

fn integer(negative: bool, value: u64) -> Option<Number> {
    if negative {
        0_i64.checked_sub_unsigned(value).map(Number::from)
    } else {
        Some(Number::from(value))
    }
}
