"""What people might use instead: SQLite's full-text search behind Datasette, MiniSearch behind Fastify, PostgreSQL.

Missing programs are downloaded once into the checkout's .tools: Datasette from PyPI, MiniSearch and Fastify from npm
(benches/server/minisearch/package-lock.json). PostgreSQL must already be installed.
"""

import json
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys

from postgresql import PostgreSQL
from server import Server, fail, need

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[1] / ".tools"
FIELDS = ["id", "name", "tagline", "description"]
DATASETTE = "0.65.5"

# Datasette's own table page can search too, but it sorts hits by row number rather than rank.
RANKED = """
SELECT packages.id, packages.name, packages.tagline, packages.description, best.total FROM
  (SELECT rowid, rank, count(*) OVER () AS total FROM packages_fts WHERE packages_fts MATCH escape_fts(:q)
  ORDER BY rank LIMIT 10) AS best JOIN packages ON packages.rowid = best.rowid ORDER BY best.rank
"""


def records(export):
    for record in json.loads(pathlib.Path(export).read_text())["software"]:
        yield [record.get(field) or "" for field in FIELDS]


def install(command, what, remedy):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        fail(f"{what} can't be installed; {remedy}, or leave it out with --without {what}: {done.stdout[-2000:]}")


def datasette(export, folder, _queries):
    environment = TOOLS / f"datasette-{DATASETTE}"
    if not (environment / "bin" / "datasette").exists():
        print(f"Installing Datasette into {environment} (first run only)")
        install([sys.executable, "-m", "venv", environment], "datasette",
                "install Python's venv with: sudo apt-get install python3-venv")
        install([environment / "bin" / "pip", "install", "--quiet", f"datasette=={DATASETTE}"], "datasette",
                "check that PyPI can be reached")
    database = sqlite3.connect(folder / "packages.db")
    database.execute("CREATE TABLE packages (id TEXT PRIMARY KEY, name TEXT, tagline TEXT, description TEXT)")
    database.executemany("INSERT INTO packages VALUES (?, ?, ?, ?)", records(export))
    database.execute("CREATE VIRTUAL TABLE packages_fts USING fts5 (name, tagline, description, content=[packages])")
    database.execute("INSERT INTO packages_fts (packages_fts) VALUES ('rebuild')")
    database.execute("INSERT INTO packages_fts (packages_fts) VALUES ('optimize')")
    database.commit()
    database.close()
    metadata = folder / "datasette.json"
    metadata.write_text(json.dumps({"databases": {"packages": {"queries": {"search": {"sql": RANKED}}}}}))
    # Datasette doesn't support port 0.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = Server("Datasette", [environment / "bin" / "datasette", "-i", folder / "packages.db", "--metadata", metadata,
                                   "--host", "127.0.0.1", "--port", str(port)], tells="stderr")
    started.version = f"Datasette {DATASETTE}, SQLite {sqlite3.sqlite_version}"
    return started.searched_by("/packages/search.json?_shape=objects&q=", lambda answer: (
        [row["id"] for row in answer["rows"]], answer["rows"][0]["total"] if answer["rows"] else 0))


def minisearch(export, _folder, _queries):
    need("node", "sudo apt-get install nodejs   (macOS: brew install node)")
    need("npm", "sudo apt-get install npm   (macOS: brew install node)")
    place = TOOLS / "minisearch"
    place.mkdir(parents=True, exist_ok=True)
    lock = HERE / "minisearch" / "package-lock.json"
    # npm writes this file once everything is in place.
    is_whole = (place / "node_modules" / ".package-lock.json").exists()
    is_there = is_whole and (place / lock.name).read_bytes() == lock.read_bytes()
    for name in ["package.json", lock.name, "server.mjs"]:
        shutil.copy(HERE / "minisearch" / name, place)
    if not is_there:
        print(f"Installing MiniSearch and Fastify into {place} (first run only)")
        install(["npm", "ci", "--prefix", place, "--no-audit", "--no-fund", "--loglevel=error"], "minisearch",
                "check that npm's registry can be reached")
    started = Server("MiniSearch behind Fastify", ["node", "--max-old-space-size=8000", place / "server.mjs", export])
    packages = json.loads(lock.read_text())["packages"]
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    started.version = ", ".join(f"{name} {packages[f'node_modules/{key}']['version']}" for name, key in [
        ("MiniSearch", "minisearch"), ("Fastify", "fastify")]) + f", Node.js {node.lstrip('v')}"
    return started.searched_by("/search?q=", lambda answer: ([hit["id"] for hit in answer["data"]], answer["total"]))


def postgresql(export, folder, queries):
    return PostgreSQL(records(export), folder, queries)


START = {"datasette": datasette, "minisearch": minisearch, "postgresql": postgresql}
