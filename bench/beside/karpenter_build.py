"""Karpenter with its pretended cloud, built from pinned sources once, and the CRDs that belong to it.

Law: a build is named by the digest of its go.mod and go.sum, so none passes for another version.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from controlplane import BuildError, toolchain
from controlplane.errors import tail

_MODULE: Final = Path(__file__).parents[1] / "karpenter" / "gomod"
_SOURCE: Final = "sigs.k8s.io/karpenter"
_CRDS: Final = ("kwok/charts/crds", "kwok/apis/crds")


def version() -> str:
    """The pinned one, with its leading v. Raises BuildError."""
    match = re.search(rf"^\s+{re.escape(_SOURCE)} (v\S+)", _go_mod(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{_MODULE / 'go.mod'} does not require {_SOURCE}")
    return match[1]


def program() -> Path:
    """The binary: of the user's cache, or built into it, which takes some minutes. Raises BuildError."""
    pins = b"".join((_MODULE / name).read_bytes() for name in ("go.mod", "go.sum"))
    folder = _cache() / hashlib.sha256(pins).hexdigest()[:12]
    found = folder / "karpenter"
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not found.exists():  # another process may have built it meanwhile
                _build(folder)
    return found


def crds() -> list[dict[str, Any]]:
    """Those that the sources come with, for Karpenter and for its pretended cloud. Raises BuildError."""
    return [yaml.safe_load(file.read_text()) for file in sorted((program().parent / "crds").glob("*.yaml"))]


def _build(folder: Path) -> None:
    """The binary comes last: where it is, the rest is."""
    print(f"bench: building Karpenter {version()} into {folder}, some minutes", file=sys.stderr, flush=True)
    partial = folder / ".karpenter.partial"
    _go(folder, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(partial), f"{_SOURCE}/kwok")
    sources = Path(_go(folder, "list", "-m", "-f", "{{.Dir}}", _SOURCE).strip())
    (folder / "crds").mkdir(exist_ok=True)
    for crd in (file for part in _CRDS for file in (sources / part).glob("*.yaml")):
        shutil.copyfile(crd, folder / "crds" / crd.name)
    partial.replace(folder / "karpenter")


def _go(folder: Path, verb: str, *arguments: str) -> str:
    go = toolchain.go(toolchain.required(_go_mod()), folder.parent)
    command = [str(go), verb, "-mod=readonly", *arguments]
    env = toolchain.environment(folder.parent)
    answer = subprocess.run(command, cwd=_MODULE, env=env, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise BuildError(f"`go {verb}` failed for Karpenter:\n{tail(answer.stderr)}")
    return answer.stdout


def _go_mod() -> str:
    return (_MODULE / "go.mod").read_text()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "evac" / "karpenter"
