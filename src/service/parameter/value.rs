//! The kinds of parameter values. Each kind reads values, says which values are allowed, and has a
//! JSON Schema.

use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, SchemaFormat, Type};

use super::{Given, Interface};
use crate::record::CalendarDate;
use crate::service::{ATTRIBUTE_PREFIX, AttributeCondition};
use crate::text::nearest::Nearest;

/// A kind of value.
pub trait Value {
    type Output;

    /// Reads one value. If it isn't allowed, `nearest` may suggest another value.
    ///
    /// # Errors
    ///
    /// The allowed values, as the end of a sentence that starts with the parameter's name, such as
    /// `must be a whole number from 1 to 100`.
    fn read(&self, given: Given<'_>, nearest: &mut Nearest) -> Result<Self::Output, String>;

    /// The JSON Schema for one value.
    fn schema(&self, interface: Interface) -> Object;
}

/// Free text.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Whether an empty value in a query string counts as absent, like an empty form field. An
    /// empty value in JSON never does.
    pub empty: bool,
    /// The maximum number of Unicode code points.
    pub max_characters: Option<usize>,
}

impl Value for Text {
    type Output = String;

    fn read(&self, given: Given<'_>, _: &mut Nearest) -> Result<String, String> {
        let (text, is_refused) = match given {
            Given::Text(text) => (text, text.is_empty() && !self.empty),
            Given::Json(value) => {
                let text = value.as_str().ok_or("must be a string")?;
                (text, text.trim().is_empty())
            }
        };
        if is_refused {
            return Err("must not be empty; leave it out instead".to_owned());
        }
        match self.max_characters {
            Some(max) if text.len() > max && text.chars().count() > max => {
                Err(format!("must have at most {max} characters; this has {}", text.chars().count()))
            }
            _ => Ok(text.to_owned()),
        }
    }

    fn schema(&self, interface: Interface) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length((!self.empty || interface == Interface::Tool).then_some(1))
            .max_length(self.max_characters)
            .build()
    }
}

/// A whole number. As text, it consists only of decimal digits.
#[derive(Debug, Clone, Copy)]
pub struct Integer {
    pub minimum: u64,
    pub maximum: u64,
    /// The value for an absent parameter.
    pub default: u64,
}

/// The largest integer that every JSON parser preserves exactly (RFC 8259, section 6): the bound on
/// otherwise unbounded integers.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

impl Value for Integer {
    type Output = u64;

    fn read(&self, given: Given<'_>, _: &mut Nearest) -> Result<u64, String> {
        let number = match given {
            Given::Text(text) => text.parse().ok().filter(|_| is_digits(text)),
            Given::Json(value) => value.as_u64(),
        };
        number.filter(|number| (self.minimum..=self.maximum).contains(number)).ok_or_else(|| match self.maximum {
            MAX_SAFE_INTEGER => format!("must be a whole number, {} or more", self.minimum),
            maximum => format!("must be a whole number from {} to {maximum}", self.minimum),
        })
    }

    fn schema(&self, _: Interface) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(self.minimum))
            .maximum(Some(self.maximum))
            .default(Some(self.default.into()))
            .build()
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A number. As text, it has no sign: `4`, `3.5` or, since programs write small numbers that way,
/// `5e-1`.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    pub minimum: f64,
    pub maximum: f64,
}

impl Value for Decimal {
    type Output = f64;

    fn read(&self, given: Given<'_>, _: &mut Nearest) -> Result<f64, String> {
        let (number, hint) = match given {
            Given::Text(text) => (text.parse().ok().filter(|_| is_decimal(text)), ", such as 4 or 3.5"),
            Given::Json(value) => (value.as_f64(), ""),
        };
        number
            .filter(|number| (self.minimum..=self.maximum).contains(number))
            .ok_or_else(|| format!("must be a number from {} to {}{hint}", self.minimum, self.maximum))
    }

    fn schema(&self, _: Interface) -> Object {
        ObjectBuilder::new().schema_type(Type::Number).minimum(Some(self.minimum)).maximum(Some(self.maximum)).build()
    }
}

fn is_decimal(text: &str) -> bool {
    let (mantissa, has_exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, true),
    };
    let is_mantissa = match mantissa.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    is_mantissa && has_exponent
}

/// A date that exists, in the form `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy)]
pub struct Date;

impl Value for Date {
    type Output = CalendarDate;

    fn read(&self, given: Given<'_>, _: &mut Nearest) -> Result<CalendarDate, String> {
        given
            .text()
            .and_then(CalendarDate::parse)
            .ok_or_else(|| "must be a valid date in the form YYYY-MM-DD".to_owned())
    }

    fn schema(&self, _: Interface) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
            .build()
    }
}

/// `true` or `false`.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// The value for an absent parameter.
    pub default: bool,
}

impl Value for Flag {
    type Output = bool;

    fn read(&self, given: Given<'_>, _: &mut Nearest) -> Result<bool, String> {
        let flag = match given {
            Given::Text("true") => Some(true),
            Given::Text("false") => Some(false),
            Given::Text(_) => None,
            Given::Json(value) => value.as_bool(),
        };
        flag.ok_or_else(|| "must be true or false".to_owned())
    }

    fn schema(&self, _: Interface) -> Object {
        ObjectBuilder::new().schema_type(Type::Boolean).default(Some(self.default.into())).build()
    }
}

/// One of a fixed set of values, given by name.
#[derive(Debug, Clone, Copy)]
pub struct OneOf<T: 'static> {
    pub values: &'static [T],
    pub name: fn(T) -> &'static str,
    /// The value for an absent parameter.
    pub default: Option<T>,
}

impl<T: Copy> OneOf<T> {
    fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.values.iter().map(|value| (self.name)(*value))
    }
}

impl<T: Copy> Value for OneOf<T> {
    type Output = T;

    fn read(&self, given: Given<'_>, nearest: &mut Nearest) -> Result<T, String> {
        let text = given.text().unwrap_or_default();
        let found = self.values.iter().find(|value| (self.name)(**value) == text).copied();
        found.ok_or_else(|| not_one_of(text, self.names(), nearest))
    }

    fn schema(&self, _: Interface) -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(self.names()))
            .default(self.default.map(|value| (self.name)(value).into()))
            .build()
    }
}

/// One of a fixed set of names, or `attribute.` and an attribute's property.
#[derive(Debug)]
pub struct Name<T> {
    /// The names that aren't attributes.
    pub names: fn() -> Vec<String>,
    pub read: fn(&str) -> Option<T>,
    /// A regular expression for what may precede an attribute.
    pub sign: &'static str,
    /// The name for an absent parameter.
    pub default: Option<&'static str>,
    /// An attribute that every directory has.
    pub example: Option<&'static str>,
}

// Implemented by hand, because deriving it would require `T: Clone`.
impl<T> Clone for Name<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Name<T> {}

impl<T> Value for Name<T> {
    type Output = T;

    fn read(&self, given: Given<'_>, nearest: &mut Nearest) -> Result<T, String> {
        let text = given.text().unwrap_or_default();
        (self.read)(text).ok_or_else(|| {
            let mut names = (self.names)();
            names.push(format!("{ATTRIBUTE_PREFIX}PROPERTY"));
            not_one_of(text, names.iter().map(String::as_str), nearest)
        })
    }

    fn schema(&self, _: Interface) -> Object {
        let (names, sign, prefix) = ((self.names)().join("|"), self.sign, ATTRIBUTE_PREFIX.replace('.', r"\."));
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(format!("^({names}|{sign}{prefix}.+)$")))
            .default(self.default.map(Into::into))
            .examples(self.example)
            .build()
    }
}

/// An attribute and one of its values, separated by a colon.
#[derive(Debug, Clone, Copy)]
pub struct Condition;

impl Value for Condition {
    type Output = AttributeCondition;

    fn read(&self, given: Given<'_>, _: &mut Nearest) -> Result<AttributeCondition, String> {
        let condition = given.text().and_then(|text| text.split_once(':'));
        let (property, value) = condition
            .filter(|(property, value)| !property.is_empty() && !value.is_empty())
            .ok_or("must be an attribute and a value separated by a colon, such as tags:cloud")?;
        Ok(AttributeCondition::new(property, value))
    }

    fn schema(&self, _: Interface) -> Object {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[^:]+:.+$")).build()
    }
}

/// Lists the allowed names.
fn not_one_of<'n>(text: &str, names: impl Iterator<Item = &'n str> + Clone, nearest: &mut Nearest) -> String {
    let allowed = names.clone().collect::<Vec<_>>().join(", ");
    match nearest.name(text, names) {
        Some(near) => format!("must be one of {allowed}; did you mean {near}?"),
        None => format!("must be one of {allowed}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn text<V: Value>(value: &V, text: &str) -> Result<V::Output, String> {
        value.read(Given::Text(text), &mut Nearest::default())
    }

    fn json<V: Value>(value: &V, json: &Json) -> Result<V::Output, String> {
        value.read(Given::Json(json), &mut Nearest::default())
    }

    #[test]
    fn a_decimal_consists_of_digits_with_an_optional_point_and_exponent() {
        let rating = Decimal { minimum: 0.0, maximum: 5.0 };
        assert_eq!(text(&rating, "4"), Ok(4.0));
        assert_eq!(text(&rating, "3.50"), Ok(3.5));
        assert_eq!(text(&rating, "35E-1"), Ok(3.5));
        assert_eq!(text(&rating, "1.5e-300"), Ok(1.5e-300));
        assert_eq!(text(&rating, "0.5e+1"), Ok(5.0));
        for wrong in [
            "", ".5", "4.", "-1", "+1", "5.01", "NaN", "inf", "1e1", "1e", "e1", "1e1.5", "1e--1", "1e999", "4,5",
            "4.5.5",
        ] {
            assert!(text(&rating, wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn json_values_must_have_the_type_that_their_schema_says() {
        let limit = Integer { minimum: 1, maximum: 100, default: 20 };
        assert_eq!(json(&limit, &json!(100)), Ok(100));
        for wrong in [json!(0), json!(101), json!(-1), json!(1.5), json!("5"), json!([5])] {
            assert_eq!(json(&limit, &wrong), Err("must be a whole number from 1 to 100".to_owned()), "{wrong}");
        }
        let rating = Decimal { minimum: 0.0, maximum: 5.0 };
        assert_eq!(json(&rating, &json!(4)), Ok(4.0));
        assert_eq!(json(&rating, &json!("4")), Err("must be a number from 0 to 5".to_owned()));
        let name = Text { empty: false, max_characters: Some(8) };
        assert_eq!(json(&name, &json!("ärgerlic")), Ok("ärgerlic".to_owned()));
        assert_eq!(json(&name, &json!(5)), Err("must be a string".to_owned()));
        assert_eq!(json(&name, &json!(" ")), Err("must not be empty; leave it out instead".to_owned()));
        assert_eq!(json(&Date, &json!("2026-02-28")).ok(), CalendarDate::parse("2026-02-28"));
        assert!(json(&Date, &json!("2026-02-30")).is_err());
        let flag = Flag { default: true };
        assert_eq!((json(&flag, &json!(false)), json(&flag, &json!("false")).is_err()), (Ok(false), true));
    }
}
