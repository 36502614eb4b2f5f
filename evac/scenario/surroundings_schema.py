"""The shape of what stands around workloads: what routes to them, bounds, scales or feeds them.

Law: an object that passes is read by the simulator and the drain without an error. Sources: the API reference of each
group and version.
"""

from typing import Final

from evac.scenario.annotations import autoscaler_annotations
from evac.scenario.pod_schema import anything, kind, metadata, metadata_with, node_selector, selector
from evac.scenario.shapes import (
    Shape,
    boolean,
    integer,
    listing,
    name,
    one_of,
    quantities,
    record,
    strings,
    text,
    up_to,
    whole,
)

_target = record({"kind": text, "name": name, "apiVersion": text}, ("kind", "name"))
_claim = record({"name": name, "namespace": name})
_scaling = record({"stabilizationWindowSeconds": up_to(3600)})
_scope = one_of(
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)
_in_scope = record(
    {"scopeName": _scope, "operator": one_of("In", "NotIn", "Exists", "DoesNotExist"), "values": listing(text)},
    ("scopeName", "operator"),
)
_peers = listing(record({"podSelector": selector, "namespaceSelector": selector}))

SURROUNDINGS: Final[dict[str, Shape]] = {
    "Service": kind(
        record({"selector": strings, "type": text, "externalTrafficPolicy": text, "internalTrafficPolicy": text}),
        anything,
    ),
    "PersistentVolumeClaim": kind(
        record(
            {
                "accessModes": listing(text),
                "volumeName": text,
                "storageClassName": text,
                "resources": record({"requests": quantities}),
            }
        ),
        record({"phase": text}),
    ),
    "HorizontalPodAutoscaler": kind(
        record(
            {
                "scaleTargetRef": _target,
                "minReplicas": whole,
                "maxReplicas": whole,
                "behavior": record({"scaleUp": _scaling, "scaleDown": _scaling}),
            }
        ),
        anything,
        metadata_with(autoscaler_annotations),
    ),
    "ResourceQuota": kind(
        record(
            {
                "hard": quantities,
                "scopes": listing(_scope),
                "scopeSelector": record({"matchExpressions": listing(_in_scope)}),
            }
        ),
        record({"hard": quantities, "used": quantities}),
    ),
    "Namespace": kind(anything, record({"phase": text})),
    "PersistentVolume": kind(
        record({"accessModes": listing(text), "nodeAffinity": record({"required": node_selector}), "claimRef": _claim}),
        record({"phase": text}),
    ),
    "PriorityClass": record({"metadata": metadata, "value": integer, "globalDefault": boolean}, ("metadata",)),
    "StorageClass": record({"metadata": metadata, "volumeBindingMode": text}, ("metadata",)),
    "NetworkPolicy": kind(
        record(
            {
                "podSelector": selector,
                "policyTypes": listing(text),
                "ingress": listing(record({"from": _peers})),
                "egress": listing(record({"to": _peers})),
            }
        ),
        anything,
    ),
}
"""By kind."""
