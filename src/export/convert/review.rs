//! Reads reviews.

use super::property::Use;
use super::{Entry, Opinion, Reader};
use crate::export::SectionKind;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::schema::{Count, count};
use crate::export::text::{Kind, Value};
use crate::record::{CalendarDate, REVIEW, Review};

impl Reader {
    pub(super) fn reviews(&mut self, root: Value<'_>) -> Vec<Entry<Opinion>> {
        let mut known = NearMiss::new(&REVIEW);
        let parent = Path::Root.member(SectionKind::Reviews.key());
        let entries = self.optional_section(root, SectionKind::Reviews);
        let read = |(index, entry)| {
            let path = parent.element(index);
            self.near_misses(&mut known, entry, path);
            self.review(entry, index, path)
        };
        entries.into_iter().filter_map(read).collect()
    }

    fn review(&mut self, entry: Value<'_>, index: usize, path: Path<'_>) -> Option<Entry<Opinion>> {
        let (id, key) = self.required(entry, path, "id", "a review")?;
        let (software_id, about) = self.required(entry, path, "software_id", "a review")?;
        let Some(rating) = entry.get("rating").and_then(stars) else {
            self.left_out(entry, path, "a review needs a `rating`, a whole number from 1 to 5");
            return None;
        };
        let mut review = Review {
            id,
            software_id,
            rating,
            title: None,
            body: None,
            author: None,
            created_at: None,
            created_at_seconds: None,
            verified: None,
            additional_properties: Vec::new(),
        };
        for (key, value) in entry.members() {
            let name = key.as_str().unwrap_or_default();
            if self.review_property(&mut review, &name, value, path.member(&name)) == Use::Additional {
                review.additional_properties.extend(self.keep(&name, value, path));
            }
        }
        Some(Entry { index, key: key.span(), value: Opinion { review, software_id: about.span() } })
    }

    fn review_property(&mut self, review: &mut Review, key: &str, value: Value<'_>, path: Path<'_>) -> Use {
        match key {
            "id" | "software_id" | "rating" => Use::Used,
            "title" => self.text(value, path, &mut review.title),
            "body" => self.text(value, path, &mut review.body),
            "author" => self.text(value, path, &mut review.author),
            "created_at" => self.created_at(review, value, path),
            "verified" => match value.kind() {
                Kind::True | Kind::False => {
                    review.verified = Some(value.kind() == Kind::True);
                    Use::Used
                }
                Kind::Null => Use::Used,
                _ => self.unusable(value, path, "true or false"),
            },
            _ => Use::Additional,
        }
    }

    fn created_at(&mut self, review: &mut Review, value: Value<'_>, path: Path<'_>) -> Use {
        if value.kind() == Kind::Null {
            return Use::Used;
        }
        let moment = value.as_str().and_then(|text| moment(&text));
        let Some(moment) = moment else {
            return self.unusable(
                value,
                path,
                "a time such as \"2025-03-01T12:00:00Z\" or a day such as \"2025-03-01\"",
            );
        };
        review.created_at = Some(moment.to_string().into());
        review.created_at_seconds = Some(moment.as_second());
        Use::Used
    }
}

fn stars(value: Value<'_>) -> Option<u8> {
    if value.kind() != Kind::Number {
        return None;
    }
    match count(value.raw()) {
        Count::Fits(stars @ 1..=5) => u8::try_from(stars).ok(),
        _ => None,
    }
}

/// Parses an RFC 3339 time, or a date, which means midnight UTC.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    if CalendarDate::parse(text).is_some() {
        return format!("{text}T00:00:00Z").parse().ok();
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn times_are_shown_in_utc() {
        let shown = |text| moment(text).map(|moment| moment.to_string());
        assert_eq!(shown("2025-03-01").as_deref(), Some("2025-03-01T00:00:00Z"));
        assert_eq!(shown("2025-03-01T01:30:00+02:00").as_deref(), Some("2025-02-28T23:30:00Z"));
        for wrong in ["2025-02-30", "yesterday", "2025-03-01T12:00:00", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
