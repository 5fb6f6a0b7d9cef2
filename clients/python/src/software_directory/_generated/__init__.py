"""Written by tools/generate.py out of the server's OpenAPI document; not to be edited."""
