"""OpenSearch from Maven Central: downloaded once, checked against a known hash, and unpacked into `.tools`."""

import hashlib
import pathlib
import shutil
import tempfile
import urllib.request
import zipfile

VERSION = "2.19.1"
TOOLS = pathlib.Path(__file__).resolve().parents[2] / ".tools"
MAVEN = "https://repo1.maven.org/maven2/org/opensearch"
# The server without any modules except the transport; tests add the two that every full distribution has.
SERVER = (
    f"{MAVEN}/distribution/integ-test-zip/opensearch/{VERSION}/opensearch-{VERSION}.zip",
    "af7152d8b7f6f1cee09d47276b32b70479fe6dd8cdbb61213f84eb7f8098b261",
)
# Each module's jar, and the class of its plugin. `analysis-common` has the analyzers' filters, `mapper-extras` the field
# type `search_as_you_type`.
MODULES = {
    "analysis-common": (
        f"{MAVEN}/plugin/analysis-common/{VERSION}/analysis-common-{VERSION}.jar",
        "13fdc1071af42946b13153a62491a5e9b0ad214d44f7c8153d3afef60f558821",
        "org.opensearch.analysis.common.CommonAnalysisPlugin",
    ),
    "mapper-extras": (
        f"{MAVEN}/plugin/mapper-extras-client/{VERSION}/mapper-extras-client-{VERSION}.jar",
        "93e85f305ddc3070fea5b83cc8d962bdcd30df20638352b02cf57276cc2bc5d5",
        "org.opensearch.index.mapper.MapperExtrasPlugin",
    ),
}
DESCRIPTOR = f"""\
name={{name}}
description=A module of OpenSearch
version={VERSION}
opensearch.version={VERSION}
java.version=11
classname={{plugin}}
"""
SECURITY = (
    f"{MAVEN}/plugin/opensearch-security/{VERSION}.0/opensearch-security-{VERSION}.0.zip",
    "94a04f12ac6033902209fac1e4e512618d45beee604bbf0e42c3ed79c55220cf",
)


class DistributionError(Exception):
    """The server couldn't be downloaded, or didn't match its hash."""


def downloaded(source: tuple[str, str]) -> pathlib.Path:
    """Downloads the file at an address unless it already exists, and checks its SHA-256 hash."""
    url, expected = source
    path = TOOLS / url.rsplit("/", 1)[1]
    if not path.exists():
        TOOLS.mkdir(exist_ok=True)
        partial = path.with_suffix(".part")
        try:
            with urllib.request.urlopen(url, timeout=60) as response, partial.open("wb") as file:
                shutil.copyfileobj(response, file)
        except OSError as error:
            raise DistributionError(f"{url} can't be downloaded: {error}") from error
        partial.rename(path)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise DistributionError(f"{path} has SHA-256 {found} instead of {expected}; delete it to download it again")
    return path


def installed(*, security: bool) -> pathlib.Path:
    """The server's folder, with or without the security plugin. Unpacks it if it doesn't exist."""
    home = TOOLS / (f"opensearch-{VERSION}-security" if security else f"opensearch-{VERSION}")
    if home.exists():
        return home
    archive = downloaded(SERVER)
    # Unpack into a separate folder and rename it, so that an interruption leaves nothing half done.
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        unpack(archive, pathlib.Path(folder))
        unpacked = pathlib.Path(folder) / f"opensearch-{VERSION}"
        for name, (url, sha256, plugin) in MODULES.items():
            module = unpacked / "modules" / name
            module.mkdir()
            shutil.copy(downloaded((url, sha256)), module)
            (module / "plugin-descriptor.properties").write_text(DESCRIPTOR.format(name=name, plugin=plugin))
        for program in (unpacked / "bin").iterdir():
            program.chmod(0o755)
        if security:
            unpack(downloaded(SECURITY), unpacked / "plugins/opensearch-security")
        unpacked.rename(home)
    return home


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
