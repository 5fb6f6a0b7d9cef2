"""The operations that both clients have, under the names in the conformance table."""

OPERATIONS = (
    "software.list",
    "software.get",
    "software.similar",
    "software.history",
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
