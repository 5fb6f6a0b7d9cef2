"""What a user would take instead: SQLite's full text search behind Datasette, MiniSearch behind Fastify, PostgreSQL.

What isn't there is fetched once into the checkout: Datasette from PyPI into .tools/datasette, MiniSearch and Fastify from npm
(benches/http/minisearch/package-lock.json). PostgreSQL has to be installed; it runs on a database of its own in a temporary
folder and is asked by its own load tool, pgbench, over a socket: without HTTP, which is in its favour.
"""

import glob
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
FIELDS = ["id", "name", "tagline", "description"]


def records(export):
    for record in json.loads(pathlib.Path(export).read_text())["software"]:
        yield [record.get(field) or "" for field in FIELDS]


def datasette(server, export, folder):
    environment = CHECKOUT / ".tools" / "datasette"
    binary = environment / "bin" / "datasette"
    if not binary.exists():
        print(f"Datasette is installed once into {environment}")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", "datasette==0.65.5"], check=True)
    database = sqlite3.connect(folder / "packages.db")
    database.execute("CREATE TABLE packages (id TEXT PRIMARY KEY, name TEXT, tagline TEXT, description TEXT)")
    database.executemany("INSERT INTO packages VALUES (?, ?, ?, ?)", records(export))
    database.execute("CREATE VIRTUAL TABLE packages_fts USING fts5 (name, tagline, description, content='packages')")
    database.execute("INSERT INTO packages_fts (rowid, name, tagline, description) "
                     "SELECT rowid, name, tagline, description FROM packages")
    database.commit()
    database.close()
    # Uvicorn tells its address on standard error, too late to take a free port from it.
    port = str(random.randrange(20000, 30000))
    command = f"'{binary}' '{folder}/packages.db' --host 127.0.0.1 --port {port} 2>&1 | grep --line-buffered running"
    started = server("Datasette", ["bash", "-c", command])
    started.before, started.after = "/packages/packages.json?_size=10&_shape=objects&_search=", ""
    return started


def minisearch(server, export, folder):
    here = HERE / "minisearch"
    if not (here / "node_modules").exists():
        subprocess.run(["npm", "ci", "--prefix", here, "--no-audit", "--no-fund", "--silent"], check=True)
    started = server("MiniSearch behind Fastify", ["node", "--max-old-space-size=8000", here / "server.mjs", export])
    started.before, started.after = "/search?q=", ""
    return started


START = {"datasette": datasette, "minisearch": minisearch}

SCHEMA = """
CREATE TABLE packages (id text PRIMARY KEY, name text, tagline text, description text);
\\copy packages FROM '{folder}/packages.csv' WITH (FORMAT csv)
ALTER TABLE packages ADD COLUMN words tsvector GENERATED ALWAYS AS
  (to_tsvector('english', name || ' ' || tagline || ' ' || description)) STORED;
CREATE INDEX ON packages USING gin (words);
CREATE TABLE queries (n serial PRIMARY KEY, q text);
\\copy queries (q) FROM '{folder}/queries.csv' WITH (FORMAT csv)
VACUUM ANALYZE;
"""

SEARCH = """\\set n random(1, {queries})
SELECT id, name, tagline, description, count(*) OVER () FROM packages,
  (SELECT plainto_tsquery('english', q) AS query FROM queries WHERE n = :n) AS asked
  WHERE words @@ query ORDER BY ts_rank(words, query) DESC LIMIT 10;
"""


def postgresql(arguments, folder, ours, wrk, distinct, search):
    """A database of its own; answers our medians, its, and their ratio."""
    import csv
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    bin_folder = pathlib.Path(found[-1]) if found else pathlib.Path(shutil.which("initdb") or "/nowhere").parent
    if not (bin_folder / "initdb").exists():
        sys.exit("error: PostgreSQL is missing; install it with: sudo apt-get install postgresql   (macOS: brew install "
                 "postgresql), or leave it out with --without postgresql")
    place = folder / "postgresql"
    place.mkdir()
    with open(place / "packages.csv", "w", newline="") as file:
        csv.writer(file).writerows(records(arguments.export))
    queries = distinct.read_text().splitlines()
    with open(place / "queries.csv", "w", newline="") as file:
        csv.writer(file).writerows([query] for query in queries)
    (place / "search.sql").write_text(SEARCH.format(queries=len(queries)))
    (place / "schema.sql").write_text(SCHEMA.format(folder=place))
    # It refuses to run as root.
    as_user = []
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        for path in [place, *place.iterdir()]:
            os.chown(path, user.pw_uid, user.pw_gid)
        as_user = ["runuser", "-u", "postgres", "--"]
    def call(*command):
        return subprocess.run([*as_user, *map(str, command)], check=True, capture_output=True, text=True, cwd=place)
    call(bin_folder / "initdb", "-D", place / "db", "-A", "trust", "-U", "bench")
    options = f"-k {place} -c listen_addresses='' -c shared_buffers=512MB -c fsync=off"
    call(bin_folder / "pg_ctl", "-D", place / "db", "-w", "-o", options, "-l", place / "log", "start")
    try:
        call("psql", "-h", place, "-U", "bench", "-d", "postgres", "-q", "-f", place / "schema.sql")
        mine, its = [], []
        for number in range(arguments.rounds):
            mine.append(wrk(ours.url, 16, arguments.seconds, distinct, number * 40_000, search, key=ours.key))
            done = call("pgbench", "-h", place, "-U", "bench", "-n", "-c", "16", "-j", "1", "-M", "prepared", "-T",
                        arguments.seconds, "-r", "-f", place / "search.sql", "postgres")
            its.append({"rate": float(re.search(r"tps = ([\d.]+)", done.stdout)[1]),
                        "p50": float(re.search(r"latency average = ([\d.]+) ms", done.stdout)[1])})
    finally:
        call(bin_folder / "pg_ctl", "-D", place / "db", "-m", "immediate", "stop")
    medians = {figure: statistics.median(seen[figure] for seen in mine) for figure in ["rate", "p50", "p99"]}
    theirs = {figure: statistics.median(seen[figure] for seen in its) for figure in ["rate", "p50"]}
    ratio = statistics.median(m["rate"] / i["rate"] for m, i in zip(mine, its))
    return [{"name": "ours", **medians}, {"name": "PostgreSQL (pgbench, mean for p50)", "p99": float("nan"), **theirs}], ratio
