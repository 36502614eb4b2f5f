"""Answers for what a control plane is built from: go.mod and go.sum, a folder for each minor version."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from controlplane import toolchain
from controlplane.errors import BuildError

MODULES = Path(__file__).parent / "gomod"
NEWEST = "1.37"

PROGRAMS: Mapping[str, str] = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}


def versions() -> list[str]:
    """The minor versions that can be had, oldest first."""
    found = [go_mod.parent.name for go_mod in MODULES.glob("*/go.mod")]
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


@dataclass(frozen=True, slots=True)
class Pins:
    """What is built for one minor version: its own Kubernetes and etcd, and the kwok that the newest has.

    kwok speaks to any of them, but builds only with the Kubernetes libraries of about its own time.
    """

    minor: str

    @classmethod
    def of(cls, minor: str) -> Pins:
        """The pins of a version. Raises BuildError where there are none."""
        if minor not in versions():
            raise BuildError(f"no pins for Kubernetes {minor}; there are: {', '.join(versions())}")
        return cls(minor)

    def module(self, program: str) -> Path:
        """The folder whose go.mod a program is built by."""
        return MODULES / (NEWEST if program == "kwok" else self.minor)

    @property
    def digest(self) -> str:
        """Changes with whatever is pinned."""
        modules = sorted({self.module(p) for p in PROGRAMS})
        files = [module / name for module in modules for name in ("go.mod", "go.sum")]
        return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]

    @property
    def go(self) -> toolchain.GoVersion:
        """The oldest Go that builds all of it."""
        return max(toolchain.required((self.module(p) / "go.mod").read_text()) for p in PROGRAMS)

    def version_of(self, program: str, source: str) -> str:
        """The pinned version of the source module of a program, with its leading v."""
        go_mod = self.module(program) / "go.mod"
        match = re.search(rf"^\s+{re.escape(source)} (v\S+)", go_mod.read_text(), re.MULTILINE)
        if match is None:
            raise BuildError(f"{go_mod} does not require {source}")
        return match[1]

    @property
    def kubernetes(self) -> str:
        """The pinned Kubernetes, as v1.2.3."""
        return self.version_of("kube-apiserver", "k8s.io/kubernetes")

    def ldflags(self) -> str:
        """Linker flags: no symbol tables, and the versions that releases carry."""
        major, minor = self.minor.split(".")
        values = {"sigs.k8s.io/kwok/pkg/consts.Version": self.version_of("kwok", "sigs.k8s.io/kwok")}
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
            values[f"{package}.gitVersion"] = self.kubernetes
            values[f"{package}.gitMajor"], values[f"{package}.gitMinor"] = major, minor
        return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in values.items())])
