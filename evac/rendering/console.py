"""The console that a drain is shown on.

Law: who reads may go away (`| head`); a drain that began for real goes on to its end all the same.
"""

import os
import sys

from rich.console import Console


class PatientConsole(Console):
    """Goes quiet where its reader has gone. Rich ends the process there."""

    def on_broken_pipe(self) -> None:
        """Say nothing more, and keep the interpreter's own last flush from failing again."""
        self.quiet = True
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
