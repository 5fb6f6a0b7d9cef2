//! The decoded query string, for parameters, links and entity tags.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use crate::text::append;

/// A query's pairs, decoded as `application/x-www-form-urlencoded`, in the given order; not
/// necessarily UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::http) struct RawQuery {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl RawQuery {
    /// Decodes a query string. Nothing is rejected here: a `%` without two digits stands for
    /// itself.
    pub(in crate::http) fn parse(query: &str) -> Self {
        let pairs = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name), decode(value))
            })
            .collect();
        Self { pairs }
    }

    pub(in crate::http) fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.pairs.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// The first value of a parameter.
    pub(in crate::http) fn first(&self, name: &str) -> Option<&[u8]> {
        self.pairs().find(|(of, _)| *of == name.as_bytes()).map(|(_, value)| value)
    }

    /// The encoded query for other pages of the same list: all pairs except `limit` and `offset`,
    /// in their original order, followed by these two. The caller appends the offset itself.
    pub(in crate::http) fn for_pages(&self, limit: u32) -> String {
        let mut query = String::new();
        for (name, value) in self.pairs().filter(|(name, _)| !matches!(*name, b"limit" | b"offset")) {
            query.extend(form_urlencoded::byte_serialize(name));
            query.push('=');
            query.extend(form_urlencoded::byte_serialize(value));
            query.push('&');
        }
        append(&mut query, format_args!("limit={limit}&offset="));
        query
    }
}

fn decode(text: &str) -> Vec<u8> {
    Cow::from(percent_decode(text.replace('+', " ").as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_are_form_decoded() {
        let query = RawQuery::parse("q=a+b%20c%2B&&flag&x=1=2&bad=%FF&lone=%zz");
        let pairs: Vec<_> = query.pairs().collect();
        assert_eq!(
            pairs,
            [(&b"q"[..], &b"a b c+"[..]), (b"flag", b""), (b"x", b"1=2"), (b"bad", b"\xFF"), (b"lone", b"%zz"),]
        );
    }

    #[test]
    fn for_pages_keeps_the_other_parameters_in_order() {
        let query = RawQuery::parse("offset=40&q=c%2B%2B+%26+more&limit=3&category=b&category=a");
        assert_eq!(query.for_pages(20), "q=c%2B%2B+%26+more&category=b&category=a&limit=20&offset=");
    }

    proptest! {
        #[test]
        fn encoded_query_decodes_to_the_same_pairs(
            pairs in prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..5)
        ) {
            let query = RawQuery { pairs };
            prop_assume!(query.pairs().all(|(name, _)| !matches!(name, b"limit" | b"offset")));
            let again = RawQuery::parse(&format!("{}2", query.for_pages(1)));
            let mut expected = query.pairs.clone();
            expected.push((b"limit".to_vec(), b"1".to_vec()));
            expected.push((b"offset".to_vec(), b"2".to_vec()));
            prop_assert_eq!(again.pairs, expected);
        }
    }
}
