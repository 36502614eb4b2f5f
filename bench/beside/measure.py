"""Many runs, some at a time, each in a process of its own; their figures as soon as they are there."""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from bench.beside.run import run

Pair = tuple[str, str]


def measure(
    pairs: Sequence[Pair], version: str, jobs: int, seen_into: Path | None
) -> Iterator[tuple[Pair, dict[str, Any] | Exception]]:
    """Each (scenario, tool) with its figures, or with what its run failed of."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as workers:
        waiting = {
            workers.submit(run, scenario, tool, version, seen_into): (scenario, tool) for scenario, tool in pairs
        }
        for done in as_completed(waiting):
            error = done.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield waiting[done], error or done.result()
