"""The services that clients call: the binary with the bundled exports, started as in tests/contract, and a later version."""

import http.server
import importlib.util
import json
import pathlib
import threading
import urllib.error
import urllib.request

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("contract", CHECKOUT / "tests" / "contract" / "check.py")
contract = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(contract)
Failure = contract.Failure


class Server(contract.Server):
    """The running binary."""
    def get(self, target):
        """The response to a request with the development key."""
        request = urllib.request.Request(f"{self.address}{target}", headers={"Authorization": f"Bearer {self.key}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Failure(f"{target}: {error.code} {error.read().decode()}") from error

    def stop(self):
        """Stops the process if it's still running."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


# A member that isn't in any schema.
ADDED = "added_later"


class LaterServer:
    """Responds like the server, but with an additional member in each body and record."""

    def __init__(self, server):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(with_more(server.get(self.path))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address, self.key = f"http://127.0.0.1:{self.listener.server_port}", server.key
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def stop(self):
        """Closes the listener."""
        self.listener.shutdown()
        self.listener.server_close()


def with_more(answer):
    """The response as a later server might send it."""
    data = answer.get("data")
    if isinstance(data, list):
        answer["data"] = [{**record, ADDED: True} for record in data]
    elif isinstance(data, dict):
        answer["data"] = {**data, ADDED: True}
    return {**answer, ADDED: True}
