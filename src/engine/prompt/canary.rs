//! Unguessable words: the nonce that divides data from instructions, and the bait in the data.

/// What every canary begins with; the rest is unguessable.
const CANARY: &str = "PW-";

/// A new nonce and a new canary.
pub fn new_words() -> (String, String) {
    let nonce = uuid::Uuid::new_v4().simple().to_string();
    // Looks like any reference number, so that nothing about it asks to be treated in a special way.
    let canary = format!(
        "{CANARY}{}",
        &uuid::Uuid::new_v4().simple().to_string()[..12]
    );
    (nonce, canary)
}

/// Whether the canary, which only an instruction in the data asks for, is in one of `texts` in whatever spelling: taken
/// apart by blanks, marks or invisible characters, in capitals, with wide letters.
///
/// Encodings are not looked for. An agent that means to hide that it obeys leaves the word out; what keeps its answer
/// harmless then is that nothing in it has power.
pub fn obeys<'t>(canary: &str, mut texts: impl Iterator<Item = &'t str>) -> bool {
    let word = bare(canary.strip_prefix(CANARY).unwrap_or(canary));
    !word.is_empty() && texts.any(|text| bare(text).contains(&word))
}

/// The Latin letters and digits of `text`, in lower case and of ordinary width.
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
