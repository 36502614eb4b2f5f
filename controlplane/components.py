"""Answers for how each component is called: upstream defaults, but loopback addresses and no leader election.

Nothing that evictions, budgets, workload controllers or garbage collection do is switched off, and the
controller manager keeps its 20 requests a second, which decide how fast replacements come elsewhere, too.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controlplane.credentials import CONTROLLER_MANAGER, KWOK, SCHEDULER, Credentials
from controlplane.errors import StartError

HERE = Path(__file__).parent
LOOPBACK = "127.0.0.1"

# Below what systems hand out to outgoing connections: nobody takes a port while its owner is away.
_PORTS = range(20_000, 32_000)


@dataclass(frozen=True, slots=True)
class Ports:
    """Where each component listens."""

    etcd: int
    peer: int
    api_server: int
    controller_manager: int
    scheduler: int
    kwok: int

    @classmethod
    def free(cls) -> Ports:
        """Ports nobody listens on at this moment; another may still take one before we do."""
        candidates = random.sample(_PORTS, 200)
        found = (port for port in candidates if _is_free(port))
        try:
            return cls(*(next(found) for _ in range(6)))
        except StopIteration as error:
            raise StartError(f"no free ports on {LOOPBACK} in {_PORTS}") from error


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Components:
    """The command lines of one control plane."""

    binaries: Path
    folder: Path
    ports: Ports
    credentials: Credentials

    @property
    def url(self) -> str:
        """The API server's address."""
        return f"https://{LOOPBACK}:{self.ports.api_server}"

    def health(self, name: str) -> str:
        """The address that answers 200 once a component does its work."""
        return {
            "etcd": f"http://{LOOPBACK}:{self.ports.etcd}/health",
            "kube-apiserver": f"{self.url}/readyz",
            "kube-controller-manager": f"https://{LOOPBACK}:{self.ports.controller_manager}/healthz",
            "kube-scheduler": f"https://{LOOPBACK}:{self.ports.scheduler}/readyz",
            "kwok": f"http://{LOOPBACK}:{self.ports.kwok}/healthz",
        }[name]

    @property
    def audit_log(self) -> Path:
        """Where the API server writes who asked it what."""
        return self.folder / "audit.log"

    def command(self, name: str) -> Sequence[str | Path]:
        """The command line of a component."""
        arguments = {
            "etcd": self._etcd,
            "kube-apiserver": self._api_server,
            "kube-controller-manager": self._controller_manager,
            "kube-scheduler": self._scheduler,
            "kwok": self._kwok,
        }[name]()
        return [self.binaries / name, *(f"--{key}={value}" for key, value in arguments.items())]

    def _etcd(self) -> dict[str, object]:
        client, peer = f"http://{LOOPBACK}:{self.ports.etcd}", f"http://{LOOPBACK}:{self.ports.peer}"
        return {
            "name": "only",
            "data-dir": self.folder / "etcd",
            "unsafe-no-fsync": "true",  # it need not survive the machine
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"only={peer}",
            "log-level": "warn",
        }

    def _api_server(self) -> dict[str, object]:
        return {
            "etcd-servers": f"http://{LOOPBACK}:{self.ports.etcd}",
            "bind-address": LOOPBACK,
            "advertise-address": LOOPBACK,
            "endpoint-reconciler-type": "none",  # loopback is no address for an Endpoints object
            "secure-port": self.ports.api_server,
            **self._serving(),
            "client-ca-file": self.credentials.ca_file,
            "token-auth-file": self.credentials.token_file,
            "authorization-mode": "Node,RBAC",
            "allow-privileged": "true",
            "service-cluster-ip-range": "10.96.0.0/16",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self.credentials.account_public_key,
            "service-account-signing-key-file": self.credentials.account_key,
            "audit-policy-file": HERE / "audit-policy.yaml",
            "audit-log-path": self.audit_log,
            "audit-log-mode": "blocking",  # a request is in the log before its answer is complete
            "audit-log-maxsize": 100_000,  # MB: one file, never rotated away under a reader
        }

    def _controller_manager(self) -> dict[str, object]:
        return {
            **self._client(CONTROLLER_MANAGER.name),
            **self._serving(),
            "secure-port": self.ports.controller_manager,
            "use-service-account-credentials": "true",
            "service-account-private-key-file": self.credentials.account_key,
            "root-ca-file": self.credentials.ca_file,
        }

    def _scheduler(self) -> dict[str, object]:
        return {**self._client(SCHEDULER.name), **self._serving(), "secure-port": self.ports.scheduler}

    def _kwok(self) -> dict[str, object]:
        return {
            "kubeconfig": self.credentials.kubeconfig(KWOK.name),
            "config": HERE / "kwok.yaml",
            "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
            "node-lease-duration-seconds": 40,
            "node-ip": LOOPBACK,
            "cidr": "10.200.0.0/16",
            "server-address": f"{LOOPBACK}:{self.ports.kwok}",
        }

    def _client(self, name: str) -> dict[str, object]:
        kubeconfig = self.credentials.kubeconfig(name)
        return {"kubeconfig": kubeconfig, "bind-address": LOOPBACK, "leader-elect": "false"}

    def _serving(self) -> dict[str, object]:
        return {
            "tls-cert-file": self.credentials.server_certificate,
            "tls-private-key-file": self.credentials.server_key,
        }
