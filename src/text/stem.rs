//! Stems words: removes English endings and converts British spelling to American.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

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

impl Stems {
    /// The stem of a folded word: American spelling, then the Snowball English stemmer
    /// (<https://snowballstem.org/algorithms/english/stemmer.html>). Words of up to three letters
    /// or with characters other than `a`–`z` are their own stems.
    pub fn of<'w>(&self, folded: &'w str) -> Cow<'w, str> {
        if folded.len() <= 3 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Cow::Borrowed(folded);
        }
        match american(folded) {
            Cow::Borrowed(word) => self.0.stem(word),
            Cow::Owned(word) => Cow::Owned(self.0.stem(&word).into_owned()),
        }
    }
}

/// Parts of words with a British and an American spelling. They match at the start of a word, or
/// anywhere if they begin with `*`, and are long enough not to occur in other words. Source: pairs
/// listed in British and American dictionaries.
const PARTS: &[(&str, &str)] = &[
    ("aeroplane", "airplane"),
    ("aluminium", "aluminum"),
    ("analogue", "analog"),
    ("*anaemi", "anemi"),
    ("*anaesthe", "anesthe"),
    ("artefact", "artifact"),
    ("behaviour", "behavior"),
    ("calibre", "caliber"),
    ("cancell", "cancel"),
    ("catalogue", "catalog"),
    ("centre", "center"),
    ("centring", "centering"),
    ("cheque", "check"),
    ("*colour", "color"),
    ("counsell", "counsel"),
    ("defence", "defense"),
    ("dialogue", "dialog"),
    ("enrol", "enroll"),
    ("favour", "favor"),
    ("fibre", "fiber"),
    ("flavour", "flavor"),
    ("foetal", "fetal"),
    ("fulfil", "fulfill"),
    ("*fuell", "fuel"),
    ("grey", "gray"),
    ("gynaeco", "gyneco"),
    ("*haem", "hem"),
    ("harbour", "harbor"),
    ("honour", "honor"),
    ("humour", "humor"),
    ("instalment", "installment"),
    ("judgement", "judgment"),
    ("*labell", "label"),
    ("*labour", "labor"),
    ("leukaemi", "leukemi"),
    ("licence", "license"),
    ("litre", "liter"),
    ("manoeuv", "maneuv"),
    ("metre", "meter"),
    ("kilometre", "kilometer"),
    ("millimetre", "millimeter"),
    ("*modell", "model"),
    ("mould", "mold"),
    ("neighbour", "neighbor"),
    ("odour", "odor"),
    ("offence", "offense"),
    ("oedema", "edema"),
    ("oesoph", "esoph"),
    ("oestro", "estro"),
    ("orthopaed", "orthoped"),
    ("paediatr", "pediatr"),
    ("plough", "plow"),
    ("practise", "practice"),
    ("pretence", "pretense"),
    ("programme", "program"),
    ("*rigour", "rigor"),
    ("sceptic", "skeptic"),
    ("signall", "signal"),
    ("skilful", "skillful"),
    ("sulph", "sulf"),
    ("theatre", "theater"),
    ("tonne", "ton"),
    ("toxaem", "toxem"),
    ("travell", "travel"),
    ("tumour", "tumor"),
    ("tunnell", "tunnel"),
    ("tyre", "tire"),
    ("vapour", "vapor"),
    ("vigour", "vigor"),
    ("wilful", "willful"),
];

/// Verb endings in British and American spelling. The part before must be long enough to leave
/// `rise`, `wise`, `noise` and `raised` unchanged.
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
const SPELLED_SO: &[&str] = &[
    "advertis",
    "advis",
    "compris",
    "compromis",
    "concis",
    "cruis",
    "demis",
    "despis",
    "devis",
    "disguis",
    "enterpris",
    "excis",
    "exercis",
    "expertis",
    "franchis",
    "improvis",
    "incis",
    "merchandis",
    "otherwis",
    "paradis",
    "precis",
    "premis",
    "promis",
    "revis",
    "supervis",
    "surmis",
    "surpris",
    "televis",
    "treatis",
    "prais",
    "apprais",
    "nois",
    "rais",
    "rais",
    "wis",
    "likewis",
    "clockwis",
    "turquois",
    "tortois",
    "pois",
    "bruis",
    "rais",
    "aris",
    "circumcis",
    "chastis",
    "marquis",
];

const LETTERS_OF_PARTS: [u32; PARTS.len()] = {
    let mut letters_of = [0; PARTS.len()];
    let mut at = 0;
    while at < PARTS.len() {
        letters_of[at] = letters(PARTS[at].0);
        at += 1;
    }
    letters_of
};

/// The letters `a` to `z` that occur in a text, one bit each.
const fn letters(text: &str) -> u32 {
    let (bytes, mut letters, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        if bytes[at].is_ascii_lowercase() {
            letters |= 1 << (bytes[at] - b'a');
        }
        at += 1;
    }
    letters
}

pub fn american(word: &str) -> Cow<'_, str> {
    let others = !letters(word);
    // Most words lack some letter of every part, so this skips searching for the parts.
    let parts = PARTS.iter().zip(LETTERS_OF_PARTS).filter(|(_, letters)| letters & others == 0);
    for ((british, american), _) in parts {
        let found = match british.strip_prefix('*') {
            Some(part) => word.find(part).map(|at| (at, part)),
            None => word.starts_with(british).then_some((0, *british)),
        };
        if let Some((at, part)) = found
            && !(american.starts_with(part) && word[at..].starts_with(american))
        {
            return Cow::Owned(format!("{}{american}{}", &word[..at], &word[at + part.len()..]));
        }
    }
    for (british, american) in ENDINGS {
        if let Some(base) = word.strip_suffix(british) {
            // `is` or `ys` belongs to the stem of a word that is spelled this way everywhere.
            let spelled_so = SPELLED_SO.iter().any(|base_is| base_is.strip_suffix("is") == Some(base));
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
    fn version_is_the_locked_one() {
        let lock = include_str!("../../Cargo.lock");
        let package = format!("name = \"frostem\"\nversion = \"{VERSION}\"");
        assert!(lock.contains(&package), "VERSION has to follow Cargo.lock");
    }

    #[test]
    fn british_and_american_spelling_have_one_stem() {
        let stems = Stems::default();
        for (british, american) in [
            ("organisation", "organization"),
            ("organised", "organizing"),
            ("colour", "colors"),
            ("labour", "labor"),
            ("centre", "centers"),
            ("analyse", "analyze"),
            ("licence", "licenses"),
            ("programme", "programs"),
            ("haemorrhage", "hemorrhage"),
            ("sulphur", "sulfur"),
            ("labelling", "labeling"),
            ("behavioural", "behavioral"),
            ("enrolment", "enrollment"),
            ("fulfilment", "fulfillment"),
        ] {
            assert_eq!(stems.of(british), stems.of(american), "{british} {american}");
        }
    }

    #[test]
    fn every_british_part_is_replaced() {
        for (british, american_part) in PARTS {
            let part = british.trim_start_matches('*');
            assert!(american(&format!("{part}x")).contains(american_part), "{part}");
        }
    }

    #[test]
    fn words_spelled_so_everywhere_are_left_alone() {
        for word in
            ["exercise", "supervising", "noise", "revised", "enterprise", "rise", "precise", "install", "enroll"]
        {
            assert_eq!(american(word), word);
        }
    }

    #[test]
    fn endings_are_cut_from_words_only() {
        let stems = Stems::default();
        assert_eq!(stems.of("permits"), "permit");
        assert_eq!(stems.of("inspections"), stems.of("inspect"));
        for word in ["c++", "iso9001", "r", "ppe", "安全", "охрана"] {
            assert_eq!(stems.of(word), word);
        }
    }
}
