//! The operations' parameters, each defined once: HTTP reads their values from a query string and
//! describes them in the OpenAPI document, and tools read them from JSON arguments and describe
//! them in input schemas.
//!
//! All problems with a request are collected before it's rejected, so a caller can fix them in one
//! go.

pub mod definition;
mod request;
pub mod value;

use serde_json::Value as Json;
use utoipa::openapi::schema::{Object, SchemaType, Type};

use self::value::{Flag, Integer, Text, Value};
use super::PageRequest;
use crate::text::count::{agreeing, counted};
use crate::text::nearest::Nearest;

/// How a caller reaches an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// Strings in a query string.
    Http,
    /// A tool's JSON arguments.
    Tool,
}

/// A parameter of an operation.
#[derive(Debug)]
#[must_use]
pub struct Parameter<V> {
    pub name: &'static str,
    /// Its description, for a developer and for an assistant that has never seen the directory.
    about: &'static str,
    /// A decoded query string value for which the bundled exports have results.
    example: &'static str,
    value: V,
    repeatable: bool,
    /// Its value in tools, if its range or default differs there.
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

/// A parameter with any kind of value: an entry in an endpoint's or a tool's table.
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
            // A number or a flag; the tests send each example.
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
    /// Its name, as given.
    pub parameter: String,
    pub reason: Reason,
    /// The problem and what is allowed, as sentences.
    pub message: String,
}

/// How many unknown names are reported, and how many wrong values of one parameter.
pub const MAX_REPORTED: usize = 3;

/// A request's values, and the rejections so far.
#[derive(Debug)]
pub struct Values<'v> {
    interface: Interface,
    /// By name; `None` for text that isn't UTF-8.
    given: Vec<(&'static str, Option<Given<'v>>)>,
    /// Names that the operation doesn't have, at most [`MAX_REPORTED`], and how many there are.
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

    /// Takes a known parameter's value; `None` for text that isn't UTF-8.
    pub fn push(&mut self, name: &'static str, given: Option<Given<'v>>) {
        self.given.push((name, given));
    }

    /// Reads a request if none of its values is rejected.
    ///
    /// # Errors
    ///
    /// The rejections, first of names and then of values, in the order in which they were found.
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
        let (mut values, mut refused) = (Vec::new(), 0);
        for given in self.given(parameter.name) {
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
            None => Err("must be UTF-8, percent-encoded".to_owned()),
        };
        read.map_err(|allowed| {
            let is_list = matches!(given, Some(Given::Text(text)) if parameter.repeatable && text.contains(','));
            let hint = is_list.then(|| format!("; for several, repeat the parameter: {name}=…&{name}=…"));
            self.refuse(name, Reason::Invalid, &(allowed + &hint.unwrap_or_default()));
        })
        .ok()
    }

    /// Rejects a parameter. `allowed` completes a sentence that starts with its name.
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
                message: "A parameter's name must be UTF-8, percent-encoded.".to_owned(),
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
    fn unknown_names_are_counted_and_the_first_few_reported() {
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
    fn a_parameter_with_many_wrong_values_is_not_read_to_the_end() {
        let mut values = Values::new(Interface::Http);
        (0..4_000).for_each(|_| values.push(FACETS.name, Some(Given::Text("categry"))));
        let refusals = values.read(|values| values.many(&FACETS)).expect_err("refused");
        assert_eq!(refusals.len(), MAX_REPORTED);
        assert_eq!(refusals.iter().filter(|refusal| refusal.message.contains("did you mean category?")).count(), 1);
    }
}
