"""Scenes laid out at once on one control plane, each in a namespace and on nodes of its own, and drained side by side.

A scene is made of the same manifests as on the simulator, so that both can be held against each other.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from threading import Timer
from typing import Any

from controlplane import Api, ControlPlane
from controlplane.kinds import path_of
from lambdas.domain.values.settings import Settings
from tests.cluster.drains import Drained, drained, is_ready
from tests.cluster.rig import grant
from tests.scenes import STARTUP, Json, node

_PATIENCE = timedelta(seconds=180)
_AT_ONCE = "0.1s"
_ROOM = 250
SCENE = "scene"
"""Label of all that belongs to a scene, its namespace's name being the value."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something of the scene is patched in mid-drain, `at` seconds from its notice."""

    at: float
    kind: str
    name: str
    patch: Json


@dataclass(frozen=True, slots=True)
class Scene:
    """One case.

    `manifests`: as the builders make them, pods with their places; every place becomes a node with room for exactly
    its pods. `doomed`: which of them are noticed, each in an invocation of its own. `begins`: seconds from the first
    notice of all to its own. `room_at`: seconds from its notice until there is room elsewhere; 0: from the beginning.
    """

    name: str
    manifests: Sequence[Json]
    doomed: Sequence[str]
    begins: float = 0
    room_at: float = 0
    changes: Sequence[Change] = ()
    settings: Settings = Settings()  # noqa: RUF009 - it is frozen

    @property
    def places(self) -> Mapping[str, int]:
        """Nodes, and how many pods are on each."""
        return Counter(m["spec"]["nodeName"] for m in self.manifests if m["kind"] == "Pod")

    @property
    def room(self) -> Json:
        """The node that takes every replacement."""
        return node(f"{self.name}-room", pods=_ROOM, labels={SCENE: self.name})

    def nodes(self) -> Iterator[Json]:
        """Those that the pods are on."""
        for place, pods in self.places.items():
            yield node(place, pods=pods, labels={SCENE: self.name})


@contextmanager
def stage(plane: ControlPlane) -> Iterator[Api]:
    """The admin's client, and the function's rights; afterwards the control plane is empty again, whatever happened."""
    api = Api(plane)
    try:
        grant(api)
        yield api
    finally:
        api.wipe(timedelta(seconds=120))
        api.close()


def lay_out(api: Api, scenes: Sequence[Scene]) -> None:
    """Make them all, and wait until every pod is Ready and every budget counted; room elsewhere comes last.

    Pods of a StatefulSet are Ready at once here, and their replacements take as long as the scene says: nobody's pace
    is taken from them, and a minute of start-up need not be waited for twice.
    """
    for scene in scenes:
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": scene.name}})
        for it in (*scene.nodes(), *(_quick(m) for m in _real(scene))):
            api.apply(it)
    for scene in scenes:
        api.until(lambda scene=scene: _is_settled(api, scene), _PATIENCE, f"{scene.name} settled")  # type: ignore[misc]
    for scene in scenes:
        for sets in (m for m in _real(scene) if m["kind"] == "StatefulSet"):
            api.patch(path_of(sets), {"spec": {"template": sets["spec"]["template"]}})
        if not scene.room_at:
            api.apply(scene.room)


def drain_all(plane: ControlPlane, api: Api, scenes: Sequence[Scene]) -> dict[str, Drained]:
    """Every doomed node in a thread and by a connection of its own; results by node. Returns when all are over."""
    timers = [timer for scene in scenes for timer in _timers(api, scene)]
    doomed = [(scene, name) for scene in scenes for name in scene.doomed]
    with ThreadPoolExecutor(len(doomed)) as workers:
        for timer in timers:
            timer.start()
        drains = {name: workers.submit(_drain, plane, scene, name) for scene, name in doomed}
    for timer in timers:
        timer.join()
    return {name: drain.result() for name, drain in drains.items()}


def _drain(plane: ControlPlane, scene: Scene, name: str) -> Drained:
    time.sleep(scene.begins)
    return drained(plane, name, settings=scene.settings)


def _timers(api: Api, scene: Scene) -> Iterator[Timer]:
    if scene.room_at:
        yield Timer(scene.begins + scene.room_at, api.apply, [scene.room])
    for change in scene.changes:
        named = {"kind": change.kind, "metadata": {"name": change.name, "namespace": scene.name}}
        yield Timer(scene.begins + change.at, api.patch, [path_of(named), change.patch])


def _real(scene: Scene) -> Iterator[Json]:
    """The manifests without what the controllers make, in the scene's namespace; pods kept on its nodes."""
    for manifest in scene.manifests:
        is_made = manifest["kind"] == "ReplicaSet" or "ownerReferences" in manifest["metadata"]
        if not is_made:
            yield _moved(manifest, scene.name)


def _moved(manifest: Json, namespace: str) -> Json:
    moved = deepcopy(manifest)
    moved["metadata"]["namespace"] = namespace
    if moved["kind"] in ("Deployment", "StatefulSet"):
        template = moved["spec"]["template"]
        template["metadata"]["labels"][SCENE] = namespace
        template["spec"]["nodeSelector"] = {SCENE: namespace}
    return moved


def _quick(manifest: Json) -> Json:
    """A StatefulSet whose first pods are Ready at once, and which leaves them alone when its template changes."""
    if manifest["kind"] != "StatefulSet":
        return manifest
    quick = deepcopy(manifest)
    quick["spec"]["template"]["metadata"]["annotations"][STARTUP] = _AT_ONCE
    quick["spec"]["updateStrategy"] = {"type": "OnDelete"}
    return quick


def _is_settled(api: Api, scene: Scene) -> bool:
    pods = api.items("Pod", scene.name)
    budgets = api.items("PodDisruptionBudget", scene.name)
    are_ready = len([p for p in pods if is_ready(p)]) == sum(scene.places.values())
    return are_ready and all(_is_counted(it) for it in budgets)


def _is_counted(budget: Mapping[str, Any]) -> bool:
    status = budget.get("status", {})
    has_seen_it = status.get("observedGeneration") == budget["metadata"]["generation"]
    return bool(has_seen_it and status["currentHealthy"] >= max(1, status["expectedPods"]))
