"""The scenes of the long cases, by id; how they begin one after the other lies in what two processors can carry."""

from collections.abc import Mapping
from typing import Any

from lambdas.domain.values.settings import ReleaseMode, Settings
from tests.cluster.side_by_side import SCENE, Change, Scene
from tests.scenes import Json, autoscaler, bare, budget, deployment, stateful_set, times


def _web(name: str, doomed: int = 30, elsewhere: int = 10, startup: float = 10, **of: Any) -> list[Json]:
    """The Deployment of most cases and its budget: 30 of 40 on the node."""
    on = {f"{name}-a": doomed, **({f"{name}-rest": elsewhere} if elsewhere else {})}
    made = deployment("web", on, annotations=times(startup, of.pop("shutdown", 2)), **of)
    return [*made, budget("web", {"app": "web"}, maxUnavailable=1)]


def _of(name: str, manifests: list[Json], **of: Any) -> Scene:
    return Scene(name, manifests, (f"{name}-a",), **of)


def _two_nodes() -> Scene:
    web = deployment("web", {"d1d-a": 15, "d1d-b": 15, "d1d-rest": 10}, annotations=times(10, 2))
    one = budget("web", {"app": "web"}, maxUnavailable=1)
    return Scene("d1d", [*web, one], ("d1d-a", "d1d-b"), begins=56)


def _stateful(name: str, startup: float) -> Scene:
    db = stateful_set("db", [f"{name}-a"] * 3, annotations=times(startup, 5))
    return _of(name, [*db, budget("db", {"app": "db"}, maxUnavailable=1)])


def _single() -> Scene:
    web = deployment("web", {"d6-a": 1}, annotations=times(10, 2))
    return _of("d6", [*web, budget("web", {"app": "web"}, minAvailable=1)], begins=9)


def _graces() -> Scene:
    made = [
        thing
        for grace in (10, 30, 60, 90)
        for thing in deployment(f"g{grace}", {"d13-a": 1}, surge=0, grace=grace, annotations=times(20, 2))
    ]
    return _of("d13", [*made, budget("all", {SCENE: "d13"}, maxUnavailable=1)])


def _critical() -> Scene:
    others = [bare(f"p{number}", "d15-a") for number in range(9)]
    blocked = bare("blocked", "d15-a")
    dns = bare("coredns", "d15-a", priorityClassName="system-cluster-critical")
    return _of("d15", [*others, blocked, dns, budget("shut", {"run": "blocked"}, maxUnavailable=0)])


def _shared() -> Scene:
    mine = deployment("a", {"d19-a": 6}, annotations=times(10, 2), affinity=_preferring("d19-a"))
    theirs = deployment("b", {"d19-rest": 6}, annotations=times(10, 2), affinity=_preferring("d19-rest"))
    return _of("d19", [*mine, *theirs, budget("both", {SCENE: "d19"}, maxUnavailable=1)], begins=30)


def _preferring(place: str) -> Json:
    """The affinity of pods that are to be on that node while they may: another Deployment's would fit there, too."""
    there = {"key": "kubernetes.io/hostname", "operator": "In", "values": [place]}
    term = {"weight": 100, "preference": {"matchExpressions": [there]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


def _scaled() -> Scene:
    down = Change(5, "Deployment", "web", {"spec": {"replicas": 38}})
    return _of("d22b", _web("d22b"), begins=43, changes=(down,))


def _autoscaled() -> Scene:
    manifests = [*_web("d25"), autoscaler("web", least=10, most=100)]
    return _of("d25", manifests, settings=Settings(release=ReleaseMode.ALL))


_ALL = (
    _stateful("d5", 60),
    _graces(),
    _critical(),
    _autoscaled(),
    _of("d1b", _web("d1b", surge=0), begins=1),
    _of("d1", _web("d1"), begins=4),
    _of("d3", _web("d3", 5, 35, startup=4), begins=8),
    _stateful("d4", 10),
    _single(),
    _of("d26", _web("d26", grace=300, shutdown=20), begins=17),
    _of("d2", _web("d2"), begins=21, room_at=40),
    _shared(),
    _scaled(),
    _two_nodes(),
)

SCENES: Mapping[str, Scene] = {scene.name: scene for scene in _ALL}
