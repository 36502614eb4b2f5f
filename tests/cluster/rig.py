"""The adapter on the control plane: connected as somebody, asked, and looked through until something holds."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import timedelta
from typing import Any, TypeVar

from controlplane import Api, ControlPlane
from evac.rbac import manifests
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import Endpoint, KubernetesCluster, connect
from lambdas.contract import KUBERNETES_GROUP, RELEASE_GUARD
from lambdas.domain.values.actions import Action, Mark
from lambdas.domain.values.answers import Answer, Result
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.observation import Observation
from tests.scenes import bare, instance_id, node, times

T = TypeVar("T")
Json = dict[str, Any]

CLOCK = SystemClock()
PODS = "/api/v1/namespaces/default/pods"


class Tokens:
    """Tokens of a list, one after the other; the last for ever. `renewals` counts."""

    def __init__(self, *tokens: str) -> None:
        self._tokens = list(tokens)
        self.renewals = 0

    def token(self) -> str:
        return self._tokens[0]

    def renew(self) -> str:
        self.renewals += 1
        if len(self._tokens) > 1:
            self._tokens.pop(0)
        return self._tokens[0]


@contextmanager
def connected(
    plane: ControlPlane, identity: str = "handler", *, tokens: Tokens | None = None, server: str = "", **options: Any
) -> Iterator[KubernetesCluster]:
    """The adapter as `identity`, closed at the end."""
    endpoint = Endpoint(server or plane.url, plane.ca_file.read_text())
    cluster = connect(endpoint, tokens or Tokens(plane.token(identity)), CLOCK, **options)
    try:
        yield cluster
    finally:
        cluster.close()


def ask(cluster: KubernetesCluster, *actions: Action, within: float = 30) -> list[Result]:
    """Start them side by side; their results, in the order in which they are given."""
    answers = {id(answer.action): answer for answer in collect(cluster, *actions, within=within)}
    return [answers[id(action)].result for action in actions]


def collect(cluster: KubernetesCluster, *actions: Action, within: float = 30) -> list[Answer]:
    """Start them side by side; their answers, in the order in which they came."""
    for action in actions:
        cluster.start(action)
    answers: list[Answer] = []
    until = CLOCK.now() + timedelta(seconds=within)
    while len(answers) < len(actions):
        assert CLOCK.now() < until, f"{len(actions) - len(answers)} of {len(actions)} without an answer"
        answers += cluster.wait(until)
    return answers


def watch_until(cluster: KubernetesCluster, holds: Callable[[Observation], T], within: float = 30) -> T:
    """Wait and observe until `holds` of the observation is true; its value."""
    until = CLOCK.now() + timedelta(seconds=within)
    while not (value := holds(seen := cluster.observe())):
        assert CLOCK.now() < until, f"not within {within} s; seen last: {seen}"
        cluster.wait(until)
    return value


def grant(api: Api, without: tuple[str, str] | None = None) -> None:
    """What is shipped: role, guard and bindings, once the guard is in force; `without`: one (resource, verb) less."""
    for manifest in manifests():
        if without and manifest["kind"] == "ClusterRole":
            manifest["rules"] = [rule for rule in _less(manifest["rules"], *without) if rule["verbs"]]
        api.apply(manifest)
    api.until(lambda: _is_guarded(api), what=f"{RELEASE_GUARD} in force")


def _less(rules: list[Json], resource: str, verb: str) -> Iterator[Json]:
    for rule in rules:
        verbs = [v for v in rule["verbs"] if rule["resources"] != [resource] or v != verb]
        yield {**rule, "verbs": verbs}


def _is_guarded(api: Api) -> bool:
    """The API server takes up policies once a second. Asked as somebody in our group who, by another name, may create
    pods; nothing is created."""
    groups = {"Impersonate-User": "system:serviceaccount:kube-system:replicaset-controller"}
    asking = copy(api)
    asking._headers = {**api._headers, **groups, "Impersonate-Group": KUBERNETES_GROUP}
    return RELEASE_GUARD in str(asking.post(f"{PODS}?dryRun=All", bare("asked", "nowhere"))[1])


def running(api: Api, name: str, on: str, labels: Mapping[str, str] | None = None, **of: Any) -> PodRef:
    """A bare pod on a node, once it is Ready; both are made where they are not there yet."""
    if api.get(f"/api/v1/nodes/{on}")[0] == 404:
        api.apply(node(on))
    of.setdefault("annotations", times(startup=0.05, shutdown=0.3))
    made = api.apply(bare(name, on, labels or {"app": name}, **of))
    api.until(lambda: is_ready(api, name), what=f"{name} Ready")
    return PodRef("default", name, made["metadata"]["uid"])


def is_ready(api: Api, name: str) -> bool:
    """Whether the pod runs."""
    status, pod = api.get(f"{PODS}/{name}")
    return bool(status == 200 and pod.get("status", {}).get("phase") == "Running")


def mark_of(node_name: str, reason: str = "spot-interruption") -> Mark:
    """A mark for the node's instance, as of now."""
    now = CLOCK.now().replace(microsecond=0)
    reclaim = now + timedelta(seconds=120)
    return Mark(instance_id(node_name), reason, reclaim, now, reclaim + timedelta(minutes=15))
