"""All checks for this client; `make test-client-python` runs them.

It checks style and types once, and runs the tests on the oldest supported Python, on the newest one available, and with
the oldest supported dependencies. Then it builds the wheel and the source archive, installs them in clean environments
with nothing but the newest or the oldest dependencies, and runs an example.

Needs Python 3.9 or newer with venv, and the server's binary (SOFTWARE_DIRECTORY_BIN, or else what `cargo build` built).
Everything it writes is in the repository's .tools and in dist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent
REPOSITORY = CLIENT.parent.parent
TOOLS = REPOSITORY / ".tools"
UV_VERSION = "0.13.8"
UV_HOME = TOOLS / f"uv-{UV_VERSION}"
UV = UV_HOME / "bin" / "uv"

OLDEST = "3.9"
# Newest first. If a version isn't available here, the next one is used.
NEWEST = ("3.14", "3.13", "3.12", "3.11", "3.10")


def main() -> None:
    install_uv()
    oldest, newest = interpreter(OLDEST), next(path for path in map(interpreter, NEWEST) if path is not None)
    if oldest is None:
        sys.exit(
            f"Python {OLDEST} is missing; install it with: uv python install {OLDEST}   (or pyenv install {OLDEST})"
        )
    say(f"oldest: {version(oldest)}, newest: {version(newest)}")

    tools = environment("oldest", oldest)
    run(tools / "ruff", "check", ".")
    run(tools / "ruff", "format", "--check", ".")
    run(tools / "mypy", "src", "tests", "tools")
    run(tools / "pytest")
    run(environment("newest", newest) / "pytest")
    # The lower bounds in pyproject.toml are tested with the modules that use the HTTP library.
    lowest = environment("lowest", oldest, "--resolution", "lowest-direct", "--no-editable")
    names = ("conformance", "client", "deadline", "limiter", "downloads", "cache", "extras")
    run(lowest / "pytest", *(f"tests/test_{name}.py" for name in names))
    check_packages(oldest, newest)
    say("passed")


def install_uv() -> None:
    if not UV.exists():
        shutil.rmtree(UV_HOME, ignore_errors=True)
        venv.create(UV_HOME, with_pip=True)
        run(UV_HOME / "bin" / "python", "-m", "pip", "install", "--quiet", f"uv=={UV_VERSION}")


def interpreter(wanted: str) -> Path | None:
    """Return a Python of this version that is installed or that uv can download."""
    for path in sorted(Path.home().glob(f".pyenv/versions/{wanted}.*/bin/python"), reverse=True):
        return path
    for arguments in (["find", "--no-python-downloads", wanted], ["install", wanted], ["find", wanted]):
        done = subprocess.run([str(UV), "python", *arguments], capture_output=True, text=True, check=False)
        if done.returncode == 0 and arguments[0] == "find":
            return Path(done.stdout.strip())
    return None


def version(python: Path) -> str:
    return subprocess.run([str(python), "--version"], capture_output=True, text=True, check=True).stdout.strip()


def environment(name: str, python: Path, *options: str) -> Path:
    """Create an environment with this client and its locked development tools, and return its bin folder."""
    folder = TOOLS / f"client-python-{name}"
    # An environment from an earlier run would keep its old copy of the client, as the version is the same.
    locked = ["--reinstall-package", "software-directory"] if options else ["--locked"]
    with tempfile.TemporaryDirectory() as elsewhere:
        project = CLIENT
        if options:
            # Resolving other versions must not touch the lock file, so this works on a copy.
            project = Path(elsewhere)
            shutil.copytree(CLIENT / "src", project / "src")
            for file in ("pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"):
                shutil.copy(CLIENT / file, project)
        uv("sync", "--project", str(project), "--python", str(python), *locked, *options, folder=folder)
    return folder / "bin"


def uv(*arguments: str, folder: Path | None = None) -> None:
    project = {"UV_PROJECT_ENVIRONMENT": str(folder)} if folder else {}
    subprocess.run([str(UV), "--quiet", *arguments], env={**os.environ, **project}, cwd=CLIENT, check=True)


def check_packages(oldest: Path, newest: Path) -> None:
    dist = CLIENT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    uv("build", "--python", str(newest), "--out-dir", str(dist))
    (wheel,) = dist.glob("*.whl")
    (archive,) = dist.glob("*.tar.gz")
    contents = set(zipfile.ZipFile(wheel).namelist())
    licences = {Path(name).name for name in contents if "/licenses/" in name}
    if "software_directory/py.typed" not in contents or licences != {"LICENSE-MIT", "LICENSE-APACHE"}:
        sys.exit(f"{wheel.name} lacks py.typed or a licence")
    if any(not name.startswith(("software_directory/", "software_directory-")) for name in contents):
        sys.exit(f"{wheel.name} installs more than the package: {sorted(contents)}")
    with tarfile.open(archive) as files:
        if not any(name.endswith("/tests/test_client.py") for name in files.getnames()):
            sys.exit(f"{archive.name} lacks the tests")
    for package, python in ((wheel, oldest), (archive, newest)):
        try_installed(package, python, "highest")
    # Without the development tools, which install packages that a user of the oldest dependencies may not have.
    for python in (oldest, newest):
        try_installed(wheel, python, "lowest-direct")


def try_installed(package: Path, python: Path, resolution: str) -> None:
    """Install a package and its dependencies in a clean environment, and run an example there."""
    with tempfile.TemporaryDirectory() as clean:
        uv("venv", "--python", str(python), clean)
        pins = Path(clean) / "dependencies.txt"
        inputs = ("--python", str(python), "--resolution", resolution, "--output-file", str(pins))
        uv("pip", "compile", "pyproject.toml", *inputs)
        uv("pip", "install", "--python", clean, str(package), "--requirements", str(pins))
        run(Path(clean) / "bin" / "python", CLIENT / "tools" / "try_installed.py", folder=Path(clean))
    say(f"{package.name} installs and runs on {version(python)}, dependencies: {resolution}")


def run(program: Path, *arguments: object, folder: Path = CLIENT) -> None:
    done = subprocess.run([str(program), *map(str, arguments)], cwd=folder, check=False)
    if done.returncode != 0:
        sys.exit(f"test-client-python: {program.name} {' '.join(map(str, arguments))} failed")


def say(text: str) -> None:
    print(f"test-client-python: {text}", flush=True)


if __name__ == "__main__":
    main()
