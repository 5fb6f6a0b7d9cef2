"""The clients against our own server: what it really returns, and what it really rejects."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

from server import REPOSITORY, Server
from software_directory import (
    ApiConnectionError,
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    SoftwareDirectory,
    models,
)

if TYPE_CHECKING:
    from driver import Driver

DEMO = json.loads((REPOSITORY / "demo" / "demo.json").read_text("utf-8"))
REVIEWED = DEMO["reviews"][0]["software_id"]


def has_members_of(record: Any, model: Any) -> bool:
    """Whether a record has all members that its type requires, and none that its type lacks."""
    return set(model.__required_keys__) <= set(record) <= set(get_type_hints(model))


@pytest.mark.parametrize(
    ("arguments", "parameters", "model"),
    [
        (["software.list"], {}, models.SoftwareItem),
        (["software.similar", REVIEWED], {}, models.SimilarSoftware),
        (["categories.list"], {}, models.Category),
        (["reviews.list", REVIEWED], {}, models.Review),
        (["glossary.list"], {}, models.GlossaryTerm),
        (["search.products"], {"q": "audit", "highlight": True}, models.SearchHit),
        (["exports.list"], {}, models.Export),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_items_have_the_members_of_their_type(
    arguments: list[str], parameters: dict[str, Any], model: type, driver: Driver, server: Server
) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        page = client.call(*arguments, **parameters)

    assert page.data
    for item in page.data:
        assert has_members_of(item, model)


@pytest.mark.parametrize(
    ("arguments", "parameters", "model"),
    [
        (["software.get", REVIEWED], {}, models.SoftwareDetail),
        (["categories.get", "audit-management"], {}, models.Category),
        (["glossary.get", "capa"], {}, models.GlossaryTerm),
        (["suggest"], {"q": "audit"}, models.Suggestions),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_record_has_the_members_of_its_type(
    arguments: list[str], parameters: dict[str, Any], model: type, driver: Driver, server: Server
) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        record = client.call(*arguments, **parameters)

    assert has_members_of(record, model)
    assert record.get("id") == (arguments[1] if len(arguments) > 1 else None)


def test_suggestions_have_the_members_of_their_type(driver: Driver, server: Server) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        suggestions = client.call("suggest", q="audit", limit=20)

    for name, model in (
        ("software", models.SoftwareRef),
        ("categories", models.CategorySuggestion),
        ("glossary", models.TermSuggestion),
    ):
        assert suggestions[name]
        for item in suggestions[name]:
            assert has_members_of(item, model)


@pytest.mark.parametrize("limit", [7, 100])
def test_iterating_yields_every_product_once(limit: int, driver: Driver, server: Server) -> None:
    ids: list[Any] = []
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        total = client.call("software.list", limit=1).pagination["total"]
        client.collect(ids, "items", "software.list", limit=limit)

    assert len({item["id"] for item in ids}) == len(ids) == total


def test_the_server_knows_every_parameter(driver: Driver, server: Server) -> None:
    filters: dict[str, Any] = {
        "category": ["audit-management", "Incident management"],
        "offering_type": "software",
        "evidence_status": "pending-review",
        "min_rating": 0.5,
        "evidence_checked_before": date(2030, 1, 31),
        "evidence_checked_after": date(2020, 1, 31),
        "any_evidence_before": date(2030, 1, 31),
        "standards": "ISO 45001",
        "deployment": ["cloud"],
        "languages": ["en", "de"],
        "vendor": "Owl",
        "tags": "demo",
        "fields": ["id", "name"],
        "limit": 1,
        "offset": 0,
        "q": "a",
        "sort": "-rating",
    }
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        client.call("software.list", **filters, id=["a", "b"])
        client.call("software.similar", REVIEWED, limit=1, offset=1)
        client.call("software.history", REVIEWED, limit=1, offset=1)
        client.call("suggest", q="a", limit=1)
        options = {"facets": ["category", "rating"], "highlight": False, "typo": False, "prefix": "never"}
        client.call("search.products", **filters, **options)
        client.call("glossary.list", q="risk", limit=1, offset=1)
        client.call("categories.list", limit=1, offset=1)
        client.call("reviews.list", REVIEWED, min_rating=2, max_rating=5, verified=True, sort="rating", offset=1)
        client.call("exports.list", limit=1, offset=1)


def test_a_search_reports_how_it_was_understood(driver: Driver, server: Server) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        page = client.call("search.products", q="permit to wrok", facets="offering_type")

    assert {"from": "wrok", "to": "work"} in page.query["corrected"]
    assert {name for value in page.facets["offering_type"] for name in value} == {"value", "label", "count"}


def test_reviews_come_with_their_summary(driver: Driver, server: Server) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        page = client.call("reviews.list", REVIEWED, limit=1)

    assert page.summary["count"] == page.pagination["total"]
    assert sum(page.summary["distribution"].values()) == page.summary["count"]


def test_a_download_is_the_file_byte_for_byte(driver: Driver, server: Server) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        document = client.call("exports.download", "demo")
        lines = client.call("exports.download", "demo", format="ndjson").splitlines()

    assert document == (REPOSITORY / "demo" / "demo.json").read_bytes()
    assert [json.loads(line)["id"] for line in lines] == [record["id"] for record in DEMO["software"]]


@pytest.mark.parametrize("id", ["a/b", "%2e%2e", "ü ?#&+", "..."])
def test_any_string_is_an_id(id: str, driver: Driver, server: Server) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client, pytest.raises(NotFoundError) as raised:
        client.call("software.get", id)

    assert raised.value.code == "software_not_found"
    assert id in raised.value.message


def test_the_server_keeps_the_request_id(driver: Driver, server: Server) -> None:
    with driver(api_key=server.api_key, base_url=server.base_url) as client:
        response = client.raw("software.list", limit=1)

    assert response.request_id == response.headers["X-Request-Id"]
    assert len(response.request_id) == 32


def test_a_wrong_key_is_an_authentication_error(driver: Driver, server: Server) -> None:
    with (
        driver(api_key="sd_live_wrong", base_url=server.base_url) as client,
        pytest.raises(AuthenticationError) as raised,
    ):
        client.call("software.list")

    assert (raised.value.status, raised.value.code) == (401, "invalid_api_key")


def test_an_invalid_parameter_is_named(driver: Driver, server: Server) -> None:
    with (
        driver(api_key=server.api_key, base_url=server.base_url) as client,
        pytest.raises(InvalidRequestError) as raised,
    ):
        client.call("software.list", limit=101)

    assert [problem["param"] for problem in raised.value.errors] == ["limit"]


def test_an_exceeded_quota_says_how_long_to_wait(tmp_path: Any) -> None:
    keys = tmp_path / "keys.json"
    key = Server.run("keys", "create", "--keys", str(keys), "--name", "test", "--rate", "1/min").strip()
    server = Server.start("--keys", str(keys))
    try:
        with SoftwareDirectory(api_key=key, base_url=server.base_url, max_retries=0) as client:
            client.categories.list()
            with pytest.raises(RateLimitError) as raised:
                client.categories.list()
    finally:
        server.stop()

    assert raised.value.code == "rate_limited"
    assert raised.value.retry_after_seconds is not None
    assert 0 < raised.value.retry_after_seconds <= 60


def test_an_unreachable_server_is_a_connection_error() -> None:
    server = Server.start()
    with SoftwareDirectory(api_key=server.api_key, base_url=server.base_url, max_retries=0) as client:
        client.categories.list(limit=1)
        server.stop()
        with pytest.raises(ApiConnectionError):
            client.categories.list(limit=1)
