"""Tests the binary with the protocol's own clients, over both transports: with the installed Python library and, if that's the
latest major version, with the TypeScript libraries and the inspector."""

import argparse
import asyncio
import json
import os
import re
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

MAJOR = int(version("mcp").split(".")[0])
if MAJOR == 1:
    from httpx import AsyncClient
else:
    from httpx2 import AsyncClient

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "data"
TOOLS = [
    "search_software",
    "get_software",
    "list_similar_software",
    "list_categories",
    "search_glossary",
    "list_reviews",
    "get_software_history",
]


def parts(result):
    """Whether a result is an error, its content, and its structured content."""
    if MAJOR == 1:
        return result.isError, result.content, result.structuredContent
    return result.is_error, result.content, result.structured_content


async def ask(read, write, transport):
    async with ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS, tools
        is_error, _, found = parts(await session.call_tool("search_software", {"q": "permit", "limit": 3}))
        assert not is_error, found
        product = found["software"][0]
        assert product["evidence"]["status"] and product["export"]["license"], product
        arguments = {"get_software": {"id": product["id"]}, "list_categories": {}, "search_glossary": {"q": "permit"}}
        of_product = {"list_similar_software": {"id": product["id"], "limit": 2}, "list_reviews": {"id": product["id"]}}
        of_product["get_software_history"] = {"id": product["id"]}
        for tool, given in {**arguments, **of_product}.items():
            # The library validates each result against the tool's schema.
            is_error, _, result = parts(await session.call_tool(tool, given))
            assert not is_error and result["generation"], result
        is_error, wrong, _ = parts(await session.call_tool("search_software", {"limt": 3}))
        assert is_error and "Did you mean limit?" in wrong[0].text, wrong
    print(f"mcp-clients: python {MAJOR}: {transport}: passed")


async def check(binary, url, key):
    environment = {"SOFTWARE_DIRECTORY_DATA": str(DATA), "SOFTWARE_DIRECTORY_INDEX": "none"}
    parameters = StdioServerParameters(command=binary, args=["mcp"], env=environment)
    async with stdio_client(parameters) as (read, write, *_):
        await ask(read, write, "stdio")
    async with AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        async with streamable_http_client(f"{url}/mcp", http_client=http) as (read, write, *_):
            await ask(read, write, "http")


def node(*command, **options):
    return subprocess.run(command, cwd=HERE, check=True, text=True, timeout=60, **options)


def inspect(binary, url, key):
    """Calls a tool through the inspector's command line."""
    call = ["--method", "tools/call", "--tool-name", "search_software", "--tool-arg", "q=permit"]
    environment = ["-e", f"SOFTWARE_DIRECTORY_DATA={DATA}", "-e", "SOFTWARE_DIRECTORY_INDEX=none"]
    targets = {
        "stdio": [*environment, binary, "mcp"],
        "http": [f"{url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {key}"],
    }
    for transport, target in targets.items():
        output = node("node_modules/.bin/mcp-inspector", "--cli", *target, *call, stdout=subprocess.PIPE).stdout
        assert json.loads(output)["structuredContent"]["total"] > 0, output
        print(f"mcp-clients: inspector: {transport}: passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    binary = str(parser.parse_args().binary.resolve())
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        arguments = [binary, "serve", "--data", str(DATA), "--index", str(index), "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            text = ""
            while not (found := re.search(r"Bearer (\S+)' '(http://[^/]+)/", text)):
                line = server.stdout.readline()
                assert line, f"the server exited: {text}"
                text += line
            key, url = found.groups()
            asyncio.run(check(binary, url, key))
            if MAJOR == 2:
                node("node", "check.mjs", env={**os.environ, "BINARY": binary, "URL": url, "KEY": key, "DATA": str(DATA)})
                inspect(binary, url, key)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
