#!/usr/bin/env python3
"""Runs the real binary behind nginx and Caddy as configured in deploy/proxy, and checks the other files in deploy/.

    tests/deploy/check.py --binary FILE

A response through a proxy must be the same as without one: same status, same bytes, same headers. Only
addresses, certificates and folders are filled in; otherwise the configuration is the file as shipped. Needs nginx,
caddy, openssl and systemd-analyze. Exit code 1 on any difference.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from host import CHECKOUT, Failure, check_unprivileged, until
from proxy import Caddy, Nginx, check_proxy
from service import Service

UNITS = CHECKOUT / "deploy" / "systemd"
# The maximum exposure that `systemd-analyze security` may report, from 0 to 10. It rates anything below 2 as OK.
MOST_EXPOSED = 1.5


def check_units(binary, folder):
    """Checks that both units load, and that the service has few privileges."""
    for unit in UNITS.glob("*.s*"):
        text = unit.read_text(encoding="utf-8").replace("/usr/local/bin/software-directory", str(binary))
        (folder / unit.name).write_text(text, encoding="utf-8")
    service, socket = folder / "software-directory.service", folder / "software-directory.socket"
    done = subprocess.run(["systemd-analyze", "verify", service, socket], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "software-directory" in line]
    if done.returncode != 0 or ours:
        raise Failure("systemd-analyze verify:\n" + done.stderr)
    version = re.search(r"systemd (\d+)", subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout)
    if int(version[1]) < 250:
        return f"units load (systemd {version[1]} can't determine a file's exposure; 250 can)"
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", f"--threshold={round(MOST_EXPOSED * 10)}", "--no-pager", service],
        capture_output=True, text=True, check=False,
    )
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    if done.returncode != 0 or exposure is None:
        raise Failure(f"more exposed than {MOST_EXPOSED}:\n{done.stdout}{done.stderr}")
    return f"units load, exposure {exposure[1]} of 10"


def check_alerts(service):
    """Checks that every metric in an alert or in docs/operations.md exists, including the one for a degraded service."""
    documents = ("deploy/prometheus/alerts.yml", "docs/operations.md")
    texts = ((CHECKOUT / path).read_text(encoding="utf-8") for path in documents)
    names = set(re.findall(r"\bsoftware_directory_\w+", " ".join(texts)))
    (service.folder / "data" / "broken.json").write_text("{", encoding="utf-8")
    degraded = 'software_directory_degraded{reason="exports_invalid"} 1'
    metrics = until("a broken export is reported", lambda: degraded in service.metrics() and service.metrics(), service.process)
    missing = sorted(name for name in names if f"\n{name}" not in metrics)
    if missing or len(names) < 5:
        raise Failure(f"alerts use metrics that don't exist: {missing}")
    return f"the {len(names)} metrics that alerts use exist"


def check_container():
    """What the container file promises: an unprivileged user, one writable folder, the binary's own health check."""
    text = (CHECKOUT / "deploy" / "container" / "Containerfile").read_text(encoding="utf-8")
    last = text[text.rindex("\nFROM "):].replace("\\\n", "")
    for line in (
        r"^USER [1-9]\d*:[1-9]\d*$", r"^VOLUME /index$", r'^HEALTHCHECK .*CMD \["/software-directory", "healthcheck"\]$',
        r'^ENTRYPOINT \["/software-directory"\]$',
    ):
        if not re.search(line, last, re.MULTILINE):
            raise Failure(f"the container file has no line {line}")
    return dict(re.findall(r"(SOFTWARE_DIRECTORY_\w+)=(\S+)", last))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the software-directory binary under test")
    options = parser.parse_args()
    started = time.monotonic()
    try:
        if not options.binary.is_file():
            raise Failure(f"there is no binary {options.binary}; build it with `cargo build`")
        binary = options.binary.resolve()
        with tempfile.TemporaryDirectory(prefix="deploy-") as temporary:
            folder = pathlib.Path(temporary)
            # Another account needs access to the folder's content.
            folder.chmod(0o755)
            print(f"deploy: {check_units(binary, folder)}")
            print(f"deploy: {check_unprivileged(binary, folder / 'container', check_container())}")
            with Service(binary, folder / "service") as service:
                for proxy in (Nginx, Caddy):
                    with proxy(folder / proxy.__name__.lower(), service.port) as running:
                        count = check_proxy(service, running)
                        print(f"deploy: {running.name} passes on {count} requests and responses unchanged")
                print(f"deploy: {check_alerts(service)}")
    except Failure as failure:
        print(f"deploy: {failure}", file=sys.stderr)
        return 1
    print(f"deploy: ok. {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
