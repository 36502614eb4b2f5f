"""Standard streams as they are: terminals that know few characters, readers that go away."""

import os
import sys


def soften_streams() -> None:
    """A terminal that cannot show a character gets an escape for it, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def let_go_of_stdout() -> None:
    """The reader has gone (`| head`): the interpreter's own flush at its end must not fail again."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
