"""Which version this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path

import typer


def show_version(is_asked_for: bool) -> None:
    """Print it and end, if asked for."""
    if is_asked_for:
        version()
        raise typer.Exit


def version() -> None:
    """Print the version."""
    typer.echo(f"evac {installed_version()}")


def installed_version() -> str:
    """The installed package's version; from a checkout that is not installed, pyproject.toml's."""
    try:
        return version_of("evac")
    except PackageNotFoundError:
        return checked_out_version()


def checked_out_version() -> str:
    """What pyproject.toml says; "unknown" where there is none."""
    import tomllib  # noqa: PLC0415 - an installed package never needs it

    project = Path(__file__).parents[2] / "pyproject.toml"
    try:
        found: str = tomllib.loads(project.read_text("utf-8"))["project"]["version"]
    except (OSError, ValueError, KeyError):
        return "unknown"
    return found
