"""What a node with the security plugin needs: a CA, certificates signed by that CA, and users."""

import base64
import json
import pathlib
import secrets
import shutil
import subprocess

# The node signs requests as `node`. Anyone with the `admin` certificate could change the users.
SETTINGS = {
    "plugins.security.ssl.transport.pemcert_filepath": "node.pem",
    "plugins.security.ssl.transport.pemkey_filepath": "node.key",
    "plugins.security.ssl.transport.pemtrustedcas_filepath": "ca.pem",
    "plugins.security.ssl.transport.enforce_hostname_verification": False,
    "plugins.security.ssl.http.enabled": True,
    "plugins.security.ssl.http.pemcert_filepath": "node.pem",
    "plugins.security.ssl.http.pemkey_filepath": "node.key",
    "plugins.security.ssl.http.pemtrustedcas_filepath": "ca.pem",
    "plugins.security.nodes_dn": ["CN=node"],
    "plugins.security.authcz.admin_dn": ["CN=admin"],
    "plugins.security.allow_default_init_securityindex": True,
}
# The test user may do anything, the stranger may do nothing, and the other users may do what
# docs/opensearch.md grants them.
USERS = {"directory": ["admin"], "stranger": [], "builder": [], "server": []}
PATTERN = "software-directory-*"
ROLES = {
    "builder": {
        "cluster_permissions": ["cluster_monitor", "indices:data/write/bulk"],
        "index_permissions": [{"index_patterns": [PATTERN], "allowed_actions": ["crud", "manage"]}],
    },
    "server": {
        "cluster_permissions": ["cluster:monitor/nodes/info"],
        "index_permissions": [{"index_patterns": [PATTERN], "allowed_actions": ["read"]}],
    },
}


def prepare(home: pathlib.Path, config: pathlib.Path, folder: pathlib.Path, java: str) -> dict[str, str]:
    """Creates the certificates and users. Returns environment variables that tell tests where they are."""
    certify(config)
    shutil.copytree(home / "plugins/opensearch-security/config", config / "opensearch-security")
    users = ['_meta:\n  type: "internalusers"\n  config_version: 2']
    # All users have the same password, which tests get as a file.
    password = folder / "password"
    password.write_text(secrets.token_urlsafe(24) + "\n")
    password.chmod(0o600)
    hashed = hash_of(home, java, password.read_text().strip())
    for user, roles in USERS.items():
        users.append(f'{user}:\n  hash: "{hashed}"\n  reserved: false\n  backend_roles: {roles!r}')
    (config / "opensearch-security/internal_users.yml").write_text("\n".join(users) + "\n")
    # JSON is valid YAML.
    for name, extra in (("roles", ROLES), ("roles_mapping", {role: {"users": [role]} for role in ROLES})):
        with (config / f"opensearch-security/{name}.yml").open("a") as file:
            file.writelines(f"\n{role}: {json.dumps(content)}\n" for role, content in extra.items())
    public = folder / "ca.pem"
    shutil.copy(config / "ca.pem", public)
    return {
        "OPENSEARCH_CA_FILE": str(public),
        "OPENSEARCH_USER": "directory",
        "OPENSEARCH_STRANGER": "stranger",
        "OPENSEARCH_PASSWORD_FILE": str(password),
    }


def certify(config: pathlib.Path) -> None:
    """Creates a CA and a certificate for a node on loopback, with openssl."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=config, check=True, capture_output=True)

    key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test CA")
    openssl("req", *key, "-keyout", "node.key", "-out", "node.csr", "-subj", "/CN=node")
    (config / "node.ext").write_text(
        "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n"
    )
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "node.ext"]
    openssl("x509", "-req", "-in", "node.csr", *signed, "-out", "node.pem")


def hash_of(home: pathlib.Path, java: str, password: str) -> str:
    """The password's hash, from the plugin's own tool."""
    classes = f"{home}/plugins/opensearch-security/*:{home}/lib/*"
    command = [java, "-cp", classes, "org.opensearch.security.tools.Hasher", "-env", "OPENSEARCH_TEST_PASSWORD"]
    environment = {"OPENSEARCH_TEST_PASSWORD": password}
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return next(line.strip() for line in output.splitlines() if line.startswith("$2"))


def basic(environment: dict[str, str]) -> str:
    """The value of the test user's Authorization header."""
    password = pathlib.Path(environment["OPENSEARCH_PASSWORD_FILE"]).read_text().strip()
    return "Basic " + base64.b64encode(f"{environment['OPENSEARCH_USER']}:{password}".encode()).decode()
