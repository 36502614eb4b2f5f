"""How a command fails: one line on standard error that says what is wrong, one that says what to do.

Law: no traceback reaches a person who did nothing but give odd input.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from evac.errors import InputError
from evac.rendering.words import clean

WRONG_USAGE = 2
_INTERRUPTED = 130
_FAULT_OF_OURS = 70
"""EX_SOFTWARE of sysexits.h: neither the drain's outcome nor the person's doing."""


class Commands(TyperGroup):
    """The commands as a group whose failures all come out in one form."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run the command that `args` name, and exit with its code."""
        extra["standalone_mode"] = False
        _soften_streams()
        try:
            given = list(sys.argv[1:] if args is None else args)
            code = super().main(given or ["--help"], prog_name or "evac", **extra)
            sys.stdout.flush()
        except InputError as error:
            code = complain(str(error), error.cure)
        except typer.TyperException as error:
            code = complain(error.format_message(), f"see: {_help_of(error)}", error.exit_code)
        except (KeyboardInterrupt, typer.Abort):
            code = complain("interrupted", "after a live replay: evac undo NODE takes our marks off", _INTERRUPTED)
        except BrokenPipeError:
            _let_go_of_stdout()
            code = 1
        except Exception as error:
            if os.environ.get("EVAC_TRACEBACK"):
                raise
            kind = type(error).__name__
            code = complain(f"a fault of evac's own ({kind}: {error})", _REPORT_IT, _FAULT_OF_OURS)
        sys.exit(code if isinstance(code, int) else 0)


_REPORT_IT = "please report it, with what EVAC_TRACEBACK=1 prints in front of the same command"


def complain(message: str, cure: str, code: int = WRONG_USAGE) -> int:
    """Say what is wrong and what to do; the exit code is handed back."""
    typer.echo(f"evac: {clean(message)}", err=True)
    if cure:
        typer.echo(f"  {clean(cure)}", err=True)
    return code


def _help_of(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'evac'} --help"


def _soften_streams() -> None:
    """A terminal that cannot show a character gets an escape for it, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _let_go_of_stdout() -> None:
    """The reader has gone (`| head`): the interpreter's own flush at its end must not fail again."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
