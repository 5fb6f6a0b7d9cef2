#!/usr/bin/env python3
"""Installs each package from its file in an empty environment, and serves the bundled directory from it.

    tests/deploy/packages.py --packages FOLDER

The Debian package goes into a separate root, which mmdebstrap creates from this machine's release; the others go into empty
folders, without a registry. Exit code 1 on any failure.
"""

import argparse
import pathlib
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from host import CHECKOUT, Failure, environment, until

VERSION = re.search(r'^version = "(.+)"$', (CHECKOUT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def only(folder, pattern):
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise Failure(f"there are {len(found)} packages {pattern} in {folder}")
    return found[0]


def check(command, folder):
    """Checks the version, a search in the bundled directory, the health check, and the exit on SIGTERM."""
    if (version := run(*command, "--version")).strip() != f"software-directory {VERSION}":
        raise Failure(f"the version is {version}")
    folder.mkdir(exist_ok=True)
    with (folder / "log").open("w") as log:
        serve = [*command, "--listen", "127.0.0.1:0", "--index", "none"]
        process = subprocess.Popen(serve, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        address = process.stdout.readline().strip().removeprefix("Listening on http://")
        said = next((line for line in process.stdout if "Bearer" in line), "")
        key, search = re.search(r"Bearer (\S+)' '(\S+)'", said).groups()
        until("the health check", lambda: not subprocess.run([*command, "healthcheck", "--listen", address], check=False).returncode)
        request = urllib.request.Request(search, headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=10) as response:
            if b'"data":[{' not in response.read():
                raise Failure(f"{search} found nothing")
        process.send_signal(signal.SIGTERM)
        if (code := process.wait(timeout=20)) != 0:
            raise Failure(f"when asked to stop, the binary exited with code {code}")
    except (AttributeError, OSError) as error:
        raise Failure(f"it doesn't serve: {error}\n{(folder / 'log').read_text()}") from error
    finally:
        process.kill()
        process.wait()


def check_tarball(packages, folder):
    run("tar", "--extract", "--gzip", "--directory", folder, "--file", only(packages, "software-directory-*.tar.gz"))
    top = only(folder, "software-directory-*")
    for name in ("LICENSE-MIT", "THIRD-PARTY-LICENSES", "man/man1/software-directory-serve.1", "completions/software-directory.bash"):
        if not (top / name).stat().st_size:
            raise Failure(f"{name} is empty")
    check([top / "software-directory"], folder / "run")


def check_wheel(packages, folder):
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv/bin/pip", "install", "--quiet", "--no-index", only(packages, "*.whl"))
    check([folder / "venv/bin/software-directory"], folder / "run")


def check_npm(packages, folder):
    # The packages for other platforms aren't built here, and aren't needed.
    tarballs = sorted(packages.glob("*.tgz"))
    run("npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", folder, *tarballs, env=environment())
    check([folder / "node_modules/.bin/software-directory"], folder / "run")


def check_deb(packages, folder):
    deb, root = only(packages, "*.deb"), folder / "root"
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    run("mmdebstrap", "--variant=minbase", "--include=systemd-standalone-sysusers", f"--customize-hook=copy-in {deb} /", release, root)
    inside = ["chroot", root]
    paths = {**environment(), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    try:
        run(*inside, "dpkg", "--install", f"/{deb.name}", env=paths)
        for line in (root / "usr/lib/systemd/system/software-directory.service").read_text().splitlines():
            if line.startswith("ExecStart="):
                run(*inside, *line.removeprefix("ExecStart=").split(), "--version")
        if "software-directory:" not in (root / "etc/passwd").read_text():
            raise Failure("there is no account")
        owner = run(*inside, "stat", "--format=%A %U %G", "/etc/software-directory").strip()
        if owner != "drwxr-s--- root software-directory":
            raise Failure(f"/etc/software-directory is {owner}")
        owner = run(*inside, "stat", "--format=%U %a", "/etc/software-directory/sessions").split()
        if owner[0] != "software-directory" or not owner[1].endswith("700"):
            raise Failure(f"/etc/software-directory/sessions is {owner}")
        check([*inside, "/usr/bin/software-directory"], folder / "run")
        run(*inside, "dpkg", "--purge", "software-directory", env=paths)
        if (root / "etc/software-directory").exists():
            raise Failure("the package's settings still exist after the purge")
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="the folder that deploy/packages/build.py wrote")
    options = parser.parse_args()
    started = time.monotonic()
    for check_package in (check_tarball, check_wheel, check_npm, check_deb):
        name = check_package.__name__.removeprefix("check_")
        try:
            with tempfile.TemporaryDirectory(prefix="packages-") as folder:
                check_package(options.packages.resolve(), pathlib.Path(folder))
        except Failure as failure:
            print(f"packages: {name}: {failure}", file=sys.stderr)
            return 1
        print(f"packages: {name} installs and serves")
    print(f"packages: ok. {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
