"""Who counts as a replica, and whose. Seconds from the notice."""

from typing import Any

from evac.simulator import Simulation
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_RELEASED
from lambdas.domain.values.releases import RELEASED, Released, encode_release
from tests.scenarios.stage import drain
from tests.scenes import Json, at, bare, deployment, node, times

SPOT = node("spot-a")
ROOM = node("od-1")


def pretender(i: int, app: str = "pretender") -> Json:
    """A pod that says it was released from Deployment web; no Service of web's selects it."""
    made = bare(
        f"pretender-{i}", "od-1", {"app": app, "pod-template-hash": "released-5d4f8c7b9", LABEL_RELEASED: RELEASED}
    )
    mark = Released("web-5d4f8c7b9", "ReplicaSet-web-5d4f8c7b9", "web", "Deployment-web", "5d4f8c7b9", at(-600))
    made["metadata"]["annotations"] |= {ANNOTATION_RELEASED_FROM: encode_release(mark)}
    return made


def test_a_pod_that_says_it_was_released_and_serves_nothing_lets_no_other_go() -> None:
    """Whoever may create pods in the namespace; or an operator who took released pods out of the Service."""
    web = deployment("web", {"spot-a": 6, "od-1": 2}, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web, *[pretender(i) for i in range(6)])
    assert outcome.most_short("web", until=119) == 0


def orphaned(when: float) -> Any:
    """`kubectl delete deployment --cascade=orphan`, and the Deployment made anew a moment later, as chart tools do."""

    def prepare(simulation: Simulation) -> None:
        def replace() -> None:
            owner = simulation.get("Deployment", "default", "web")
            sets = simulation.get("ReplicaSet", "default", "web-5d4f8c7b9")
            assert owner
            assert sets
            simulation.patch("ReplicaSet", "default", "web-5d4f8c7b9", {"metadata": {"ownerReferences": None}})
            simulation.delete("Deployment", "default", "web")
            owner["metadata"]["uid"] = "Deployment-web-2"
            simulation.apply(owner)
            made = simulation.get("Deployment", "default", "web")
            assert made
            reference = sets["metadata"]["ownerReferences"][0] | {"uid": made["metadata"]["uid"]}
            simulation.patch("ReplicaSet", "default", "web-5d4f8c7b9", {"metadata": {"ownerReferences": [reference]}})

        simulation.schedule(at(when), replace)

    return prepare


def test_a_deployment_that_is_made_anew_in_mid_drain_keeps_its_replicas() -> None:
    web = deployment("web", {"spot-a": 8, "od-1": 2}, annotations=times(10, 2))
    fewest = [10]

    def prepare(simulation: Simulation) -> None:
        def look() -> None:
            fewest.append(sum(1 for p in simulation.list("Pod") if serves(p)))

        orphaned(5)(simulation)
        for second in range(84):
            simulation.schedule(at(second + 0.5), look)

    outcome = drain(SPOT, ROOM, *web, prepare=prepare)
    assert outcome.graceful == 8
    assert min(fewest) == 10


def serves(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", [])
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and not pod["metadata"].get("deletionTimestamp")
