//! The operations' parameters. Each is defined only once, although HTTP reads values from a query
//! string and describes parameters in the OpenAPI document, while tools read values from JSON
//! arguments and describe parameters in input schemas.
//!
//! All problems with a request are collected before it's rejected, so a caller can fix them in one
//! go.

pub mod definition;
mod request;
pub mod value;

use serde_json::Value as Json;
use utoipa::openapi::schema::{Object, SchemaType, Type};

use self::value::{Flag, Integer, OneOf, Text, Value};
use super::PageRequest;
use crate::text::count::{agreeing, counted};
use crate::text::nearest::Nearest;

/// How a caller reaches an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// A query string, in which all values are strings.
    Http,
    /// A tool's JSON arguments.
    Tool,
}

/// A parameter of an operation.
#[derive(Debug)]
#[must_use]
pub struct Parameter<V> {
    pub name: &'static str,
    /// The description, for a developer and for an assistant that has never seen the directory.
    about: &'static str,
    /// A decoded query string value that has results with the bundled exports.
    example: &'static str,
    value: V,
    repeatable: bool,
    /// The kind of value in tools, if the range or default is different there.
    tool_value: Option<V>,
    required_in_tool: bool,
}

impl<V: Copy> Parameter<V> {
    /// An optional parameter with one value.
    pub const fn new(name: &'static str, about: &'static str, example: &'static str, value: V) -> Self {
        Self { name, about, example, value, repeatable: false, tool_value: None, required_in_tool: false }
    }

    pub const fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    pub const fn with_tool_value(self, value: V) -> Self {
        Self { tool_value: Some(value), ..self }
    }

    pub const fn required_in_tool(self) -> Self {
        Self { required_in_tool: true, ..self }
    }
}

impl<V> Parameter<V> {
    fn value(&self, interface: Interface) -> &V {
        self.tool_value.as_ref().filter(|_| interface == Interface::Tool).unwrap_or(&self.value)
    }
}

/// A parameter with any kind of value, as listed in an endpoint's or a tool's table.
pub trait AnyParameter: Sync {
    fn name(&self) -> &'static str;
    fn about(&self) -> &'static str;
    fn is_repeatable(&self) -> bool;
    fn is_required(&self, interface: Interface) -> bool;
    /// The JSON Schema of one value.
    fn schema(&self, interface: Interface) -> Object;
    /// An example of one value.
    fn example(&self) -> Json;
}

impl<V: Value + Sync> AnyParameter for Parameter<V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    fn is_required(&self, interface: Interface) -> bool {
        interface == Interface::Tool && self.required_in_tool
    }

    fn schema(&self, interface: Interface) -> Object {
        self.value(interface).schema(interface)
    }

    fn example(&self) -> Json {
        match self.value.schema(Interface::Http).schema_type {
            SchemaType::Type(Type::String) => self.example.into(),
            // The example of a number or flag is JSON. The tests send each example, so it's valid.
            _ => serde_json::from_str(self.example).unwrap_or_default(),
        }
    }
}

/// A value from a caller.
#[derive(Debug, Clone, Copy)]
pub enum Given<'v> {
    /// Decoded text from a query string.
    Text(&'v str),
    Json(&'v Json),
}

impl<'v> Given<'v> {
    fn text(self) -> Option<&'v str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Json(value) => value.as_str(),
        }
    }
}

/// Why a parameter was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Invalid,
    /// The operation has no such parameter.
    Unknown,
    OffsetTooLarge,
}

/// A rejected parameter.
#[derive(Debug)]
pub struct Refusal {
    /// The parameter's name, as given.
    pub parameter: String,
    pub reason: Reason,
    /// One or more sentences that describe the problem and what's allowed.
    pub message: String,
}

/// The maximum number of unknown names to report, and of wrong values for each parameter.
pub const MAX_REPORTED: usize = 3;

/// A request's values, and the rejections so far.
#[derive(Debug)]
pub struct Values<'v> {
    interface: Interface,
    /// The values with their parameters' names; `None` for text that isn't UTF-8.
    given: Vec<(&'static str, Option<Given<'v>>)>,
    /// The first [`MAX_REPORTED`] names that the operation doesn't have, and how many there are.
    unknown: Vec<Refusal>,
    unknown_count: usize,
    nearest: Nearest,
    pub refusals: Vec<Refusal>,
}

impl<'v> Values<'v> {
    pub fn new(interface: Interface) -> Self {
        Self {
            interface,
            given: Vec::new(),
            unknown: Vec::new(),
            unknown_count: 0,
            nearest: Nearest::default(),
            refusals: Vec::new(),
        }
    }

    /// Adds a known parameter's value, which is `None` for text that isn't UTF-8.
    pub fn push(&mut self, name: &'static str, given: Option<Given<'v>>) {
        self.given.push((name, given));
    }

    /// Reads a request if none of its values are rejected.
    ///
    /// # Errors
    ///
    /// The rejections, first of names and then of values, in the order they were found in.
    pub fn read<T>(mut self, read: impl FnOnce(&mut Self) -> T) -> Result<T, Vec<Refusal>> {
        let request = read(&mut self);
        if let (Some(last), more @ 1..) = (self.unknown.last_mut(), self.unknown_count.saturating_sub(MAX_REPORTED)) {
            let verb = agreeing(more, "is", "are");
            last.message = format!("{} {} {verb} unknown.", last.message, counted(more, "more name"));
        }
        self.unknown.append(&mut self.refusals);
        if self.unknown.is_empty() { Ok(request) } else { Err(self.unknown) }
    }

    /// The parameter's value, if it's given once and can be read.
    pub fn one<V: Value>(&mut self, parameter: &Parameter<V>) -> Option<V::Output> {
        match self.given(parameter.name)[..] {
            [] => None,
            [only] => self.take(parameter, only),
            [..] => {
                self.refuse(parameter.name, Reason::Invalid, "must be given only once");
                None
            }
        }
    }

    /// All values of a repeatable parameter, in order. Stops after three wrong ones.
    pub fn many<V: Value>(&mut self, parameter: &Parameter<V>) -> Vec<V::Output> {
        self.read_all(parameter, self.given(parameter.name))
    }

    /// The different names in a repeatable parameter, which may also be separated by commas.
    pub fn names<T: Copy + PartialEq>(&mut self, parameter: &Parameter<OneOf<T>>) -> Vec<T> {
        let given = self.given(parameter.name).into_iter().flat_map(|given| match given {
            Some(Given::Text(text)) => text.split(',').map(|name| Some(Given::Text(name))).collect(),
            other => vec![other],
        });
        let mut names = Vec::new();
        for name in self.read_all(parameter, given.collect()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn read_all<V: Value>(&mut self, parameter: &Parameter<V>, given: Vec<Option<Given<'_>>>) -> Vec<V::Output> {
        let (mut values, mut refused) = (Vec::new(), 0);
        for given in given {
            match self.take(parameter, given) {
                Some(value) => values.push(value),
                None if refused + 1 == MAX_REPORTED => break,
                None => refused += 1,
            }
        }
        values
    }

    /// The text to search for; `None` if it's blank.
    pub fn query(&mut self, parameter: &Parameter<Text>) -> Option<String> {
        self.one(parameter).filter(|q| !q.trim().is_empty())
    }

    /// The flag, or its default.
    pub fn flag(&mut self, parameter: &Parameter<Flag>) -> bool {
        self.one(parameter).unwrap_or(parameter.value(self.interface).default)
    }

    /// The number, or its default.
    pub fn integer(&mut self, parameter: &Parameter<Integer>) -> u64 {
        self.one(parameter).unwrap_or(parameter.value(self.interface).default)
    }

    /// The requested page of a list.
    pub fn page(&mut self, limit: &Parameter<Integer>, offset: &Parameter<Integer>) -> PageRequest {
        let limit = u32::try_from(self.integer(limit)).unwrap_or(u32::MAX);
        PageRequest { limit, offset: self.integer(offset) }
    }

    fn given(&self, name: &str) -> Vec<Option<Given<'v>>> {
        self.given.iter().filter(|(given, _)| *given == name).map(|(_, value)| *value).collect()
    }

    fn take<V: Value>(&mut self, parameter: &Parameter<V>, given: Option<Given<'_>>) -> Option<V::Output> {
        let name = parameter.name;
        let read = match given {
            Some(given) => parameter.value(self.interface).read(given, &mut self.nearest),
            None => Err("must be percent-encoded UTF-8".to_owned()),
        };
        read.map_err(|allowed| {
            let is_list = matches!(given, Some(Given::Text(text)) if parameter.repeatable && text.contains(','));
            let hint = is_list.then(|| format!("; to give several values, repeat the parameter: {name}=…&{name}=…"));
            self.refuse(name, Reason::Invalid, &(allowed + &hint.unwrap_or_default()));
        })
        .ok()
    }

    /// Rejects a parameter. `allowed` is the rest of a sentence that starts with the parameter's
    /// name.
    pub fn refuse(&mut self, name: &str, reason: Reason, allowed: &str) {
        let message = format!("{name} {allowed}.").replace("?.", "?");
        self.refusals.push(Refusal { parameter: name.to_owned(), reason, message });
    }

    /// Rejects an unknown name.
    pub fn refuse_unknown(&mut self, name: &[u8], known: &[&dyn AnyParameter]) {
        /// The maximum length of an unknown argument that a message quotes, in bytes.
        const LONGEST: usize = 64;
        self.unknown_count += 1;
        if self.unknown.len() == MAX_REPORTED {
            return;
        }
        let Ok(name) = std::str::from_utf8(name) else {
            self.unknown.push(Refusal {
                parameter: String::from_utf8_lossy(name).into_owned(),
                reason: Reason::Invalid,
                message: "A parameter's name must be percent-encoded UTF-8.".to_owned(),
            });
            return;
        };
        let (noun, taker, is_shown) = match self.interface {
            Interface::Http => ("parameter", "endpoint", true),
            Interface::Tool => ("argument", "tool", name.len() <= LONGEST),
        };
        let shown = if is_shown { format!("{name:?}") } else { "with such a long name".to_owned() };
        let names = || known.iter().map(|parameter| parameter.name());
        let message = if known.is_empty() {
            format!("There is no {noun} {shown}: this {taker} takes none.")
        } else {
            let near =
                self.nearest.name(name, names()).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
            let allowed = names().collect::<Vec<_>>().join(", ");
            format!("There is no {noun} {shown}.{near} Allowed: {allowed}.")
        };
        self.unknown.push(Refusal { parameter: name.to_owned(), reason: Reason::Unknown, message });
    }
}

#[cfg(test)]
mod tests {
    use super::definition::{FACETS, LIMIT, OFFSET, SEARCH_SORT};
    use super::*;

    #[test]
    fn only_the_first_few_unknown_names_are_reported_but_all_are_counted() {
        let known: [&dyn AnyParameter; 2] = [&LIMIT, &OFFSET];
        let refused = |count: usize| {
            let mut values = Values::new(Interface::Http);
            (0..count).for_each(|number| values.refuse_unknown(format!("limi{number}").as_bytes(), &known));
            values.push(SEARCH_SORT.name, Some(Given::Text("relevence")));
            let refusals = values.read(|values| values.one(&SEARCH_SORT)).expect_err("refused");
            refusals.into_iter().map(|refusal| refusal.message).collect::<Vec<_>>()
        };
        let many = refused(920);
        assert_eq!(many.len(), MAX_REPORTED + 1);
        assert_eq!(many[0], "There is no parameter \"limi0\". Did you mean limit? Allowed: limit, offset.");
        assert_eq!(many[1], "There is no parameter \"limi1\". Allowed: limit, offset.");
        assert!(many[2].ends_with("Allowed: limit, offset. 917 more names are unknown."), "{}", many[2]);
        assert!(!many[3].contains("did you mean"), "one suggestion per request: {}", many[3]);
        assert!(refused(4)[2].ends_with(" 1 more name is unknown."));
        assert!(refused(3)[2].ends_with("Allowed: limit, offset."));
        assert!(refused(0)[0].ends_with("did you mean relevance?"));
    }

    #[test]
    fn reading_a_parameter_stops_after_a_few_wrong_values() {
        let mut values = Values::new(Interface::Http);
        (0..4_000).for_each(|_| values.push(FACETS.name, Some(Given::Text("categry"))));
        let refusals = values.read(|values| values.many(&FACETS)).expect_err("refused");
        assert_eq!(refusals.len(), MAX_REPORTED);
        assert_eq!(refusals.iter().filter(|refusal| refusal.message.contains("did you mean category?")).count(), 1);
    }
}
