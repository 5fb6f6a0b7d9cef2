//! Words that mean the same to a search.

/// One entry of an envelope's `synonyms`. Terms may be several words; they are kept as written and never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SynonymGroup {
    /// `{"terms": [...]}`: all mean the same.
    Equivalent(Vec<Box<str>>),
    /// `{"from": [...], "to": "..."}`: a query for one of `from` also finds `to`, not the other way round.
    OneWay {
        /// The terms of queries.
        from: Vec<Box<str>>,
        /// The terms that match them too.
        to: Box<str>,
    },
    /// `{"ambiguous": [...]}`: short forms that are ordinary words too, expanded only when they are the whole query or
    /// written in capitals.
    Ambiguous(Vec<Box<str>>),
}
