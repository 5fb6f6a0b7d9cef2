"""The operations that both clients have, by the names that the conformance table uses."""

OPERATIONS = (
    "software.list",
    "software.get",
    "software.similar",
    "attributes.list",
    "categories.list",
    "categories.get",
    "reviews.list",
    "glossary.list",
    "glossary.get",
    "search.products",
    "exports.list",
    "exports.download",
    "changes.since",
    "suggest",
)
