//! Questions on a terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use crate::command::{Failure, print_note};
use crate::curate::tabular::{Choice, Match};
use crate::text::printable::printable;

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES: u64 = 4096;

pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

pub(super) fn ask(question: &str) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure { text: format!("can't read from the terminal: {error}"), code: 1 };
    let mut err = io::stderr().lock();
    write!(err, "{} ", printable(question)).and_then(|()| err.flush()).map_err(failed)?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(ANSWER_BYTES).read_line(&mut answer).map_err(failed)?;
    if read == 0 { Err(Failure::usage("nothing was written")) } else { Ok(answer.trim().to_owned()) }
}

pub(super) fn required(given: Option<&String>, option: &str, question: &str) -> Result<String, Failure> {
    let answer = match given {
        Some(given) => given.clone(),
        None if is_terminal() => ask(&format!("{question}:"))?,
        None => String::new(),
    };
    if answer.trim().is_empty() {
        return Err(Failure::usage(format!("every export needs {option}; add it")));
    }
    Ok(answer)
}

/// Asks whether a row describes the record that it partly matches or a different one.
pub(super) fn choice(question: &Match) -> Result<Choice, Failure> {
    print_note(&printable(&question.to_string()));
    loop {
        match ask("Update that record, or add another one? [u/a/q]")?.to_lowercase().as_str() {
            "u" | "update" => return Ok(Choice::Update),
            "a" | "add" => return Ok(Choice::Add),
            "q" | "quit" => return Err(Failure::usage("nothing was written")),
            _ => {}
        }
    }
}
