"""Rules that the OpenAPI document can't express, so that Schemathesis doesn't report them as contradictions."""

import schemathesis

# The largest offset with a query or when sorting by an attribute. In OpenAPI, a parameter's limit
# can't depend on another parameter. tests/api/parameters.rs tests that larger offsets are refused.
MAX_QUERY_OFFSET = 10_000

# Parameters that may be repeated.
REPEATABLE = {"attribute", "category", "facets", "fields", "id", "standards", "deployment", "languages", "vendor", "tags"}

# The document doesn't depend on the data, so it doesn't list the attributes. odd.json declares
# `licence`, which is text, and `price`, a number. tests/api/attributes.rs tests that undeclared
# attributes are refused.
DECLARED = "licence"
SORTABLE = "price"
ATTRIBUTES = {DECLARED, "standards", "deployment", "languages", "vendor", "tags"}
PREFIX = "attribute."

# The document doesn't list the languages either. These are the ones in the bundled exports.
# tests/api/languages.rs tests that other languages are refused.
LANGUAGES = {"de", "en", "fr"}


def known_filter(value):
    property_, _, rest = str(value).partition(":")
    return value if property_ in ATTRIBUTES else f"{DECLARED}:{rest}"


def known_facet(value):
    text = str(value)
    return f"{PREFIX}{DECLARED}" if text.startswith(PREFIX) and text.removeprefix(PREFIX) not in ATTRIBUTES else value


def each(values, of):
    return [of(value) for value in values] if isinstance(values, list) else of(values)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None:
        return
    if not case.meta.generation.mode.is_positive:
        # A list with one element is sent as just that element, which may be valid. A list of two is
        # still a list on the wire.
        for name, value in case.query.items():
            if isinstance(value, list) and len(value) == 1 and name not in REPEATABLE:
                case.query[name] = value * 2
        return
    # With `fields`, a response lacks members that its schema requires. tests/api/software.rs
    # tests which members it has.
    case.query.pop("fields", None)
    # A generation that the server doesn't have gets a 410. tests/api/changes.rs tests known generations.
    case.query.pop("since", None)
    for name, known in (("attribute", known_filter), ("facets", known_facet)):
        if name in case.query:
            case.query[name] = each(case.query[name], known)
    if "lang" in case.query and case.query["lang"] not in LANGUAGES:
        case.query["lang"] = "de"
    sort = str(case.query.get("sort", ""))
    is_by_attribute = sort.removeprefix("-").startswith(PREFIX)
    if is_by_attribute:
        case.query["sort"] = f"{PREFIX}{SORTABLE}"
    if not case.query.get("q") and not is_by_attribute:
        return
    offset = str(case.query.get("offset", 0))
    if offset.isdecimal() and int(offset) > MAX_QUERY_OFFSET:
        case.query["offset"] = int(offset) % (MAX_QUERY_OFFSET + 1)
