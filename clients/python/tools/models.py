"""OpenAPI schemas as Python types: what a record is, and what a parameter may be."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from typing import Any

# The schemas of the operations' responses, with the schemas that they refer to.
ROOTS = (
    "SoftwareItem",
    "SoftwareDetail",
    "Attribute",
    "Category",
    "Review",
    "ReviewSummary",
    "GlossaryTerm",
    "SearchHit",
    "QueryReport",
    "FacetValue",
    "Export",
    "Pagination",
    "Problem",
    "SimilarSoftware",
    "Suggestions",
    "Change",
)

HEADER = '''"""The records of the API, as types of plain dicts.

Written by tools/generate.py out of the server's OpenAPI document; not to be edited. Members that a newer server adds
are in the dicts all the same.
"""

from __future__ import annotations

'''

TYPING = ("Any", "Dict", "List", "Literal", "Optional", "TypedDict", "Union")


def models_source(document: dict[str, Any]) -> str:
    """Return the source of models.py."""
    schemas = document["components"]["schemas"]
    names = _in_order(schemas)
    body = "\n\n".join(_definition(name, schemas[name]) for name in names)
    used = ", ".join(name for name in TYPING if re.search(rf"\b{name}\b", body))
    exported = ", ".join(json.dumps(name) for name in sorted(names))
    return f"{HEADER}from typing import {used}\n\n__all__ = [{exported}]\n\n\n{body}\n"


def exported_names(document: dict[str, Any]) -> list[str]:
    """Return the names of all types of models.py."""
    return sorted(_in_order(document["components"]["schemas"]))


def parameter_type(schema: dict[str, Any]) -> str:
    """Return the type of a query parameter, `None` left out."""
    if schema["type"] == "array":
        item = parameter_type(schema["items"])
        return f"{item} | Iterable[{item}]"
    if schema.get("enum") == ["true", "false"]:
        return "bool"
    if "enum" in schema:
        return _literal(schema["enum"])
    if schema.get("format") == "date":
        return "date | str"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[schema["type"]]


def _in_order(schemas: dict[str, Any]) -> list[str]:
    # A base before what is built on it; else as the document has them.
    seen: list[str] = []

    def visit(name: str) -> None:
        if name not in seen:
            for other in _references(schemas[name]):
                visit(other)
            seen.append(name)

    for root in ROOTS:
        visit(root)
    return seen


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    own = [_name(schema["$ref"])] if "$ref" in schema else []
    return own + [name for value in schema.values() for name in _references(value)]


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _definition(name: str, schema: dict[str, Any]) -> str:
    if "enum" in schema:
        # A server may have more values than this client: any text passes, the known ones are completed.
        return f"{name} = Union[{_literal(schema['enum'])}, str]\n{_docstring(schema['description'])}\n"
    bases = [_name(part["$ref"]) for part in schema.get("allOf", []) if "$ref" in part]
    own = [part for part in schema.get("allOf", [schema]) if "$ref" not in part]
    members = {key: value for part in own for key, value in part["properties"].items()}
    required = {key for part in own for key in part["required"]}
    if any(not key.isidentifier() or keyword.iskeyword(key) for key in members):
        if required != set(members) or bases:
            raise ValueError(f"{name}: members that aren't identifiers must all be required")
        return _functional(name, schema, members)
    optional = {key: value for key, value in members.items() if key not in required}
    if not optional:
        return _class(name, bases, schema["description"], members)
    always = {key: value for key, value in members.items() if key in required}
    return (
        _class(f"_{name}Always", bases, f"What a {name} always has.", always)
        + "\n\n"
        + _class(name, [f"_{name}Always"], schema["description"], optional, total=False)
    )


def _class(name: str, bases: list[str], description: str, members: dict[str, Any], *, total: bool = True) -> str:
    arguments = [*(bases or ["TypedDict"]), *([] if total else ["total=False"])]
    lines = [f"class {name}({', '.join(arguments)}):", _indented(_docstring(description))]
    for key, value in members.items():
        lines.append(f"    {key}: {_type(value)}")
        if text := _description(value):
            lines.append(_indented(_docstring(text)))
    return "\n".join(lines) + "\n"


def _functional(name: str, schema: dict[str, Any], members: dict[str, Any]) -> str:
    rows = "".join(
        f"    # {value['description']}\n    {json.dumps(key)}: {_type(value)},\n" for key, value in members.items()
    )
    return f"{name} = TypedDict({json.dumps(name)}, {{\n{rows}}})\n{_docstring(schema['description'])}\n"


def _description(schema: dict[str, Any]) -> str:
    if "description" in schema:
        return str(schema["description"])
    return next((str(part["description"]) for part in schema.get("oneOf", []) if "description" in part), "")


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _name(schema["$ref"])
    if "oneOf" in schema:
        types = [_type(part) for part in schema["oneOf"] if part.get("type") != "null"]
        return f"Optional[{types[0] if len(types) == 1 else 'Union[' + ', '.join(types) + ']'}]"
    kind = schema["type"]
    if isinstance(kind, list):
        (plain,) = [item for item in kind if item != "null"]
        return f"Optional[{_type({**schema, 'type': plain})}]"
    if kind == "array":
        return f"List[{_type(schema['items'])}]"
    if kind == "object":
        values = schema["additionalProperties"]
        return f"Dict[str, {_type(values) if values else 'Any'}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[kind]


def _literal(values: list[str]) -> str:
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


def _docstring(text: str) -> str:
    lines = textwrap.wrap(text, 108, break_long_words=False, break_on_hyphens=False)
    prefix = "r" if "\\" in text else ""
    return f'{prefix}"""{lines[0]}"""' if len(lines) == 1 else prefix + '"""' + "\n".join(lines) + '\n"""'


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")
