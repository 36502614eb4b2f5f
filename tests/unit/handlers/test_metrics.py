"""What one drain adds to the metrics: releases are counted and are actions, and no dimension names a node."""

import json
from dataclasses import replace
from typing import Any

import pytest

from lambdas import contract
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.notices import Notice, Reason
from lambdas.handlers.metrics import Tally
from tests.unit.builders import NOTICE, at

RECORD = DrainRecord(Notice("i-1", Reason.SPOT_INTERRUPTION, NOTICE, at(120)), Ending.DRAINED, "spot-a")


def emitted(record: DrainRecord, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    tally = Tally("shop")
    tally.drained(record)
    tally.flush()
    line: dict[str, Any] = json.loads(capsys.readouterr().out)
    return line


def test_released_pods_are_counted_and_the_first_release_is_the_first_action(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pods = [PodFate(PodRef("shop", f"web-{i}", f"u{i}"), Departure.EVICTED, released_at=at(2 + i)) for i in range(3)]
    left = PodFate(PodRef("shop", "db-0", "u"), Departure.EVICTED)
    line = emitted(replace(RECORD, pods=(*pods, left), first_signal_at=at(12)), capsys)
    assert line[contract.METRIC_PODS_RELEASED] == [3]
    assert line[contract.METRIC_TIME_TO_FIRST_ACTION] == [2]
    assert line[contract.METRIC_TIME_TO_FIRST_EVICTION] == [12]


def test_without_a_release_the_first_action_is_the_first_eviction(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(replace(RECORD, first_signal_at=at(1)), capsys)
    assert line[contract.METRIC_TIME_TO_FIRST_ACTION] == line[contract.METRIC_TIME_TO_FIRST_EVICTION] == [1]
    assert line[contract.METRIC_PODS_RELEASED] == [0]


def test_where_nothing_was_asked_for_no_time_is_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(RECORD, capsys)
    assert contract.METRIC_TIME_TO_FIRST_ACTION not in line
    assert contract.METRIC_TIME_TO_FIRST_EVICTION not in line


def test_no_dimension_names_a_node_or_an_instance(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(replace(RECORD, first_signal_at=at(1)), capsys)
    [metrics] = line["_aws"]["CloudWatchMetrics"]
    assert sorted(*metrics["Dimensions"]) == sorted(contract.metric_dimensions("shop"))
