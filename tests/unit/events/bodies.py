"""Bodies for tests: the recorded cases with their answers, and a builder that states only what a case is about."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lambdas import contract

INSTANCE = "i-0a1b2c3d4e5f60718"
TIME = "2026-11-02T03:04:05Z"


@dataclass(frozen=True, slots=True)
class Case:
    """A body and what it means."""

    name: str
    body: str
    expect: dict[str, Any]


def recorded_cases() -> list[Case]:
    """Every row of `bodies.jsonl`."""
    lines = Path(__file__).with_name("bodies.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Case(row["case"], row["body"], row["expect"]) for row in rows]


def an_event(
    detail_type: Any = contract.DETAIL_SPOT_INTERRUPTION,
    source: Any = contract.SOURCE_EC2,
    detail: Any = None,
    **fields: Any,
) -> dict[str, Any]:
    """An EventBridge envelope; a field given as `...` is left out."""
    event: dict[str, Any] = {
        "version": "0",
        "id": "7d8c2f10-0000-4000-8000-000000000009",
        "detail-type": detail_type,
        "source": source,
        "account": "123456789012",
        "time": TIME,
        "region": "eu-west-1",
        "resources": [],
        "detail": {"instance-id": INSTANCE, "instance-action": "terminate"} if detail is None else detail,
    } | {name.replace("_", "-"): value for name, value in fields.items()}
    return {name: value for name, value in event.items() if value is not ...}


def through_topics(body: str, times: int = 1) -> str:
    """The body as SNS delivers it, that many topics deep."""
    for _ in range(times):
        body = json.dumps({"Type": "Notification", "TopicArn": "arn:aws:sns:eu-west-1:123456789012:t", "Message": body})
    return body
