"""Checks that the types and methods generated from the OpenAPI document match the server's."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from generate import PACKAGE, generated
from server import REPOSITORY, Server

SNAPSHOT = json.loads((REPOSITORY / "tests" / "api" / "snapshots" / "openapi.json").read_text("utf-8"))


@pytest.mark.parametrize("source", ["snapshot", "binary"])
def test_the_generated_files_are_up_to_date(source: str) -> None:
    document = SNAPSHOT if source == "snapshot" else json.loads(Server.run("openapi"))
    for name, text in generated(document).items():
        assert (PACKAGE / name).read_text("utf-8") == text, (
            f"{name} is stale; run: python clients/python/tools/generate.py tests/api/snapshots/openapi.json"
        )


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (
            lambda d: d["components"]["schemas"]["SoftwareItem"]["properties"].update(new={"type": "string"}),
            "models.py",
        ),
        (lambda d: d["components"]["schemas"]["Review"]["properties"]["rating"].update(type="number"), "models.py"),
        (lambda d: d["components"]["schemas"]["Review"]["required"].remove("title"), "models.py"),
        (lambda d: d["paths"]["/v1/search"]["get"]["parameters"].pop(), "resources.py"),
        (
            lambda d: d["paths"]["/v1/glossary"]["get"]["parameters"][0]["schema"].update(enum=["a"]),
            "async_resources.py",
        ),
    ],
    ids=["a new field", "a type", "an optional field", "a parameter less", "an enumeration"],
)
def test_an_api_change_makes_the_generated_files_stale(change: Any, stale: str) -> None:
    document = copy.deepcopy(SNAPSHOT)
    change(document)

    assert generated(document)[stale] != (PACKAGE / stale).read_text("utf-8")


def test_a_new_operation_needs_a_method() -> None:
    document = copy.deepcopy(SNAPSHOT)
    document["paths"]["/v1/new"] = {"get": {"operationId": "listNew"}}

    with pytest.raises(ValueError, match="listNew"):
        generated(document)
