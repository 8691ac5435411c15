//! What a plain scalar is: the rules of PyYAML's `resolver.py` and `constructor.py`, which
//! implement YAML 1.1.
//!
//! They differ from YAML 1.2 where it hurts: a float needs a point and its exponent a sign, so that
//! the commit id `1234e56` is text; `yes`, `no`, `on` and `off` are booleans, `y` and `n` are text;
//! `010` is octal, `08` is text.

use serde_json::{Number, Value};

/// The value of a scalar without quotes.
///
/// Numbers that JSON cannot hold (`.inf`, `.nan`, integers beyond 64 bits) stay text, as do times.
pub(super) fn plain(text: &str) -> Value {
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => {
            let number = form(text).and_then(|form| number(text, form));
            number.map_or_else(|| Value::from(text), Value::Number)
        }
        Some(b'a'..=b'z' | b'A'..=b'Z') => word(text),
        None => Value::Null,
        Some(b'~') if text == "~" => Value::Null,
        Some(_) => Value::from(text),
    }
}

fn word(text: &str) -> Value {
    if text.len() > 5 {
        return Value::from(text);
    }
    let is_one_of = |words: &[&str]| words.iter().any(|word| cased(text, word));
    if is_one_of(&["null"]) {
        Value::Null
    } else if is_one_of(&["true", "yes", "on"]) {
        Value::Bool(true)
    } else if is_one_of(&["false", "no", "off"]) {
        Value::Bool(false)
    } else {
        Value::from(text)
    }
}

/// `text` is `word` in lower case, in capitals, or with one capital.
fn cased(text: &str, word: &str) -> bool {
    let capital =
        text.starts_with(|c: char| c.is_ascii_uppercase()) && text.get(1..) == word.get(1..);
    text.eq_ignore_ascii_case(word)
        && (text == word || capital || text.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Digits of this base, after `0b`, `0x`, `0` or nothing.
    Integer(u32),
    /// `1:30`: digits of base 60.
    Sixties,
    /// With a point.
    Float,
    /// `1:30.5`.
    FloatSixties,
    /// Infinite, or not a number.
    NotFinite,
}

/// Whether PyYAML reads `text` as a number.
pub(super) fn is_number(text: &str) -> bool {
    form(text).is_some()
}

/// The patterns `int` and `float` of PyYAML's `resolver.py`.
fn form(text: &str) -> Option<Form> {
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
        return binary.then_some(Form::Integer(2));
    }
    if let Some(rest) = unsigned.strip_prefix("0x") {
        let hex = some(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_');
        return hex.then_some(Form::Integer(16));
    }
    if let Some(rest) = unsigned.strip_prefix('.') {
        if ["inf", "Inf", "INF"].contains(&rest)
            || ["nan", "NaN", "NAN"].contains(&rest) && unsigned == text
        {
            return Some(Form::NotFinite);
        }
        let begun = unsigned == text && rest.starts_with(|c: char| c.is_ascii_digit());
        return (begun && fraction(rest)).then_some(Form::Float);
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
            Some(fraction) => (sixties && digits(fraction)).then_some(Form::FloatSixties),
            None => (sixties && !first.starts_with('0')).then_some(Form::Sixties),
        };
    }
    if let Some((whole, rest)) = unsigned.split_once('.') {
        return (number(whole) && fraction(rest)).then_some(Form::Float);
    }
    match unsigned.strip_prefix('0') {
        Some("") => Some(Form::Integer(10)),
        Some(octal) => {
            all(octal, |byte| matches!(byte, b'0'..=b'7' | b'_')).then_some(Form::Integer(8))
        }
        None => number(unsigned).then_some(Form::Integer(10)),
    }
}

/// The number that `text` is; `None` where JSON has no such number or PyYAML fails (`0x_`).
fn number(text: &str, form: Form) -> Option<Number> {
    let text = text.replace('_', "");
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let signed = |value: f64| Number::from_f64(if negative { -value } else { value });
    match form {
        Form::Integer(base) => {
            let digits = match base {
                2 | 16 => &unsigned[2..],
                _ => unsigned,
            };
            integer(negative, u64::from_str_radix(digits, base).ok()?)
        }
        Form::Sixties => {
            let part = |sum: u64, part: &str| {
                let part = part.parse::<u64>().ok()?;
                sum.checked_mul(60)?.checked_add(part)
            };
            integer(negative, unsigned.split(':').try_fold(0, part)?)
        }
        Form::Float => signed(unsigned.parse().ok()?),
        Form::FloatSixties => {
            // From the last part to the first, as Python adds them up.
            let (mut sum, mut base) = (0.0, 1.0);
            for part in unsigned.rsplit(':') {
                sum += part.parse::<f64>().ok()? * base;
                base *= 60.0;
            }
            signed(sum)
        }
        Form::NotFinite => None,
    }
}

fn integer(negative: bool, value: u64) -> Option<Number> {
    if negative {
        0_i64.checked_sub_unsigned(value).map(Number::from)
    } else {
        Some(Number::from(value))
    }
}
