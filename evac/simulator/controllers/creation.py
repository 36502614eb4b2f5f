"""The pods that controllers make, and how many of them a second.

Law: names and uids are the same in every run.
"""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from evac.simulator.objects import Raw, controller_reference, spec_of, uid_of
from evac.simulator.store import Store

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # apimachinery's util/rand: no vowels, nothing that looks alike


class Pace:
    """A client's token bucket: `per_second` in the long run, `burst` at once (client-go flowcontrol)."""

    def __init__(self, per_second: float, burst: int, now: datetime) -> None:
        self._interval = timedelta(seconds=1 / per_second)
        self._lead = self._interval * (burst - 1)
        self._next = now - self._lead - self._interval

    def reserve(self, now: datetime) -> timedelta:
        """Take the next place; how long until it may be used."""
        earliest = now - self._lead
        self._next = max(self._next + self._interval, earliest)
        return max(self._next - now, timedelta(0))


def short_hash(value: Any, length: int = 10) -> str:
    """A name's part made of any JSON value, in the letters that Kubernetes uses."""
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:length])


def pod_of(owner: Raw, template: Raw, name: str, **metadata: Any) -> Raw:
    """A new pod made from a template, as its controller sends it."""
    made = template.get("metadata") or {}
    spec = {"terminationGracePeriodSeconds": 30, **spec_of(template)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": owner["metadata"].get("namespace") or "default",
            "labels": {**(made.get("labels") or {}), **metadata.pop("labels", {})},
            "annotations": {**(made.get("annotations") or {}), **metadata.pop("annotations", {})},
            "ownerReferences": [controller_reference(owner)],
            **metadata,
        },
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def generated_name(store: Store, owner: Raw, prefix: str) -> str:
    """A name as generateName makes it, from a uid that nothing else gets."""
    return f"{prefix}{short_hash([uid_of(owner), store.new_uid()], 5)}"
