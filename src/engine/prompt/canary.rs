//! Unguessable words: the nonce that separates data from instructions, and the canary in the data.

/// The fixed prefix of every canary; the rest is unguessable.
const CANARY: &str = "PW-";

/// Returns a new nonce and a new canary.
pub fn new_words() -> (String, String) {
    let nonce = uuid::Uuid::new_v4().simple().to_string();
    // The canary looks like an ordinary reference number, so that agents do not treat it specially.
    let canary = format!(
        "{CANARY}{}",
        &uuid::Uuid::new_v4().simple().to_string()[..12]
    );
    (nonce, canary)
}

/// Returns whether one of `texts` contains the canary, which only an instruction in the data asks
/// for. The spelling does not matter: the canary may be split by blanks, punctuation or invisible
/// characters, and be in upper case or full-width letters.
///
/// Encoded forms are not detected. An agent that wants to hide that it follows instructions in the
/// data can omit the canary; its answer is still harmless, because nothing in an answer is
/// executed.
pub fn obeys<'t>(canary: &str, mut texts: impl Iterator<Item = &'t str>) -> bool {
    let word = bare(canary.strip_prefix(CANARY).unwrap_or(canary));
    !word.is_empty() && texts.any(|text| bare(text).contains(&word))
}

/// Returns the Latin letters and digits of `text` in lower case, with full-width characters
/// converted to ordinary ones.
fn bare(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
            c => Some(c),
        })
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}
