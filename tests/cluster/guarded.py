"""What the guard is tried on: pods in every state of a release, and the requests that are made of them.

Nobody but the guard says no: the handler's role is widened to everything. No request changes the scene: all are dry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from controlplane import Api
from controlplane.client import Answer
from lambdas.contract import (
    ANNOTATION_RELEASED_FROM,
    ANNOTATION_WOKEN_AT,
    KUBERNETES_GROUP,
    LABEL_RELEASED,
    LABEL_TEMPLATE_HASH,
)
from lambdas.domain.values.releases import DELETION_COST, DO_NOT_DISRUPT, WRITTEN_ON_RELEASE
from tests.cluster.rig import PODS, grant
from tests.scenes import bare, reference, template, times, workload

Json = dict[str, Any]
Changes = Mapping[str, Any]

HASH: Final = "5d4f8c7b9"
GONE: Final = object()
"""In place of a value: what is there goes."""

OWNERS: Final = "/metadata/ownerReferences"
IMAGE: Final = {"/spec/containers/0/image": "another"}


def label(key: str) -> str:
    """Where a patch finds a label."""
    return f"/metadata/labels/{key.replace('/', '~1')}"


def annotation(key: str) -> str:
    """Where a patch finds an annotation."""
    return f"/metadata/annotations/{key.replace('/', '~1')}"


RELEASED_FROM: Final = annotation(ANNOTATION_RELEASED_FROM)
WOKEN_AT: Final = annotation(ANNOTATION_WOKEN_AT)
COST: Final = annotation(DELETION_COST)
STATE: Final = label(LABEL_RELEASED)
TEMPLATE: Final = label(LABEL_TEMPLATE_HASH)
WRITTEN: Final = {annotation(key): value for key, value in WRITTEN_ON_RELEASE.items()}

RELEASE: Final = {TEMPLATE: f"released-{HASH}", STATE: "true", RELEASED_FROM: "{}", OWNERS: GONE, **WRITTEN}
TAKE_BACK: Final = {TEMPLATE: HASH, STATE: "returned", **dict.fromkeys(WRITTEN, GONE), COST: "-2147483647"}
TIDY_UP: Final = {STATE: GONE, RELEASED_FROM: GONE, COST: GONE}
WAKE: Final = {WOKEN_AT: "2026-11-02T03:04:05+00:00"}


def less(changes: Changes, *left_out: str) -> dict[str, Any]:
    """The changes without some of them."""
    return {path: value for path, value in changes.items() if path not in left_out}


def patch(changes: Changes) -> list[Json]:
    """A JSON patch."""
    return [
        {"op": "remove", "path": path} if value is GONE else {"op": "add", "path": path, "value": value}
        for path, value in changes.items()
    ]


@dataclass(frozen=True, slots=True)
class Scene:
    """A cluster with the guard, its admin and a handler that may do everything else."""

    admin: Api
    handler: Api
    pods: Mapping[str, str]

    def path(self, pod: str, subresource: str = "") -> str:
        """Of a pod, by what it is called in `pods`."""
        return f"{PODS}/{self.pods[pod]}{subresource and '/' + subresource}?dryRun=All"

    def tried(self, pod: str, changes: Changes) -> Answer:
        """The handler's patch of a pod."""
        return self.handler.patch(self.path(pod), patch(changes))


def made(admin: Api, handler: Api) -> Scene:
    """The scene, its pods there (no node is: they never run)."""
    grant(admin)
    admin.apply(_everything())
    released = {**WRITTEN_ON_RELEASE, ANNOTATION_RELEASED_FROM: "{}"}
    pods = [
        _bare("bare", {LABEL_TEMPLATE_HASH: HASH}),
        _bare("released", {LABEL_TEMPLATE_HASH: f"released-{HASH}", LABEL_RELEASED: "true"}, released),
        _bare("unmarked", {LABEL_TEMPLATE_HASH: f"released-{HASH}"}, released),
        _bare("returned", {LABEL_TEMPLATE_HASH: HASH, LABEL_RELEASED: "returned"}, released),
        _bare("plain", {}),
    ]
    owners = [("ReplicaSet", f"web-{HASH}"), ("ReplicaSet", "cache"), ("StatefulSet", f"db-{HASH}")]
    web, *_ = [admin.apply(_owner(kind, name)) for kind, name in owners]
    pods += [
        _lent("lent", {LABEL_TEMPLATE_HASH: HASH}, web),
        _lent("adopted", {LABEL_TEMPLATE_HASH: f"released-{HASH}", LABEL_RELEASED: "true"}, web),
    ]
    for pod in pods:
        admin.apply(pod)
    names = {pod["metadata"]["name"]: pod["metadata"]["name"] for pod in pods}
    for app in (f"web-{HASH}", "cache", f"db-{HASH}"):
        names[app.partition("-")[0]] = admin.until(partial(_first, admin, app), what=f"a pod of {app}")
    return Scene(admin, handler, names)


def _everything() -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "a-role-that-somebody-widened"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": KUBERNETES_GROUP}],
    }


def _bare(name: str, labels: Mapping[str, str], annotations: Mapping[str, str] | None = None) -> Json:
    return bare(name, "", {"app": name, **labels}, annotations={**times(), **(annotations or {})})


def _lent(name: str, labels: Mapping[str, str], owner: Json) -> Json:
    """A pod that has an owner, which does not control it."""
    pod = _bare(name, labels, WRITTEN_ON_RELEASE)
    pod["metadata"]["ownerReferences"] = [{**reference(owner), "controller": False}]
    return pod


def _owner(kind: str, name: str) -> Json:
    labels = {"app": name, LABEL_TEMPLATE_HASH: HASH}
    annotations = {**times(), DO_NOT_DISRUPT: "false", DELETION_COST: "5"}
    if name == "cache":
        annotations[ANNOTATION_WOKEN_AT] = "2026-11-02T01:00:00+00:00"
    spec: Json = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": template(labels, annotations=annotations),
    }
    if kind == "StatefulSet":
        spec["serviceName"] = "db"
    manifest = workload(kind, name, spec)
    return {**manifest, "metadata": {"name": name, "namespace": "default"}}


def _first(admin: Api, app: str) -> str:
    found = admin.items("Pod", "default", f"labelSelector=app={app}")
    return str(found[0]["metadata"]["name"]) if found else ""
