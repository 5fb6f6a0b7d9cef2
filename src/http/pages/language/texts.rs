//! Everything that differs between languages, including how numbers and dates are written.

use std::borrow::{Borrow, Cow};

use crate::record::CalendarDate;

/// Text with a number (`{}`), in the singular and the plural.
#[derive(Debug)]
pub(in crate::http) struct Counted {
    pub(super) one: &'static str,
    pub(super) many: &'static str,
}

#[derive(Debug)]
pub(in crate::http) struct Texts {
    /// The language tag, for HTML's `lang`.
    pub(in crate::http) tag: &'static str,
    /// Separates a label from what it labels.
    pub(in crate::http) colon: &'static str,
    /// Separates groups of three digits.
    pub(super) group: &'static str,
    pub(in crate::http) decimal_point: &'static str,
    /// Whether 0 takes the singular.
    pub(super) zero_is_one: bool,
    /// The suffix after the day in a date, and the one used for the first of a month.
    pub(super) day_ends: [&'static str; 2],
    pub(super) months: [&'static str; 12],
    pub(in crate::http) skip: &'static str,
    pub(in crate::http) main_navigation: &'static str,
    pub(in crate::http) products: &'static str,
    pub(in crate::http) categories: &'static str,
    pub(in crate::http) glossary: &'static str,
    pub(in crate::http) sources: &'static str,
    pub(in crate::http) docs: &'static str,
    pub(in crate::http) search_products: &'static str,
    pub(in crate::http) search: &'static str,
    pub(in crate::http) suggestions: &'static str,
    pub(in crate::http) terms: &'static str,
    pub(in crate::http) theme: &'static str,
    pub(in crate::http) sign_in: &'static str,
    pub(in crate::http) sign_out: &'static str,
    pub(in crate::http) disclaimer: &'static str,
    pub(in crate::http) documentation: &'static str,
    pub(in crate::http) api_reference: &'static str,
    pub(in crate::http) feed: &'static str,
    pub(in crate::http) default_introduction: &'static str,
    pub(in crate::http) browse_all: &'static str,
    pub(in crate::http) try_searching: &'static str,
    pub(in crate::http) top_categories: &'static str,
    pub(in crate::http) all_categories: &'static str,
    pub(in crate::http) newest_evidence_title: &'static str,
    pub(in crate::http) recently_added: &'static str,
    pub(in crate::http) results: &'static str,
    pub(in crate::http) filters: &'static str,
    pub(in crate::http) active_filters: &'static str,
    pub(in crate::http) remove_filter: &'static str,
    pub(in crate::http) clear_filters: &'static str,
    pub(in crate::http) sort: &'static str,
    pub(in crate::http) best_match: &'static str,
    pub(in crate::http) best_first: &'static str,
    pub(in crate::http) by_rating: &'static str,
    pub(in crate::http) by_reviews: &'static str,
    pub(in crate::http) by_evidence: &'static str,
    pub(in crate::http) by_name: &'static str,
    pub(in crate::http) apply: &'static str,
    pub(in crate::http) close: &'static str,
    pub(in crate::http) any: &'static str,
    pub(in crate::http) category: &'static str,
    pub(in crate::http) rating: &'static str,
    pub(in crate::http) evidence: &'static str,
    pub(in crate::http) kind: &'static str,
    pub(in crate::http) standards: &'static str,
    pub(in crate::http) deployment: &'static str,
    pub(in crate::http) languages: &'static str,
    pub(in crate::http) vendor: &'static str,
    pub(in crate::http) tags: &'static str,
    pub(in crate::http) checked_before: &'static str,
    pub(in crate::http) checked_after: &'static str,
    pub(in crate::http) sources_reviewed: &'static str,
    pub(in crate::http) pending_review: &'static str,
    pub(in crate::http) software_kind: &'static str,
    pub(in crate::http) templates_kind: &'static str,
    pub(in crate::http) some_words: &'static str,
    pub(in crate::http) no_product_has_all_words: &'static str,
    pub(in crate::http) near_in_meaning: &'static str,
    pub(in crate::http) no_product_has_these_words: &'static str,
    pub(in crate::http) results_for: &'static str,
    pub(in crate::http) search_as_typed: &'static str,
    pub(in crate::http) as_typed: &'static str,
    pub(in crate::http) correct_typos: &'static str,
    pub(in crate::http) alternatives_to: &'static str,
    pub(in crate::http) excluded: &'static str,
    pub(in crate::http) no_product_has: &'static str,
    pub(in crate::http) ignored: &'static str,
    pub(in crate::http) also_searched: &'static str,
    pub(in crate::http) incomplete: &'static str,
    pub(in crate::http) pages: &'static str,
    pub(in crate::http) page: &'static str,
    pub(in crate::http) previous: &'static str,
    pub(in crate::http) next: &'static str,
    pub(in crate::http) first_page: &'static str,
    pub(in crate::http) past_last_page: &'static str,
    pub(in crate::http) nothing_for: &'static str,
    pub(in crate::http) nothing_with_filters: &'static str,
    pub(in crate::http) no_products: &'static str,
    pub(in crate::http) did_you_mean: &'static str,
    pub(in crate::http) remove_a_filter: &'static str,
    pub(in crate::http) without_filters: &'static str,
    pub(in crate::http) fewer_words: &'static str,
    pub(in crate::http) matching_categories: &'static str,
    pub(in crate::http) similar_names: &'static str,
    pub(in crate::http) browse_categories: &'static str,
    pub(in crate::http) out_of_5: &'static str,
    pub(in crate::http) not_rated: &'static str,
    pub(in crate::http) also_called: &'static str,
    pub(in crate::http) features: &'static str,
    pub(in crate::http) description: &'static str,
    pub(in crate::http) its_category: &'static str,
    pub(in crate::http) in_other_words: &'static str,
    pub(in crate::http) compare: &'static str,
    pub(in crate::http) compare_selected: &'static str,
    pub(in crate::http) compare_hint: &'static str,
    pub(in crate::http) remove: &'static str,
    pub(in crate::http) website: &'static str,
    pub(in crate::http) about: &'static str,
    pub(in crate::http) nothing_more: &'static str,
    pub(in crate::http) alternative_to: &'static str,
    pub(in crate::http) facts: &'static str,
    pub(in crate::http) pricing: &'static str,
    pub(in crate::http) id: &'static str,
    pub(in crate::http) record_origin: &'static str,
    pub(in crate::http) export: &'static str,
    pub(in crate::http) licence: &'static str,
    pub(in crate::http) as_of: &'static str,
    pub(in crate::http) also_listed_as: &'static str,
    /// The link at a record that was cut.
    pub(in crate::http) full_record: &'static str,
    pub(in crate::http) more_properties: &'static str,
    pub(in crate::http) more_properties_note: &'static str,
    pub(in crate::http) stated_rating: &'static str,
    pub(in crate::http) computed_rating: &'static str,
    pub(in crate::http) evidence_read_on: &'static str,
    pub(in crate::http) evidence_old: &'static str,
    pub(in crate::http) evidence_future: &'static str,
    pub(in crate::http) evidence_pending: &'static str,
    pub(in crate::http) evidence_dated: &'static str,
    pub(in crate::http) evidence_of_export: &'static str,
    pub(in crate::http) no_sources: &'static str,
    pub(in crate::http) no_claim: &'static str,
    pub(in crate::http) old: &'static str,
    pub(in crate::http) future: &'static str,
    pub(in crate::http) reviews: &'static str,
    pub(in crate::http) no_reviews: &'static str,
    pub(in crate::http) stated_reviews: &'static str,
    pub(in crate::http) stars: &'static str,
    pub(in crate::http) newest_reviews: &'static str,
    pub(in crate::http) oldest_reviews: &'static str,
    pub(in crate::http) best_reviews: &'static str,
    pub(in crate::http) worst_reviews: &'static str,
    pub(in crate::http) unnamed: &'static str,
    pub(in crate::http) verified: &'static str,
    pub(in crate::http) similar: &'static str,
    pub(in crate::http) in_common: &'static str,
    pub(in crate::http) narrow_glossary: &'static str,
    pub(in crate::http) letters: &'static str,
    pub(in crate::http) all_terms: &'static str,
    pub(in crate::http) no_term_for: &'static str,
    pub(in crate::http) synonyms: &'static str,
    pub(in crate::http) related: &'static str,
    pub(in crate::http) source: &'static str,
    pub(in crate::http) sources_note: &'static str,
    pub(in crate::http) contains: &'static str,
    pub(in crate::http) id_prefix: &'static str,
    pub(in crate::http) size: &'static str,
    pub(in crate::http) download: &'static str,
    pub(in crate::http) no_categories: &'static str,
    pub(in crate::http) no_glossary: &'static str,
    pub(in crate::http) api_request: &'static str,
    pub(in crate::http) yes: &'static str,
    pub(in crate::http) no: &'static str,
    /// A range without a lower bound; `{}` is the upper bound.
    pub(in crate::http) up_to: &'static str,
    /// A range of numbers without an upper bound; `{}` is the lower bound.
    pub(in crate::http) or_more: &'static str,
    /// A range of days without an end.
    pub(in crate::http) or_later: &'static str,
    /// Separates the two ends of a range.
    pub(in crate::http) range_to: &'static str,
    /// The label on a product that is pinned to the query.
    pub(in crate::http) chosen: &'static str,
    pub(in crate::http) copy: &'static str,
    pub(in crate::http) copied: &'static str,
    pub(in crate::http) press_copy: &'static str,
    pub(in crate::http) preview: &'static str,
    /// The word between [`Self::preview`] and a folder's name.
    pub(in crate::http) preview_of: &'static str,
    pub(in crate::http) not_published: &'static str,
    pub(in crate::http) what_changes: &'static str,
    pub(in crate::http) preview_signed_out: &'static str,
    pub(in crate::http) preview_away: &'static str,
    pub(in crate::http) getting_started: &'static str,
    pub(in crate::http) export_format: &'static str,
    pub(in crate::http) errors: &'static str,
    pub(in crate::http) versioning: &'static str,
    pub(in crate::http) sending: &'static str,
    pub(in crate::http) unreachable: &'static str,
    pub(in crate::http) enter_key: &'static str,
    pub(in crate::http) key_label: &'static str,
    pub(in crate::http) key_hint: &'static str,
    pub(in crate::http) key_missing: &'static str,
    pub(in crate::http) key_invalid: &'static str,
    pub(in crate::http) key_expired: &'static str,
    pub(in crate::http) key_limited: &'static str,
    pub(in crate::http) key_attempts: &'static str,
    pub(in crate::http) link_used: &'static str,
    pub(in crate::http) not_found: &'static str,
    pub(in crate::http) not_found_text: &'static str,
    pub(in crate::http) not_offered: &'static str,
    pub(in crate::http) gone: &'static str,
    pub(in crate::http) gone_text: &'static str,
    pub(in crate::http) busy: &'static str,
    pub(in crate::http) busy_text: &'static str,
    pub(in crate::http) loading: &'static str,
    pub(in crate::http) loading_text: &'static str,
    pub(in crate::http) limited: &'static str,
    pub(in crate::http) limited_text: &'static str,
    pub(in crate::http) bad_request: &'static str,
    pub(in crate::http) failed: &'static str,
    pub(in crate::http) failed_text: &'static str,
    pub(in crate::http) try_again: &'static str,
    pub(in crate::http) request_number: &'static str,
    /// How long to wait until more requests are allowed, in seconds.
    pub(in crate::http) wait: Counted,
    pub(in crate::http) products_count: Counted,
    pub(in crate::http) categories_count: Counted,
    pub(in crate::http) reviews_count: Counted,
    pub(in crate::http) terms_count: Counted,
    pub(in crate::http) sources_count: Counted,
    pub(in crate::http) show_products: Counted,
    pub(in crate::http) stars_or_more: Counted,
    pub(in crate::http) stars_count: Counted,
    pub(in crate::http) more_values: Counted,
}

/// Numbers are passed as `impl Borrow`, since templates pass fields by reference.
impl Texts {
    pub(in crate::http) fn number(&self, number: impl Borrow<u64>) -> String {
        let digits = number.borrow().to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3 * self.group.len());
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push_str(self.group);
            }
            text.push(digit);
        }
        text
    }

    pub(in crate::http) fn count(&self, counted: &Counted, number: impl Borrow<u64>) -> String {
        let number = *number.borrow();
        let is_one = number == 1 || (number == 0 && self.zero_is_one);
        (if is_one { counted.one } else { counted.many }).replace("{}", &self.number(number))
    }

    /// A number with at most two decimals.
    pub(in crate::http) fn decimal(&self, number: impl Borrow<f64>) -> String {
        let text = format!("{:.2}", number.borrow());
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.replace('.', self.decimal_point)
    }

    /// A date, or a timestamp's date, in words. Anything else is returned unchanged.
    pub(in crate::http) fn day<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(date) = text.get(..10).filter(|date| CalendarDate::parse(date).is_some()) else { return text.into() };
        // `YYYY-MM-DD`.
        let number = |range: std::ops::Range<usize>| date[range].parse::<usize>().unwrap_or_default();
        let (month, day) = (number(5..7), number(8..10));
        let Some(name) = self.months.get(month.wrapping_sub(1)) else { return text.into() };
        format!("{day}{} {name} {}", self.day_ends[usize::from(day == 1)], number(0..4)).into()
    }
}
