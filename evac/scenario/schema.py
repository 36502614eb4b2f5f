"""The shape of each kind of object, as far as the simulator and the drain look at it.

Law: an object that passes is read by both without an error. Sources: the API reference of each group and version.
"""

from typing import Final

from evac.scenario.pod_schema import anything, condition, kind, pod_spec, pod_status, selector, template
from evac.scenario.shapes import (
    Path,
    Shape,
    ShapeError,
    boolean,
    int_or_percent,
    integer,
    listing,
    moment,
    one_of,
    quantities,
    record,
    strings,
    table,
    text,
    whole,
)
from evac.scenario.surroundings_schema import SURROUNDINGS
from lambdas.domain.values.selectors import Selector

_taint = record({"key": text, "value": text, "effect": text, "timeAdded": moment}, ("key", "effect"))
_rolling = record({"maxSurge": int_or_percent, "maxUnavailable": int_or_percent, "partition": whole})
_counts = {
    "replicas": whole,
    "readyReplicas": whole,
    "availableReplicas": whole,
    "updatedReplicas": whole,
    "observedGeneration": integer,
    "conditions": listing(condition),
}
_replicated = {"replicas": whole, "selector": selector, "template": template, "minReadySeconds": whole}


def _selecting(kind: Shape) -> Shape:
    """A workload that selects the pods of its own template: else it makes pods for ever, and the API refuses it."""

    def check(value: object, path: Path) -> None:
        kind(value, path)
        spec = value.get("spec") if isinstance(value, dict) else None
        spec = spec if isinstance(spec, dict) else {}
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
        if not spec.get("selector") or not Selector.from_json(spec["selector"]).matches(labels):
            raise ShapeError((*path, "spec"), "spec.selector does not select the labels of spec.template")

    return check


_FIELDS: Final[dict[str, Shape]] = {
    "Node": kind(
        record({"providerID": text, "unschedulable": boolean, "taints": listing(_taint)}),
        record({"allocatable": quantities, "capacity": quantities, "conditions": listing(condition)}),
    ),
    "Pod": kind(pod_spec, pod_status),
    "PodDisruptionBudget": kind(
        record(
            {
                "selector": selector,
                "minAvailable": int_or_percent,
                "maxUnavailable": int_or_percent,
                "unhealthyPodEvictionPolicy": one_of("IfHealthyBudget", "AlwaysAllow"),
            }
        ),
        record(
            {
                "observedGeneration": integer,
                "disruptionsAllowed": integer,
                "currentHealthy": integer,
                "desiredHealthy": integer,
                "expectedPods": integer,
                "disruptedPods": table(moment),
                "conditions": listing(condition),
            }
        ),
    ),
    "Deployment": kind(
        record(_replicated | {"strategy": record({"type": text, "rollingUpdate": _rolling}), "paused": boolean}),
        record(_counts),
    ),
    "ReplicaSet": kind(record(_replicated), record(_counts)),
    "StatefulSet": kind(
        record(
            _replicated
            | {
                "podManagementPolicy": text,
                "serviceName": text,
                "ordinals": record({"start": whole}),
                "updateStrategy": record({"type": text, "rollingUpdate": _rolling}),
            }
        ),
        record(_counts | {"currentRevision": text, "updateRevision": text}),
    ),
    "DaemonSet": kind(record(_replicated), record({"desiredNumberScheduled": whole, "numberReady": whole})),
    "Job": kind(
        record(
            {
                "parallelism": whole,
                "completions": whole,
                "backoffLimit": whole,
                "suspend": boolean,
                "selector": selector,
                "template": template,
                "completionMode": text,
                "activeDeadlineSeconds": integer,
                "podReplacementPolicy": text,
                "podFailurePolicy": record({"rules": listing(anything)}),
            }
        ),
        record(
            {
                "active": whole,
                "succeeded": whole,
                "failed": whole,
                "startTime": moment,
                "completionTime": moment,
                "conditions": listing(condition),
            }
        ),
    ),
    "ReplicationController": kind(
        record(_replicated | {"selector": strings}), record({"replicas": whole, "conditions": listing(condition)})
    ),
}
_SELECTING: Final = {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"}

SCHEMA: Final = {
    **{name: _selecting(shape) if name in _SELECTING else shape for name, shape in _FIELDS.items()},
    **SURROUNDINGS,
}
"""By kind."""
