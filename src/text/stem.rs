//! Stems words: removes English endings, converts British spelling to American, and stems other
//! languages.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashMap;
use frostem::{Algorithm, Stemmer};

use super::fold::fold;

/// The version of frostem, whose minor versions change stems. It's part of a generation's name.
pub const VERSION: &str = "2.20261016.1";

#[derive(Clone)]
pub struct Stems(Stemmer);

impl std::fmt::Debug for Stems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stems")
    }
}

impl Default for Stems {
    fn default() -> Self {
        Self(Stemmer::new(Algorithm::English))
    }
}

/// A language besides English whose words are stemmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inflected {
    German,
    French,
    Spanish,
    Italian,
}

impl Inflected {
    pub const ALL: [Self; 4] = [Self::German, Self::French, Self::Spanish, Self::Italian];

    /// The language with this code; `None` for English and for languages whose words aren't
    /// stemmed.
    pub fn of(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.code() == code)
    }

    pub const fn code(self) -> &'static str {
        match self {
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Italian => "it",
        }
    }

    /// Whether the language writes compounds as one word.
    pub const fn has_compounds(self) -> bool {
        matches!(self, Self::German)
    }

    /// The folded stem of a lower-case word that still has its accents
    /// (<https://snowballstem.org/algorithms/>). Words of up to three letters or with a digit are
    /// their own stems. German nouns in *-ie* or *-ien* also lose the `i` that Snowball leaves, so
    /// that they match `genealogisch` and `Prinzip`.
    pub fn stem(self, spelling: &str) -> String {
        if spelling.len() <= 3 || !spelling.chars().all(char::is_alphabetic) {
            return fold(spelling);
        }
        let algorithm = match self {
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Italian => Algorithm::Italian,
        };
        let stem = fold(&Stemmer::new(algorithm).stem(spelling));
        let is_noun = self == Self::German && (spelling.ends_with("ie") || spelling.ends_with("ien"));
        // Plurals in -eien keep the `i` of the singular (`Dateien`, `Datei`), and short stems keep it
        // because they would often become another word (`Partie`, `Part`).
        let base = stem.strip_suffix('i').filter(|base| is_noun && base.len() >= 5 && !base.ends_with('e'));
        base.map(str::to_owned).unwrap_or(stem)
    }
}

impl Stems {
    /// The stem of a folded word: American spelling, then the Snowball English stemmer
    /// (<https://snowballstem.org/algorithms/english/stemmer.html>). Words of up to three letters
    /// or with characters other than `a`–`z` are their own stems.
    pub fn of<'w>(&self, folded: &'w str) -> Cow<'w, str> {
        if folded.len() <= 3 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Cow::Borrowed(folded);
        }
        let spellings = &*SPELLINGS;
        let word = spellings.words.get(folded).map_or_else(|| american_ending(folded), |word| Cow::Borrowed(*word));
        let stem = match word {
            Cow::Borrowed(word) => self.0.stem(word),
            Cow::Owned(word) => Cow::Owned(self.0.stem(&word).into_owned()),
        };
        spellings.stems.get(&*stem).map_or(stem, |american| Cow::Borrowed(american))
    }
}

/// British spellings whose American counterparts have a different stem. `tests/tools/spellings.py`
/// generates `spellings.txt` from `VarCon`, a part of SCOWL (<http://wordlist.aspell.net>), whose
/// licence is in `english/COPYRIGHT`.
#[derive(Default)]
struct Spellings {
    /// British stem → American stem.
    stems: HashMap<Box<str>, Box<str>>,
    /// British word → American word, if an American word has the British one's stem.
    words: HashMap<&'static str, &'static str>,
}

static SPELLINGS: LazyLock<Spellings> = LazyLock::new(|| {
    let stemmer = Stemmer::new(Algorithm::English);
    let stem = |word: &str| stemmer.stem(&american_ending(word)).into();
    let mut spellings = Spellings::default();
    for (british, american) in include_str!("english/spellings.txt").lines().filter_map(|line| line.split_once(' ')) {
        if let Some(american) = american.strip_suffix('=') {
            spellings.words.insert(british, american);
        } else {
            spellings.stems.insert(stem(british), stem(american));
        }
    }
    spellings
});

/// Verb endings in British and American spelling. The part before the ending must be long enough to
/// leave `rise`, `wise`, `noise` and `raised` unchanged.
const ENDINGS: &[(&str, &str)] = &[
    ("isations", "izations"),
    ("isation", "ization"),
    ("ising", "izing"),
    ("isers", "izers"),
    ("iser", "izer"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("ise", "ize"),
    ("ysing", "yzing"),
    ("ysers", "yzers"),
    ("yser", "yzer"),
    ("ysed", "yzed"),
    ("yse", "yze"),
];

/// Words that end like British verbs but are spelled this way everywhere.
const SPELLED_SO: &str = include_str!("english/spelled_so.txt");

/// The American spelling of a word that ends like a British verb.
fn american_ending(word: &str) -> Cow<'_, str> {
    for (british, american) in ENDINGS {
        if let Some(base) = word.strip_suffix(british) {
            // In words that are spelled this way everywhere, `is` or `ys` belongs to the stem.
            let spelled_so = SPELLED_SO.lines().any(|base_is| base_is.strip_suffix("is") == Some(base));
            if base.len() >= 3 && !spelled_so {
                return Cow::Owned(format!("{base}{american}"));
            }
            break;
        }
    }
    Cow::Borrowed(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_matches_the_lock_file() {
        let lock = include_str!("../../Cargo.lock");
        let package = format!("name = \"frostem\"\nversion = \"{VERSION}\"");
        assert!(lock.contains(&package), "VERSION must match Cargo.lock");
    }

    #[test]
    fn forms_of_british_and_american_spellings_share_a_stem() {
        let stems = Stems::default();
        let pairs = "manoeuvring maneuvering, discs disks, dialogues dialogs, catalogues catalogs, \
            catalogued cataloged, tyres tires, ploughed plowed, pyjamas pajamas, sceptical skeptical, \
            travelled traveled, archaeology archeology, cheques checks, offences offenses, fulfil fulfill, \
            enrol enroll, instalments installments, metres meters, litres liters, theatres theaters, \
            paralyse paralyze, catalyse catalyze, containerised containerized, marvellous marvelous, \
            panelled paneled, quarrelling quarreling, amoeba ameba, tonnes tons, organisation organization, \
            organised organizing, colour colors, centre centers, analyse analyze, licence licenses, \
            programme programs, labelling labeling, behavioural behavioral, enrolment enrollment, \
            fulfilment fulfillment";
        for pair in pairs.split(", ") {
            let (british, american) = pair.split_once(' ').expect("two words");
            assert_eq!(stems.of(british), stems.of(american), "{pair}");
        }
    }

    #[test]
    fn a_british_spelling_does_not_affect_other_words() {
        let stems = Stems::default();
        let pairs = "speciality special, calibre calibrate, chilli chilly, programme programmer, vice vise, storey story, \
            prise prize, tyre tier, mum mom";
        for (british, other) in pairs.split(", ").filter_map(|pair| pair.split_once(' ')) {
            assert_ne!(stems.of(british), stems.of(other), "{british} {other}");
        }
    }

    #[test]
    fn every_pair_has_two_words_and_shares_a_stem() {
        let stems = Stems::default();
        for line in include_str!("english/spellings.txt").lines() {
            let (british, american) = line.split_once(' ').expect("two words");
            assert_eq!(stems.of(british), stems.of(american.trim_end_matches('=')), "{line}");
        }
    }

    #[test]
    fn words_spelled_the_same_everywhere_are_left_alone() {
        for word in
            ["exercise", "supervising", "noise", "revised", "enterprise", "rise", "precise", "install", "enroll"]
        {
            assert_eq!(american_ending(word), word);
        }
    }

    #[test]
    fn inflected_forms_share_a_stem_in_their_language() {
        for (language, pairs) in [
            (
                Inflected::German,
                "Tabelle Tabellen, Bild Bilder, Gefahrstoff Gefahrstoffe, Prüfung Prüfungen, Ordner ordners, fünf fuenf, \
                 Genealogie genealogische, Strategien strategisch, Prinzip Prinzipien, Material Materialien, \
                 Partei Parteien, Druckerei Druckereien, Serie Serien, Kategorie Kategorien",
            ),
            (Inflected::French, "fichier fichiers, évaluation évaluations, gérer gérez, sécurité sécurités"),
            (Inflected::Spanish, "archivo archivos, gestor gestores"),
            (Inflected::Italian, "gestione gestioni, documento documenti"),
        ] {
            for pair in pairs.split(", ") {
                let (one, other) = pair.split_once(' ').expect("two words");
                let stem = |word: &str| language.stem(&word.to_lowercase());
                assert_eq!(stem(one), stem(other), "{pair}");
            }
        }
        assert_ne!(Inflected::German.stem("partie"), Inflected::German.stem("part"));
        assert_eq!(Inflected::German.stem("iso9001"), "iso9001");
        assert_eq!(
            [Inflected::of("de"), Inflected::of("en"), Inflected::of("pt")],
            [Some(Inflected::German), None, None]
        );
    }

    #[test]
    fn only_words_lose_their_endings() {
        let stems = Stems::default();
        assert_eq!(stems.of("permits"), "permit");
        assert_eq!(stems.of("inspections"), stems.of("inspect"));
        for word in ["c++", "iso9001", "r", "ppe", "安全", "охрана"] {
            assert_eq!(stems.of(word), word);
        }
    }
}
