"""Answers for one Kubernetes control plane on loopback, from its first process to the last file it leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from controlplane import audit, binaries
from controlplane.client import Client, answers
from controlplane.components import Components, Ports
from controlplane.credentials import ADMIN, Credentials, Identity
from controlplane.errors import StartError
from controlplane.pins import NEWEST
from controlplane.processes import Processes

KEEP = "EVAC_KEEP_CONTROL_PLANE"

NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")

_PATIENCE = timedelta(seconds=90)
_TRIES = 3


class ControlPlane:
    """etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok in place of kubelets; RBAC is on.

    A context manager: it is up inside the `with`, and gone with all its files after it. Several may run at
    once. With EVAC_KEEP_CONTROL_PLANE set its files stay (logs, audit log, etcd's data). Entering raises
    BuildError, StartError.
    """

    def __init__(
        self,
        version: str = NEWEST,
        identities: Sequence[Identity] = (),
        folder: Path | None = None,
        programs: Path | None = None,
    ) -> None:
        """An `admin` is among the identities anyhow.

        `folder` is where its files go, empty or not yet there, a temporary one by default; `programs` holds
        the binaries, by default what binaries.provide() finds.
        """
        self.version = version
        self._programs = programs
        self._identities = tuple(identities)
        self._wanted_folder = folder
        self.startup = timedelta()

    def __enter__(self) -> Self:
        programs = self._programs or binaries.provide(self.version)
        began = time.monotonic()
        for attempt in range(1, _TRIES + 1):
            try:
                self._start(programs)
                break
            except StartError as error:  # a port may have been taken between our look and its use
                if attempt == _TRIES or "address already in use" not in str(error):
                    raise
        self.startup = timedelta(seconds=time.monotonic() - began)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    @property
    def url(self) -> str:
        """The API server's address; it stays the same when the server is stopped and started."""
        return self._components.url

    @property
    def ca_file(self) -> Path:
        """The certificate authority that the API server is signed by."""
        return self._credentials.ca_file

    def token(self, identity: str = ADMIN.name) -> str:
        """A bearer token that does not expire. Raises KeyError for a name that was not given."""
        return self._credentials.token(identity)

    def kubeconfig(self, identity: str = ADMIN.name) -> Path:
        """A kubeconfig with that token. Raises KeyError for a name that was not given."""
        return self._credentials.kubeconfig(identity)

    def requests(self, user: str | None = None, since: datetime | None = None) -> list[audit.Request]:
        """What was asked of the API server, by all or by one user name, oldest first.

        Every request is there once its answer is complete. Left out: health probes, leases.
        """
        return list(audit.read(self._components.audit_log, user, since))

    def log(self, process: str) -> Path:
        """The log of a process."""
        return self._processes.log(process)

    def check(self) -> None:
        """Raise StartError, with the end of its log, if a process has died."""
        self._processes.check()

    def pids(self) -> dict[str, int]:
        """The process ids of what runs, by name."""
        return self._processes.pids()

    def memory(self) -> dict[str, int]:
        """Resident bytes by process; Linux only."""
        return {name: _resident(pid) for name, pid in self.pids().items()}

    def stop_process(self, name: str) -> None:
        """End a process as a crash would; connections break, its port refuses. Data stays."""
        self._processes.kill(name)

    def start_process(self, name: str) -> None:
        """Start a stopped process again, on the same port; returns when it is ready. Raises StartError."""
        self._processes.start(name, self._components.command(name))
        self._wait(name)

    def freeze_process(self, name: str) -> None:
        """Let a process hang: connections open and stay silent."""
        self._processes.signal(name, signal.SIGSTOP)

    def thaw_process(self, name: str) -> None:
        """Let a frozen process go on."""
        self._processes.signal(name, signal.SIGCONT)

    def restore(self) -> None:
        """Start every process that is stopped or dead, let every frozen one go on. Raises StartError."""
        self._processes.forget_dead()
        for name in NAMES:
            if self._processes.runs(name):
                self.thaw_process(name)
            else:
                self.start_process(name)

    def _prepare(self, programs: Path) -> None:
        self.folder = self._wanted_folder or Path(tempfile.mkdtemp(prefix="control-plane-"))
        logs = self.folder / "log"
        logs.mkdir(parents=True)
        self._credentials = Credentials(self.folder / "pki", self._identities)
        self._components = Components(programs, self.folder, Ports.free(), self._credentials)
        self._processes = Processes(logs)

    def _start(self, programs: Path) -> None:
        self._prepare(programs)
        try:
            self._launch_all()
        except BaseException:
            self._close()
            raise

    def _launch_all(self) -> None:
        self._launch("etcd")
        self._credentials.write()
        self._credentials.write_kubeconfigs(self.url)
        self._launch("kube-apiserver")  # it waits for etcd by itself
        self._wait("kube-apiserver")
        self._introduce_controllers()
        for name in NAMES[2:]:
            self._launch(name)
        for name in NAMES[2:]:
            self._wait(name)
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self._processes.wait("default service account", lambda: self._answers(self.url + account), _PATIENCE)

    def _introduce_controllers(self) -> None:
        """Make the service accounts that controllers act as, which RBAC's defaults name.

        The controller manager would, each by three of its 20 requests a second: 5 s until it does its work.
        """
        with contextlib.closing(Client(self.url, self.ca_file, self.token())) as client:
            _, bindings = client.get("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings")
            subjects = [subject for binding in bindings["items"] for subject in binding.get("subjects", [])]
            for subject in subjects:
                if subject["kind"] == "ServiceAccount":
                    account = {"metadata": {"name": subject["name"]}}
                    client.post(f"/api/v1/namespaces/{subject['namespace']}/serviceaccounts", account)

    def _launch(self, name: str) -> None:
        self._processes.start(name, self._components.command(name))

    def _wait(self, name: str) -> None:
        address = self._components.health(name)
        self._processes.wait(f"ready {name}", lambda: self._answers(address), _PATIENCE)

    def _answers(self, address: str) -> bool:
        return answers(address, self.ca_file, self.token())

    def _close(self) -> None:
        self._processes.close()
        if os.environ.get(KEEP):
            print(f"control plane: its files are kept in {self.folder}", file=sys.stderr, flush=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0]) * 1024
