"""What the tests of releases share: a Deployment, one of its pods released, and what that pod says afterwards."""

from lambdas.application.ports import Cluster
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_TEMPLATE_HASH
from lambdas.domain.values.actions import ObserveWorkloads, Release
from lambdas.domain.values.answers import Done, Result
from lambdas.domain.values.kubernetes import Owner
from lambdas.domain.values.observation import NamespaceView
from lambdas.domain.values.releases import Released, decode_release
from tests.contract.steps import NS, ask, owned, ref_of
from tests.contract.workloads import on_spot
from tests.contract.world import Json, World


def web_on_spot(world: World, replicas: int = 1, annotations: dict[str, str] | None = None) -> list[Json]:
    """The pods of a Deployment on spot-a, Ready; od-1 has room too."""
    of = {"annotations": annotations} if annotations else {}
    return on_spot(world, owned("Deployment", "web", replicas, **of), replicas)


def seen_by(world: World, port: Cluster) -> NamespaceView:
    """Observe the namespace; what was seen of it."""
    assert ask(world, port, ObserveWorkloads(NS)) == Done()
    return port.observe().namespaces[NS]


def hash_of(pod: Json) -> str:
    """Its template hash."""
    return str(pod["metadata"]["labels"][LABEL_TEMPLATE_HASH])


def releasing(world: World, pod: Json) -> Release:
    """What releases this pod from its ReplicaSet, as it is now."""
    [replica_set] = pod["metadata"]["ownerReferences"]
    made = world.get("ReplicaSet", NS, replica_set["name"])
    assert made
    [deployment] = made["metadata"]["ownerReferences"]
    now = world.clock.now()
    return Release(ref_of(pod), hash_of(pod), _owner(replica_set), _owner(deployment), now)


def _owner(reference: Json) -> Owner:
    return Owner(reference["kind"], reference["name"], reference["uid"], reference["apiVersion"])


def release(world: World, port: Cluster, pod: Json) -> Result:
    """Release it, the namespace having been observed."""
    seen_by(world, port)
    return ask(world, port, releasing(world, pod))


def again(world: World, pod: Json) -> Json:
    """The pod as it is now."""
    found = world.get("Pod", NS, pod["metadata"]["name"])
    assert found
    return found


def memory_of(pod: Json) -> Released | None:
    """What its annotation remembers."""
    return decode_release(pod["metadata"]["annotations"].get(ANNOTATION_RELEASED_FROM))
