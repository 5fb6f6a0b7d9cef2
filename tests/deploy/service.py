"""The service behind the proxies, and requests that no library rewrites."""

import http.client
import json
import shutil
import ssl
import subprocess

from host import CHECKOUT, Failure, Running, environment, free_port, listens, until

LARGE_RECORDS = 20_000
PUBLIC_HOST = "directory.example:8443"


class Service(Running):
    """The binary with a key file, an access log and a large export."""

    def __init__(self, binary, folder):
        folder.mkdir()
        self.folder = folder
        self.port, self.metrics_port = free_port(), free_port()
        data = folder / "data"
        shutil.copytree(CHECKOUT / "data", data)
        shutil.copy(CHECKOUT / "demo" / "demo.json", data)
        shutil.copy(CHECKOUT / "tests" / "contract" / "odd.json", data)
        self.large = large_export()
        (data / "large.json").write_bytes(self.large)
        self.key = self.new_key(binary, folder, "1000000/min")
        self.few = self.new_key(binary, folder, "3/min")
        super().__init__(
            folder,
            [
                binary, "--listen", f"127.0.0.1:{self.port}", "--keys", "keys.json", "--trusted-proxy", "127.0.0.1/32",
                "--metrics-listen", f"127.0.0.1:{self.metrics_port}", "--public-url", f"https://{PUBLIC_HOST}",
                "--log-format", "json", "--access-log",
            ],
        )
        until("the service listens", lambda: listens(self.port), self.process)
        until("the service is ready", lambda: self.ask("/readyz").status == 200, self.process)

    @staticmethod
    def new_key(binary, folder, rate):
        done = subprocess.run(
            [binary, "keys", "create", "--name", "proxy", "--rate", rate, "--keys", folder / "keys.json"], env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
        )
        return done.stdout.strip()

    def ask(self, target, **how):
        return ask(self.port, target, **how)

    def metrics(self):
        return ask(self.metrics_port, "/metrics").body.decode()

    def logged(self, request_id):
        """A request's line in the access log."""
        def line():
            lines = (json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{"))
            return next((line for line in lines if line.get("request_id") == request_id and "path" in line), None)

        return until(f"the access log mentions {request_id}", line)


def large_export():
    """An export with many records. At about ten megabytes, it's larger than any buffer along the way."""
    records = (
        {
            "id": f"large-{number}", "name": f"Large {number}", "url": f"https://large-{number}.example/",
            "evidence_status": "pending-review", "serial": f"{number * 2654435761 % 2**64:x}" * 32,
        }
        for number in range(LARGE_RECORDS)
    )
    document = {"name": "Large", "license": "https://creativecommons.org/publicdomain/zero/1.0/", "software": list(records)}
    return json.dumps(document).encode()


class Answer:
    """A status, headers in lower case (each name with all its values) and a body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {}
        for name, value in response.getheaders():
            self.headers.setdefault(name.lower(), []).append(value)
        self.body = response.read()

    def header(self, name):
        values = self.headers.get(name, [])
        if len(values) != 1:
            raise Failure(f"{name} occurs {len(values)} times: {values}")
        return values[0]


def connect(port, tls=None, source=None):
    address = (source, 0) if source else None
    if tls is None:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=address)
    context = ssl.create_default_context(cafile=tls)
    # The certificate is for `localhost`.
    return http.client.HTTPSConnection("localhost", port, timeout=60, source_address=address, context=context)


def ask(port, target, method="GET", headers=None, tls=None, source=None, connection=None):
    """Sends the target exactly as written, with only the given headers and Host."""
    used = connection or connect(port, tls, source)
    used.putrequest(method, target, skip_host="Host" in (headers or {}), skip_accept_encoding=True)
    for name, value in (headers or {}).items():
        used.putheader(name, value)
    used.endheaders()
    answer = Answer(used.getresponse())
    if connection is None:
        used.close()
    return answer
