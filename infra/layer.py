"""The function's dependencies as a layer, built by pip for the function's platform; no Docker.

Law: what is in the layer follows from requirements/lambda.txt and this file alone, and so does its name in the cache:
the index is asked once, afterwards synth is offline. `python -m infra.layer` fills the cache.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PYTHON_VERSION: Final = "3.14"
"""Of the function's runtime (`infra.running`): newest that Lambda and the wheels have."""

PLATFORMS: Final = ("manylinux2014_aarch64", "manylinux_2_28_aarch64")
"""arm64; Lambda's python3.14 runs on Amazon Linux 2023, whose glibc is 2.34."""

PIP_OPTIONS: Final = (
    "--require-hashes",
    "--no-deps",
    "--only-binary=:all:",
    "--no-compile",  # bytecode of the Python that builds is of no use to another
    "--implementation=cp",
    f"--python-version={PYTHON_VERSION}",
    *(f"--platform={platform}" for platform in PLATFORMS),
)

PRUNED: Final = (
    "bin",  # console scripts
    "kubernetes/aio",  # the same client again, for asyncio: 41 MB that are never imported
    "**/tests",
    "**/__pycache__",
    "**/*.pyi",
)
"""What Lambda never imports. The generated models stay: lazily loaded, they cost only disk."""

KEPT_OF_DIST_INFO: Final = frozenset({"METADATA", "licenses"})
"""METADATA is what Amazon Inspector reads to tell which packages a layer holds."""


class LayerError(Exception):
    """The layer could not be built; the message is one line and says what to type."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The layer of this requirements file, kept under `cache`."""

    requirements: Path
    cache: Path

    @property
    def digest(self) -> str:
        """Names the content: the pinned requirements and how they are installed and pruned."""
        recipe = repr((PIP_OPTIONS, PRUNED, sorted(KEPT_OF_DIST_INFO)))
        return hashlib.sha256(self.requirements.read_bytes() + recipe.encode()).hexdigest()

    @property
    def folder(self) -> Path:
        """Where it is, or will be; holds one folder `python`, as Lambda wants it."""
        return self.cache / self.digest[:16]

    def build(self) -> Path:
        """The layer's folder, built now if it is not there. Raises LayerError if pip cannot."""
        if not self.folder.is_dir():
            self.cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.cache, prefix="building-") as building:
                fresh = Path(building) / "layer"
                _install(self.requirements, fresh / "python")
                _prune(fresh / "python")
                _move_into_place(fresh, self.folder)
        return self.folder


def _install(requirements: Path, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += [*PIP_OPTIONS, f"--target={target}", f"--requirement={requirements}"]
    # Interpreter and options are ours; the file is the repository's, its packages pinned by hash.
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise LayerError(
            f"the layer could not be built: pip said {_last_line(done.stderr)!r}; type "
            "`python -m infra.layer` where a Python package index can be reached (once: afterwards synth is offline)"
        )


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["nothing"])[-1]


def _prune(packages: Path) -> None:
    _remove([path for pattern in PRUNED for path in packages.glob(pattern)])
    _remove([path for path in packages.glob("*.dist-info/*") if path.name not in KEPT_OF_DIST_INFO])


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _move_into_place(fresh: Path, folder: Path) -> None:
    """One step, so that nobody ever sees half a layer; a second builder's is as good."""
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def size(folder: Path) -> int:
    """Bytes in the folder, unzipped: what counts against Lambda's 250 MB."""
    return sum(os.path.getsize(path) for path in folder.rglob("*") if path.is_file())


def main() -> int:
    """Builds the repository's layer into its cache and prints where it is. 1 if it cannot be built."""
    root = Path(__file__).resolve().parent.parent
    try:
        folder = layer_of(root).build()
    except LayerError as error:
        sys.stderr.write(f"evac: {error}\n")
        return 1
    sys.stdout.write(f"{folder.relative_to(root)}: {size(folder) / 1e6:.1f} MB\n")
    return 0


def layer_of(root: Path) -> Layer:
    """The layer of the repository at `root`."""
    return Layer(requirements=root / "requirements" / "lambda.txt", cache=root / ".build" / "layer")


if __name__ == "__main__":
    sys.exit(main())
