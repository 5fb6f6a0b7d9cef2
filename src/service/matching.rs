//! Matches the names in someone else's inventory, which may have versions, editions, vendors,
//! abbreviations and typos, to products.

use bytes::Bytes;
use serde::Serialize;
use strsim::osa_distance;

use super::{ServiceError, SoftwareFilter};
use crate::catalogue::resource::SoftwareDetail;
use crate::generation::Snapshot;
use crate::index::SearchRequest;
use crate::record::normalised_url;
use crate::search::budget::Budget;
use crate::search::typo::{allowed_edits, candidates};
use crate::search::{Alternative, MatchKind, Plan, Term, TermLookup as _, WordGroup};
use crate::text::analyse::{Word, compound, name_key, words};
use crate::text::english::is_common;
use crate::text::is_listed;

/// A match with at least this score may be taken without looking at it: on names from real
/// directories, more than 98% of such matches are right (docs/tables.md).
pub const CERTAIN: f32 = 0.8;

/// Matches with a lower score aren't worth looking at.
const LEAST: f32 = 0.5;

/// The maximum number of products that are compared with a name.
const MAX_COMPARED: usize = 60;

/// The maximum number of words in a name; any others are left out.
const MAX_WORDS: usize = 16;

/// Longer words aren't compared letter by letter, in bytes.
const LONGEST: usize = 64;

/// Why a product matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The name or an alias is the same, apart from case, accents and spaces.
    Name,
    /// The name is the same without a version, an edition or the vendor.
    Base,
    /// One of the names abbreviates the other.
    Abbreviation,
    /// The name is the same apart from typos.
    Spelling,
    /// Some words are the same.
    Words,
}

impl Reason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Base => "name without version, edition or vendor",
            Self::Abbreviation => "abbreviation",
            Self::Spelling => "spelling",
            Self::Words => "some words",
        }
    }
}

/// A product that a name may refer to.
#[derive(Debug)]
pub struct NameMatch {
    /// The product's list item, as JSON.
    pub item: Bytes,
    /// From 0 to 1; see [`CERTAIN`].
    pub score: f32,
    pub reason: Reason,
}

/// Words that say which edition, licence or package of a product it is.
const EDITIONS: &str = "2go academic basic business ce client commercial community corporate desktop developer edition \
    editions education enterprise essentials evaluation express extended free full fur gnu gold home individual \
    lite lts oss personal plus portable premium pro professional release runtime standard starter student team \
    trial ultimate unlimited update";

/// Words that say which system a package is for.
const SYSTEMS: &str = "32bit 64bit amd64 android arm64 bit for ios linux mac macos osx win win32 win64 windows x64 x86";

/// Legal forms of companies, and words that vendors' names often end with.
const COMPANIES: &str = "ag bv co company corp corporation gmbh group inc incorporated international kg limited llc ltd nv \
    oy plc sa sarl sas se software spa srl systems technologies the";

/// A number, a version, or what introduces one: `2024`, `3.5`, `v2`, `r2`, `sp1`, `version`.
fn is_version(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &word[..word.len() - number.len()];
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'x' || c.is_ascii_lowercase());
    matches!(word, "v" | "version" | "ver" | "build" | "x")
        || (is_number && matches!(letters, "" | "v" | "r" | "rev" | "sp" | "cs" | "build"))
}

/// The products that a name may refer to, best first. At most `most` of them. The vendor and the
/// address of the website, if they're known, help to tell products apart.
pub fn match_name(
    snapshot: &Snapshot,
    name: &str,
    known: [Option<&str>; 2],
    most: usize,
    budget: &Budget,
) -> Result<Vec<NameMatch>, ServiceError> {
    let mut asked = words(name);
    asked.truncate(MAX_WORDS);
    let plan = plan(snapshot, &asked, budget)?;
    let [vendor, url] = known;
    let known_host = url.map(host);
    let (filter, page) = (SoftwareFilter::default(), 0..MAX_COMPARED);
    let request = SearchRequest { plan: &plan, filter: &filter, order: None, page, facets: None, texts: false, budget };
    let mut matches = Vec::new();
    for hit in snapshot.index.search(&request)?.hits {
        let stored = snapshot.records.stored(hit.ordinal)?;
        let (score, reason) = compare(snapshot, &asked, vendor, known_host.as_deref(), &stored.read()?);
        if score >= LEAST {
            matches.push(NameMatch { item: hit.item, score, reason });
        }
    }
    matches.sort_by(|a, b| b.score.total_cmp(&a.score));
    // Which of two equally good matches is meant can't be decided here.
    if let [first, second, ..] = &mut matches[..]
        && first.score >= CERTAIN
        && first.score - second.score < UNDECIDED
    {
        for like in [first, second] {
            like.score = like.score.min(CERTAIN - UNDECIDED);
        }
    }
    matches.truncate(most);
    Ok(matches)
}

/// Two matches whose scores differ by less are equally good.
const UNDECIDED: f32 = 0.01;

/// Finds the products with any of these words in their names, also written as one, misspelled or
/// abbreviated.
fn plan(snapshot: &Snapshot, asked: &[Word], budget: &Budget) -> Result<Plan, ServiceError> {
    let lexicon = &snapshot.search.lexicon;
    let of_name = |word: &str, weight| Alternative::new(MatchKind::Name, Term::NameWord(word.into()), weight);
    let mut groups = Vec::new();
    for (at, word) in asked.iter().enumerate() {
        let folded = word.folded.as_str();
        let mut alternatives = vec![of_name(folded, 1.0)];
        alternatives.extend(asked.get(at + 1).map(|next| of_name(&compound(word, next), 1.0)));
        alternatives.extend(at.checked_sub(1).map(|before| of_name(&compound(&asked[before], word), 1.0)));
        let is_known = snapshot.document_frequency(&alternatives[0].term)? > 0;
        if !is_known && !is_common(folded) {
            let found = candidates(lexicon, &|_| false, folded, allowed_edits(folded), budget);
            alternatives.extend(found.iter().map(|found| of_name(&found.folded, 0.8)));
            let initial = folded.chars().next().filter(|_| is_initials(folded));
            let initial = initial.map(|initial| Term::NamePrefix(initial.to_string().into()));
            alternatives.extend(initial.map(|term| Alternative::new(MatchKind::Prefix, term, 0.3)));
        }
        groups.push(WordGroup { alternatives, required: false, indispensable: false });
    }
    if let [word] = asked
        && is_initials(&word.folded)
    {
        groups.extend(word.folded.chars().skip(1).map(|letter| WordGroup {
            alternatives: vec![Alternative::new(MatchKind::Prefix, Term::NamePrefix(letter.to_string().into()), 0.3)],
            ..WordGroup::default()
        }));
    }
    let key = name_key(asked);
    let names = [Term::Name(key.as_str().into()), Term::Identity(key.as_str().into())];
    let whole = names.iter().map(|term| Alternative::new(MatchKind::Name, term.clone(), 1.0)).collect();
    groups.push(WordGroup { alternatives: whole, required: false, indispensable: false });
    Ok(Plan { groups, names: names.to_vec(), ..Plan::default() })
}

/// Whether a word may consist of the initials of several words.
fn is_initials(folded: &str) -> bool {
    (2..=5).contains(&folded.len()) && folded.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The best score of a name among a product's name and aliases.
fn compare(
    snapshot: &Snapshot,
    asked: &[Word],
    vendor: Option<&str>,
    known_host: Option<&str>,
    product: &SoftwareDetail<'_>,
) -> (f32, Reason) {
    let SoftwareDetail { item, detail } = product;
    let host = host(&item.website);
    let of_vendor = item.vendor.iter().map(|vendor| &**vendor).chain([&*host]).flat_map(words);
    let of_vendor: Vec<String> = of_vendor.map(|word| word.folded).collect();
    let is_other_vendor = vendor.is_some_and(|vendor| {
        let vendor = words(vendor);
        item.vendor.is_some() && !vendor.iter().any(|word| is_vendor(&of_vendor, &word.folded))
    });
    let aliases = detail.aliases.iter().map(|alias| &**alias);
    let scores =
        std::iter::once(&*item.name).chain(aliases).map(|name| score(snapshot, asked, &words(name), &of_vendor));
    let best = scores.reduce(|best, other| if other.0 > best.0 { other } else { best });
    let (score, reason) = best.unwrap_or((0.0, Reason::Words));
    let is_other_host = known_host.is_some_and(|known| known != host);
    let cost = OTHER * f32::from(u8::from(is_other_vendor) + u8::from(is_other_host));
    (score - cost, reason)
}

/// The host in an address, in lower case and without `www.`. The scheme may be missing.
fn host(address: &str) -> String {
    let with_scheme = if address.contains("://") { address.into() } else { format!("https://{address}") };
    let normalised = normalised_url(&with_scheme);
    // Schemes other than HTTP aren't dropped.
    let mut parts = normalised.split(['/', '?', '#']);
    parts.find(|part| !part.is_empty() && !part.ends_with(':')).unwrap_or_default().to_owned()
}

/// What another word costs.
const OTHER: f32 = 0.25;

fn is_vendor(of_vendor: &[String], word: &str) -> bool {
    // `ms` for Microsoft
    let is_short = |vendor: &String| {
        let letters: Vec<char> = word.chars().collect();
        matches!(letters[..], [a, b] if vendor.len() > 4 && vendor.starts_with(a) && vendor.chars().skip(1).any(|c| c == b))
    };
    of_vendor.iter().any(|vendor| vendor == word || (word.len() > 3 && vendor.contains(word)) || is_short(vendor))
}

/// Compares a name with a product's: 1 minus what their differences cost.
fn score(snapshot: &Snapshot, asked: &[Word], name: &[Word], of_vendor: &[String]) -> (f32, Reason) {
    let key = name_key(name);
    if !key.is_empty() && name_key(asked) == key {
        return (1.0, Reason::Name);
    }
    let mut left: Vec<&str> = asked.iter().map(|word| word.folded.as_str()).collect();
    let mut missing: Vec<&str> = name.iter().map(|word| word.folded.as_str()).collect();
    let before = missing.len();
    let (mut cost, mut reason) = (0.0, Reason::Base);
    missing.retain(|word| match left.iter().position(|other| other == word) {
        Some(at) => {
            left.remove(at);
            false
        }
        None => true,
    });
    let mut matched = before - missing.len();
    // Words that are written as one in one of the names.
    if let Some((from, to)) = joined(&left, &missing) {
        matched += to.len();
        left.drain(from);
        missing.drain(to);
    }
    if let Some((from, to)) = abbreviated(&left, &missing) {
        (cost, reason, matched) = (cost + 0.1, Reason::Abbreviation, matched + to.len());
        left.drain(from);
        missing.drain(to);
    }
    let is_typo = |typed: &str, meant: &str| {
        let allowed = usize::from(allowed_edits(meant));
        let first = usize::from(typed.chars().next() != meant.chars().next());
        // A long word would take quadratic time.
        typed.len() > 4
            && typed.len().max(meant.len()) <= LONGEST
            && osa_distance(typed, meant) + first <= allowed
            && !is_known(snapshot, typed)
    };
    missing.retain(|word| match left.iter().position(|typed| is_typo(typed, word)) {
        Some(at) => {
            left.remove(at);
            (cost, reason, matched) = (cost + 0.07, reason.max(Reason::Spelling), matched + 1);
            false
        }
        None => true,
    });
    if matched == 0 {
        return (0.0, Reason::Words);
    }
    let is_version_of_name = missing.iter().any(|word| is_version(word));
    for word in left {
        cost += match word {
            _ if is_version(word) && is_version_of_name => OTHER,
            _ if is_version(word) => 0.01,
            _ if is_vendor(of_vendor, word) => 0.01,
            _ if is_listed(EDITIONS, word) || is_listed(SYSTEMS, word) || is_listed(COMPANIES, word) => 0.02,
            _ => OTHER,
        };
    }
    for word in missing {
        cost += match word {
            // Elsewhere, a word of the address is what the product is called.
            _ if name.first().is_some_and(|first| first.folded == word) && is_vendor(of_vendor, word) => 0.02,
            _ if is_listed(EDITIONS, word) || is_listed(COMPANIES, word) => 0.05,
            _ if is_version(word) => 0.1,
            _ => OTHER,
        };
    }
    (1.0 - cost, if cost >= OTHER { Reason::Words } else { reason })
}

/// Whether a word is spelled correctly: it's common, or part of some product's name.
fn is_known(snapshot: &Snapshot, word: &str) -> bool {
    let term = Term::NameWord(word.into());
    is_common(word) || snapshot.document_frequency(&term).is_ok_and(|frequency| frequency > 0)
}

type Ranges = Option<(std::ops::Range<usize>, std::ops::Range<usize>)>;

/// Words in a row in one list that are one word in the other.
fn joined(left: &[&str], missing: &[&str]) -> Ranges {
    let run = |of: &[&str], one: &str| {
        let starts = 0..of.len();
        starts.into_iter().find_map(|start| {
            let end = (start + 2..=of.len().min(start + 4)).find(|end| of[start..*end].concat() == one)?;
            Some(start..end)
        })
    };
    let split = missing.iter().enumerate().find_map(|(at, one)| Some((run(left, one)?, at..at + 1)));
    split.or_else(|| left.iter().enumerate().find_map(|(at, one)| Some((at..at + 1, run(missing, one)?))))
}

/// A word in one list that consists of the initials of words in a row in the other.
fn abbreviated(left: &[&str], missing: &[&str]) -> Ranges {
    let run = |of: &[&str], one: &str| {
        let length = one.chars().count();
        let initials = |some: &[&str]| some.iter().filter_map(|word| word.chars().next()).collect::<String>();
        let starts = 0..(of.len() + 1).saturating_sub(length);
        is_initials(one)
            .then(|| starts.into_iter().find(|start| initials(&of[*start..*start + length]) == one))?
            .map(|start| start..start + length)
    };
    let long = missing.iter().enumerate().find_map(|(at, one)| Some((run(left, one)?, at..at + 1)));
    long.or_else(|| left.iter().enumerate().find_map(|(at, one)| Some((at..at + 1, run(missing, one)?))))
}
