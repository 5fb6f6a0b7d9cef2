"""A real OpenSearch cluster on loopback, for tests.

    cluster.py [--nodes 3] [--security] [-- COMMAND…]

Starts the nodes, waits until they form a healthy cluster, runs the command, stops the nodes and exits with the
command's exit code. Without a command, it prints the addresses as a line of JSON and waits for Ctrl+C or the end of its
input. The command gets these environment variables:

    OPENSEARCH_URLS     the nodes' addresses, comma separated
    OPENSEARCH_CONTROL  a Unix socket that takes a line and replies with a line of JSON: `nodes`, `kill NAME` (SIGKILL),
                        `stop NAME` (SIGSTOP), `continue NAME` (SIGCONT), `start NAME`

With --security it also gets OPENSEARCH_CA_FILE, OPENSEARCH_USER, OPENSEARCH_PASSWORD_FILE, and OPENSEARCH_STRANGER, a user
without permissions.
"""

import argparse
import contextlib
import json
import os
import pathlib
import pwd
import random
import selectors
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import distribution
import security

# The server refuses to run as root.
USER = "opensearch-test"
# The settings that the server needs from the bundled file. That file would also make it write
# logs next to its programs.
JVM_OPTIONS = """\
-Xms1g
-Xmx1g
-XX:+UseSerialGC
-Djava.io.tmpdir=${OPENSEARCH_TMPDIR}
18-:-Djava.security.manager=allow
-Djava.util.concurrent.ForkJoinPool.common.threadFactory=org.opensearch.secure_sm.SecuredForkJoinWorkerThreadFactory
"""
START_SECONDS = 180
# The settings that docs/opensearch.md recommends, so a silent node is noticed in seconds.
FAULT_DETECTION = {
    f"cluster.fault_detection.{check}.{name}": value
    for check in ("leader_check", "follower_check")
    for name, value in {"interval": "500ms", "timeout": "1500ms", "retry_count": 2}.items()
} | {"cluster.publish.timeout": "5s"}
# A test machine's disk may be nearly full, which doesn't matter as long as a test fits. The server
# checks disks as often as possible.
DISK = {
    "cluster.routing.allocation.disk.watermark.low": "300mb",
    "cluster.routing.allocation.disk.watermark.high": "200mb",
    "cluster.routing.allocation.disk.watermark.flood_stage": "100mb",
    "cluster.info.update.interval": "10s",
}


class ClusterError(Exception):
    """The cluster can't be started."""


class Node:
    """A node, running or not."""

    def __init__(self, cluster: "Cluster", name: str) -> None:
        self.cluster, self.name = cluster, name
        self.http_port, self.transport_port = free_port(), free_port()
        self.folder = cluster.folder / name
        self.config = self.folder / "config"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.cluster.security else 'http'}://127.0.0.1:{self.http_port}"

    def prepare(self) -> None:
        """Writes the node's configuration. JSON is valid YAML."""
        shutil.copytree(self.cluster.home / "config", self.config)
        nodes = self.cluster.nodes
        settings = {
            "cluster.name": "software-directory-test",
            "node.name": self.name,
            "network.host": "127.0.0.1",
            "http.port": self.http_port,
            "transport.port": self.transport_port,
            "path.data": str(self.folder / "data"),
            "path.logs": str(self.folder / "logs"),
            "discovery.seed_hosts": [f"127.0.0.1:{node.transport_port}" for node in nodes],
            "cluster.initial_cluster_manager_nodes": [node.name for node in nodes],
            **FAULT_DETECTION,
            **DISK,
            **(security.SETTINGS if self.cluster.security else {}),
        }
        (self.config / "jvm.options").write_text(JVM_OPTIONS)
        (self.config / "opensearch.yml").write_text(json.dumps(settings, indent=1) + "\n")

    def start(self) -> None:
        """Starts the node, as a separate user if this runs as root."""
        assert self.process is None, f"{self.name} is already running"
        (self.folder / "tmp").mkdir(exist_ok=True)
        own_by(self.folder, self.cluster.user)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "OPENSEARCH_JAVA_HOME": self.cluster.java_home,
            "OPENSEARCH_PATH_CONF": str(self.config),
            "OPENSEARCH_TMPDIR": str(self.folder / "tmp"),
        }
        user = self.cluster.user
        account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [self.cluster.home / "bin/opensearch"],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Only the script should receive Ctrl+C; it then stops the nodes.
                start_new_session=True,
                **account,
            )

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal. After SIGKILL, waits until the node has exited."""
        if self.process is None:
            raise ClusterError(f"{self.name} isn't running")
        os.killpg(self.process.pid, number)
        if number == signal.SIGKILL:
            self.process.wait()
            self.process = None

    def check(self) -> None:
        """If the node has exited on its own, raises an error with the end of its output."""
        if self.process is not None and self.process.poll() is not None:
            output = (self.folder / "output").read_text(errors="replace").splitlines()[-30:]
            raise ClusterError("\n".join([f"{self.name} exited with code {self.process.returncode}:", *output]))

    def state(self) -> dict[str, object]:
        return {"name": self.name, "url": self.url, "pid": self.process.pid if self.process else None}


class Cluster:
    """Nodes in a temporary folder."""

    def __init__(self, folder: pathlib.Path, count: int, *, security: bool) -> None:
        self.folder, self.security = folder, security
        self.java_home = java_home()
        self.home = distribution.installed(security=security)
        self.user = user_of_its_own() if os.geteuid() == 0 else None
        self.nodes = [Node(self, f"n{number}") for number in range(1, count + 1)]
        self.environment: dict[str, str] = {}

    def __enter__(self) -> "Cluster":
        for node in self.nodes:
            node.prepare()
        if self.security:
            (node,) = self.nodes
            java = f"{self.java_home}/bin/java"
            self.environment = security.prepare(self.home, node.config, self.folder, java)
        try:
            for node in self.nodes:
                node.start()
            self.wait_until_healthy()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for node in self.nodes:
            if node.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    node.signal(signal.SIGKILL)

    def wait_until_healthy(self) -> None:
        """Polls until all nodes form one green cluster."""
        context = headers = None
        if self.security:
            context = ssl.create_default_context(cafile=self.environment["OPENSEARCH_CA_FILE"])
            headers = {"Authorization": security.basic(self.environment)}
        query = f"wait_for_nodes={len(self.nodes)}&wait_for_status=green&timeout=1s"
        request = urllib.request.Request(f"{self.nodes[0].url}/_cluster/health?{query}", headers=headers or {})
        deadline = time.monotonic() + START_SECONDS
        problem: object = None
        while time.monotonic() < deadline:
            for node in self.nodes:
                node.check()
            try:
                with urllib.request.urlopen(request, timeout=5, context=context):
                    return
            except OSError as error:
                problem = error
            time.sleep(0.1)
        raise ClusterError(f"the nodes haven't formed a healthy cluster after {START_SECONDS} s: {problem}")

    def control(self, line: str) -> object:
        """Executes a command from the control socket."""
        verb, _, name = line.strip().partition(" ")
        node = next((node for node in self.nodes if node.name == name), None)
        signals = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "continue": signal.SIGCONT}
        if node and verb in signals:
            node.signal(signals[verb])
        elif node and verb == "start":
            node.start()
        elif verb != "nodes":
            raise ClusterError(f"{line.strip()!r} isn't a control socket command")
        return [node.state() for node in self.nodes]


def java_home() -> str:
    java = shutil.which("java")
    if java is None:
        raise ClusterError("java is missing; install it with: sudo apt-get install default-jdk-headless")
    return str(pathlib.Path(java).resolve().parents[1])


def user_of_its_own() -> pwd.struct_passwd:
    """A system user for the nodes, created if it doesn't exist."""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(USER)
    useradd = shutil.which("useradd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if useradd is None:
        raise ClusterError("useradd is missing; install it with: apt-get install passwd (or run this as another user)")
    subprocess.run([useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER], check=True)
    return pwd.getpwnam(USER)


def own_by(folder: pathlib.Path, user: pwd.struct_passwd | None) -> None:
    if user:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid)


def free_port() -> int:
    """An unused port below the range of outgoing connections."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def serve(cluster: Cluster, control: socket.socket, command: subprocess.Popen[bytes] | None) -> int:
    """Serves the control socket until the command ends or, if there's none, until the end of the input."""
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    if command is None:
        selector.register(sys.stdin, selectors.EVENT_READ)
    while command is None or command.poll() is None:
        for key, _ in selector.select(timeout=0.1):
            if key.fileobj is sys.stdin:
                if not sys.stdin.readline():
                    return 0
                continue
            connection, _ = control.accept()
            with connection, connection.makefile("rw") as stream:
                try:
                    answer = cluster.control(stream.readline())
                except (ClusterError, AssertionError) as error:
                    answer = {"error": str(error)}
                print(json.dumps(answer), file=stream, flush=True)
    return command.returncode


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The options, and the command after `--`."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def main() -> int:
    parser = argparse.ArgumentParser(
        usage="%(prog)s [--nodes N] [--security] [-- COMMAND…]",
        description="A real OpenSearch cluster on loopback, for tests.",
    )
    parser.add_argument("--nodes", type=int, default=1, metavar="N", help="number of nodes (default: 1)")
    parser.add_argument("--security", action="store_true", help="one node with TLS and users")
    # The command may also contain `--`.
    options, command_line = split(sys.argv[1:])
    arguments = parser.parse_args(options)
    if arguments.security and arguments.nodes != 1:
        parser.error("--security works only with a single node")
    # This way, an interrupted run also stops the nodes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opensearch-")))
        folder.chmod(0o755)
        cluster = stack.enter_context(Cluster(folder, arguments.nodes, security=arguments.security))
        control = stack.enter_context(socket.socket(socket.AF_UNIX))
        control.bind(str(folder / "control"))
        control.listen()
        environment = {
            "OPENSEARCH_URLS": ",".join(node.url for node in cluster.nodes),
            "OPENSEARCH_CONTROL": str(folder / "control"),
            **cluster.environment,
        }
        if not command_line:
            urls = [node.url for node in cluster.nodes]
            print(json.dumps({"urls": urls, "environment": environment}), flush=True)
            return serve(cluster, control, None)
        command = subprocess.Popen(command_line, env={**os.environ, **environment})
        stack.callback(lambda: command.poll() is None and command.terminate())
        return serve(cluster, control, command)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (ClusterError, distribution.DistributionError, subprocess.CalledProcessError) as error:
        sys.exit(f"cluster.py: {error}")
