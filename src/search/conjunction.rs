//! Conjunctions between two words, written as a word or a symbol: `R and D`, `R & D`, `R + D` or
//! `R&D`.

use std::collections::{HashMap, HashSet};

use super::lexicon::{Lexicon, WordId};
use super::plan::Phrase;
use crate::text::analyse::{CONJUNCTIONS, Word, is_conjunction, is_in_acronym, words};

const SIGNS: [char; 4] = ['&', '+', '＆', '＋'];

/// Maximum number of conjunctions in a phrase that match other forms. There's a limit because each
/// conjunction may triple the number of forms.
const MOST: usize = 2;

/// A word of a phrase, or a conjunction between two words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Token {
    Word(String),
    Conjunction,
}

/// A phrase's forms, excluding forms with a word that isn't in the lexicon. A conjunction may
/// become another word, a symbol or, as in `R&D`, part of an acronym. `None` if there are no such
/// forms.
pub(super) fn phrase(lexicon: &Lexicon, text: &str, words: &[Word]) -> Option<Phrase> {
    let spellings = |word: &str| lexicon.word(word).map(|word| lexicon.spellings(word));
    let position = |token: &Token| match token {
        Token::Word(word) => spellings(word),
        Token::Conjunction => {
            let known: Vec<WordId> = CONJUNCTIONS.into_iter().filter_map(spellings).flatten().collect();
            (!known.is_empty()).then_some(known)
        }
    };
    let forms = forms(&tokens(text, words));
    let tokens: HashSet<&Token> = forms.iter().flatten().collect();
    let positions: HashMap<_, _> = tokens.into_iter().map(|token| (token, position(token))).collect();
    let known = |form: &Vec<Token>| form.iter().map(|token| positions.get(token).cloned()?).collect();
    let phrase: Phrase = forms.iter().filter_map(known).collect();
    (!phrase.is_empty()).then_some(phrase)
}

fn tokens(text: &str, phrase: &[Word]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(phrase.len());
    let mut conjunctions = 0;
    let mut end = None;
    for (at, word) in phrase.iter().enumerate() {
        let gap = end.and_then(|end| text.get(end..word.start)).unwrap_or_default();
        end = Some(word.end);
        let is_inside = at > 0 && at + 1 < phrase.len();
        let written = &text[word.start..word.end];
        if conjunctions < MOST && gap.contains(SIGNS) {
            tokens.push(Token::Conjunction);
            conjunctions += 1;
        }
        if conjunctions < MOST && is_inside && is_conjunction(&word.folded) {
            tokens.push(Token::Conjunction);
            conjunctions += 1;
        } else if conjunctions < MOST && written.contains('&') {
            for (at, part) in written.splitn(1 + MOST - conjunctions, '&').enumerate() {
                if at > 0 {
                    tokens.push(Token::Conjunction);
                    conjunctions += 1;
                }
                tokens.extend(words(part).into_iter().map(|word| Token::Word(word.folded)));
            }
        } else {
            tokens.push(Token::Word(word.folded.clone()));
        }
    }
    tokens
}

fn push(forms: &mut [Vec<Token>], token: &Token) {
    for form in forms {
        form.push(token.clone());
    }
}

/// All combinations of forms that a phrase's conjunctions can take.
fn forms(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut forms = vec![Vec::with_capacity(tokens.len())];
    let mut is_joined = false;
    for token in tokens {
        let Token::Word(word) = token else {
            is_joined = true;
            continue;
        };
        if std::mem::take(&mut is_joined) {
            let acronym = |form: &Vec<Token>| match form.split_last()? {
                (Token::Word(before), rest) if is_in_acronym(before, word) => {
                    Some([rest, &[Token::Word(format!("{before}{word}"))]].concat())
                }
                _ => None,
            };
            let acronyms: Vec<_> = forms.iter().filter_map(acronym).collect();
            let with_sign = forms.clone();
            push(&mut forms, &Token::Conjunction);
            forms.extend(with_sign);
            push(&mut forms, token);
            forms.extend(acronyms);
        } else {
            push(&mut forms, token);
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phrase's forms, with `&` for each conjunction that's written as a word.
    fn written(phrase: &str) -> Vec<String> {
        let token = |token: &Token| match token {
            Token::Word(word) => word.clone(),
            Token::Conjunction => "&".to_owned(),
        };
        let forms = forms(&tokens(phrase, &words(phrase)));
        let mut forms: Vec<_> = forms.iter().map(|form| form.iter().map(token).collect::<Vec<_>>().join(" ")).collect();
        forms.sort();
        forms
    }

    #[test]
    fn a_conjunction_can_be_a_word_or_a_symbol() {
        for phrase in ["Health and Safety", "health & safety", "health&safety", "health + safety", "health und safety"]
        {
            assert_eq!(written(phrase), ["health & safety", "health safety"], "{phrase}");
        }
        assert_eq!(written("health safety"), ["health safety"]);
        assert_eq!(written("and safety und"), ["and safety und"], "only between words");
        let overlapping = ["安全 全管 管理 & 品質", "安全 全管 管理 品質", "安全 全管 管理品質"];
        assert_eq!(written("安全管理 and 品質"), overlapping);
    }

    #[test]
    fn a_conjunction_can_be_part_of_an_acronym() {
        for phrase in ["R&D", "r and d", "R + D", "r & d"] {
            assert_eq!(written(phrase), ["r & d", "r d", "rd"], "{phrase}");
        }
        assert_eq!(written("EH&S log"), ["eh & s log", "eh s log", "ehs log"]);
        assert_eq!(written("a&b&c").len(), 9);
    }

    #[test]
    fn forms_are_bounded() {
        let phrase = "a & ".repeat(60) + "a";
        assert_eq!(written(&phrase).len(), 9);
        let phrase = "a and ".repeat(60) + "a";
        assert_eq!(written(&phrase).len(), 9);
        assert_eq!(written("q&a&b&c").len(), 9);
    }
}
