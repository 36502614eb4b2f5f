"""What a recorder might have seen: what a case is about and nothing else. Seconds count from the notice, at 1,000."""

from typing import Any

from bench.beside.facts import BudgetSeen, Fact, HostTaken, NodeSeen, PodGone, PodSeen, SliceSeen
from bench.beside.scenarios import Scenario, Workload

NOTICE = 1000.0
WEB = ("app", "web")


def scene(doomed: int, elsewhere: int = 0) -> Scenario:
    """One Deployment, `web`."""
    return Scenario("X", "", (Workload("web", doomed, elsewhere),))


def pod(at: float, uid: str, on: str = "spot-1", *, ready: bool = True, leaving: bool = False, **times: Any) -> PodSeen:
    """A pod of `web`, with a shutdown of 2 s and a grace of 30 s."""
    return PodSeen(
        NOTICE + at,
        uid,
        on,
        frozenset({WEB}),
        is_ready=ready,
        is_leaving=leaving,
        grace_given=times.get("given", 30 if leaving else 0),
        grace=times.get("grace", 30),
        shutdown=times.get("shutdown", 2),
    )


def gone(at: float, uid: str) -> Fact:
    """Its object is no more."""
    return PodGone(NOTICE + at, uid)


def left(uid: str, signalled: float, when: float, **times: Any) -> list[Fact]:
    """A pod that was there at the notice and went; the kubelet's last word has a grace of 0."""
    end = {**times, "given": 0}
    return [
        pod(-1, uid, **times),
        pod(signalled, uid, leaving=True, **times),
        pod(when, uid, ready=False, leaving=True, **end),
        gone(when, uid),
    ]


def budget(at: float, desired: int) -> Fact:
    """A budget over `web`."""
    return BudgetSeen(NOTICE + at, "web", WEB, desired)


def endpoints(at: float, *nodes: str) -> Fact:
    """The one EndpointSlice of `web`."""
    return SliceSeen(NOTICE + at, "web-1", "web", nodes)


def taken(node: str = "spot-1") -> Fact:
    """The host is taken, at 120 s."""
    return HostTaken(NOTICE + 120, node)


def cordoned(at: float, node: str = "spot-1") -> Fact:
    """The node is."""
    return NodeSeen(NOTICE + at, node, is_schedulable=False)
