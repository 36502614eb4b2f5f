"""What a handler may ask of a pod, and what one gone bad may try: the changes of a patch, and other requests."""

from collections.abc import Callable
from typing import Any

from controlplane import Api
from controlplane.client import Answer
from tests.cluster.guarded import (
    COST,
    GONE,
    HASH,
    IMAGE,
    OWNERS,
    RELEASE,
    RELEASED_FROM,
    STATE,
    TAKE_BACK,
    TEMPLATE,
    TIDY_UP,
    WAKE,
    WOKEN_AT,
    WRITTEN,
    Changes,
    Scene,
    annotation,
    label,
    less,
    patch,
)
from tests.cluster.rig import PODS
from tests.scenes import STARTUP, bare

Json = dict[str, Any]

OTHER_LABEL = {label("app"): "another"}
OTHER_ANNOTATION = {annotation("example.com/other"): "x"}
FINALIZER = {"/metadata/finalizers": ["example.com/stays"]}
TOLERATION = {"/spec/tolerations/-": {"key": "evil", "operator": "Exists"}}
NEW_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "0000"}
SYNC = annotation("argocd.argoproj.io/sync-options")
DISRUPT = annotation("karpenter.sh/do-not-disrupt")

PASSES: dict[str, tuple[str, Changes]] = {
    "a release": ("web", RELEASE),
    "a release that empties the owners instead of removing them": ("web", RELEASE | {OWNERS: []}),
    "a take back": ("released", TAKE_BACK),
    "a take back that gives back what others had written": (
        "released",
        TAKE_BACK | {DISRUPT: "false", SYNC: "Prune=true"},
    ),
    "a take back that takes our annotation off": ("released", TAKE_BACK | {RELEASED_FROM: GONE}),
    "a take back that gives the deletion cost back at once": ("released", TAKE_BACK | {COST: "5"}),
    "tidying up": ("returned", TIDY_UP),
    "tidying up that restores a deletion cost": ("returned", TIDY_UP | {COST: "5"}),
    "a wake": ("web", WAKE),
    "a wake of a ReplicaSet that no Deployment made": ("cache", WAKE),
}

DENIED: dict[str, tuple[str, Changes]] = {
    "another image": ("web", IMAGE),
    "a toleration": ("web", TOLERATION),
    "a deadline that kills the pod": ("web", {"/spec/activeDeadlineSeconds": 1}),
    "a finalizer": ("web", FINALIZER),
    "the hash of a woken pod": ("cache", {TEMPLATE: f"released-{HASH}"}),
    "the owner of a woken pod": ("cache", {OWNERS: GONE}),
    "a woken pod's wake": ("cache", {WOKEN_AT: GONE}),
    "another name to generate from": ("web", {"/metadata/generateName": "another-"}),
    "another label": ("web", OTHER_LABEL),
    "a label more": ("web", {label("more"): "x"}),
    "a label less": ("web", {label("app"): GONE}),
    "another annotation": ("web", OTHER_ANNOTATION),
    "the deletion cost alone": ("web", {COST: "1"}),
    "the hash alone": ("web", {TEMPLATE: f"released-{HASH}"}),
    "no hash": ("web", {TEMPLATE: GONE}),
    "the owner alone": ("web", {OWNERS: GONE}),
    "another owner": ("web", {OWNERS: [NEW_OWNER]}),
    "an owner for a pod that has none": ("plain", {OWNERS: [NEW_OWNER]}),
    "our label alone": ("web", {STATE: "true"}),
    "our label, empty": ("web", WAKE | {STATE: ""}),
    "our annotation alone": ("web", {RELEASED_FROM: "{}"}),
    "a release with another image": ("web", RELEASE | IMAGE),
    "a release with a toleration": ("web", RELEASE | TOLERATION),
    "a release with a finalizer": ("web", RELEASE | FINALIZER),
    "a release with another label": ("web", RELEASE | OTHER_LABEL),
    "a release with a label less": ("web", RELEASE | {label("app"): GONE}),
    "a release with another annotation": ("web", RELEASE | OTHER_ANNOTATION),
    "a release with a wake": ("web", RELEASE | WAKE),
    "a release to a foreign hash": ("web", RELEASE | {TEMPLATE: "released-7c6d5f4b8"}),
    "a release to another ReplicaSet's hash": ("web", RELEASE | {TEMPLATE: "7c6d5f4b8"}),
    "a release that keeps the hash": ("web", less(RELEASE, TEMPLATE)),
    "a release that keeps the owner": ("web", less(RELEASE, OWNERS)),
    "a release to another owner": ("web", RELEASE | {OWNERS: [NEW_OWNER]}),
    "a release without our label": ("web", less(RELEASE, STATE)),
    "a release with another value of our label": ("web", RELEASE | {STATE: "yes"}),
    "a release that says returned": ("web", RELEASE | {STATE: "returned"}),
    "a release without our annotation": ("web", less(RELEASE, RELEASED_FROM)),
    "a release with an annotation less": ("web", RELEASE | {annotation(STARTUP): GONE}),
    **{f"a release with another {path.rpartition('~1')[2]}": ("web", RELEASE | {path: "1"}) for path in WRITTEN},
    **{f"a release without {path.rpartition('~1')[2]}": ("web", less(RELEASE, path)) for path in WRITTEN},
    "a release of a StatefulSet's pod": ("db", RELEASE),
    "a release of a pod whose hash is not its owner's": ("cache", RELEASE),
    "a release of a pod without an owner": ("bare", less(RELEASE, OWNERS)),
    "a release of a pod that its ReplicaSet does not control": ("lent", RELEASE),
    "a release of a pod without a hash": ("plain", less(RELEASE, OWNERS)),
    "a release of a released pod": ("released", less(RELEASE, OWNERS) | {TEMPLATE: f"released-released-{HASH}"}),
    "a take back with another image": ("released", TAKE_BACK | IMAGE),
    "a take back with another label": ("released", TAKE_BACK | OTHER_LABEL),
    "a take back with another annotation": ("released", TAKE_BACK | OTHER_ANNOTATION),
    "a take back with a finalizer": ("released", TAKE_BACK | FINALIZER),
    "a take back to a foreign hash": ("released", TAKE_BACK | {TEMPLATE: "7c6d5f4b8"}),
    "a take back to no hash": ("released", TAKE_BACK | {TEMPLATE: GONE}),
    "a take back that keeps the hash": ("released", less(TAKE_BACK, TEMPLATE)),
    "a take back that still says released": ("released", less(TAKE_BACK, STATE)),
    "a take back without our label": ("released", TAKE_BACK | {STATE: GONE}),
    "a take back with another value of our label": ("released", TAKE_BACK | {STATE: "no"}),
    "a take back to an owner of its choice": ("released", TAKE_BACK | {OWNERS: [NEW_OWNER]}),
    "a take back of a pod that somebody owns": ("adopted", TAKE_BACK),
    "a take back of a pod that nobody marked": ("unmarked", TAKE_BACK),
    "a take back of a pod that was not released": ("web", {STATE: "returned"}),
    "tidying up a released pod": ("released", TIDY_UP),
    "tidying up with another image": ("returned", TIDY_UP | IMAGE),
    "tidying up with another label": ("returned", TIDY_UP | OTHER_LABEL),
    "tidying up with another hash": ("returned", TIDY_UP | {TEMPLATE: f"released-{HASH}"}),
    "tidying up with another annotation": ("returned", TIDY_UP | {DISRUPT: "false"}),
    "tidying up that leaves our annotation": ("returned", less(TIDY_UP, RELEASED_FROM)),
    "tidying up to an owner of its choice": ("returned", TIDY_UP | {OWNERS: [NEW_OWNER]}),
    "tidying up to another value of our label": ("returned", TIDY_UP | {STATE: "x"}),
    "a wake with another image": ("web", WAKE | IMAGE),
    "a wake with a label": ("web", WAKE | OTHER_LABEL),
    "a wake with another annotation": ("web", WAKE | OTHER_ANNOTATION),
    "a wake with a deletion cost": ("web", WAKE | {COST: "1"}),
    "a wake without the owner": ("web", WAKE | {OWNERS: GONE}),
    "a wake with another name to generate from": ("web", WAKE | {"/metadata/generateName": "another-"}),
    "a wake with a finalizer": ("web", WAKE | FINALIZER),
    "a wake of a StatefulSet": ("db", WAKE),
    "a wake of a ReplicaSet that does not control the pod": ("lent", WAKE),
    "a wake of nobody": ("plain", WAKE),
}

APPLY = "application/apply-patch+yaml"
DEBUGGER = {"/spec/ephemeralContainers": [{"name": "evil", "image": "evil", "terminationMessagePolicy": "File"}]}
BIGGER = {"/spec/containers/0/resources/requests/cpu": "2"}

REQUESTED: dict[str, Callable[[Scene, Api], Answer]] = {
    "a new pod": lambda s, by: by.post(f"{PODS}?dryRun=All", bare("new", "")),
    "a new pod by server-side apply": lambda s, by: by.request(
        "PATCH", f"{PODS}/new?dryRun=All&fieldManager=evil", bare("new", ""), APPLY
    ),
    "another status": lambda s, by: by.patch(s.path("web", "status"), patch({"/status/phase": "Failed"})),
    "another status, with a wake": lambda s, by: by.patch(
        s.path("web", "status"), patch(WAKE | {"/status/phase": "Failed"})
    ),
    "a debugger": lambda s, by: by.patch(s.path("web", "ephemeralcontainers"), patch(DEBUGGER)),
    "another size": lambda s, by: by.patch(s.path("web", "resize"), patch(BIGGER)),
    "a binding to a node": lambda s, by: by.post(
        s.path("web", "binding"),
        {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": s.pods["web"]}, "target": {"name": "x"}},
    ),
    "a put": lambda s, by: by.request(
        "PUT", s.path("web"), {**(pod := by.get(s.path("web"))[1]), "metadata": {**pod["metadata"], "labels": {}}}
    ),
}
CONNECTED = {way: f"{way}?command=sh" for way in ("exec", "attach", "portforward", "proxy")}
