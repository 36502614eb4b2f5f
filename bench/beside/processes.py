"""The processes of a tool under measurement: started, weighed while they run, ended with the run."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_EVERY = 0.1


class Processes:
    """What one run starts; what they say goes into `log`.

    `peak`: the most resident memory that any of them had, in bytes (Linux; else 0).
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self._running: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self.peak = 0
        self._cpu: dict[int, float] = {}
        self.started = 0

    def run(self, command: Sequence[str], environment: Mapping[str, str], stdin: str = "") -> tuple[int, str]:
        """Run a command to its end: its exit code and what it printed. Its errors go to the run's log."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        with self._lock:
            self._running.append(process)
            self.started += 1
        threading.Thread(target=self._weigh, args=(process,), daemon=True).start()
        output, _ = process.communicate(stdin)
        return process.returncode, output

    @property
    def cpu(self) -> float:
        """Seconds of processor time of all of them together (Linux; else 0)."""
        return sum(self._cpu.values())

    def close(self) -> None:
        """End what still runs."""
        with self._lock:
            for process in self._running:
                process.kill()

    def _weigh(self, process: "subprocess.Popen[str]") -> None:
        while process.poll() is None:
            self.peak = max(self.peak, _high_water(process.pid))
            self._cpu[process.pid] = max(_cpu(process.pid), self._cpu.get(process.pid, 0.0))
            time.sleep(_EVERY)


def _high_water(pid: int) -> int:
    """The kernel's own peak of a process; it counts from the exec, unlike what wait4 tells."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    kilobytes = status.partition("VmHWM:")[2].split()
    return int(kilobytes[0]) * 1024 if kilobytes else 0


def _cpu(pid: int) -> float:
    """User and system time, which stand behind the name in brackets (proc(5), stat: utime, stime)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
