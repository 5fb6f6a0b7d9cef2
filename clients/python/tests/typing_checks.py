"""The public API, as type checkers see it.

It's never run, only read by `mypy --strict`. Since an unneeded ignore is an error there, each ignore proves that mypy
finds that mistake.
"""

from __future__ import annotations

from typing import Optional

from typing_extensions import assert_type

from software_directory import AsyncPage, AsyncSoftwareDirectory, Page, SoftwareDirectory, models


def blocking(client: SoftwareDirectory) -> None:
    page = client.software.list(category=["a", "b"], sort="-rating", min_rating=4)
    assert_type(page, Page[models.SoftwareItem])
    assert_type(page.next_page(), Optional[Page[models.SoftwareItem]])
    for product in page:
        assert_type(product, models.SoftwareItem)
        assert_type(product["rating"], Optional[float])
        product["ratings"]  # type: ignore[typeddict-item]
    assert_type(client.software.get("a")["sources"], list[models.Source])
    assert_type(client.reviews.list("a").summary["distribution"]["5"], int)
    hits = client.search.products(q="x", facets=["category"])
    assert_type(hits.facets, dict[str, list[models.FacetValue]])
    assert_type([hit["score"] for hit in hits], list[float])
    assert_type(client.suggest(q="pe")["software"], list[models.SoftwareRef])
    assert_type([similar["shared"]["words"] for similar in client.software.similar("a")], list[list[str]])
    client.reviews.list("a", verified=True)
    assert_type(client.exports.download("a", format="ndjson"), bytes)
    with client.exports.stream("a") as download:
        assert_type(list(download), list[bytes])
    assert_type(client.exports.download_to("a", "a.json", on_progress=print), int)

    client.reviews.list("a", sort="rated")  # type: ignore[arg-type]
    client.software.list(page=2)  # type: ignore[call-arg]
    client.search.products("x")  # type: ignore[misc]
    client.search.products(facets=[7])  # type: ignore[list-item]
    client.software.get(7)  # type: ignore[arg-type]
    SoftwareDirectory(generation_change="never")  # type: ignore[arg-type]


async def asynchronous(client: AsyncSoftwareDirectory) -> None:
    page = await client.software.list(limit=5)
    assert_type(page, AsyncPage[models.SoftwareItem])
    async for product in client.software.list():
        assert_type(product, models.SoftwareItem)
    async for each in client.glossary.list(q="x").pages():
        assert_type(each.data, list[models.GlossaryTerm])
    summary = (await client.reviews.list("a")).summary
    assert_type(summary["average"], Optional[float])
    assert_type((await client.search.products(q="x")).query["dropped"], list[str])
    assert_type((await client.software.get("a"))["name"], str)

    list(client.software.list())  # type: ignore[call-overload]
