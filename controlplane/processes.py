"""Answers for the processes of a control plane: none outlives the Python that started it, whatever ends that.

All of them are in one process group, whose leader is a shell that waits for the end of a pipe only we hold.
When we end, even by SIGKILL, the kernel closes the pipe and the shell kills its group. PR_SET_PDEATHSIG would
not do: it follows the *thread* that started a process, so an API server brought back by a test's helper
thread would die with that thread; and it needs code between fork and exec.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from controlplane.errors import StartError, tail_of

_POLL = 0.02


class Processes:
    """A group of named processes, each with its log in `logs`."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._leader = subprocess.Popen(
            ["/bin/sh", "-c", "read -r _; kill -KILL 0"], stdin=subprocess.PIPE, process_group=0
        )

    def runs(self, name: str) -> bool:
        """Whether a process of that name is alive."""
        return name in self._running and self._running[name].poll() is None

    def log(self, name: str) -> Path:
        """Where a process writes what it has to say."""
        return self._logs / f"{name}.log"

    def start(self, name: str, command: Sequence[str | Path]) -> None:
        """Start a process of that name. Raises ValueError where one runs."""
        if self.runs(name):
            raise ValueError(f"{name} is running already")
        # Nobody's own settings: kwok and kubectl would read them from HOME.
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self._logs)}
        with self.log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._logs, env=env,
                process_group=self._leader.pid,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        """End a process as a crash would; returns when it is gone. Raises KeyError where none runs."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def forget_dead(self) -> None:
        """Count those that have died among the stopped."""
        self._running = {name: process for name, process in self._running.items() if process.poll() is None}

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a process a signal. Raises KeyError where none runs."""
        self._running[name].send_signal(number)

    def pids(self) -> dict[str, int]:
        """The process ids of what runs, by name."""
        return {name: process.pid for name, process in self._running.items()}

    def wait(self, what: str, holds: Callable[[], bool], within: timedelta) -> None:
        """Return when `holds()`; an OSError out of it means not yet.

        Raises StartError, with the log's end, if a process dies or time runs out.
        """
        deadline = time.monotonic() + within.total_seconds()
        while not _true(holds):
            self.check()
            if time.monotonic() > deadline:
                raise StartError(f"no {what} within {within.total_seconds():.0f} s\n{self._tails()}")
            time.sleep(_POLL)

    def check(self) -> None:
        """Raise StartError, with the log's end, if a process has died."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise StartError(f"{name} ended ({process.returncode}):\n{tail_of(self.log(name))}")

    def close(self) -> None:
        """End everything at once. Nothing is asked to finish: the folder they write to is about to go."""
        if self._leader.stdin:
            self._leader.stdin.close()
        for process in [self._leader, *self._running.values()]:
            process.wait()
        self._running.clear()

    def _tails(self) -> str:
        return "\n".join(f"--- {name}\n{tail_of(self.log(name), 5)}" for name in self._running)


def _true(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except OSError:
        return False
