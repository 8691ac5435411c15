//! Reads what somebody types in a terminal as the answer to one question.
//!
//! | typed | means |
//! |---|---|
//! | nothing | the question is left to the agent |
//! | `2` | the second option; full-width digits count, too |
//! | `1 3`, `1, 3` | both, where several may be chosen |
//! | a label, in any case | that option |
//! | `0` | words of one's own come next |
//! | anything else, also a number that no option has | own words |

use super::{Answer, Question};

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// The question is left to the agent.
    Nothing,
    /// Own words are to be asked for.
    Other,
    /// More than one option where one can be chosen.
    Several,
    /// The answer.
    Answer(Answer),
}

/// Reads `text`, typed as the answer to `question`.
pub fn read(text: &str, question: &Question) -> Typed {
    let text = text.trim();
    if text.is_empty() {
        return Typed::Nothing;
    }
    let options = &question.options;
    if options.is_empty() {
        return Typed::Answer(words(text));
    }
    let numbers: Option<Vec<usize>> = text
        .split([',', ';', ' ', '\t'])
        .filter(|part| !part.is_empty())
        .map(number)
        .collect();
    // A label that looks like the number of another option does not stand before that number: numbers are what is shown.
    let labelled = options
        .iter()
        .position(|option| option.label.trim().to_lowercase() == text.to_lowercase());
    let own = || Typed::Answer(labelled.map_or_else(|| words(text), |at| chosen(vec![at])));
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
        return own();
    };
    if numbers == [0] {
        return Typed::Other;
    }
    if numbers
        .iter()
        .any(|number| !(1..=options.len()).contains(number))
    {
        return own();
    }
    let mut numbers: Vec<usize> = numbers.into_iter().map(|number| number - 1).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() > 1 && !question.multi {
        return Typed::Several;
    }
    Typed::Answer(chosen(numbers))
}

/// Words of one's own; `None` for nothing.
pub fn own_words(text: &str) -> Option<Answer> {
    let text = text.trim();
    (!text.is_empty()).then(|| words(text))
}

fn words(text: &str) -> Answer {
    Answer {
        chosen: Vec::new(),
        text: Some(text.to_owned()),
    }
}

fn chosen(chosen: Vec<usize>) -> Answer {
    Answer { chosen, text: None }
}

fn number(text: &str) -> Option<usize> {
    let digits: Option<String> = text
        .chars()
        .map(|c| match c {
            '0'..='9' => Some(c),
            '０'..='９' => char::from_u32(u32::from(c) - u32::from('０') + u32::from('0')),
            _ => None,
        })
        .collect();
    digits.filter(|digits| digits.len() <= 4)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn question(labels: &[&str], multi: bool) -> Question {
        let options = labels.iter().map(|label| super::super::Choice {
            label: (*label).to_owned(),
            description: String::new(),
        });
        Question {
            question: "Where?".to_owned(),
            header: "Place".to_owned(),
            choice: !labels.is_empty(),
            multi,
            options: options.collect(),
        }
    }

    #[test]
    fn numbers_choose_and_everything_else_is_words() {
        let one = question(&["Cache", "Disk", "Both"], false);
        let several = question(&["Cache", "Disk", "Both"], true);
        let open = question(&[], false);
        for (question, text, want) in [
            (&one, " 2 ", Typed::Answer(chosen(vec![1]))),
            (&one, "２", Typed::Answer(chosen(vec![1]))),
            (&one, "both", Typed::Answer(chosen(vec![2]))),
            (&one, "", Typed::Nothing),
            (&one, " \t", Typed::Nothing),
            (&one, "0", Typed::Other),
            (&one, "1 2", Typed::Several),
            (&one, "1 1", Typed::Answer(chosen(vec![0]))),
            (&one, "4", Typed::Answer(words("4"))),
            (&one, "-1", Typed::Answer(words("-1"))),
            (
                &one,
                "99999999999999999999",
                Typed::Answer(words("99999999999999999999")),
            ),
            (&one, "2 or so", Typed::Answer(words("2 or so"))),
            (&one, ",", Typed::Answer(words(","))),
            (&several, "3, 1", Typed::Answer(chosen(vec![0, 2]))),
            (&several, "3;1;3", Typed::Answer(chosen(vec![0, 2]))),
            (&several, "1 0", Typed::Answer(words("1 0"))),
            (&open, "0", Typed::Answer(words("0"))),
            (&open, "", Typed::Nothing),
        ] {
            assert_eq!(read(text, question), want, "{text:?}");
        }
        assert_eq!(own_words(" x "), Some(words("x")));
        assert_eq!(own_words(" "), None);
    }
}
