"""A drain in a process of its own, which can be killed as Lambda or the kernel kills one."""

import json
import subprocess
import sys
from types import TracebackType
from typing import Self

from controlplane import ControlPlane


class Invocation:
    """Begins to drain the node inside the `with`, by the function's identity; at its end it is dead, come what may."""

    def __init__(self, plane: ControlPlane, node: str) -> None:
        where = {"url": plane.url, "ca_file": str(plane.ca_file), "token": plane.token("handler")}
        self._asked = {**where, "node": node}

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "bench.drain_once"]
        self._process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert self._process.stdin
        with self._process.stdin as pipe:
            json.dump(self._asked, pipe)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL: nothing of the process runs after it."""
        self._process.kill()
        self._process.wait()
