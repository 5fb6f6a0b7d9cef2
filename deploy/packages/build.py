#!/usr/bin/env python3
"""Packs a binary: a tarball, a Debian package, a Python wheel and npm packages.

    deploy/packages/build.py --binary FILE --out FOLDER [--target TRIPLE]

The binary is run to write its man pages and completions. Timestamps in the packages are the commit's, so the same binary always
produces the same packages.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time
import zipfile

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
HERE = CHECKOUT / "deploy" / "packages"
UNITS = CHECKOUT / "deploy" / "systemd"
NAME = "software-directory"
SERVER = "software-directory-server"
SUMMARY = "Publishes a folder of export files as a searchable directory: an API and web pages"
LICENCE = "MIT OR Apache-2.0"
# For each target: Debian's architecture; npm's os, cpu and libc; and the wheel's tag, where {} stands for the glibc version it needs.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": ("amd64", ("linux", "x64", "glibc"), "manylinux_2_{}_x86_64"),
    "aarch64-unknown-linux-gnu": ("arm64", ("linux", "arm64", "glibc"), "manylinux_2_{}_aarch64"),
    "x86_64-unknown-linux-musl": (None, ("linux", "x64", "musl"), "musllinux_1_2_x86_64"),
    "aarch64-unknown-linux-musl": (None, ("linux", "arm64", "musl"), "musllinux_1_2_aarch64"),
    "x86_64-apple-darwin": (None, ("darwin", "x64", None), "macosx_10_12_x86_64"),
    "aarch64-apple-darwin": (None, ("darwin", "arm64", None), "macosx_11_0_arm64"),
}


def run(*command):
    return subprocess.run([str(part) for part in command], cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True).stdout


class Package:
    """The version, the binary, and the files that every package contains."""

    def __init__(self, binary, target, out):
        self.target, self.out = target, out
        self.debian, self.npm, self.wheel = PLATFORMS[target]
        metadata = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target))
        package = next(package for package in metadata["packages"] if package["id"] == metadata["resolve"]["root"])
        self.version, self.homepage = package["version"], package["homepage"]
        self.time = int(run("git", "log", "-1", "--format=%ct"))
        self.binary = binary.read_bytes()
        self.glibc = max((int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", self.binary)), default=0)
        self.licences = {name: (CHECKOUT / name).read_bytes() for name in ("LICENSE-MIT", "LICENSE-APACHE")}
        self.licences["THIRD-PARTY-LICENSES"] = third_party(metadata)
        with tempfile.TemporaryDirectory() as folder:
            run(binary, "man", folder)
            self.man = {page.name: page.read_bytes() for page in sorted(pathlib.Path(folder).iterdir())}
        self.completions = {shell: run(binary, "completions", shell).encode() for shell in ("bash", "zsh", "fish")}

    def tar(self, path, files):
        """Writes a gzipped tar of (name, mode, content)."""
        with gzip.GzipFile(path, "wb", compresslevel=6, mtime=self.time) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
            for name, mode, content in files:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(content), mode, self.time
                tar.addfile(entry, io.BytesIO(content))
        return path


def third_party(metadata):
    """The licences of the crates in the binary. Each text appears once, with the crates that use it."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    used, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        crate = waiting.pop()
        if crate not in used:
            used.add(crate)
            waiting += [of["pkg"] for of in nodes[crate]["deps"] if any(kind["kind"] is None for kind in of["dep_kinds"])]
    texts = {}
    for package in sorted((packages[crate] for crate in used), key=lambda package: package["name"]):
        folder = pathlib.Path(package["manifest_path"]).parent
        for path in sorted(folder.iterdir()):
            if folder != CHECKOUT and path.is_file() and re.match("licen[cs]e|copying|notice|unlicense", path.name, re.IGNORECASE):
                text = path.read_text(encoding="utf-8", errors="replace").strip()
                texts.setdefault(text, set()).add(f"{package['name']} {package['version']} ({package['license']})")
    words, vectors = CHECKOUT / "src/text/english/COPYRIGHT", CHECKOUT / "data/meaning"
    for path in (words, vectors / "LICENSE", vectors / "NOTICE"):
        texts.setdefault(path.read_text(encoding="utf-8").strip(), set()).add(str(path.relative_to(CHECKOUT)))
    rule = "\n\n" + "=" * 80 + "\n\n"
    return rule.join(["Licences of the code and data in the binary", *(", ".join(sorted(names)) + "\n\n" + text for text, names in texts.items())]).encode()


def tarball(package):
    top = f"{NAME}-{package.version}-{package.target}"
    files = [(NAME, 0o755, package.binary), ("README.md", 0o644, (CHECKOUT / "README.md").read_bytes())]
    files += [(name, 0o644, text) for name, text in package.licences.items()]
    files += [(f"man/man1/{name}", 0o644, page) for name, page in package.man.items()]
    files += [(f"completions/{NAME}.{shell}", 0o644, script) for shell, script in package.completions.items()]
    files += [(f"systemd/{path.name}", 0o644, path.read_bytes()) for path in sorted(UNITS.iterdir())]
    return package.tar(package.out / f"{top}.tar.gz", [(f"{top}/{name}", mode, content) for name, mode, content in files])


def deb(package):
    unit = (UNITS / f"{NAME}.service").read_text(encoding="utf-8").replace("/usr/local/bin/", "/usr/bin/")
    documents = f"usr/share/doc/{NAME}"
    files = {
        f"usr/bin/{NAME}": package.binary,
        f"usr/lib/systemd/system/{NAME}.service": unit.encode(),
        f"usr/lib/systemd/system/{NAME}.socket": (UNITS / f"{NAME}.socket").read_bytes(),
        f"usr/lib/sysusers.d/{NAME}.conf": (UNITS / f"{NAME}.sysusers.conf").read_bytes(),
        f"etc/{NAME}/config.toml": (UNITS / "config.toml").read_bytes(),
        f"usr/share/bash-completion/completions/{NAME}": package.completions["bash"],
        f"usr/share/zsh/vendor-completions/_{NAME}": package.completions["zsh"],
        f"usr/share/fish/vendor_completions.d/{NAME}.fish": package.completions["fish"],
        f"{documents}/copyright": b"\n\n".join(package.licences[name] for name in ("LICENSE-MIT", "LICENSE-APACHE")),
        f"{documents}/THIRD-PARTY-LICENSES.gz": gzip.compress(package.licences["THIRD-PARTY-LICENSES"], mtime=0),
    }
    for path in (*sorted((CHECKOUT / "deploy").glob("pro*/*")), *sorted((CHECKOUT / "docs").glob("*.md"))):
        folder = "examples" if path.parent.name != "docs" else "docs"
        files[f"{documents}/{folder}/{path.name}"] = path.read_bytes()
    files.update({f"usr/share/man/man1/{name}.gz": gzip.compress(page, mtime=0) for name, page in package.man.items()})
    control = {
        "Package": NAME, "Version": package.version, "Architecture": package.debian, "Section": "web", "Priority": "optional",
        "Maintainer": "Software Directory <maintainers@software-directory.example>", "Homepage": package.homepage,
        "Installed-Size": str(sum(len(content) for content in files.values()) // 1024),
        "Depends": f"libc6 (>= 2.{package.glibc}), libgcc-s1, systemd | systemd-standalone-sysusers | systemd-sysusers",
        "Recommends": "ca-certificates", "Description": SUMMARY,
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "root")
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if name.startswith("usr/bin/") else 0o644)
        shutil.copytree(HERE / "debian", root / "DEBIAN")
        for script in (root / "DEBIAN").iterdir():
            script.chmod(0o755)
        fields = "".join(f"{name}: {value}\n" for name, value in control.items())
        (root / "DEBIAN" / "control").write_text(fields, encoding="utf-8")
        (root / "DEBIAN" / "conffiles").write_text(f"/etc/{NAME}/config.toml\n", encoding="utf-8")
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        path = package.out / f"{NAME}_{package.version}_{package.debian}.deb"
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(package.time)}
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, path], check=True, stdout=subprocess.DEVNULL, env=environment)
    return path


def wheel(package):
    """A wheel as specified in https://packaging.python.org/en/latest/specifications/binary-distribution-format/."""
    base = f"{SERVER.replace('-', '_')}-{package.version}"
    tag = f"py3-none-{package.wheel.format(package.glibc)}"
    metadata = (
        f"Metadata-Version: 2.4\nName: {SERVER}\nVersion: {package.version}\nSummary: {SUMMARY}\nLicense-Expression: {LICENCE}\n"
        + "".join(f"License-File: {name}\n" for name in package.licences)
        + f"Requires-Python: >=3.8\nProject-URL: Homepage, {package.homepage}\nDescription-Content-Type: text/markdown\n\n"
    ).encode() + (HERE / "README.md").read_bytes()
    files = {f"{base}.data/scripts/{NAME}": package.binary, f"{base}.dist-info/METADATA": metadata}
    files[f"{base}.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: {SERVER}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files.update({f"{base}.dist-info/licenses/{name}": text for name, text in package.licences.items()})
    record = ""
    path = package.out / f"{base}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def write(name, content):
            entry = zipfile.ZipInfo(name, time.gmtime(package.time)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Without the file type, pip doesn't make the file executable.
            entry.external_attr = (stat.S_IFREG | (0o755 if "/scripts/" in name else 0o644)) << 16
            archive.writestr(entry, content)

        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
            write(name, content)
        write(f"{base}.dist-info/RECORD", f"{record}{base}.dist-info/RECORD,,\n")
    return path


def npm_name(platform):
    system, processor, libc = platform
    return f"{SERVER}-{system}-{processor}" + ("-musl" if libc == "musl" else "")


def npm(package):
    """The package with the binary, and the one that depends on the packages for all platforms."""
    common = {"version": package.version, "description": SUMMARY, "license": f"({LICENCE})", "homepage": package.homepage}
    readme = (HERE / "README.md").read_bytes()
    system, processor, libc = package.npm
    own = {"name": npm_name(package.npm), **common, "os": [system], "cpu": [processor]}
    if libc:
        own["libc"] = [libc]
    names = sorted(npm_name(platform) for _, platform, _ in PLATFORMS.values())
    main = {
        "name": SERVER, **common, "bin": {NAME: f"{NAME}.js"}, "engines": {"node": ">=18"},
        "optionalDependencies": {name: package.version for name in names},
    }
    packages = (
        (own, [(NAME, 0o755, package.binary)]),
        (main, [(f"{NAME}.js", 0o755, (HERE / "npm" / f"{NAME}.js").read_bytes())]),
    )
    for manifest, files in packages:
        files = [("package.json", 0o644, json.dumps(manifest, indent=2).encode()), ("README.md", 0o644, readme), *files]
        files += [(name, 0o644, text) for name, text in package.licences.items()]
        path = package.out / f"{manifest['name']}-{package.version}.tgz"
        yield package.tar(path, [(f"package/{name}", mode, content) for name, mode, content in files])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the software-directory binary")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the output folder, which is emptied first")
    parser.add_argument("--target", choices=PLATFORMS, help="the platform that the binary is for [default: this machine's]")
    options = parser.parse_args()
    target = options.target or re.search(r"^host: (.+)$", run("rustc", "-vV"), re.MULTILINE)[1]
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    package = Package(options.binary.resolve(), target, options.out.resolve())
    paths = [tarball(package), wheel(package), *npm(package)]
    if package.debian:
        paths.append(deb(package))
    for path in paths:
        print(f"packages: {path.name}, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
