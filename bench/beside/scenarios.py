"""What is measured side by side: small declarative scenes, named after the cases of the two-minute drain."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

Label = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment (or StatefulSet) with a Service of its name; times in seconds.

    `doomed` of its replicas run on the interrupted nodes, the others elsewhere. `group` is a second label of its pods,
    for a budget over several.
    """

    name: str
    doomed: int
    elsewhere: int = 0
    kind: str = "Deployment"
    surge: int | str = "25%"
    startup: float = 10
    shutdown: float = 2
    grace: int = 30
    group: str = ""

    @property
    def replicas(self) -> int:
        """All that are wanted."""
        return self.doomed + self.elsewhere


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget over the pods of one label."""

    name: str
    over: Label
    spec: Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scene: which nodes are interrupted, in which invocations, and what runs there.

    `batches`: the nodes of each invocation. `room_at`: seconds from the notice until there is room elsewhere.
    `has_faults`: every tenth answer of the API server is a 500 or a reset.
    """

    name: str
    what: str
    workloads: tuple[Workload, ...]
    budgets: tuple[Budget, ...] = ()
    batches: tuple[tuple[str, ...], ...] = (("spot-1",),)
    room_at: float = 0
    has_faults: bool = False

    @property
    def nodes(self) -> tuple[str, ...]:
        """All interrupted nodes."""
        return tuple(node for batch in self.batches for node in batch)

    @property
    def doomed(self) -> int:
        """The pods on them."""
        return sum(workload.doomed for workload in self.workloads)

    @property
    def elsewhere(self) -> int:
        """The pods that are not."""
        return sum(workload.elsewhere for workload in self.workloads)


def _held(name: str, **spec: int | str) -> Budget:
    """A budget over one workload."""
    return Budget(name, ("app", name), spec)


_WEB: Final = Workload("web", 30, 10)
_ONE_AT_A_TIME: Final = (_held("web", maxUnavailable=1),)
_GROUP: Final = "group"


def _web(name: str, what: str, workload: Workload = _WEB) -> Scenario:
    return Scenario(name, what, (workload,), _ONE_AT_A_TIME)


def _fleet() -> Scenario:
    nodes = tuple(f"spot-{number}" for number in range(1, 21))
    names = [f"app-{number:02}" for number in range(1, 21)]
    return Scenario(
        "20x20",
        "20 nodes at once, 20 pods on each, of 20 Deployments of 25 (maxUnavailable 25%), in two invocations",
        tuple(Workload(name, 20, 5) for name in names),
        tuple(_held(name, maxUnavailable="25%") for name in names),
        batches=(nodes[:10], nodes[10:]),
    )


_D1: Final = _web("D1", "30 of a Deployment of 40, maxUnavailable 1, start-up 10 s, shutdown 2 s")

_ALL: Final = (
    _D1,
    _web("D1b", "as D1, maxSurge 0", replace(_WEB, surge=0)),
    replace(
        _D1, name="D1d", what="as D1, 15 on each of two nodes, in two invocations", batches=(("spot-1",), ("spot-2",))
    ),
    replace(_D1, name="D2", what="as D1, room elsewhere only from second 40 on", room_at=40),
    Scenario(
        "D5",
        "3 of a StatefulSet of 3, maxUnavailable 1, start-up 60 s, shutdown 5 s",
        (Workload("db", 3, kind="StatefulSet", startup=60, shutdown=5),),
        (_held("db", maxUnavailable=1),),
    ),
    Scenario(
        "D6", "the only pod of a Deployment, minAvailable 1", (Workload("web", 1),), (_held("web", minAvailable=1),)
    ),
    Scenario(
        "D13",
        "4 Deployments of one pod, maxSurge 0, graces 10 to 90 s, start-up 20 s, one budget over all, maxUnavailable 1",
        tuple(Workload(f"g{grace}", 1, surge=0, startup=20, grace=grace, group="all") for grace in (10, 30, 60, 90)),
        (Budget("all", (_GROUP, "all"), {"maxUnavailable": 1}),),
    ),
    Scenario(
        "D19",
        "all 6 pods of Deployment a, 6 of b elsewhere, one budget over both, maxUnavailable 1",
        (Workload("a", 6, group="both"), Workload("b", 0, 6, group="both")),
        (Budget("both", (_GROUP, "both"), {"maxUnavailable": 1}),),
    ),
    _web("D26", "as D1, grace 300 s, shutdown 20 s", replace(_WEB, grace=300, shutdown=20)),
    Scenario(
        "250",
        "250 pods of 25 Deployments of 20, no budget, start-up 4 s",
        tuple(Workload(f"app-{number:02}", 10, 10, startup=4) for number in range(1, 26)),
    ),
    _fleet(),
    replace(
        _D1, name="D1-faults", what="as D1, every tenth answer of the API server a 500 or a reset", has_faults=True
    ),
)

SCENARIOS: Final[Mapping[str, Scenario]] = {scenario.name: scenario for scenario in _ALL}
GROUP_LABEL: Final = _GROUP
