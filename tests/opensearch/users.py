"""The program on a node with TLS and users, with the permissions in docs/opensearch.md and with wrong credentials.

    cluster.py --security -- python3 tests/opensearch/users.py --binary BINARY --data FOLDER
"""

import argparse
import base64
import contextlib
import os
import pathlib
import subprocess
import tempfile

from conformance import server
from serve import ask, check, wait

SECONDS = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    arguments = parser.parse_args()
    ca_file, password_file = os.environ["OPENSEARCH_CA_FILE"], os.environ["OPENSEARCH_PASSWORD_FILE"]
    password = pathlib.Path(password_file).read_text().strip()
    said = []

    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        wrong = folder / "wrong"
        wrong.write_text("correct-horse-battery\n")

        def engine(user, *, password_file=password_file, ca_file=ca_file, prefix="software-directory"):
            options = ["--engine", "opensearch", "--engine-url", os.environ["OPENSEARCH_URLS"], "--engine-index-prefix", prefix]
            options += ["--engine-ca-file", str(ca_file)] if ca_file else []
            return [*options, "--engine-user", user, "--engine-password-file", str(password_file)]

        def reindex(*options):
            command = [arguments.binary, "--reindex", "--log", "debug", "--data", arguments.data, "--index", folder / "index", *options]
            output = subprocess.run(command, capture_output=True, text=True)
            said.append(output.stdout + output.stderr)
            return output

        def fails(what, output, code, *texts):
            check(f"{what}: exit code {code}", output.returncode == code)
            print(f"    {output.stderr.strip().splitlines()[-1][:400]}")
            check(f"{what}: the error says {' and '.join(texts)}", all(text in output.stderr for text in texts))

        @contextlib.contextmanager
        def serving(*options):
            """Runs a server, and collects its log once it has stopped."""
            log = folder / f"log-{len(said)}"
            with log.open("wb") as file, server(arguments.binary, "--index", folder / "index", *options, log="debug", stderr=file) as it:
                yield it
            said.append(log.read_text())

        # Try wrong credentials first, so that no other error can mask that one.
        fails("a wrong password", reindex(*engine("builder", password_file=wrong)), 1, "rejects user builder")
        fails("no CA file", reindex(*engine("builder", ca_file=None)), 1, "--engine-ca-file", "UnknownIssuer")
        fails("a CA file that doesn't exist", reindex(*engine("builder", ca_file=folder / "no.pem")), 2, "no.pem")
        fails("a CA file without a certificate", reindex(*engine("builder", ca_file=wrong)), 2, "contains no certificate")
        fails("a password file that doesn't exist", reindex(*engine("builder", password_file=folder / "no")), 2, "can't be read")
        fails("a user without permissions", reindex(*engine("stranger")), 1, "stranger", "role")
        fails("a user that may only read", reindex(*engine("server")), 1, "server", "role")
        fails("another directory's indices", reindex(*engine("builder", prefix="other")), 1, "builder", "role")

        with serving(*engine("server", password_file=wrong)) as refused:
            ready = ask(refused, "/readyz")
            check("a server with the wrong password isn't ready", ready[0] == 503)

        output = reindex(*engine("builder"))
        check(f"the permissions in docs/opensearch.md are enough to build{output.stderr if output.returncode else ''}", output.returncode == 0)
        with serving(*engine("server")) as served:
            wait("the permissions in docs/opensearch.md are enough to serve from it", SECONDS, lambda: ask(served, "/readyz")[0] == 200)
            for path in ("/v1/search?q=risk&facets=category", "/v1/software?limit=3", "/v1/software/demo-permit-penguin", "/v1/exports",
                         "/v1/reviews/demo-permit-penguin", "/v1/suggest?q=pe"):
                check(f"{path} returns 200", ask(served, path)[0] == 200)
        log = folder / f"log-{len(said)}"
        with serving(*engine("server", password_file=wrong)) as refused:
            check("nor with a generation", ask(refused, "/readyz")[0] == 503)
            wait("the log contains the reason", SECONDS, lambda: "cluster_authentication" in log.read_text())

    texts = "\n".join(said)
    basic = [base64.b64encode(f"{user}:{word}".encode()).decode() for user in ("builder", "server", "stranger")
             for word in (password, "correct-horse-battery")]
    check(f"{len(texts)} bytes of output and logs contain no password", not any(of in texts for of in (password, "correct-horse", *basic)))


if __name__ == "__main__":
    main()
