"""The console that a drain is shown on.

Law: who reads may go away (`| head`); a drain that began for real goes on to its end all the same.
"""

from rich.console import Console

from evac.streams import let_go_of_stdout


class PatientConsole(Console):
    """Goes quiet where its reader has gone. Rich ends the process there."""

    def on_broken_pipe(self) -> None:
        """Say nothing more."""
        self.quiet = True
        let_go_of_stdout()
