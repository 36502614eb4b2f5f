"""Answers for the binaries of a control plane: found where somebody has them, else built from pinned sources.

Law: what is built is named by the digest of its go.mod and go.sum, so no old build passes for a changed pin.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from controlplane import toolchain
from controlplane.errors import BuildError, tail
from controlplane.pins import NEWEST, PROGRAMS, Pins

BIN = "EVAC_CONTROL_PLANE_BIN"
ASSETS = "KUBEBUILDER_ASSETS"


def provide(version: str = NEWEST) -> Path:
    """A folder that holds every one of PROGRAMS, of that Kubernetes minor version.

    In this order: the folder that EVAC_CONTROL_PLANE_BIN names, taken as it is; what KUBEBUILDER_ASSETS holds
    of the same minor version; the user's cache; a build into that cache (several minutes the first time, said
    on stderr). Raises BuildError.
    """
    if named := os.environ.get(BIN):
        return _complete(Path(named).absolute())
    pins = Pins.of(version)
    assets = _assets(pins)
    folder = _cache() / f"{pins.minor}-{pins.digest}"
    _build_missing([p for p in PROGRAMS if p not in assets], folder, pins)
    return _joined(assets, folder) if assets else folder


def _complete(folder: Path) -> Path:
    missing = [p for p in PROGRAMS if not (folder / p).exists()]
    if missing:
        lacks = f"{BIN} names {folder}, which lacks {', '.join(missing)}"
        raise BuildError(f"{lacks}; put them there or unset {BIN}")
    return folder


def _assets(pins: Pins) -> dict[str, Path]:
    named = os.environ.get(ASSETS)
    if not named:
        return {}
    found = {p: Path(named) / p for p in PROGRAMS if (Path(named) / p).exists()}
    server = found.get("kube-apiserver")
    if server is None:
        return {}
    answer = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    if f" v{pins.minor}." in answer:
        return found
    _say(f"{ASSETS} holds {answer.strip() or 'no working kube-apiserver'}, not {pins.minor}: left aside")
    return {}


def _cache() -> Path:
    home, cache = os.environ.get("HOME"), os.environ.get("XDG_CACHE_HOME")
    if not (home or cache):
        raise BuildError(f"neither HOME nor XDG_CACHE_HOME is set: set one, or {BIN} to a folder of binaries")
    folder = Path(cache or f"{home}/.cache").absolute() / "evac" / "control-plane"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(
            f"cannot write {folder} ({error.strerror}): set XDG_CACHE_HOME to a folder that can be written, "
            f"or {BIN} to one that holds the binaries"
        ) from error
    return folder


def _joined(assets: Mapping[str, Path], built: Path) -> Path:
    """A folder of links, since the components are started from one folder."""
    digest = hashlib.sha256("".join(map(str, assets.values())).encode()).hexdigest()[:12]
    folder = built.with_name(f"{built.name}+{digest}")
    folder.mkdir(exist_ok=True)
    for program in PROGRAMS:
        link = folder / f".{program}.{os.getpid()}"
        link.symlink_to(assets.get(program, built / program).absolute())
        link.replace(folder / program)
    return folder


def _build_missing(programs: list[str], folder: Path, pins: Pins) -> None:
    if all((folder / p).exists() for p in programs):
        return
    folder.mkdir(exist_ok=True)
    with _alone(folder / ".lock"):
        missing = [p for p in programs if not (folder / p).exists()]
        if not missing:
            return  # another process has built them meanwhile
        go = toolchain.go(pins.go, folder.parent)
        _say(f"building Kubernetes {pins.kubernetes} for tests into {folder}")
        _say("the first time this takes several minutes (about 10 on two cores); later it is found there")
        for number, program in enumerate(missing, 1):
            _say(f"building {program} ({number} of {len(missing)}) …")
            _build(go, program, folder, pins)


def _build(go: Path, program: str, folder: Path, pins: Pins) -> None:
    began = time.monotonic()
    partial = folder / f".{program}.partial"
    command = [str(go), "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", pins.ldflags()]
    command += ["-o", str(partial), PROGRAMS[program]]
    env = toolchain.environment(folder.parent)
    module = pins.module(program)
    answer = subprocess.run(command, cwd=module, env=env, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise BuildError(
            f"go could not build {program}:\n{tail(answer.stderr)}\n"
            "If modules could not be fetched, check `go env GOPROXY` and the network; if the disk is full, "
            f"make room (a build needs 5 GB). Then run: python -m controlplane build --version {pins.minor}"
        )
    partial.replace(folder / program)
    _say(f"built {program} in {time.monotonic() - began:.0f} s")


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"another process is building into {lock.parent}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(f"control plane: {line}", file=sys.stderr, flush=True)
