//! Cues in a query that mark the name next to them as a product to replace: `alternative to Slack`,
//! `open source Trello`.

use std::ops::Range;

use super::alternatives::MOST_WORDS;
use crate::text::analyse::Word;

/// What it takes for a name next to a cue to count as the product to replace. A name always counts
/// if some record is listed as an alternative to it, except with
/// [`Description`](Certainty::Description).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// The cue hardly ever means anything else, so it's enough if a product has the name.
    Explicit,
    /// The cue may mean something else (`git clone`, `replace text`). It's enough if a product has
    /// the name, as long as the query contains nothing else.
    Likely,
    /// The cue describes the product that's wanted (`open source Trello`), which may be the named
    /// product itself. So some record must be listed as an alternative to it, no product may have
    /// the name, and the query may not contain anything else.
    Description,
}

/// The folded words that may appear at one position in a cue.
pub(crate) type Place = &'static [&'static str];

struct Cue {
    words: &'static [Place],
    /// Whether the cue comes before the name.
    precedes: bool,
    certainty: Certainty,
}

const ALTERNATIVE: Place = &["alternative", "alternatives", "competitor", "competitors"];
const REPLACEMENT: Place =
    &["clone", "clones", "equivalent", "equivalents", "replacement", "replacements", "substitute", "substitutes"];
const PREPOSITION: Place = &["to", "for", "of"];
const REPLACE: Place = &["replace", "replaces", "replacing"];
const MOVE: Place = &["migrate", "migrating", "migration", "move", "moving", "switch", "switching", "away"];
pub(crate) const KIND: Place = &[
    "anything",
    "app",
    "application",
    "applications",
    "apps",
    "program",
    "programs",
    "service",
    "services",
    "software",
    "something",
    "tool",
    "tools",
];
const PLATFORM: Place = &["android", "ios", "linux", "mac", "macos", "ubuntu", "windows"];

/// All cues. If several begin with the same word, the first one counts.
const CUES: [Cue; 13] = [
    Cue { words: &[ALTERNATIVE, PREPOSITION], precedes: true, certainty: Certainty::Explicit },
    Cue { words: &[ALTERNATIVE], precedes: false, certainty: Certainty::Explicit },
    Cue { words: &[REPLACEMENT, PREPOSITION], precedes: true, certainty: Certainty::Likely },
    Cue { words: &[REPLACEMENT], precedes: false, certainty: Certainty::Likely },
    Cue { words: &[&["similar"], PREPOSITION], precedes: true, certainty: Certainty::Likely },
    Cue { words: &[KIND, &["like"]], precedes: true, certainty: Certainty::Likely },
    Cue { words: &[REPLACE], precedes: true, certainty: Certainty::Likely },
    Cue { words: &[&["instead"], &["of"]], precedes: true, certainty: Certainty::Likely },
    Cue { words: &[MOVE, &["from"]], precedes: true, certainty: Certainty::Likely },
    Cue { words: &[&["open"], &["source"]], precedes: true, certainty: Certainty::Description },
    Cue { words: &[&["self"], &["hosted"]], precedes: true, certainty: Certainty::Description },
    Cue { words: &[&["opensource", "foss", "selfhosted"]], precedes: true, certainty: Certainty::Description },
    Cue { words: &[&["for", "on"], PLATFORM], precedes: false, certainty: Certainty::Description },
];

/// The name of a product that the query may be asking for alternatives to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) words: Range<usize>,
    pub(crate) cue: Range<usize>,
    pub(crate) certainty: Certainty,
}

/// The names of products that a query may be asking for alternatives to, longest first for each
/// cue.
pub(crate) fn subjects(words: &[Word]) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for at in 0..words.len() {
        let Some(cue) = CUES.iter().find(|cue| cue.is_at(words, at)) else { continue };
        let range = at..at + cue.words.len();
        let (start, end) = (range.start, range.end);
        let beside = if cue.precedes { words.len() - end } else { start };
        let names = (1..=beside.min(MOST_WORDS))
            .rev()
            .map(|length| if cue.precedes { end..end + length } else { start - length..start });
        subjects.extend(names.map(|words| Subject { words, cue: range.clone(), certainty: cue.certainty }));
    }
    subjects
}

/// Whether a folded word next to the name of the product to replace only says what kind of thing is
/// wanted.
pub(crate) fn names_kind(folded: &str) -> bool {
    KIND.contains(&folded)
}

impl Cue {
    /// Whether the cue starts at this word in the query, with a name next to it.
    fn is_at(&self, words: &[Word], at: usize) -> bool {
        let end = at + self.words.len();
        let Some(found) = words.get(at..end) else { return false };
        (if self.precedes { end < words.len() } else { at > 0 })
            && found.iter().zip(self.words).all(|(word, place)| place.contains(&word.folded.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analyse::words;

    fn subjects(text: &str) -> Vec<String> {
        let words = words(text);
        let written = |of: &Subject| text[words[of.words.start].start..words[of.words.end - 1].end].to_owned();
        super::subjects(&words).iter().map(written).collect()
    }

    #[test]
    fn subjects_are_found_on_either_side_of_a_cue() {
        assert_eq!(subjects("alternative to google drive"), ["google drive", "google"]);
        assert_eq!(subjects("free google drive replacement"), ["free google drive", "google drive", "drive"]);
        assert_eq!(subjects("something like zapier"), ["zapier"]);
        assert_eq!(subjects("programs like zapier"), ["zapier"]);
        assert_eq!(subjects("apps similar to jira"), ["jira"]);
        assert_eq!(subjects("replace power bi"), ["power bi", "power"]);
        assert_eq!(subjects("switch from power bi"), ["power bi", "power"]);
        assert_eq!(subjects("open-source Trello"), ["Trello"]);
        assert_eq!(subjects("self hosted Trello"), ["Trello"]);
        assert_eq!(subjects("photoshop for linux"), ["photoshop"]);
        for text in ["audit software", "i like slack", "alternative", "similar audits", "open doors", "for linux"] {
            assert_eq!(subjects(text), [""; 0], "{text}");
        }
    }
}
