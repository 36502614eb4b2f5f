"""The commands that people type. Law: exit codes and streams are an interface; importing this imports nothing heavy.

Exit codes: 0 all went well, 1 it did not (pods were lost, marks not taken off), 2 wrong usage or unreadable input.
"""

from evac.cli.commands import kubectl, main

__all__ = ["kubectl", "main"]
