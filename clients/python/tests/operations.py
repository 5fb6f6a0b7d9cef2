"""The operations that both clients have, by the names that the conformance table uses."""

OPERATIONS = (
    "software.list",
    "software.get",
    "categories.list",
    "reviews.list",
    "glossary.list",
    "search.products",
    "exports.list",
    "exports.download",
)
