//! A document's terms for an index that tantivy builds itself: text that encodes each term with its
//! frequency, and a tokenizer that decodes it.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Terminates each term in a document's text.
const END: char = '\u{1f}';

/// Appends a term together with its frequency in the document.
pub(crate) fn write(text: &mut String, term: &str, frequency: u32) {
    // Surrogates start at 0xD800, so higher frequencies are capped just below that.
    text.push(char::from_u32(frequency.clamp(1, 0xD7FF)).unwrap_or('\u{1}'));
    text.push_str(term);
    text.push(END);
}

/// Emits every term as often as it occurs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frequencies;

impl Tokenizer for Frequencies {
    type TokenStream<'a> = Repeated<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Repeated<'a> {
        Repeated { rest: text, left: 0, token: Token::default() }
    }
}

/// A document's terms, each repeated as often as it occurs.
#[derive(Debug)]
pub(crate) struct Repeated<'a> {
    rest: &'a str,
    left: u32,
    token: Token,
}

impl TokenStream for Repeated<'_> {
    fn advance(&mut self) -> bool {
        if self.left == 0 {
            let mut chars = self.rest.chars();
            let Some(frequency) = chars.next() else { return false };
            let Some((term, rest)) = chars.as_str().split_once(END) else { return false };
            self.rest = rest;
            self.left = u32::from(frequency);
            self.token.text.clear();
            self.token.text.push_str(term);
        }
        self.left -= 1;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
