"""The machine: processes, ports, accounts."""

import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 60
# The uid of `nobody` in common distributions.
NOBODY = 65534


class Failure(Exception):
    """Something doesn't match what deploy/ promises."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(settings=None):
    own = {name: value for name, value in os.environ.items() if not name.startswith("SOFTWARE_DIRECTORY_")}
    return {**own, **(settings or {})}


def until(what, condition, process=None):
    """Polls until a condition holds. Fails if it never does, or if the process exits first."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (value := condition()):
        if time.monotonic() > deadline or (process is not None and process.poll() is not None):
            raise Failure(f"timed out waiting for: {what}")
        time.sleep(0.02)
    return value


def listens(port):
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


class Running:
    """A process with its log, stopped on exit."""

    def __init__(self, folder, command, settings=None):
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment(settings), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def check_unprivileged(binary, folder, settings):
    """The binary as the container runs it: unprivileged, with two writable folders: its index, and `sessions` beside the key file."""
    folder.mkdir()
    port = free_port()
    (folder / "exports").mkdir()
    shutil.copy(CHECKOUT / "demo" / "demo.json", folder / "exports")
    keys, index = folder / "keys", folder / "index"
    sessions = keys / "sessions"
    sessions.mkdir(parents=True)
    created = subprocess.run(
        [binary, "keys", "create", "--name", "container", "--keys", keys / "keys.json"], env=environment(), check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    (keys / "keys.json").chmod(0o644)
    index.mkdir()
    paths = {name: str(folder) + value for name, value in settings.items() if value.startswith("/")}
    # Temporary files would go to a read-only folder.
    settings = {**settings, **paths, "SOFTWARE_DIRECTORY_LISTEN": f"127.0.0.1:{port}", "TMPDIR": str(folder / "exports")}
    root = os.geteuid() == 0
    if root:
        os.chown(index, NOBODY, NOBODY)
        os.chown(sessions, NOBODY, NOBODY)
    without_rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}
    for path in (folder / "exports", keys, folder):
        path.chmod(0o555)
    # The other account may not be able to read the binary, so give it a copy that it can read.
    shutil.copy(binary, folder.parent / "software-directory")
    binary = folder.parent / "software-directory"
    try:
        with (folder.parent / "container.log").open("w") as log:
            process = subprocess.Popen(
                [binary], cwd="/", env=environment(settings), stdin=subprocess.DEVNULL, stdout=log, stderr=log, **without_rights
            )
        try:
            def healthy():
                asked = [binary, "healthcheck"]
                return subprocess.run(asked, env=environment(settings), capture_output=True, check=False).returncode == 0

            try:
                until("healthcheck in the container", healthy, process)
            except Failure as failure:
                raise Failure(f"{failure}\n{(folder.parent / 'container.log').read_text()}") from failure
            if not (index / "CURRENT").is_file():
                raise Failure("the index wasn't written")
            caller = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            caller.request("POST", "/sign-in", f"key={created.stdout.strip()}")
            status, secret = caller.getresponse().status, sessions / "secret.json"
            if status != 303 or not secret.is_file() or secret.stat().st_mode & 0o777 != 0o600:
                raise Failure(f"signing in: {status}, {sorted(sessions.iterdir())}\n{(folder.parent / 'container.log').read_text()}")
        finally:
            process.terminate()
            code = process.wait(timeout=20)
        if code != 0:
            raise Failure(f"when asked to stop, the binary exited with code {code}")
    finally:
        for path in (folder, folder / "exports", keys):
            path.chmod(0o755)
    written = sorted(path.name for path in folder.iterdir())
    if written != ["exports", "index", "keys"] or len(list((folder / "exports").iterdir())) != 1:
        raise Failure(f"the binary wrote outside its index: {written}")
    return "the binary runs as an unprivileged account and writes only to its index and the sessions' secret"
