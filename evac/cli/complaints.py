"""How a command fails: one line on standard error that says what is wrong, one that says what to do.

Law: no traceback reaches a person who did nothing but give odd input.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from evac.errors import InputError, Interrupted
from evac.rendering.words import clean
from evac.streams import let_go_of_stdout, soften_streams

WRONG_USAGE = 2
_INTERRUPTED = 130
_FAULT_OF_OURS = 70
"""EX_SOFTWARE of sysexits.h: neither the drain's outcome nor the person's doing."""


class Commands(TyperGroup):
    """The commands as a group whose failures all come out in one form."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run the command that `args` name, and exit with its code."""
        extra["standalone_mode"] = False
        soften_streams()
        try:
            given = list(sys.argv[1:] if args is None else args)
            code = super().main(given or ["--help"], prog_name or "evac", **extra)
            sys.stdout.flush()
        except InputError as error:
            code = complain(str(error), error.cure)
        except typer.TyperException as error:
            message = error.format_message().replace(_VALIDATORS_OWN, "")
            code = complain(message, f"see: {_help_of(error)}", error.exit_code)
        except Interrupted as error:
            code = complain(error.message, error.cure, _INTERRUPTED)
        except typer.Abort:
            code = complain("not agreed to: nothing was touched", "--yes goes on without asking", _INTERRUPTED)
        except BrokenPipeError:
            let_go_of_stdout()
            code = 1
        except Exception as error:
            if os.environ.get("EVAC_TRACEBACK"):
                raise
            kind = type(error).__name__
            code = complain(f"a fault of evac's own ({kind}: {error})", _REPORT_IT, _FAULT_OF_OURS)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C has words."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            cure = "after a live replay: evac undo NODE takes our marks off"
            raise Interrupted("interrupted", cure=cure) from None


_VALIDATORS_OWN = "Value error, "
"""What the library that reads options puts before a word of its own."""

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
