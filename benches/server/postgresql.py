"""PostgreSQL's full-text search: a separate database in a temporary folder, queried over a socket by PostgreSQL's own load
tool, pgbench. There's no HTTP involved, which is in its favour."""

import csv
import glob
import json
import math
import os
import pathlib
import pwd
import shutil
import subprocess

from server import fail

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

# The top ten, with the total count.
BEST = """SELECT id, name, tagline, description, count(*) OVER () AS total
  FROM packages, plainto_tsquery('english', {asked}) AS query
  WHERE words @@ query ORDER BY ts_rank(words, query) DESC LIMIT 10"""


class PostgreSQL:
    name = "PostgreSQL (without HTTP)"
    before = after = ""

    def __init__(self, records, folder, queries):
        bin_folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        found = pathlib.Path(bin_folders[-1]) if bin_folders else pathlib.Path(shutil.which("initdb") or "/nowhere").parent
        for tool in ["initdb", "pg_ctl", "psql", "pgbench"]:
            if not (found / tool).exists():
                fail(f"PostgreSQL's {tool} is missing; install it with: sudo apt-get install postgresql   (macOS: brew install "
                     "postgresql), or leave it out with --without postgresql")
        self.tools, self.folder, self.queries = found, folder / "postgresql", queries
        self.folder.mkdir()
        self.write("packages.csv", records)
        self.write("queries.csv", ([query] for query in queries))
        (self.folder / "schema.sql").write_text(SCHEMA.format(folder=self.folder))
        one = BEST.format(asked="(SELECT q FROM queries WHERE n = :n)")
        (self.folder / "search.sql").write_text(f"\\set n random(1, {len(queries)})\n{one};\n")
        # PostgreSQL refuses to run as root.
        self.as_user = []
        if os.geteuid() == 0:
            self.as_user = ["runuser", "-u", "postgres", "--"]
            user = pwd.getpwnam("postgres")
            for path in [self.folder, *self.folder.iterdir()]:
                os.chown(path, user.pw_uid, user.pw_gid)
        self.call("initdb", "-D", self.folder / "db", "-A", "trust", "-U", "bench", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=512MB -c fsync=off -c client_min_messages=error"
        self.call("pg_ctl", "-D", self.folder / "db", "-w", "-o", options, "-l", self.folder / "log", "start")
        try:
            self.psql("-f", self.folder / "schema.sql")
            self.version = f"PostgreSQL {self.psql('-At', '-c', 'SHOW server_version').split()[0]}"
        except SystemExit:
            self.stop()
            raise

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="") as file:
            # An empty field without quotes would be read as NULL.
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)

    def call(self, tool, *arguments):
        command = [*self.as_user, *map(str, [self.tools / tool, *arguments])]
        # Output goes to a file, because the server that this starts would keep a pipe open.
        with open(self.folder.parent / "postgresql.txt", "w+") as told:
            done = subprocess.run(command, stdout=told, stderr=subprocess.STDOUT, cwd=self.folder)
            told.seek(0)
            text = told.read()
        if done.returncode != 0:
            fail(f"{' '.join(command)} failed: {text[-2000:]}")
        return text

    def psql(self, *arguments):
        return self.call("psql", "-h", self.folder, "-U", "bench", "-d", "postgres", "-q", "-v", "ON_ERROR_STOP=1", *arguments)

    def answers(self, queries):
        """The ids and the total that each query returns."""
        self.write("checked.csv", ([query] for query in queries))
        (self.folder / "checked.csv").chmod(0o644)
        (self.folder / "checked.sql").write_text(
            "CREATE TEMPORARY TABLE checked (n serial, q text);\n"
            f"\\copy checked (q) FROM '{self.folder}/checked.csv' WITH (FORMAT csv)\n"
            "SELECT json_build_array(coalesce(json_agg(id) FILTER (WHERE id IS NOT NULL), '[]'), coalesce(max(total), 0))\n"
            f"FROM checked LEFT JOIN LATERAL ({BEST.format(asked='q')}) AS best ON true GROUP BY n ORDER BY n;\n")
        (self.folder / "checked.sql").chmod(0o644)
        for line in self.psql("-At", "-f", self.folder / "checked.sql").splitlines():
            ids, total = json.loads(line)
            yield ids, total

    def load(self, connections, seconds, _file, _start, _before, **_options):
        """Sends random queries from the file back to back. Returns the same as `Server.load`."""
        for file in self.folder.glob("times.*"):
            file.unlink()
        self.call("pgbench", "-h", self.folder, "-U", "bench", "-n", "-c", connections, "-j", 1, "-M", "prepared",
                  "-T", seconds, "-l", "--log-prefix", self.folder / "times", "-f", self.folder / "search.sql", "postgres")
        lines = [line for file in self.folder.glob("times.*") for line in file.read_text().splitlines()]
        # The third column is the time in microseconds.
        times = sorted(int(line.split()[2]) / 1e3 for line in lines)
        if not times:
            fail(f"{self.name} sent no response within {seconds} s")
        def percentile(share):
            return times[math.ceil(share * len(times)) - 1]
        # Each connection has its own process, so there's no single one whose CPU time counts.
        return {"rate": len(times) / seconds, "cpu": math.nan, "p50": percentile(0.5), "p99": percentile(0.99), "bad": 0}

    def stop(self):
        self.call("pg_ctl", "-D", self.folder / "db", "-m", "immediate", "stop")
