//! The arguments of tools: one table per tool, which both the JSON schema and the checks are made of.

use serde_json::{Map, Value, json};

use crate::record::CalendarDate;
use crate::text::nearest;

/// A kind of argument.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A text with a largest number of Unicode code points.
    Text { max_characters: usize },
    /// A text, or an array of them: any of these.
    Texts,
    /// A whole number in a range.
    Integer { minimum: u64, maximum: u64, default: u64 },
    /// A number in a range.
    Number { minimum: f64, maximum: f64 },
    /// A day, `YYYY-MM-DD`.
    Date,
    /// One of a few names.
    OneOf(&'static [&'static str]),
}

/// The most values of an argument that takes several.
const MAX_VALUES: usize = 50;

/// The most Unicode code points of such a value.
const MAX_VALUE_CHARACTERS: usize = 256;

/// An argument of a tool.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
}

impl Parameter {
    pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, about, kind, required: false }
    }

    pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, about, kind, required: true }
    }

    fn schema(&self) -> Value {
        let text = |max: usize| json!({"type": "string", "minLength": 1, "maxLength": max});
        let mut schema = match self.kind {
            Kind::Text { max_characters } => text(max_characters),
            Kind::Texts => json!({"anyOf": [
                text(MAX_VALUE_CHARACTERS),
                {"type": "array", "items": text(MAX_VALUE_CHARACTERS), "maxItems": MAX_VALUES},
            ]}),
            Kind::Integer { minimum, maximum, default } => {
                json!({"type": "integer", "minimum": minimum, "maximum": maximum, "default": default})
            }
            Kind::Number { minimum, maximum } => json!({"type": "number", "minimum": minimum, "maximum": maximum}),
            Kind::Date => json!({"type": "string", "format": "date"}),
            Kind::OneOf(names) => json!({"type": "string", "enum": names}),
        };
        schema["description"] = self.about.into();
        schema
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The allowed values, as the end of a sentence that begins with the argument's name.
    fn check(&self, value: &Value) -> Result<(), String> {
        match self.kind {
            Kind::Text { max_characters } => check_text(value, max_characters),
            Kind::Texts => match value {
                Value::Array(values) if values.len() > MAX_VALUES => {
                    Err(format!("must have at most {MAX_VALUES} values"))
                }
                Value::Array(values) => values.iter().try_for_each(|one| check_text(one, MAX_VALUE_CHARACTERS)),
                one => check_text(one, MAX_VALUE_CHARACTERS),
            },
            Kind::Integer { minimum, maximum, .. } => value
                .as_u64()
                .filter(|number| (minimum..=maximum).contains(number))
                .map(drop)
                .ok_or_else(|| format!("must be a whole number from {minimum} to {maximum}")),
            Kind::Number { minimum, maximum } => value
                .as_f64()
                .filter(|number| (minimum..=maximum).contains(number))
                .map(drop)
                .ok_or_else(|| format!("must be a number from {minimum} to {maximum}")),
            Kind::Date => value
                .as_str()
                .and_then(CalendarDate::parse)
                .map(drop)
                .ok_or_else(|| "must be a day that exists, as YYYY-MM-DD".to_owned()),
            Kind::OneOf(names) => check_name(value, names),
        }
    }
}

fn check_text(value: &Value, max_characters: usize) -> Result<(), String> {
    let text = value.as_str().ok_or("must be a text")?;
    if text.trim().is_empty() {
        return Err("must not be empty; leave it out instead".to_owned());
    }
    let characters = text.chars().count();
    if characters > max_characters {
        return Err(format!("must have at most {max_characters} characters; this has {characters}"));
    }
    Ok(())
}

fn check_name(value: &Value, names: &[&str]) -> Result<(), String> {
    let text = value.as_str().unwrap_or_default();
    if names.contains(&text) {
        return Ok(());
    }
    let allowed = names.join(", ");
    Err(match nearest::name(text, names.iter().copied()) {
        Some(near) => format!("must be one of {allowed}; did you mean {near}?"),
        None => format!("must be one of {allowed}"),
    })
}

/// The JSON schema of a tool's arguments.
pub(super) fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let properties: Map<_, _> =
        parameters.iter().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
    let required: Vec<_> =
        parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// Checked arguments.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks the arguments of a call. One that is `null` counts as left out.
    pub(super) fn check(mut given: Map<String, Value>, parameters: &[Parameter]) -> Result<Self, String> {
        given.retain(|_, value| !value.is_null());
        let mut problems = Vec::new();
        for (name, value) in &given {
            match parameters.iter().find(|parameter| parameter.name == name) {
                None => problems.push(unknown(name, parameters)),
                Some(parameter) => {
                    if let Err(allowed) = parameter.check(value) {
                        problems.push(format!("{name} {allowed}.").replace("?.", "?"));
                    }
                }
            }
        }
        let missing = parameters.iter().filter(|parameter| parameter.required && !given.contains_key(parameter.name));
        problems.extend(missing.map(|parameter| format!("{} is needed.", parameter.name)));
        if problems.is_empty() { Ok(Self(given)) } else { Err(problems.join(" ")) }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    }

    pub(super) fn integer(&self, parameter: &Parameter) -> u64 {
        let Kind::Integer { default, .. } = parameter.kind else { return 0 };
        self.0.get(parameter.name).and_then(Value::as_u64).unwrap_or(default)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    pub(super) fn date(&self, name: &str) -> Option<CalendarDate> {
        CalendarDate::parse(self.text(name)?)
    }
}

fn unknown(name: &str, parameters: &[Parameter]) -> String {
    /// The longest unknown name that a message repeats, in bytes.
    const LONGEST: usize = 64;
    let names = || parameters.iter().map(|parameter| parameter.name);
    let shown = if name.len() > LONGEST { "of this length".to_owned() } else { format!("{name:?}") };
    if parameters.is_empty() {
        return format!("There is no argument {shown}: this tool takes none.");
    }
    let near = nearest::name(name, names()).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    let allowed = names().collect::<Vec<_>>().join(", ");
    format!("There is no argument {shown}.{near} Allowed are: {allowed}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [Parameter; 5] = [
        Parameter::required("q", Kind::Text { max_characters: 8 }, "Words."),
        Parameter::optional("limit", Kind::Integer { minimum: 1, maximum: 100, default: 10 }, "How many."),
        Parameter::optional("category", Kind::Texts, "Any of these."),
        Parameter::optional("sort", Kind::OneOf(&["name", "-rating"]), "Order."),
        Parameter::optional("after", Kind::Date, "Day."),
    ];

    fn check(arguments: Value) -> Result<Arguments, String> {
        let Value::Object(map) = arguments else { panic!("an object") };
        Arguments::check(map, &PARAMETERS)
    }

    #[test]
    fn arguments_in_their_ranges_pass() {
        let arguments =
            check(json!({"q": "ärgerlich"[..9], "category": ["a", "b"], "limit": 100, "sort": null})).expect("valid");
        assert_eq!(arguments.texts("category"), ["a", "b"]);
        assert_eq!((arguments.integer(&PARAMETERS[1]), arguments.text("sort")), (100, None));
        assert_eq!(check(json!({"q": "a", "category": "x"})).expect("valid").texts("category"), ["x"]);
        assert_eq!(check(json!({"q": "a"})).expect("valid").integer(&PARAMETERS[1]), 10);
    }

    #[test]
    fn each_problem_names_what_is_allowed() {
        for (arguments, problem) in [
            (json!({}), "q is needed."),
            (json!({"q": " "}), "q must not be empty; leave it out instead."),
            (json!({"q": "ninechars"}), "q must have at most 8 characters; this has 9."),
            (json!({"q": 5}), "q must be a text."),
            (json!({"q": "a", "limit": 101}), "limit must be a whole number from 1 to 100."),
            (json!({"q": "a", "limit": "5"}), "limit must be a whole number from 1 to 100."),
            (json!({"q": "a", "after": "2026-02-30"}), "after must be a day that exists, as YYYY-MM-DD."),
            (json!({"q": "a", "sort": "rating"}), "sort must be one of name, -rating; did you mean -rating?"),
            (
                json!({"q": "a", "limt": 5}),
                "There is no argument \"limt\". Did you mean limit? Allowed are: q, limit, category, sort, after.",
            ),
            (json!({"limit": 0}), "limit must be a whole number from 1 to 100. q is needed."),
        ] {
            assert_eq!(check(arguments).err().as_deref(), Some(problem));
        }
        assert!(check(json!({"q": "a", "category": vec!["x"; MAX_VALUES + 1]})).is_err());
    }
}
