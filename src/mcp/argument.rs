//! Tool arguments: read from JSON using the tool's parameter table, and described by its input
//! schema.

use serde_json::{Map, Value, json};

use super::schema::object;
use crate::service::parameter::{AnyParameter, Given, Interface, Reason, Values};

/// The maximum number of values for an argument that takes several.
const MAX_VALUES: usize = 50;

/// The JSON Schema for a tool's arguments.
pub(super) fn schema(parameters: &[&dyn AnyParameter]) -> Map<String, Value> {
    let properties = parameters.iter().map(|parameter| (parameter.name().to_owned(), property(*parameter))).collect();
    let is_required = |parameter: &&&dyn AnyParameter| parameter.is_required(Interface::Tool);
    let required = parameters.iter().filter(is_required).map(|parameter| parameter.name().into()).collect();
    let mut schema = object(properties, required);
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn property(parameter: &dyn AnyParameter) -> Value {
    // Strings and numbers can always be serialised.
    let one = serde_json::to_value(parameter.schema(Interface::Tool)).unwrap_or_default();
    let mut property = if parameter.is_repeatable() {
        json!({"anyOf": [one, {"type": "array", "items": one, "maxItems": MAX_VALUES}]})
    } else {
        one
    };
    property["description"] = parameter.about().into();
    property
}

/// Reads a call's arguments. `null` counts as omitted.
///
/// # Errors
///
/// Sentences about unknown arguments, then about each rejected argument by name, then about each
/// missing one.
pub(super) fn read<T>(
    given: &Map<String, Value>,
    parameters: &[&dyn AnyParameter],
    read: impl FnOnce(&mut Values<'_>) -> T,
) -> Result<T, String> {
    let mut values = Values::new(Interface::Tool);
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        match (parameters.iter().find(|parameter| parameter.name() == name), value) {
            (None, _) => values.refuse_unknown(name.as_bytes(), parameters),
            (Some(parameter), Value::Array(several)) if parameter.is_repeatable() => {
                if several.len() > MAX_VALUES {
                    values.refuse(name, Reason::Invalid, &format!("must have at most {MAX_VALUES} values"));
                } else {
                    for value in several {
                        values.push(parameter.name(), Some(Given::Json(value)));
                    }
                }
            }
            (Some(parameter), value) => values.push(parameter.name(), Some(Given::Json(value))),
        }
    }
    let is_missing = |parameter: &&&dyn AnyParameter| {
        parameter.is_required(Interface::Tool) && given.get(parameter.name()).is_none_or(Value::is_null)
    };
    let read = values.read(|values| {
        let request = read(values);
        values.refusals.sort_by(|a, b| a.parameter.cmp(&b.parameter));
        // If several values of an argument are wrong, reporting the first is enough.
        values.refusals.dedup_by(|a, b| a.parameter == b.parameter);
        for parameter in parameters.iter().filter(is_missing) {
            values.refuse(parameter.name(), Reason::Invalid, "is required");
        }
        request
    });
    read.map_err(|refusals| refusals.into_iter().map(|refusal| refusal.message).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tool::TOOLS;
    use crate::service::{ListReviews, SearchSoftware, SearchSort};

    fn read<T>(tool: &str, arguments: Value, read: impl FnOnce(&mut Values<'_>) -> T) -> Result<T, String> {
        let Value::Object(given) = arguments else { panic!("an object") };
        let tool = TOOLS.iter().find(|known| known.name == tool).expect("a tool");
        super::read(&given, &tool.parameters(), read)
    }

    fn search(arguments: Value) -> Result<SearchSoftware, String> {
        read("search_software", arguments, SearchSoftware::from_values)
    }

    #[test]
    fn arguments_within_range_are_accepted() {
        let query = search(json!({"q": "ärgerlich", "category": ["a", "b"], "limit": 100, "sort": null}));
        let query = query.expect("valid");
        assert_eq!(query.filter.categories, ["a", "b"]);
        assert_eq!((query.page.limit, query.sort), (100, SearchSort::Relevance));
        assert_eq!(search(json!({"q": "a", "category": "x"})).expect("valid").filter.categories, ["x"]);
        assert_eq!(search(json!({"q": "a"})).expect("valid").page.limit, 10);
        assert_eq!(search(json!({"category": vec!["x"; MAX_VALUES]})).expect("valid").filter.categories.len(), 50);
    }

    #[test]
    fn each_problem_says_what_is_allowed() {
        let reviews = |arguments| read("list_reviews", arguments, ListReviews::from_values).err();
        for (arguments, problem) in [
            (json!({}), "id is required."),
            (json!({"id": null}), "id is required."),
            (json!({"id": "a", "limit": 101}), "limit must be a whole number from 1 to 100."),
            (json!({"id": "a", "limit": "5"}), "limit must be a whole number from 1 to 100."),
            (
                json!({"id": "a", "sort": "ratin"}),
                "sort must be one of -created_at, created_at, -rating, rating; did you mean rating?",
            ),
            (
                json!({"id": "a", "limt": 5}),
                "There is no argument \"limt\". Did you mean limit? Allowed: id, sort, limit.",
            ),
            (
                json!({"sort": "", "limit": 0}),
                "limit must be a whole number from 1 to 100. sort must be one of -created_at, created_at, -rating, rating. id is required.",
            ),
        ] {
            assert_eq!(reviews(arguments).as_deref(), Some(problem));
        }
        for (arguments, problem) in [
            (json!({"q": " "}), "q must not be empty; leave it out instead."),
            (json!({"q": "x".repeat(257)}), "q must have at most 256 characters; this has 257."),
            (json!({"q": 5}), "q must be a string."),
            (
                json!({"evidence_checked_after": "2026-02-30"}),
                "evidence_checked_after must be a valid date in the form YYYY-MM-DD.",
            ),
            (json!({"category": ["a", 5, ""]}), "category must be a string."),
            (json!({"category": vec!["x"; MAX_VALUES + 1]}), "category must have at most 50 values."),
        ] {
            assert_eq!(search(arguments).err().as_deref(), Some(problem));
        }
    }
}
