//! Collects a report's content from a set of exports.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt as _};

use super::{Block, Cell, Document, Histogram, Section, Table};
use crate::export::{Export, Report};
use crate::record::{
    Attributes, BUILT_IN, CalendarDate, EvidenceStatus, Language, Languages, Property, Required, SOFTWARE, Software,
    Translations, claim, identity, normalised_url,
};
use crate::text::count::Grouped;

/// Collects the report as of a given day from the set's valid records and the number of findings.
pub fn collect(report: &Report, day: CalendarDate) -> Document {
    let exports = &report.exports;
    let software: Vec<_> = exports.iter().flat_map(|export| &export.software).collect();
    let mut sections = vec![
        summary(report, &software, day),
        by_export(exports, software.len(), day),
        by_status(&software, day),
        by_category(&software, day),
        ages(&software, day),
        missing_fields(exports, &software),
        claims(&software),
    ];
    sections.extend(languages(exports));
    sections.extend([duplicates(&software), unused_categories(exports, &software), findings(report)]);
    Document { title: "Report on the directory", day, sections }
}

fn summary(report: &Report, software: &[&Software], day: CalendarDate) -> Section {
    let exports = &report.exports;
    let sum = |count: fn(&Export) -> usize| Cell::Number(exports.iter().map(count).sum());
    let categories = software.iter().flat_map(|software| &software.categories);
    let described = exports.iter().flat_map(|export| &export.categories).map(|category| &category.name);
    let categories: BTreeSet<_> = categories.chain(described).map(|name| identity(name)).collect();
    let [_, reviewed, recent] = tally(software.iter().copied(), day).cells(software.len());
    let facts = [
        ("Exports", Cell::Number(exports.len())),
        ("Products", Cell::Number(software.len())),
        ("Products with reviewed evidence", reviewed),
        ("Products checked within a year", recent),
        ("Categories", Cell::Number(categories.len())),
        ("User reviews", sum(|export| export.reviews.len())),
        ("Glossary terms", sum(|export| export.glossary.len())),
        ("Synonym groups", sum(|export| export.synonyms.len())),
        ("Errors", Cell::Number(report.error_count())),
        ("Warnings", Cell::Number(report.warning_count())),
    ];
    let facts = facts.map(|(name, cell)| vec![Cell::text(name), cell]);
    let mut blocks = vec![Block::Table(Table::new(&["In the directory", "Number"], facts))];
    if !report.is_valid() {
        let skipped = report.skipped;
        blocks.insert(0, Block::Paragraph(format!("Invalid and not included in any other number: {skipped}.")));
    }
    Section { title: "Summary", blocks }
}

fn by_export(exports: &[Export], total: usize, day: CalendarDate) -> Section {
    let rows = exports.iter().map(|export| {
        vec![
            Cell::text(&export.id),
            Cell::text(&export.name),
            Cell::Uri(export.license.to_string()),
            Cell::text(export.as_of.as_deref().unwrap_or("not stated")),
            Cell::Number(export.categories.len()),
            Cell::Number(export.reviews.len()),
            Cell::Number(export.glossary.len()),
            Cell::Number(export.synonyms.len()),
        ]
    });
    let heads = ["Export", "Name", "Licence", "As of", "Categories", "User reviews", "Terms", "Synonyms"];
    let about = Table::new(&heads, rows).captioned("Names, licences and other records");
    let groups = exports.iter().map(|export| (export.id.to_string(), tally(&export.software, day)));
    let products = tallies("Export", groups.collect(), total).captioned("Products");
    Section { title: "Exports", blocks: vec![Block::Table(products), Block::Table(about)] }
}

/// A table of groups of products, largest first, then by name.
fn tallies(head: &'static str, mut groups: Vec<(String, Tally)>, total: usize) -> Table {
    groups.sort_by(|(name, tally), (other_name, other)| {
        (Reverse(tally.products), name).cmp(&(Reverse(other.products), other_name))
    });
    let heads: Vec<_> = std::iter::once(head).chain(Tally::HEADS).collect();
    let row = |(name, tally): (String, Tally)| std::iter::once(Cell::text(&name)).chain(tally.cells(total)).collect();
    Table::new(&heads, groups.into_iter().map(row))
}

fn by_status(software: &[&Software], day: CalendarDate) -> Section {
    let rows = EvidenceStatus::ALL.map(|status| {
        let of_status: Vec<_> =
            software.iter().copied().filter(|software| software.evidence_status == status).collect();
        let count = of_status.len();
        let sourced = of_status.iter().filter(|software| !software.sources.is_empty()).count();
        let [products, _, recent] = tally(of_status, day).cells(software.len());
        vec![Cell::Code(status.as_str()), products, Cell::Part(sourced, count), recent]
    });
    let heads = ["Evidence status", "Products", "With sources", "Checked within a year"];
    Section { title: "Coverage by evidence status", blocks: vec![Block::Table(Table::new(&heads, rows))] }
}

fn by_category(software: &[&Software], day: CalendarDate) -> Section {
    let mut groups: BTreeMap<String, (String, Tally)> = BTreeMap::new();
    for software in software {
        if software.categories.is_empty() {
            // Slugs are never empty.
            let without = || ("(no category)".to_owned(), Tally::default());
            groups.entry(String::new()).or_insert_with(without).1.add(software, day);
        }
        for name in &software.categories {
            let group = groups.entry(identity(name)).or_insert_with(|| (name.to_string(), Tally::default()));
            group.1.add(software, day);
        }
    }
    let text = "A product in several categories is counted in each of them.".to_owned();
    let table = tallies("Category", groups.into_values().collect(), software.len());
    Section { title: "Coverage by category", blocks: vec![Block::Paragraph(text), Block::Table(table)] }
}

/// The optional properties that are listed first among those that equally many products lack.
const FIRST: [&str; 4] = ["category", "tagline", "description", "vendor"];

/// A record's optional properties, except those that always have a value. `category` stands for
/// `categories`, too.
fn optional() -> impl Iterator<Item = &'static Property> {
    let is_first = |property: &&Property| FIRST.contains(&property.name);
    let is_left_out = |name: &str| matches!(name, "offering_type" | "categories" | "translations");
    let others = SOFTWARE.iter().filter(move |property| !is_first(property) && !is_left_out(property.name));
    FIRST.into_iter().filter_map(Property::of_software).chain(others.filter(|of| of.required != Required::Always))
}

fn missing_fields(exports: &[Export], software: &[&Software]) -> Section {
    let count = |has: &dyn Fn(&Software) -> bool| software.iter().filter(|software| !has(software)).count();
    let mut attributes = Attributes::default();
    exports.iter().flat_map(|export| &export.attributes).for_each(|attribute| attributes.declare(attribute.clone()));
    let declared = attributes.iter().skip(BUILT_IN.len()).map(|(_, attribute)| {
        let has = |software: &Software| !attribute.values_of(software).is_empty();
        (Cell::text(&attribute.property), count(&has))
    });
    let optional = optional().map(|property| {
        let name = property.joins.unwrap_or(property.name);
        (Cell::Code(property.name), count(&|software: &Software| !software.value(name).is_missing()))
    });
    let mut missing: Vec<_> = optional.chain(declared).collect();
    missing.sort_by_key(|(_, count)| Reverse(*count));
    let rows = missing.into_iter().map(|(name, count)| vec![name, Cell::Part(count, software.len())]);
    let table = Table::new(&["Optional field", "Products without it"], rows);
    Section { title: "Missing fields", blocks: vec![Block::Table(table)] }
}

/// The properties that aren't claims about the product.
const NO_CLAIMS: [&str; 6] = ["id", "evidence_status", "evidence_checked_on", "sources", "evidence", "translations"];

/// For each property that products have: how many claims have evidence of their own, rest on the
/// record's sources, or have none, and the date of the oldest check.
fn claims(software: &[&Software]) -> Section {
    let mut counts: BTreeMap<&str, ([usize; 3], Option<CalendarDate>)> = BTreeMap::new();
    for software in software {
        let is_claim = |of: &&Property| of.joins.is_none() && !NO_CLAIMS.contains(&of.name);
        let known = SOFTWARE.iter().filter(is_claim).map(|of| of.name).filter(|of| !software.value(of).is_missing());
        let others = software.additional_properties.iter().map(|(name, _)| &**name).filter(|of| *of != "evidence");
        let mut evidence: HashMap<&str, Option<CalendarDate>> = HashMap::new();
        for of in &software.evidence {
            let oldest = evidence.entry(claim(&of.property)).or_default();
            *oldest = oldest.iter().copied().chain(of.oldest()).min();
        }
        for property in known.chain(others) {
            let ([own, rest, none], oldest) = counts.entry(property).or_default();
            let evidence = evidence.get(property);
            match evidence {
                Some(_) => *own += 1,
                None if !software.sources.is_empty() => *rest += 1,
                None => *none += 1,
            }
            let checked = evidence.copied().flatten().or_else(|| software.checked_on());
            *oldest = oldest.iter().copied().chain(checked).min();
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, oldest))| (Reverse(count[2]), oldest.is_none(), *oldest));
    let rows = counts.into_iter().map(|(property, (count, oldest))| {
        let total = count.iter().sum();
        let oldest = oldest.map(|day| day.to_string()).unwrap_or_default();
        let parts = count.map(|count| Cell::Part(count, total));
        [Cell::text(property), Cell::Number(total)].into_iter().chain(parts).chain([Cell::Text(oldest)]).collect()
    });
    let heads = ["Property", "Claims", "With own evidence", "Record's sources", "Without evidence", "Oldest check"];
    let text = "A claim without evidence of its own rests on its record's sources and date.".to_owned();
    Section {
        title: "Evidence by property",
        blocks: vec![Block::Paragraph(text), Block::Table(Table::new(&heads, rows))],
    }
}

/// How much text is available in each language; `None` if nothing is translated.
fn languages(exports: &[Export]) -> Option<Section> {
    let mut languages = Languages::default();
    let mut texts: Vec<(&str, Option<&str>, Option<&Language>, &Translations)> = Vec::new();
    for export in exports {
        let own = export.language.as_ref();
        languages.add_own(&own.cloned().unwrap_or_else(Language::english));
        for software in &export.software {
            let of_product = [
                ("name", Some(&software.name)),
                ("tagline", software.tagline.as_ref()),
                ("description", software.description.as_ref()),
            ];
            texts.extend(of_product.map(|(of, text)| (of, text.map(|text| &**text), own, &software.translations)));
        }
        for category in &export.categories {
            texts.push(("Category", Some(&category.name), own, &category.translations));
        }
        texts.extend(export.glossary.iter().map(|term| ("Term", Some(&*term.term), own, &term.translations)));
    }
    for (.., translations) in &texts {
        languages.add_translations(translations);
    }
    if !languages.are_several() {
        return None;
    }
    let part = |language: &Language, of: &str, property: &str| {
        let of_kind = texts.iter().filter(|(kind, text, ..)| *kind == of && text.is_some());
        let (found, all) = of_kind.fold((0, 0), |(found, all), (_, _, own, translations)| {
            (found + usize::from(translations.find(property, *own, language).is_some()), all + 1)
        });
        Cell::Part(found, all)
    };
    let kinds = [
        ("name", "name"),
        ("tagline", "tagline"),
        ("description", "description"),
        ("Category", "name"),
        ("Term", "term"),
    ];
    let rows = languages.all().into_iter().map(|language| {
        let parts = kinds.iter().map(|(of, property)| part(language, of, property));
        std::iter::once(Cell::text(language.as_str())).chain(parts).collect()
    });
    let heads = ["Language", "Names", "Taglines", "Descriptions", "Categories", "Terms"];
    let text = "How much of the text is available in each language, as the original or a translation.".to_owned();
    let blocks = vec![Block::Paragraph(text), Block::Table(Table::new(&heads, rows))];
    Some(Section { title: "Coverage by language", blocks })
}

fn unused_categories(exports: &[Export], software: &[&Software]) -> Section {
    let used: BTreeSet<_> =
        software.iter().flat_map(|software| &software.categories).map(|name| identity(name)).collect();
    let mut unused = BTreeMap::new();
    for export in exports {
        for category in export.categories.iter().filter(|category| !used.contains(&identity(&category.name))) {
            unused.entry(identity(&category.name)).or_insert((&category.name, &export.id));
        }
    }
    let rows = unused.into_values().map(|(name, export)| vec![Cell::text(name), Cell::text(export)]);
    let table = Table::new(&["Category", "Export"], rows);
    let block = if table.rows.is_empty() {
        Block::Paragraph("Every category that an export describes has products.".to_owned())
    } else {
        Block::Table(table)
    };
    Section { title: "Categories without products", blocks: vec![block] }
}

fn findings(report: &Report) -> Section {
    let mut counts: Vec<_> = report.code_counts().into_iter().collect();
    counts.sort_by_key(|(code, count)| (code.severity(), Reverse(*count), *code));
    let is_empty = counts.is_empty();
    let rows = counts.into_iter().map(|(code, count)| {
        vec![Cell::Code(code.as_str()), Cell::text(code.severity().as_str()), Cell::Number(count)]
    });
    let blocks = if is_empty {
        vec![Block::Paragraph("`software-directory check` reports no findings.".to_owned())]
    } else {
        let text = "`software-directory check` with the same paths shows where each finding is and how to fix it.";
        vec![Block::Paragraph(text.to_owned()), Block::Table(Table::new(&["Code", "Severity", "Findings"], rows))]
    };
    Section { title: "Findings", blocks }
}

/// Periods of up to this many quarters are shown in quarters, longer ones in years.
const MAX_QUARTERS: u32 = 12;

/// Maximum number of years that get their own bar; earlier years share one.
const MAX_YEARS: u32 = 20;

/// The ages of all checks, and the number of products without a check.
fn ages(software: &[&Software], day: CalendarDate) -> Section {
    let stated: Vec<_> = software.iter().filter_map(|software| software.evidence_checked_on.as_deref()).collect();
    let days: Vec<_> = stated.iter().filter_map(|text| CalendarDate::parse(text)).collect();
    let past: Vec<_> = days.iter().copied().filter(|checked| *checked <= day).collect();
    let aged = |years: std::ops::Range<u32>| {
        past.iter().filter(|checked| years.contains(&checked.full_years_until(day))).count()
    };
    let always = [
        ("less than a year", aged(0..1)),
        ("1 to 2 years", aged(1..2)),
        ("2 to 3 years", aged(2..3)),
        ("3 years or more", aged(3..u32::MAX)),
        ("no date given", software.len() - stated.len()),
    ];
    let rare =
        [("a date after this report's", days.len() - past.len()), ("not a calendar date", stated.len() - days.len())];
    let all = always.into_iter().chain(rare.into_iter().filter(|(_, count)| *count > 0));
    let rows = all.map(|(age, count)| vec![Cell::text(age), Cell::Part(count, software.len())]);
    let mut blocks = vec![Block::Table(Table::new(&["Age of the check", "Products"], rows))];
    blocks.extend(histogram(&past, day).map(Block::Histogram));
    Section { title: "Age of evidence", blocks }
}

/// The bars from the first check to the report's day; `None` if there are no checks.
fn histogram(checks: &[CalendarDate], day: CalendarDate) -> Option<Histogram> {
    let first = *checks.iter().min()?;
    let quarter = |day: CalendarDate| day.year() * 4 + day.quarter() - 1;
    let count = |is_in: &dyn Fn(CalendarDate) -> bool| checks.iter().filter(|checked| is_in(**checked)).count();
    if quarter(day) - quarter(first) < MAX_QUARTERS {
        let bars = (quarter(first)..=quarter(day)).map(|number| {
            (format!("{} Q{}", number / 4, number % 4 + 1), count(&|checked| quarter(checked) == number))
        });
        return Some(Histogram { period: "quarter", bars: bars.collect() });
    }
    let from = first.year().max(day.year().saturating_sub(MAX_YEARS - 1));
    let earlier = count(&|checked| checked.year() < from);
    let earlier = (earlier > 0).then(|| (format!("before {from}"), earlier));
    let years = (from..=day.year()).map(|year| (year.to_string(), count(&|checked| checked.year() == year)));
    Some(Histogram { period: "year", bars: earlier.into_iter().chain(years).collect() })
}

const MAX_IDS: usize = 5;

fn duplicates(software: &[&Software]) -> Section {
    // Names that differ only in case or spacing count as the same.
    let name = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    let url = |text: &str| normalised_url(text).into_owned();
    let tables = [
        table(software, ["Same URL", "URL"], |software| &software.url, url),
        table(software, ["Same name", "Name"], |software| &software.name, name),
    ];
    let mut blocks: Vec<_> = tables.into_iter().flatten().map(Block::Table).collect();
    let text = if blocks.is_empty() {
        "No two products have the same URL or the same name."
    } else {
        "Fine if they are different products; otherwise remove the duplicate records."
    };
    blocks.insert(0, Block::Paragraph(text.to_owned()));
    Section { title: "Suspected duplicates", blocks }
}

/// The groups of products that share a value, largest first; `None` if there are none.
fn table(
    software: &[&Software],
    [caption, head]: [&'static str; 2],
    value: fn(&Software) -> &str,
    key: impl Fn(&str) -> String,
) -> Option<Table> {
    let mut groups: HashMap<String, Vec<&Software>> = HashMap::new();
    for software in software {
        groups.entry(key(value(software))).or_default().push(software);
    }
    let mut groups: Vec<_> = groups.into_iter().filter(|(_, group)| group.len() > 1).collect();
    groups.sort_unstable_by(|(key, group), (other_key, other)| {
        (Reverse(group.len()), key).cmp(&(Reverse(other.len()), other_key))
    });
    let rows = groups.iter().map(|(_, group)| {
        let mut ids: Vec<_> = group.iter().take(MAX_IDS).map(|software| Cell::text(&software.id).to_string()).collect();
        if group.len() > MAX_IDS {
            ids.push(format!("and {} more", Grouped(group.len() - MAX_IDS)));
        }
        vec![Cell::text(value(group[0])), Cell::Number(group.len()), Cell::Text(ids.join(", "))]
    });
    (!groups.is_empty()).then(|| Table::new(&[head, "Products", "Ids"], rows).captioned(caption))
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    products: usize,
    reviewed: usize,
    recent: usize,
}

impl Tally {
    const HEADS: [&'static str; 3] = ["Products", "Reviewed", "Checked within a year"];

    fn add(&mut self, software: &Software, day: CalendarDate) {
        self.products += 1;
        self.reviewed += usize::from(software.evidence_status == EvidenceStatus::VendorSourcesReviewed);
        let checked = software.evidence_checked_on.as_deref().and_then(CalendarDate::parse);
        let is_recent = checked.is_some_and(|checked| checked <= day && checked.full_years_until(day) == 0);
        self.recent += usize::from(is_recent);
    }

    /// The counts. The first one is given as a share of `total` products, the others as shares of
    /// the group.
    fn cells(self, total: usize) -> [Cell; 3] {
        [
            Cell::Part(self.products, total),
            Cell::Part(self.reviewed, self.products),
            Cell::Part(self.recent, self.products),
        ]
    }
}

fn tally<'s>(software: impl IntoIterator<Item = &'s Software>, day: CalendarDate) -> Tally {
    let mut tally = Tally::default();
    software.into_iter().for_each(|software| tally.add(software, day));
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CalendarDate;

    fn bars(checks: &[&str], day: &str) -> Vec<(String, usize)> {
        let day_of = |text: &str| CalendarDate::parse(text).expect("a day");
        let checks: Vec<_> = checks.iter().map(|text| day_of(text)).collect();
        histogram(&checks, day_of(day)).map(|histogram| histogram.bars).unwrap_or_default()
    }

    #[test]
    fn long_periods_are_shown_in_years_and_early_years_share_a_bar() {
        assert!(bars(&[], "2026-11-24").is_empty());
        assert_eq!(bars(&["2026-09-30", "2026-07-01"], "2026-11-24"), [("2026 Q3".into(), 2), ("2026 Q4".into(), 0)]);
        assert_eq!(bars(&["2024-01-01"], "2026-12-31").len(), 12);
        assert_eq!(bars(&["2023-12-31"], "2026-12-31").len(), 4);
        let long = bars(&["0001-01-01", "2006-12-31", "2007-01-01"], "2026-12-31");
        assert_eq!((long.len(), &long[..2]), (21, &[("before 2007".into(), 2), ("2007".into(), 1)][..]));
    }
}
