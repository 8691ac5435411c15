//! Asks the agent's questions in the terminal. The input is parsed by [`typed`].

use std::io::{self, IsTerminal as _, stderr, stdin};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::cli::terminal;
use crate::formats::question::Question;
use crate::formats::question::answer::SingleAnswer;
use crate::formats::question::typed::{self, TypedInput};

/// Returns whether a user can be asked: standard input and standard error are terminals.
pub(in crate::cli) fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Returns the text of question `at` of `count`. `at` is 0-based.
pub(in crate::cli) fn shown(at: usize, count: usize, question: &Question) -> String {
    let header = match question.header.trim() {
        "" => String::new(),
        header => format!("{header}: "),
    };
    let mut text = format!("{}/{count} {header}{}\n", at + 1, question.question.trim());
    for (at, option) in question.options.iter().enumerate() {
        text.push_str(&format!("  {} {}", typed::mark(question, at), option.label));
        if !option.description.trim().is_empty() {
            text.push_str(&format!(": {}", option.description));
        }
        text.push('\n');
    }
    terminal::lines(&text)
}

/// Returns the prompt for a question.
fn prompt(question: &Question) -> String {
    if question.options.is_empty() {
        return "Your answer, or Enter to leave it to the agent: ".to_owned();
    }
    let what = match (typed::labels_are_numbers(question), question.multi) {
        (false, false) => "A number",
        (false, true) => "Numbers",
        (true, false) => "A letter",
        (true, true) => "Letters",
    };
    format!("{what}, free text (or 0 to enter it), or Enter to leave it to the agent: ")
}

/// The reason why a question was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum NoAnswer {
    /// The command was stopped.
    Stopped,
    /// Standard input has ended or cannot be read.
    InputEnded,
}

/// Asks a question and waits for the input. An empty input leaves the question to the agent.
///
/// # Errors
/// Returns an error if the command was stopped or standard input has ended.
pub(in crate::cli) async fn ask(
    at: usize,
    count: usize,
    question: &Question,
    stop: &CancellationToken,
) -> Result<SingleAnswer, NoAnswer> {
    forget_typed();
    terminal::print_stderr(&format!("\n{}", shown(at, count, question)));
    loop {
        match typed::parse(&line(&prompt(question), stop).await?, question, at + 1) {
            Ok(TypedInput::Empty) => return Ok(SingleAnswer::default()),
            Ok(TypedInput::Answer(one)) => return Ok(one),
            Ok(TypedInput::OwnWords) => {
                let answer = typed::own_words(&line("Your own words: ", stop).await?);
                if answer.is_some() {
                    return Ok(SingleAnswer {
                        answer,
                        rest: false,
                    });
                }
            }
            Err(error) => terminal::print_stderr(&format!("{error}\n")),
        }
    }
}

/// Discards what was typed before the question was shown.
fn forget_typed() {
    #[cfg(unix)]
    if std::io::IsTerminal::is_terminal(&stdin()) {
        // On failure the input is kept, which is acceptable.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

/// Reads a line from standard input. The reading thread is detached, so it does not delay the end
/// of the program.
async fn line(prompt: &str, stop: &CancellationToken) -> Result<String, NoAnswer> {
    terminal::print_stderr(prompt);
    let (sender, receiver) = oneshot::channel::<io::Result<Option<String>>>();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = stdin().read_line(&mut line);
        // Fails if the command was stopped and the receiver is gone.
        let _ = sender.send(read.map(|bytes| (bytes > 0).then_some(line)));
    });
    tokio::select! {
        biased;
        () = stop.cancelled() => {
            terminal::print_stderr("\n");
            Err(NoAnswer::Stopped)
        }
        read = receiver => match read {
            Ok(Ok(Some(line))) => Ok(line),
            _ => Err(NoAnswer::InputEnded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::question::Choice;

    #[test]
    fn a_question_is_shown_with_its_number_and_without_power_over_the_terminal() {
        let option = |label: &str, description: &str| Choice {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        let question = Question {
            question: "Where does the\u{1b}[31m file live?".to_owned(),
            header: "Place".to_owned(),
            choice: true,
            multi: false,
            options: vec![option("Cache", "may be lost"), option("Disk", "")],
        };
        assert_eq!(
            shown(0, 2, &question),
            "1/2 Place: Where does the\u{fffd}[31m file live?\n  1. Cache: may be lost\n  2. Disk\n"
        );
        let open = Question {
            header: String::new(),
            options: Vec::new(),
            ..question
        };
        assert!(shown(1, 2, &open).starts_with("2/2 Where does"));
        assert!(prompt(&open).starts_with("Your answer"));
    }
}
