"""Each drain is one line, and its sentence says what a tired person needs."""

import io
import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate, Problem, Trouble
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.notices import Notice, Reason
from lambdas.handlers.summaries import say

NOTICED = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
NOTICE = Notice("i-0a1b2c3d", Reason.SPOT_INTERRUPTION, NOTICED, NOTICED + timedelta(minutes=2))


def a_record(ending: Ending, *departures: Departure, seconds: float = 36, **fields: Any) -> DrainRecord:
    pods = tuple(PodFate(PodRef("default", f"web-{i}", f"u{i}"), d) for i, d in enumerate(departures))
    ended_at = NOTICED + timedelta(seconds=seconds)
    return replace(DrainRecord(NOTICE, ending, node_name="ip-10-0-1-2", ended_at=ended_at, pods=pods), **fields)


def line_of(record: DrainRecord) -> dict[str, Any]:
    stream = io.StringIO()
    say(Logger(service=f"evac-{uuid.uuid4()}", stream=stream), record)
    line: dict[str, Any] = json.loads(stream.getvalue())
    return line


@pytest.mark.parametrize(
    ("record", "level", "sentence"),
    [
        (
            a_record(Ending.DRAINED, Departure.EVICTED, Departure.FINISHED),
            "INFO",
            "node ip-10-0-1-2 (i-0a1b2c3d) drained: 2 of 2 pods left before reclaim, 84 s to spare",
        ),
        (
            a_record(Ending.DRAINED, Departure.EVICTED, Departure.DELETED_AGAINST_BUDGET, seconds=123),
            "INFO",
            "node ip-10-0-1-2 (i-0a1b2c3d) drained: 2 of 2 pods left before reclaim, 1 of them against a budget, "
            "3 s late",
        ),
        (
            a_record(Ending.PODS_LOST, Departure.EVICTED, Departure.LOST, Departure.LOST),
            "WARNING",
            "node ip-10-0-1-2 (i-0a1b2c3d) was lost with pods on it: 1 of 3 pods left before reclaim",
        ),
        (a_record(Ending.NOT_OURS), "INFO", "i-0a1b2c3d is none of this cluster's nodes: nothing to do"),
        (a_record(Ending.ALREADY_GONE), "INFO", "i-0a1b2c3d has no node any more: nothing to do"),
        (
            a_record(Ending.STALE),
            "WARNING",
            "the notice for i-0a1b2c3d is long past (2026-11-02T03:06:05Z): nothing was touched",
        ),
        (a_record(Ending.JOINED), "INFO", "i-0a1b2c3d has been drained by another invocation"),
        (
            a_record(Ending.FAILED, problems=(Problem(Trouble.API, "it is away"), Problem(Trouble.LEDGER, "so is it"))),
            "ERROR",
            "i-0a1b2c3d could not be drained, the notice is given back: it is away; so is it",
        ),
        (
            a_record(Ending.FAILED),
            "ERROR",
            "i-0a1b2c3d could not be drained, the notice is given back: no reason was told",
        ),
    ],
)
def test_a_drain_s_line_is_a_sentence_as_loud_as_it_matters(record: DrainRecord, level: str, sentence: str) -> None:
    line = line_of(record)
    assert (line["level"], line["message"]) == (level, sentence)


def test_the_whole_record_stands_beside_the_sentence() -> None:
    record = a_record(
        Ending.PODS_LOST, Departure.LOST, skipped=((PodRef("kube-system", "proxy", "u"), "owned by a DaemonSet"),)
    )
    drain = line_of(record)["drain"]
    assert drain["notice"] == {
        "instance_id": "i-0a1b2c3d",
        "reason": "spot-interruption",
        "noticed_at": "2026-11-02T03:04:05.000Z",
        "reclaim_at": "2026-11-02T03:06:05.000Z",
        "is_replayed": False,
    }
    assert drain["ended_at"] == "2026-11-02T03:04:41.000Z"
    assert drain["cordoned_at"] is None
    assert drain["pods"] == [
        {
            "pod": "default/web-0",
            "uid": "u0",
            "workload": "",
            "departure": "lost with the host",
            "released_at": None,
            "replaced_at": None,
            "not_released": "",
            "last_safe_at": None,
            "grace_given_seconds": None,
            "signalled_at": None,
            "gone_at": None,
            "shutdown_seconds": None,
            "held_by": [],
            "note": "",
        }
    ]
    assert drain["skipped"] == [{"pod": "kube-system/proxy", "reason": "owned by a DaemonSet"}]


def test_the_line_of_700_pods_is_one_that_cloudwatch_takes_the_lost_in_it() -> None:
    record = a_record(Ending.PODS_LOST, *[Departure.EVICTED] * 690, *[Departure.LOST] * 10)
    pods = tuple(replace(fate, note="n" * 300) for fate in record.pods)
    stream = io.StringIO()
    say(Logger(service=f"evac-{uuid.uuid4()}", stream=stream), replace(record, pods=pods))
    assert len(stream.getvalue().encode()) < 256 * 1024
    drain = json.loads(stream.getvalue())["drain"]
    assert [pod["departure"] for pod in drain["pods"][:10]] == ["lost with the host"] * 10
    assert drain["pods_omitted"] == 700 - len(drain["pods"]) > 0
