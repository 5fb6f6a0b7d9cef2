//! The kinds of parameter values: each parses its text, names what is allowed, and has an OpenAPI schema.

use serde_json::Value as Json;
use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, SchemaFormat, Type};

use crate::record::CalendarDate;
use crate::text::nearest;

/// A kind of value.
pub(in crate::http) trait Value {
    /// The parsed value.
    type Output;

    /// Parses the decoded text of one occurrence.
    ///
    /// # Errors
    /// The allowed values, as the end of a sentence that begins with the parameter's name, such as
    /// `must be a whole number from 1 to 100`.
    fn read(&self, text: &str) -> Result<Self::Output, String>;

    /// The OpenAPI schema of one occurrence.
    fn schema(&self) -> Object;

    /// The text of one occurrence as the JSON value of the schema: a string, unless the kind has another type.
    fn example(&self, text: &str) -> Json {
        text.into()
    }
}

/// A text that is also JSON: a number or a flag.
fn parsed(text: &str) -> Json {
    // The tests send each example.
    serde_json::from_str(text).unwrap_or_default()
}

/// Free text.
#[derive(Debug)]
pub(in crate::http) struct Text {
    /// Whether the empty text is a value.
    pub(in crate::http) empty: bool,
    /// The most Unicode code points.
    pub(in crate::http) max_characters: Option<usize>,
}

impl Value for Text {
    type Output = String;

    fn read(&self, text: &str) -> Result<String, String> {
        if !self.empty && text.is_empty() {
            return Err("must not be empty; leave it out instead".to_owned());
        }
        match self.max_characters {
            Some(max) if text.len() > max && text.chars().count() > max => {
                Err(format!("must have at most {max} characters; this has {}", text.chars().count()))
            }
            _ => Ok(text.to_owned()),
        }
    }

    fn schema(&self) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length((!self.empty).then_some(1))
            .max_length(self.max_characters)
            .build()
    }
}

/// A whole number, decimal digits only.
#[derive(Debug)]
pub(in crate::http) struct Integer {
    pub(in crate::http) minimum: u64,
    pub(in crate::http) maximum: u64,
    /// The value of an absent parameter.
    pub(in crate::http) default: u64,
}

/// The largest integer that every JSON parser keeps exactly (RFC 8259, 6): the bound of otherwise unbounded integers.
pub(in crate::http) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

impl Value for Integer {
    type Output = u64;

    fn read(&self, text: &str) -> Result<u64, String> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits
            .then(|| text.parse().ok())
            .flatten()
            .filter(|number| (self.minimum..=self.maximum).contains(number))
            .ok_or_else(|| match self.maximum {
                MAX_SAFE_INTEGER => format!("must be a whole number from {}", self.minimum),
                maximum => format!("must be a whole number from {} to {maximum}", self.minimum),
            })
    }

    fn schema(&self) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(self.minimum))
            .maximum(Some(self.maximum))
            .default(Some(self.default.into()))
            .build()
    }

    fn example(&self, text: &str) -> Json {
        parsed(text)
    }
}

/// A number without a sign, such as `4`, `3.5` or `5e-1`, the form in which programs write small ones.
#[derive(Debug)]
pub(in crate::http) struct Decimal {
    pub(in crate::http) minimum: f64,
    pub(in crate::http) maximum: f64,
}

impl Value for Decimal {
    type Output = f64;

    fn read(&self, text: &str) -> Result<f64, String> {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
            None => (text, true),
        };
        let mantissa = match mantissa.split_once('.') {
            Some((whole, fraction)) => digits(whole) && digits(fraction),
            None => digits(mantissa),
        };
        (mantissa && exponent)
            .then(|| text.parse().ok())
            .flatten()
            .filter(|number| (self.minimum..=self.maximum).contains(number))
            .ok_or_else(|| format!("must be a number from {} to {}, such as 4 or 3.5", self.minimum, self.maximum))
    }

    fn schema(&self) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
            .minimum(Some(self.minimum))
            .maximum(Some(self.maximum))
            .build()
    }

    fn example(&self, text: &str) -> Json {
        parsed(text)
    }
}

/// A day that exists, `YYYY-MM-DD`.
#[derive(Debug)]
pub(in crate::http) struct Date;

impl Value for Date {
    type Output = CalendarDate;

    fn read(&self, text: &str) -> Result<CalendarDate, String> {
        CalendarDate::parse(text).ok_or_else(|| "must be a day that exists, as YYYY-MM-DD".to_owned())
    }

    fn schema(&self) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
            .build()
    }
}

/// `true` or `false`.
#[derive(Debug)]
pub(in crate::http) struct Flag {
    /// The value of an absent parameter.
    pub(in crate::http) default: bool,
}

impl Value for Flag {
    type Output = bool;

    fn read(&self, text: &str) -> Result<bool, String> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("must be true or false".to_owned()),
        }
    }

    fn schema(&self) -> Object {
        ObjectBuilder::new().schema_type(Type::Boolean).default(Some(self.default.into())).build()
    }

    fn example(&self, text: &str) -> Json {
        parsed(text)
    }
}

/// One of a few names.
#[derive(Debug)]
pub(in crate::http) struct OneOf<T: 'static> {
    /// The names and their meanings.
    pub(in crate::http) values: &'static [(&'static str, T)],
    /// The name that an absent parameter stands for.
    pub(in crate::http) default: Option<&'static str>,
}

impl<T: PartialEq> OneOf<T> {
    /// The name of a value; empty for one that has none.
    pub(in crate::http) fn name_of(&self, value: &T) -> &'static str {
        self.values.iter().find(|(_, named)| named == value).map_or("", |(name, _)| name)
    }
}

impl<T: Copy> Value for OneOf<T> {
    type Output = T;

    fn read(&self, text: &str) -> Result<T, String> {
        let names = || self.values.iter().map(|(name, _)| *name);
        self.values.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
            let allowed = names().collect::<Vec<_>>().join(", ");
            match nearest::name(text, names()) {
                Some(near) => format!("must be one of {allowed}; did you mean {near}?"),
                None => format!("must be one of {allowed}"),
            }
        })
    }

    fn schema(&self) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(self.values.iter().map(|(name, _)| *name)))
            .default(self.default.map(Into::into))
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_plain_digits_in_its_range() {
        let limit = Integer { minimum: 1, maximum: 100, default: 20 };
        assert_eq!(limit.read("1"), Ok(1));
        assert_eq!(limit.read("100"), Ok(100));
        for wrong in ["", "0", "101", "-1", "+5", "1.5", "1e1", " 5", "5 ", "٥", "0x5", &"9".repeat(400)] {
            assert_eq!(limit.read(wrong), Err("must be a whole number from 1 to 100".to_owned()), "{wrong:?}");
        }
    }

    #[test]
    fn a_decimal_is_digits_with_a_point_or_an_exponent() {
        let rating = Decimal { minimum: 0.0, maximum: 5.0 };
        assert_eq!(rating.read("4"), Ok(4.0));
        assert_eq!(rating.read("3.50"), Ok(3.5));
        assert_eq!(rating.read("35E-1"), Ok(3.5));
        assert_eq!(rating.read("1.5e-300"), Ok(1.5e-300));
        assert_eq!(rating.read("0.5e+1"), Ok(5.0));
        for wrong in [
            "", ".5", "4.", "-1", "+1", "5.01", "NaN", "inf", "1e1", "1e", "e1", "1e1.5", "1e--1", "1e999", "4,5",
            "4.5.5",
        ] {
            assert!(rating.read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn text_is_measured_in_code_points() {
        let q = Text { empty: true, max_characters: Some(256) };
        assert!(q.read(&"é".repeat(256)).is_ok());
        assert_eq!(q.read(&"(".repeat(257)), Err("must have at most 256 characters; this has 257".to_owned()));
        assert!(q.read("").is_ok());
        let category = Text { empty: false, max_characters: None };
        assert!(category.read("").is_err());
        assert!(category.read(" ").is_ok(), "as its schema says: at least one character");
    }

    #[test]
    fn one_of_names_the_allowed_values_and_the_nearest() {
        let sort = OneOf { values: &[("name", 1), ("-rating", 2)], default: Some("name") };
        assert_eq!(sort.read("-rating"), Ok(2));
        assert_eq!(sort.read("rating"), Err("must be one of name, -rating; did you mean -rating?".to_owned()));
        assert_eq!(sort.read("zzz"), Err("must be one of name, -rating".to_owned()));
        assert!(sort.read("").is_err());
    }
}
