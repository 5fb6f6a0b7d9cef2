//! Compares two versions of a record, property by property. The change log's content hashes, a
//! product's history and `diff` all follow these rules: white space, the order of keys and how a
//! number is written don't matter; the order of an array does.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// An object's members by name.
pub type JsonMembers<'j> = BTreeMap<Cow<'j, str>, Cow<'j, RawValue>>;

/// A property that differs: its name, its old value and its new one; `None` if it doesn't exist.
pub type Difference<'j> = (Cow<'j, str>, Option<Cow<'j, RawValue>>, Option<Cow<'j, RawValue>>);

/// The properties in which two versions differ, by name.
pub fn differences<'j>(mut old: JsonMembers<'j>, new: JsonMembers<'j>) -> Vec<Difference<'j>> {
    let mut differences = Vec::new();
    for (name, new) in new {
        let old = old.remove(&name);
        if old.as_ref().is_none_or(|old| !is_same(old, &new)) {
            differences.push((name, old, Some(new)));
        }
    }
    differences.extend(old.into_iter().map(|(name, old)| (name, Some(old), None)));
    differences.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    differences
}

fn is_same(one: &RawValue, other: &RawValue) -> bool {
    one.get() == other.get() || canonical(one.get()) == canonical(other.get())
}

/// Valid JSON rewritten so that equal values have the same text.
pub fn canonical(json: &str) -> Cow<'_, str> {
    let json = json.trim_ascii();
    match json.as_bytes().first() {
        Some(b'{') => object(json).map_or(Cow::Borrowed(json), Cow::Owned),
        Some(b'[') => array(json).map_or(Cow::Borrowed(json), Cow::Owned),
        Some(b'"') if json.contains('\\') => match serde_json::from_str::<String>(json) {
            Ok(text) => serde_json::to_string(&text).map_or(Cow::Borrowed(json), Cow::Owned),
            Err(_) => Cow::Borrowed(json),
        },
        Some(b'-' | b'0'..=b'9') => number(json),
        _ => Cow::Borrowed(json),
    }
}

fn object(json: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let members = members
        .iter()
        .map(|(name, value)| Some(format!("{}:{}", serde_json::to_string(name).ok()?, canonical(value.get()))));
    Some(format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(",")))
}

fn array(json: &str) -> Option<String> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let elements: Vec<_> = elements.iter().map(|element| canonical(element.get())).collect();
    Some(format!("[{}]", elements.join(",")))
}

/// A number in the shortest decimal notation. Every digit counts.
fn number(json: &str) -> Cow<'_, str> {
    /// Numbers with more zeros at either end are written with an exponent.
    const MAX_ZEROS: usize = 30;
    let is_shortest = !json.contains(['e', 'E']) && (!json.contains('.') || !json.ends_with('0'));
    if is_shortest && json.len() < MAX_ZEROS {
        return Cow::Borrowed(if json == "-0" { "0" } else { json });
    }
    let (sign, rest) = json.strip_prefix('-').map_or(("", json), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Cow::Borrowed("0");
    }
    let exponent = exponent.parse::<i64>().ok().and_then(|exponent| {
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        exponent.checked_add(zeros)?.checked_sub(i64::try_from(fraction.len()).ok()?)
    });
    let Some(exponent) = exponent else { return Cow::Borrowed(json) };
    let shift = usize::try_from(exponent.unsigned_abs()).ok().filter(|shift| *shift <= MAX_ZEROS);
    let Some(shift) = shift else {
        return Cow::Owned(format!("{sign}{significant}e{exponent}"));
    };
    if exponent >= 0 {
        return Cow::Owned(format!("{sign}{significant}{}", "0".repeat(shift)));
    }
    let padded = format!("{significant:0>width$}", width = shift + 1);
    let (whole, fraction) = padded.split_at(padded.len() - shift);
    Cow::Owned(format!("{sign}{whole}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_the_same_canonical_text() {
        for same in [
            &["1900.00", "1900.0", "1900", "1.9e3", "19E+2", "190000e-2"][..],
            &["1e40", "10000000000000000000000000000000000000000", "1.0e+40"],
            &["0", "-0", "0.00", "0e5", "-0.0"],
            &["12.5", "12.50", "1250e-2"],
            &["-0.05", "-0.050", "-5e-2", "-0.0500000000000000000000000000000000000"],
            &[r#"{"a": 1.0, "b": ["\u00e9", 2]}"#, r#"{"b":["é",2.0],"a":1}"#],
            &["\"a\\/b\"", "\"a/b\""],
        ] {
            let canonical: Vec<_> = same.iter().map(|json| canonical(json)).collect();
            assert!(canonical.iter().all(|of| *of == canonical[0]), "{canonical:?}");
        }
        for different in [
            ["9007199254740993", "9007199254740992.0"],
            ["12345678901234567890123.0", "12345678901234567890124"],
            ["1", "\"1\""],
            ["1", "-1.0"],
            ["10", "1e-1"],
            ["[1, 2]", "[2, 1]"],
            [r#"{"a":null}"#, "{}"],
            ["1e99999999999999999999", "2e99999999999999999999"],
        ] {
            assert_ne!(canonical(different[0]), canonical(different[1]));
        }
    }
}
