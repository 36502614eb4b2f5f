"""A process of its own that drains one node with the engine and says what it took; one JSON object on stdout.

Its arguments come as JSON on stdin: url, ca_file, token, node, warm_up (a node drained before, not counted).
"""

import json
import resource
import sys
from datetime import datetime, timedelta
from typing import Any

from evac.memory import CollectingReporter
from lambdas.adapters.background import ThreadBackground
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import Endpoint, connect
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.domain.values.drains import DrainRecord
from lambdas.domain.values.notices import Notice, Reason
from tests.scenes import instance_id

CLOCK = SystemClock()


class _Token:
    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token

    def renew(self) -> str:
        return self._token


def drain(url: str, ca_file: str, token: str, node: str) -> tuple[DrainRecord, int]:
    """One invocation: connected, drained, closed. The record, and how many requests it took."""
    noticed_at = CLOCK.now()
    with open(ca_file) as file:
        cluster = connect(Endpoint(url, file.read()), _Token(token), CLOCK)
    background = ThreadBackground(cluster.wake)
    try:
        notice = Notice(instance_id(node), Reason.SPOT_INTERRUPTION, noticed_at, noticed_at + timedelta(seconds=120))
        [fate] = evacuate([Request(notice)], Ports(CLOCK, cluster, background, CollectingReporter()))
        return fate.record, sum(cluster.server.sent.values())
    finally:
        background.close()
        cluster.close()


def main() -> None:
    """Drain, and print."""
    asked: dict[str, Any] = json.load(sys.stdin)
    where = {key: asked[key] for key in ("url", "ca_file", "token")}
    if asked.get("warm_up"):
        drain(**where, node=asked["warm_up"])
    record, requests = drain(**where, node=asked["node"])

    def since(moment: datetime | None) -> float | None:
        return (moment - record.notice.noticed_at).total_seconds() if moment else None

    signalled = sorted(s for fate in record.pods if (s := since(fate.signalled_at)) is not None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    json.dump(
        {
            "ending": record.ending.value,
            "cordoned": since(record.cordoned_at),
            "first": since(record.first_signal_at),
            "signalled": signalled,
            "ended": since(record.ended_at),
            "requests": requests,
            "peak_mb": peak,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
