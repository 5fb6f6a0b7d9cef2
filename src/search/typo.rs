//! Spelling correction: which words in the lexicon a misspelled word may stand for.

use std::sync::OnceLock;

use bytes::Bytes;
use fst::Map;
use fst::raw::Output;
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};

use super::budget::Budget;
use super::lexicon::{Lexicon, WordId};

/// The maximum number of corrections for a word.
const CANDIDATES: usize = 4;

/// Budget units per byte of the word that an automaton is built for. With two edits, an automaton
/// has about four times as many states.
const AUTOMATON: usize = 110;

/// Budget units per transition in the dictionary.
const BRANCH: usize = 4;

/// Budget units per word that the automaton accepts, in addition to those for comparing letters.
const CANDIDATE: usize = 40;

/// How many pairs of letters are compared per budget unit.
const COMPARED_AT_ONCE: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub struct Respelling {
    pub folded: String,
    pub word: WordId,
    /// How different the word is from the typed word; see [`cost`]. Lower is better.
    pub cost: f32,
}

/// How many edits a word may have: none for up to three letters, one for four to seven, and two for
/// eight or more. Words that contain anything but letters are codes and numbers, which are never
/// considered misspelled.
pub fn allowed_edits(folded: &str) -> u8 {
    if !folded.chars().all(char::is_alphabetic) {
        return 0;
    }
    match folded.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Corrections for a word that isn't in the lexicon, best first: the closest words come first, and
/// on a tie, the most frequent ones. An edit to the first letter counts double; swapping two
/// neighbouring letters is one edit. A word that no product contains counts only if it's a synonym.
pub fn candidates(
    lexicon: &Lexicon,
    is_synonym: &dyn Fn(&str) -> bool,
    folded: &str,
    edits: u8,
    budget: &Budget,
) -> Vec<Respelling> {
    let mut found = Vec::new();
    let collect = |first, dfa: &DFA, found: &mut Vec<Respelling>| {
        collect(lexicon, is_synonym, folded, first, dfa, budget, found);
    };
    let automaton = |edits| affords(folded, edits, budget).then(|| automata(edits).build_dfa(folded));
    if edits > 0
        && let Some(one) = automaton(1)
    {
        let first = first_letter(folded);
        // With one edit, the first letter must be correct, because an edit to it counts double.
        // This skips most of the lexicon.
        collect(Some(first), &one, &mut found);
        if edits > 1
            && found.is_empty()
            && let Some(two) = automaton(2)
        {
            collect(Some(first), &two, &mut found);
            // If the first letter is wrong, that accounts for both edits, and the rest is correct.
            collect(None, &one, &mut found);
        }
    }
    found
}

/// Words that begin with a corrected form of the prefix that was typed so far.
pub fn prefix_candidates(lexicon: &Lexicon, folded: &str, edits: u8, budget: &Budget) -> Vec<Respelling> {
    let mut found = Vec::new();
    if edits > 0 && affords(folded, 1, budget) {
        let (first, dfa) = (first_letter(folded), automata(1).build_prefix_dfa(folded));
        collect(lexicon, &|_| false, folded, Some(first), &dfa, budget, &mut found);
    }
    found
}

/// Whether the budget allows building an automaton, which is then paid for.
fn affords(folded: &str, edits: u8, budget: &Budget) -> bool {
    budget.pay(AUTOMATON * folded.len() * usize::from(edits).pow(2))
}

fn first_letter(word: &str) -> &str {
    word.chars().next().map_or("", |letter| &word[..letter.len_utf8()])
}

/// Adds the best words that an automaton accepts to the best few found so far, best first.
fn collect(
    lexicon: &Lexicon,
    is_synonym: &dyn Fn(&str) -> bool,
    typed: &str,
    first: Option<&str>,
    dfa: &DFA,
    budget: &Budget,
    found: &mut Vec<Respelling>,
) {
    search(lexicon.words(), dfa, first.unwrap_or_default(), budget, |word, number| {
        let (Ok(word), Ok(number)) = (std::str::from_utf8(word), WordId::try_from(number)) else { return };
        if !budget.pay(CANDIDATE + typed.len() * word.len() / COMPARED_AT_ONCE) {
            return;
        }
        if first.is_none() && word.chars().next() == typed.chars().next() {
            return;
        }
        // The intended word is never a code, a number or an abbreviation.
        if !word.chars().all(char::is_alphabetic) || word.chars().count() <= 3 {
            return;
        }
        let frequency = lexicon.document_frequency(number);
        if frequency == 0 && !is_synonym(word) {
            return;
        }
        let cost = cost(typed, word) - frequency_bonus(frequency);
        let order = |kept: &Respelling| kept.cost.total_cmp(&cost).then_with(|| (*kept.folded).cmp(word));
        let at = found.partition_point(|kept| order(kept).is_lt());
        if at < CANDIDATES {
            found.insert(at, Respelling { folded: word.to_owned(), word: number, cost });
            found.truncate(CANDIDATES);
        }
    });
}

/// Finds all words that begin with some letters and are accepted by an automaton, in order, with
/// their numbers. The budget limits transitions, which the map's own search can't count. That search
/// also opens every node before checking whether the automaton can match there, which takes twice as
/// many instructions.
fn search(words: &Map<Bytes>, dfa: &DFA, first: &str, budget: &Budget, mut found: impl FnMut(&[u8], u64)) {
    let words = words.as_fst();
    let (mut node, mut output, mut state) = (words.root(), Output::zero(), dfa.initial_state());
    for byte in first.bytes() {
        let Some(branch) = node.find_input(byte).map(|at| node.transition(at)) else { return };
        (node, output, state) = (words.node(branch.addr), output.cat(branch.out), dfa.transition(state, byte));
    }
    let mut word = first.as_bytes().to_vec();
    let mut way = vec![(node, 0, output, state)];
    while let Some((node, next, output, state)) = way.last_mut() {
        if *next == node.len() {
            way.pop();
            word.pop();
            continue;
        }
        if !budget.allows_more() {
            break;
        }
        budget.spend(BRANCH);
        let branch = node.transition(*next);
        *next += 1;
        let state = dfa.transition(*state, branch.inp);
        if state == SINK_STATE {
            continue;
        }
        let (node, output) = (words.node(branch.addr), output.cat(branch.out));
        word.push(branch.inp);
        if node.is_final() && matches!(dfa.distance(state), Distance::Exact(_)) {
            found(&word, output.cat(node.final_output()).value());
        }
        way.push((node, 0, output, state));
    }
}

/// How much a word's frequency reduces its cost: at equal distance, the more frequent word is
/// likelier.
fn frequency_bonus(document_frequency: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let frequency = document_frequency as f32;
    (1.0 + frequency).ln() * 0.08
}

/// How different two words are: the restricted Damerau–Levenshtein distance with lower costs for
/// typical slips (doubling a letter or missing a double one, swapping two neighbouring letters, or
/// typing one vowel for another).
pub fn cost(typed: &str, meant: &str) -> f32 {
    let typed: Vec<char> = typed.chars().collect();
    let meant: Vec<char> = meant.chars().collect();
    let width = meant.len() + 1;
    let at = |i: usize, j: usize| i * width + j;
    let mut table = vec![0.0_f32; (typed.len() + 1) * width];
    for i in 0..=typed.len() {
        for j in 0..=meant.len() {
            let is_doubled = |letters: &[char], at: usize| at > 1 && letters[at - 1] == letters[at - 2];
            let is_swapped = i > 1 && j > 1 && typed[i - 1] == meant[j - 2] && typed[i - 2] == meant[j - 1];
            let ways = [
                (i > 0).then(|| table[at(i - 1, j)] + if is_doubled(&typed, i) { 0.6 } else { 1.0 }),
                (j > 0).then(|| table[at(i, j - 1)] + if is_doubled(&meant, j) { 0.6 } else { 0.9 }),
                (i > 0 && j > 0).then(|| table[at(i - 1, j - 1)] + replacement_cost(typed[i - 1], meant[j - 1])),
                is_swapped.then(|| table[at(i - 2, j - 2)] + 0.7),
            ];
            table[at(i, j)] = ways.into_iter().flatten().reduce(f32::min).unwrap_or(0.0);
        }
    }
    table[at(typed.len(), meant.len())]
}

fn replacement_cost(typed: char, meant: char) -> f32 {
    match typed == meant {
        true => 0.0,
        false if is_vowel(typed) && is_vowel(meant) => 0.7,
        false => 1.0,
    }
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// The parametric automata for one and two edits. They're expensive to build, so they're built only
/// once.
fn automata(distance: u8) -> &'static LevenshteinAutomatonBuilder {
    static ALL: [OnceLock<LevenshteinAutomatonBuilder>; 2] = [OnceLock::new(), OnceLock::new()];
    let distance = distance.clamp(1, 2);
    ALL[usize::from(distance) - 1].get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::lexicon::LexiconBuilder;

    fn lexicon(words: &[(&str, u32)]) -> Lexicon {
        let mut builder = LexiconBuilder::default();
        for (word, frequency) in words {
            builder.note(word, word, 0);
            for document in 1..=*frequency {
                builder.note(word, word, document);
            }
        }
        Lexicon::open(builder.finish().expect("a lexicon").0).expect("it opens")
    }

    fn meant(lexicon: &Lexicon, typed: &str) -> Vec<String> {
        let found = candidates(lexicon, &|_| false, typed, allowed_edits(typed), &Budget::new(u64::MAX));
        found.into_iter().map(|candidate| candidate.folded).collect()
    }

    #[test]
    fn four_letters_allow_one_edit_and_eight_allow_two() {
        let lexicon = lexicon(&[("permit", 3), ("work", 5), ("calibration", 2), ("car", 9)]);
        assert_eq!(meant(&lexicon, "permt"), ["permit"]);
        assert_eq!(meant(&lexicon, "wrok"), ["work"], "a transposition is one edit");
        assert_eq!(meant(&lexicon, "calbraton"), ["calibration"]);
        assert_eq!(meant(&lexicon, "prmt"), [""; 0]);
        assert_eq!(meant(&lexicon, "cra"), [""; 0], "a word with three letters is never considered misspelled");
        assert_eq!(meant(&lexicon, "cars"), [""; 0], "an abbreviation is never suggested");
    }

    #[test]
    fn the_first_letter_counts_double() {
        let lexicon = lexicon(&[("greener", 3), ("management", 3)]);
        assert_eq!(meant(&lexicon, "breener"), [""; 0]);
        assert_eq!(meant(&lexicon, "nanagement"), ["management"]);
        assert_eq!(meant(&lexicon, "nanagemnt"), [""; 0]);
    }

    #[test]
    fn codes_and_numbers_are_never_misspelled() {
        let lexicon = lexicon(&[("iso9001", 3), ("45001", 3)]);
        assert_eq!(meant(&lexicon, "iso9002"), [""; 0]);
        assert_eq!(meant(&lexicon, "45002"), [""; 0]);
    }

    #[test]
    fn words_are_corrected_to_words_that_records_contain() {
        let lexicon = lexicon(&[("passport", 0), ("postword", 1)]);
        assert_eq!(meant(&lexicon, "pastword"), ["postword"]);
    }

    #[test]
    fn words_that_are_nearly_alike_use_up_the_budget_instead_of_time() {
        let letters = ('\u{4e00}'..='\u{9fa5}').take(5_000);
        let near: Vec<_> = letters.map(|letter| (format!("sa{letter}ty"), 1)).collect();
        let near: Vec<_> = near.iter().map(|(word, frequency)| (&**word, *frequency)).collect();
        let (lexicon, budget) = (lexicon(&near), Budget::new(100_000));
        let found = candidates(&lexicon, &|_| false, "safty", 1, &budget);
        assert!(budget.is_exceeded());
        assert_eq!(found.len(), CANDIDATES);
        // Each candidate costs more than its transitions.
        let complete = Budget::new(u64::MAX);
        candidates(&lexicon, &|_| false, "safty", 1, &complete);
        assert!(!complete.is_exceeded() && complete.spent() > 5_000 * CANDIDATE as u64, "{complete:?}");
    }

    #[test]
    fn long_word_costs_as_much_as_its_automaton() {
        let (lexicon, budget) = (lexicon(&[("permit", 3)]), Budget::new(10_000));
        assert_eq!(candidates(&lexicon, &|_| false, &"permit".repeat(20), 2, &budget), []);
        assert!(budget.is_exceeded());
    }

    #[test]
    fn correction_prefers_the_more_frequent_word() {
        let lexicon = lexicon(&[("audit", 40), ("audio", 1)]);
        assert_eq!(meant(&lexicon, "audip")[0], "audit");
    }
}
