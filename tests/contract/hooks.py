"""What the OpenAPI document can't say of a request, so that Schemathesis doesn't take it for a contradiction."""

import schemathesis

# With a query, pages begin at this offset at most. OpenAPI bounds a parameter by itself only, not by whether another is
# there; that a larger one is refused is tested in tests/api/parameters.rs.
MAX_QUERY_OFFSET = 10_000


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive or not case.query.get("q"):
        return
    offset = str(case.query.get("offset", 0))
    if offset.isdecimal() and int(offset) > MAX_QUERY_OFFSET:
        case.query["offset"] = int(offset) % (MAX_QUERY_OFFSET + 1)
