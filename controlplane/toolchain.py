"""Answers for a Go toolchain new enough for a go.mod: the PATH's, else a pinned one from the Python index."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from controlplane.errors import BuildError, tail

REQUIREMENTS = Path(__file__).parent / "go-requirements.txt"

GoVersion = tuple[int, int, int]


def go(minimum: GoVersion, cache: Path) -> Path:
    """The `go` command to build with: of the PATH where it is at least `minimum`, else of `cache`.

    What `cache` lacks is installed there, with hash checking (some 250 MB). Raises BuildError.
    """
    found = shutil.which("go")
    if found and _version(found, cache) >= minimum:
        return Path(found)
    pinned = cache / f"go-{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]}"
    if not (pinned / "go/bin/go").exists():
        _install(pinned, minimum)
    return pinned / "go/bin/go"


def environment(cache: Path) -> dict[str, str]:
    """The environment of a build: this Go and no other, nothing of the user's workspaces or flags."""
    env = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off", "CGO_ENABLED": "0"}
    if "HOME" not in env:  # Go has nowhere to keep modules and objects then
        env.setdefault("GOPATH", str(cache / "gopath"))
        env.setdefault("GOCACHE", str(cache / "gocache"))
    return env


def required(go_mod: str) -> GoVersion:
    """The version that the `go` directive of a go.mod asks for."""
    return _parse(re.search(r"^go (\S+)$", go_mod, re.MULTILINE), "go.mod has no go directive")


def _version(command: str, cache: Path) -> GoVersion:
    asked, env = [command, "env", "GOVERSION"], environment(cache)
    answer = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    match = re.search(r"^go(\d\S*)", answer.stdout)
    return _parse(match, "") if match else (0, 0, 0)


def _parse(match: re.Match[str] | None, otherwise: str) -> GoVersion:
    if match is None:
        raise BuildError(otherwise)
    numbers = [int(n) for n in re.findall(r"\d+", match[1])][:3]
    major, minor, patch = (*numbers, 0, 0)[:3]
    return major, minor, patch


def _install(folder: Path, minimum: GoVersion) -> None:
    wanted = ".".join(map(str, minimum))
    print(f"control plane: no Go {wanted} on PATH; installing a pinned one", file=sys.stderr, flush=True)
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-deps", "--target"]
    command += [str(partial), "--require-hashes", "--only-binary", ":all:", "-r", str(REQUIREMENTS)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        shutil.rmtree(partial, ignore_errors=True)
        raise BuildError(
            f"no Go {wanted} or newer on PATH, and pip could not install one:\n{tail(answer.stderr)}\n"
            "Install Go and put it on PATH (or give this Python a pip: python -m ensurepip), then run: "
            "python -m controlplane build"
        )
    partial.rename(folder)
