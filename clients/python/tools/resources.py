"""OpenAPI operations as methods of the two clients. The table below maps operations to methods."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from models import exported_names, parameter_type


@dataclass(frozen=True)
class Method:
    """A method of the clients."""

    resource: str
    """The member of the client that has the method; empty for the client itself."""
    name: str
    operation: str
    answer: str
    """`record`, `bytes`, or the name of the page: `Page[X]`, `ReviewPage`, `SearchPage`."""
    item: str


METHODS = (
    Method("Software", "list", "listSoftware", "Page[SoftwareItem]", "SoftwareItem"),
    Method("Software", "get", "getSoftware", "record", "SoftwareDetail"),
    Method("Software", "similar", "listSimilarSoftware", "Page[SimilarSoftware]", "SimilarSoftware"),
    Method("Attributes", "list", "listAttributes", "Page[Attribute]", "Attribute"),
    Method("Categories", "list", "listCategories", "Page[Category]", "Category"),
    Method("Categories", "get", "getCategory", "record", "Category"),
    Method("Reviews", "list", "listReviews", "ReviewPage", "Review"),
    Method("Glossary", "list", "listGlossary", "Page[GlossaryTerm]", "GlossaryTerm"),
    Method("Glossary", "get", "getGlossaryTerm", "record", "GlossaryTerm"),
    Method("Search", "products", "searchSoftware", "SearchPage", "SearchHit"),
    Method("Exports", "list", "listExports", "Page[Export]", "Export"),
    Method("Exports", "download", "getExport", "bytes", "bytes"),
    Method("Changes", "since", "listChanges", "ChangesPage", "Change"),
    Method("", "suggest", "suggest", "record", "Suggestions"),
)

# Parameters of every method.
EXTRAS = {"extra_headers": "Mapping[str, str]", "extra_query": "Mapping[str, ParameterValue]"}

# Operations of the document that are the operator's, not a client's.
LEFT_OUT = {"getHealth", "getReadiness"}

HEADER = '''"""The operations of the API, {kind}.

Written by tools/generate.py out of the server's OpenAPI document; not to be edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .._downloads import {save}
from {package} import {pages}
from .._protocol.messages import call
from .._protocol.outcome import download_of, record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import Abstract{a}ContextManager
    from datetime import date
    from os import PathLike

    from {caller_package} import {caller}
    from .._downloads import {a}Download, Progress
    from .._protocol.messages import ParameterValue, Response
    from .models import {models}

'''


def resources_source(document: dict[str, Any]) -> str:
    """Return the source of resources.py."""
    return _source(document, is_async=False)


def async_resources_source(document: dict[str, Any]) -> str:
    """Return the source of async_resources.py."""
    return _source(document, is_async=True)


def _source(document: dict[str, Any], *, is_async: bool) -> str:
    operations = {
        operation["operationId"]: (path, operation)
        for path, methods in document["paths"].items()
        for operation in methods.values()
    }
    unknown = set(operations) - {method.operation for method in METHODS} - LEFT_OUT
    if unknown:
        raise ValueError(f"say in tools/resources.py which methods these operations are: {', '.join(sorted(unknown))}")
    a = "Async" if is_async else ""
    # The blocking methods name the item only where the page's name doesn't imply it.
    named = {
        method.item
        for method in METHODS
        if is_async or method.answer not in {"ChangesPage", "ReviewPage", "SearchPage"}
    }
    used = sorted(named & set(exported_names(document)))
    pages = ["ChangesPage", "Page", "ReviewPage", "SearchPage"]
    header = HEADER.format(
        kind="asynchronous" if is_async else "blocking",
        package=".._pages",
        pages=", ".join(sorted([*(["AsyncPager"] if is_async else []), *(a + page for page in pages)])),
        caller_package=".._async_caller" if is_async else ".._caller",
        caller=f"{a}Caller",
        a=a,
        save="save_async" if is_async else "save",
        models=", ".join(used),
    )
    classes = []
    for resource in dict.fromkeys(method.resource for method in METHODS):
        methods = [method for method in METHODS if method.resource == resource]
        body = "\n".join(_methods(method, *operations[method.operation], is_async=is_async) for method in methods)
        paths = ", ".join(f"`{operations[method.operation][0]}`" for method in methods)
        if not resource:
            classes.append(
                f'class {a}Operations:\n    """The operations of the client itself: {paths}."""\n\n'
                f"    _caller: {a}Caller\n\n{body}"
            )
            continue
        classes.append(
            f'class {a}{resource}Resource:\n    """{paths}."""\n\n'
            f"    def __init__(self, caller: {a}Caller) -> None:\n"
            f'        """Made by the client."""\n        self._caller = caller\n\n{body}'
        )
    return header + "\n\n".join(classes)


def _methods(method: Method, path: str, operation: dict[str, Any], *, is_async: bool) -> str:
    if method.answer == "bytes":
        plain = _plain_method(method, path, operation, is_async=is_async)
        return plain + "\n" + _stream_methods(path, operation, is_async=is_async)
    if method.answer == "record":
        return _plain_method(method, path, operation, is_async=is_async)
    return _list_method(method, path, operation, is_async=is_async)


def _list_method(method: Method, path: str, operation: dict[str, Any], *, is_async: bool) -> str:
    page = ("Async" if is_async else "") + method.answer
    kind = page.partition("[")[0]
    # The class at run time; the type of its items is for type checkers only.
    kind_argument = f'cast("type[{page}]", {kind})' if "[" in page else kind
    request = _call(path, operation)
    if is_async:
        returned = f"AsyncPager[{page}, {method.item}]"
        result = f"AsyncPager(self._caller, {kind_argument}, {request})"
    else:
        returned = page
        result = f"self._caller.page({kind_argument}, {request})"
    return (
        f"    def {method.name}({_signature(operation)}) -> {returned}:\n"
        f"{_docstring(operation)}        return {result}\n"
    )


def _plain_method(method: Method, path: str, operation: dict[str, Any], *, is_async: bool) -> str:
    prefix, wait = ("async ", "await ") if is_async else ("", "")
    signature = _signature(operation)
    result = f'cast("{method.item}", record_of(response))' if method.answer == "record" else "download_of(response)"
    return (
        f"    {prefix}def {method.name}({signature}) -> {method.item}:\n"
        f"{_docstring(operation)}"
        f"        result, _ = {wait}self.{method.name}_with_response({_passed(operation)})\n"
        f"        return result\n\n"
        f"    {prefix}def {method.name}_with_response({signature}) -> tuple[{method.item}, Response]:\n"
        f'        """Do as `{method.name}`, and return the response as it came beside it."""\n'
        f"        response = {wait}self._caller.send({_call(path, operation)})\n"
        f"        return {result}, response\n"
    )


def _stream_methods(path: str, operation: dict[str, Any], *, is_async: bool) -> str:
    a, prefix, wait, save = ("Async", "async ", "await ", "save_async") if is_async else ("", "", "", "save")
    return (
        f"    def stream({_signature(operation)}) -> Abstract{a}ContextManager[{a}Download]:\n"
        f'        """Do as `download`, and read the body chunk by chunk instead of holding it in memory.\n\n'
        f'            {prefix}with client.exports.stream("demo") as download:\n'
        f"                {prefix}for chunk in download:\n"
        f"                    ...\n\n"
        f"        `timeout` bounds the wait for the headers and for each chunk. What comes before the body is\n"
        f"        tried again like other calls; a body that breaks off raises an `ApiError`.\n"
        f'        """\n'
        f"        return self._caller.stream({_call(path, operation)})\n\n"
        f"    {prefix}def download_to({_signature(operation, saves=True)}) -> int:\n"
        f'        """Do as `stream`, write the body to a file, and return its size.\n\n'
        f"        The file takes its place when it is whole: a download that fails leaves what was there before.\n\n"
        f"        path: The file to write or replace.\n"
        f"        on_progress: Called after each chunk with the bytes received so far, and with the size of the whole\n"
        f"            or `None` where the response doesn't have it.\n"
        f'        """\n'
        f"        return {wait}{save}(self.stream({_passed(operation)}), path, on_progress)\n"
    )


def _passed(operation: dict[str, Any]) -> str:
    named = [parameter["name"] for parameter in _query(operation)] + list(EXTRAS)
    return ", ".join([*(["id"] if _has_id(operation) else []), *(f"{name}={name}" for name in named)])


def _has_id(operation: dict[str, Any]) -> bool:
    return any(parameter["in"] == "path" for parameter in operation["parameters"])


def _signature(operation: dict[str, Any], *, saves: bool = False) -> str:
    parts = ["self", *(["id: str"] if _has_id(operation) else [])]
    # The resource that a method is named after comes first.
    parts += [f"{p['name']}: {parameter_type(p['schema'])} | None = None" for p in _query(operation) if _is_first(p)]
    parts += ["path: str | PathLike[str]", "*"] if saves else ["*"]
    parts += [
        f"{p['name']}: {parameter_type(p['schema'])} | None = None" for p in _query(operation) if not _is_first(p)
    ]
    parts += ["on_progress: Progress | None = None"] if saves else []
    parts += [f"{name}: {kind} | None = None" for name, kind in EXTRAS.items()]
    return ", ".join(parts)


def _call(path: str, operation: dict[str, Any]) -> str:
    parts = [repr(path)]
    parts += ["id=id"] if _has_id(operation) else []
    query = _query(operation)
    if query:
        rows = ", ".join(f"{p['name']!r}: {p['name']}" for p in query)
        parts.append(f"query={{{rows}}}")
    if any(p["name"] == "format" for p in query):
        parts.append('accept="application/x-ndjson" if format == "ndjson" else "application/json"')
        parts.append("is_download=True")
    parts += [f"{name}={name}" for name in EXTRAS]
    return f"call({', '.join(parts)})"


def _is_first(parameter: dict[str, Any]) -> bool:
    return bool(parameter["name"] == "since")


def _query(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [p for p in operation["parameters"] if p["in"] == "query"]


def _docstring(operation: dict[str, Any]) -> str:
    paragraphs = [operation["summary"].rstrip(".") + "."]
    if operation.get("description"):
        paragraphs.append(operation["description"])
    texts = [textwrap.fill(text, 100) for text in paragraphs]
    rows = [
        textwrap.fill(f"{p['name']}: {_sentence(p['description'])}{_range(p['schema'])}", 100, subsequent_indent="    ")
        for p in operation["parameters"]
    ]
    rows.append("extra_headers, extra_query: Headers and parameters to send beside these.")
    texts.append("\n".join(rows))
    text = "\n\n".join(texts)
    ending = "" if "\n" not in text else "\n"
    return textwrap.indent(f'"""{text}{ending}"""\n', "        ")


def _sentence(description: str) -> str:
    # The client does the encoding.
    return description.replace(", percent-encoded", "").rstrip(".") + "."


def _range(schema: dict[str, Any]) -> str:
    parts = []
    if "minimum" in schema and schema.get("maximum", 0) < 2**53 - 1:
        parts.append(f"{schema['minimum']} to {schema['maximum']}")
    if "maxLength" in schema:
        parts.append(f"at most {schema['maxLength']} characters")
    if "default" in schema:
        parts.append(f"default {str(schema['default']).lower()}")
    return f" ({', '.join(parts)})" if parts else ""
