"""nginx and Caddy with the configurations in deploy/proxy, and what they must pass on unchanged."""

import gzip
import hashlib
import pathlib
import re
import subprocess

from host import CHECKOUT, Failure, Running, free_port, listens, until
from service import PUBLIC_HOST, ask, connect

PROXY = CHECKOUT / "deploy" / "proxy"
# A loopback address that differs from the proxy's.
CALLER = "127.0.0.2"
# Headers that a proxy adds or rewrites; all other headers must be the same.
OF_THE_PROXY = {"server", "date", "via", "connection", "keep-alive", "transfer-encoding", "strict-transport-security", "alt-svc"}

# The ids in tests/contract/odd.json in every possible spelling, and addresses that proxies tend to
# rewrite.
TARGETS = [
    "/v1/software/a%2Fb", "/v1/software/a%2fb", "/v1/software/%61%2Fb", "/v1/software/a%2Fb/", "/v1/reviews/a%2Fb",
    "/v1/software/%252F", "/v1/software/%252f", "/v1/software/ends%2F", "/v1/software/%C3%BCn%C3%AF%20%F0%9F%98%80%3Fq%3D1%23x",
    "/v1/software/a/b", "/v1/software/%2F", "/v1/software/%2E%2E", "/v1/software/..%2F..%2Fetc%2Fpasswd", "/v1/software/%00",
    "/v1/software/%FF", "/v1/software/a%5Cb", "/v1/software/a%3Bb;c", "/v1//software", "/v1/software//", "/v1/software/",
    "/v1/software?limit=1&offset=2", "/v1/software?category=audits&category=Permit%20to%20work&limit=2",
    "/v1/search?q=permit+to+work&limit=3&facets=category&highlight=true", "/v1/search?q=a%2Bb%26c%3Dd%25&limit=1",
    "/v1/search?q=%FF", "/v1/search?q=%00", "/v1/search?q=caf%C3%A9%20%F0%9F%98%80", "/v1/search?q=%3Cb%3E%22'|()[]{}",
    "/v1/search?q=a;b&limit=1", "/v1/search?q=%zz&limit=1", "/v1/search?q=a%0D%0AX-Injected:%20yes&limit=1", "/v1/search?nonsense=1",
    "/v1/exports", "/v1/exports/demo", "/v1/exports/odd?format=ndjson", "/v1/glossary?q=permit", "/v1/categories?limit=3",
    "/", "/docs", "/openapi.json", "/llms.txt", "/healthz", "/readyz", "/software/a%2Fb", "/nowhere",
    "/v1/search?q=" + "a" * 257, "/v1/search?q=" + "a" * 9000,
]

# Requests that a proxy may refuse on its own. None of them has a valid id.
REFUSED = {"/v1/software/%00"}


class Nginx(Running):
    """nginx as Debian packages it, with our site and the relevant settings of its own nginx.conf."""

    name = "nginx"

    def __init__(self, folder, upstream):
        folder.mkdir()
        self.port = free_port()
        self.tls = folder / "localhost.crt"
        key = folder / "localhost.key"
        subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.tls,
            ],
            check=True, capture_output=True,
        )
        site = (PROXY / "nginx.conf").read_text(encoding="utf-8")
        for written, put in (
            ("server 127.0.0.1:8080;", f"server 127.0.0.1:{upstream};"), ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
            ("server_name api.example.org;", "server_name localhost;"), ("/etc/ssl/api.example.org.crt", str(self.tls)),
            ("/etc/ssl/api.example.org.key", str(key)),
        ):
            if site.count(written) != 1:
                raise Failure(f"deploy/proxy/nginx.conf doesn't contain {written}")
            site = site.replace(written, put)
        (folder / "site.conf").write_text(site, encoding="utf-8")
        (folder / "nginx.conf").write_text(
            f"""daemon off;
worker_processes 2;
pid {folder}/pid;
error_log stderr;
events {{ worker_connections 768; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    gzip on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
""",
            encoding="utf-8",
        )
        folder.chmod(0o777)
        super().__init__(folder, ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")])
        started(self)

    def memory(self):
        workers = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=True).stdout.split()
        return max(high_water_mark(worker) for worker in workers)


class Caddy(Running):
    """Caddy as Debian packages it, without TLS, which Caddy handles itself."""

    name = "Caddy"
    tls = None

    def __init__(self, folder, upstream):
        folder.mkdir()
        self.port = free_port()
        site = (PROXY / "Caddyfile").read_text(encoding="utf-8")
        (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}}\n{site}", encoding="utf-8")
        super().__init__(
            folder, ["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"],
            {
                "SITE_ADDRESS": f"http://:{self.port}", "UPSTREAM": f"127.0.0.1:{upstream}", "HOME": str(folder),
                "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
            },
        )
        started(self)

    def memory(self):
        return high_water_mark(self.process.pid)


def started(proxy):
    try:
        until(f"{proxy.name} listens", lambda: listens(proxy.port), proxy.process)
    except Failure as failure:
        raise Failure(f"{failure}\n{proxy.log.read_text()}") from failure


def high_water_mark(process):
    """A process's peak memory, in bytes."""
    status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def check_proxy(service, proxy):
    """Compares responses through the proxy with direct ones. Returns the number of requests."""
    compared = 0

    def through(target, **how):
        return ask(proxy.port, target, tls=proxy.tls, **how)

    def compare(target, headers=None, method="GET", status=None, key=service.key):
        nonlocal compared
        compared += 1
        # Error responses name the request.
        headers = {"X-Request-Id": f"proxy-{compared}", "Authorization": f"Bearer {key}", **(headers or {})}
        direct, passed = (ask_by(target, method=method, headers=headers) for ask_by in (service.ask, through))
        if target in REFUSED and passed.status == 400:
            return passed
        what = f"{proxy.name}: {method} {target} {headers}"
        if (passed.status, passed.body) != (direct.status, direct.body):
            raise Failure(f"{what}: {passed.status} {passed.body[:300]!r} instead of {direct.status} {direct.body[:300]!r}")
        if status is not None and passed.status != status:
            raise Failure(f"{what}: {passed.status} instead of {status}")
        # A key's remaining quota shrinks with every request.
        left_out = OF_THE_PROXY | {"ratelimit", "retry-after"}
        if passed.headers.get("content-length") is None:
            left_out |= {"content-length"}
        theirs, ours = ({name: value for name, value in answer.headers.items() if name not in left_out} for answer in (passed, direct))
        if theirs != ours:
            raise Failure(f"{what}: headers {theirs} instead of {ours}")
        return passed

    for target in TARGETS:
        compare(target)
        compare(target, method="HEAD")
    for target in ("/v1/software/a%2Fb", "/v1/software/%252F", "/v1/software/ends%2F", "/v1/software/%C3%BCn%C3%AF%20%F0%9F%98%80%3Fq%3D1%23x"):
        compare(target, status=200)
    compare("/v1/search?q=" + "a" * 9000, status=414)
    compare("/v1/software", {"X-Padding": "x" * 17_000}, status=431)

    check_host(through, proxy)
    check_methods(compare)
    check_conditions(compare)
    check_compression(compare)
    check_quota(service, through)
    check_caller(service, through)
    check_download(service, proxy)
    check_kept_connections(service, proxy)
    return compared


def check_host(through, proxy):
    """Without a key, the service answers only for its public host, whose port the proxy must pass on."""
    if (status := through("/docs", headers={"Host": PUBLIC_HOST}).status) != 200:
        raise Failure(f"{proxy.name}: {status} for the public host {PUBLIC_HOST}")
    if (status := through("/docs", headers={"Host": PUBLIC_HOST.split(":")[0]}).status) != 403:
        raise Failure(f"{proxy.name}: {status} for the public host without its port")


def check_methods(compare):
    compare("/v1/software", method="OPTIONS", status=204)
    page = {"Origin": "https://page.example", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    preflight = compare("/v1/software", page, method="OPTIONS", status=204)
    if preflight.header("access-control-allow-origin") != "*":
        raise Failure("a preflight lost its permission")
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        compare("/v1/software", {"Content-Length": "0"}, method=method, status=405)


def check_conditions(compare):
    tag = compare("/v1/software?limit=5", status=200).header("etag")
    compare("/v1/software?limit=5", {"If-None-Match": tag}, status=304)
    compare("/v1/software?limit=5", {"If-None-Match": tag, "Accept-Encoding": "gzip"}, status=304)
    compare("/v1/software?limit=6", {"If-None-Match": tag}, status=200)


def check_compression(compare):
    plain = compare("/v1/software?limit=50")
    for encoding in ("gzip", "zstd"):
        if compare("/v1/software?limit=50", {"Accept-Encoding": encoding}).header("content-encoding") != encoding:
            raise Failure(f"asked for {encoding}, but the response isn't encoded with it")
    packed = compare("/v1/software?limit=50", {"Accept-Encoding": "gzip"})
    if gzip.decompress(packed.body) != plain.body:
        raise Failure("the decompressed response differs from the plain one")
    if "content-encoding" in plain.headers:
        raise Failure("compressed without Accept-Encoding")


def check_quota(service, through):
    """A 429 reaches the caller, and the proxy doesn't mistake it for an outage."""
    headers = {"Authorization": f"Bearer {service.few}"}
    answers = [through("/v1/categories?limit=1", headers=headers) for _ in range(4)]
    refused = answers[-1]
    if refused.status != 429 or b'"rate_limited"' not in refused.body or int(refused.header("retry-after")) < 1:
        raise Failure(f"a key that exceeded its quota got {refused.status} {refused.body[:200]!r}")


def check_caller(service, through):
    """The log contains the caller's address, not the proxy's or a made-up one."""
    for number, pretended in enumerate((None, "198.51.100.7", "198.51.100.7, 127.0.0.1", "nonsense")):
        request_id = f"caller-{number}-{id(through)}"
        headers = {"X-Request-Id": request_id, "Authorization": f"Bearer {service.key}"}
        if pretended:
            headers["X-Forwarded-For"] = pretended
        through("/v1/exports", headers=headers, source=CALLER)
        caller = service.logged(request_id).get("caller")
        if caller != CALLER:
            raise Failure(f"with X-Forwarded-For: {pretended}, the caller is logged as {caller}")


def check_download(service, proxy):
    """A slow reader gets all of a large export, and the proxy doesn't buffer it in memory."""
    before = proxy.memory()
    connection = connect(proxy.port, proxy.tls)
    connection.request("GET", "/v1/exports/large", headers={"Authorization": f"Bearer {service.key}"})
    response = connection.getresponse()
    digest = hashlib.sha256(response.read(64 * 1024))
    # Another download overtakes it.
    headers = {"Authorization": f"Bearer {service.key}", "Accept-Encoding": "gzip"}
    packed = ask(proxy.port, "/v1/exports/large", headers=headers, tls=proxy.tls)
    if packed.body != service.large:
        raise Failure("a download that overtook another one doesn't match the export")
    while part := response.read(1 << 20):
        digest.update(part)
    connection.close()
    if digest.digest() != hashlib.sha256(service.large).digest():
        raise Failure("a download doesn't match the export")
    grown = proxy.memory() - before
    if grown > len(service.large) / 2:
        raise Failure(f"the proxy used {grown} bytes of memory for a download of {len(service.large)} bytes")


def check_kept_connections(service, proxy):
    """Successive requests share a connection to the service."""
    before = local_ports(service.port)
    connection = connect(proxy.port, proxy.tls)
    for _ in range(50):
        answer = ask(proxy.port, "/v1/exports", headers={"Authorization": f"Bearer {service.key}"}, connection=connection)
        if answer.status != 200:
            raise Failure(f"{answer.status} on a kept connection")
    connection.close()
    opened = local_ports(service.port) - before
    # Each nginx process keeps its own connection, and may close it after being idle for a while.
    if len(opened) > 10:
        raise Failure(f"{proxy.name} opened {len(opened)} connections to the service for 50 requests")


def local_ports(port):
    """The local ports of connections to a port, including recently closed ones."""
    lines = pathlib.Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]
    pairs = (line.split()[1:3] for line in lines)
    return {own for own, other in pairs if int(other.split(":")[1], 16) == port}
