"""Answers for who is who on a control plane: its certificate authority, static tokens and kubeconfigs."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controlplane.errors import StartError


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody who may ask the API server: `name` is the test's word for it, the rest is what RBAC sees."""

    name: str
    user: str
    groups: tuple[str, ...] = ()


ADMIN = Identity("admin", user="admin", groups=("system:masters",))
CONTROLLER_MANAGER = Identity("kube-controller-manager", user="system:kube-controller-manager")
SCHEDULER = Identity("kube-scheduler", user="system:kube-scheduler")
KWOK = Identity("kwok", user="kwok", groups=("system:masters",))

# Strict verification (the default of newer Pythons) asks for all of these extensions.
_OPENSSL_CONF = """
[req]
distinguished_name = name
prompt = no
[name]
CN = control-plane
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = IP:127.0.0.1, DNS:localhost, DNS:kubernetes.default.svc
"""


class Credentials:
    """The keys, tokens and kubeconfigs of one control plane, all in one folder that only its owner reads."""

    def __init__(self, folder: Path, identities: Sequence[Identity]) -> None:
        self.folder = folder
        everybody = [ADMIN, CONTROLLER_MANAGER, SCHEDULER, KWOK, *identities]
        self.identities = {i.name: i for i in everybody}
        if len(self.identities) != len(everybody):
            raise ValueError(f"two identities of one name: {sorted(i.name for i in everybody)}")
        self._tokens = {name: secrets.token_urlsafe(24) for name in self.identities}
        self.ca_file = folder / "ca.crt"
        self.token_file = folder / "tokens.csv"
        self.server_certificate = folder / "server.crt"
        self.server_key = folder / "server.key"
        self.account_key = folder / "account.key"
        self.account_public_key = folder / "account.pub"

    def token(self, name: str) -> str:
        """The bearer token of an identity. Raises KeyError for one that was not given."""
        return self._tokens[name]

    def kubeconfig(self, name: str) -> Path:
        """The kubeconfig of an identity. Raises KeyError for one that was not given."""
        return self.folder / f"{self.identities[name].name}.kubeconfig"

    def write(self) -> None:
        """Write keys, certificates and tokens. Raises StartError where openssl is lacking or fails."""
        self.folder.mkdir(parents=True, mode=0o700)
        self.token_file.touch(mode=0o600)
        self.token_file.write_text("".join(self._row(i) for i in self.identities.values()))
        (self.folder / "openssl.cnf").write_text(_OPENSSL_CONF)
        self._sign()

    def write_kubeconfigs(self, url: str) -> None:
        """Write a kubeconfig for every identity; again if the address changes."""
        for name in self.identities:
            path = self.kubeconfig(name)
            path.touch(mode=0o600)
            path.write_text(json.dumps(self._config(name, url), indent=1))  # JSON is YAML

    def _row(self, identity: Identity) -> str:
        fields = [self.token(identity.name), identity.user, identity.name]
        if identity.groups:
            fields.append(f'"{",".join(identity.groups)}"')
        return ",".join(fields) + "\n"

    def _config(self, name: str, url: str) -> dict[str, object]:
        cluster = {"server": url, "certificate-authority": str(self.ca_file)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "control-plane", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": self.token(name)}}],
            "contexts": [{"name": name, "context": {"cluster": "control-plane", "user": name}}],
            "current-context": name,
        }

    def _sign(self) -> None:
        """Elliptic keys: they are made in milliseconds, RSA keys in up to a second."""
        new = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -config openssl.cnf"
        issue = "x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -extfile openssl.cnf"
        self._openssl(f"{new} -x509 -extensions authority -keyout ca.key -out ca.crt")
        self._openssl(f"{new} -subj /CN=kube-apiserver -keyout server.key -out server.csr")
        self._openssl(f"{issue} -extensions server -in server.csr -out server.crt")
        self._openssl("ecparam -name prime256v1 -genkey -noout -out account.key")
        self._openssl("ec -in account.key -pubout -out account.pub")

    def _openssl(self, arguments: str) -> None:
        command = shutil.which("openssl")
        if command is None:
            raise StartError("a control plane needs the openssl command for its certificates; install it")
        answer = subprocess.run(
            [command, *arguments.split()], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if answer.returncode:
            raise StartError(f"openssl {arguments}: {answer.stderr.strip()}")
