"""The shape of a pod, of a pod template and of any object's metadata, as far as the simulator and the drain look at it.

Law: a pod that passes is read by both without an error. Source: the API reference of core/v1.
"""

from evac.scenario.annotations import replay_annotations
from evac.scenario.shapes import (
    Shape,
    boolean,
    integer,
    listing,
    moment,
    name,
    one_of,
    quantities,
    record,
    strings,
    text,
    uid,
    whole,
)

_requirement = record(
    {"key": text, "operator": one_of("In", "NotIn", "Exists", "DoesNotExist"), "values": listing(text)},
    ("key", "operator"),
)
selector = record({"matchLabels": strings, "matchExpressions": listing(_requirement)})
_owner = record({"kind": text, "name": name, "uid": uid, "apiVersion": text, "controller": boolean}, ("kind", "name"))
condition = record(
    {
        "type": text,
        "status": text,
        "reason": text,
        "lastTransitionTime": moment,
        "lastHeartbeatTime": moment,
        "lastUpdateTime": moment,
        "lastProbeTime": moment,
    }
)
_template_metadata = record({"name": text, "labels": strings, "annotations": replay_annotations})


def metadata_with(annotations: Shape) -> Shape:
    """An object's metadata with annotations of this shape."""
    return record(
        {
            "name": name,
            "namespace": name,
            "uid": uid,
            "labels": strings,
            "annotations": annotations,
            "ownerReferences": listing(_owner),
            "creationTimestamp": moment,
            "deletionTimestamp": moment,
            "deletionGracePeriodSeconds": integer,
            "finalizers": listing(text),
            "generation": integer,
            "resourceVersion": text,
        },
        ("name",),
    )


metadata = metadata_with(replay_annotations)
anything = record({})


def kind(spec: Shape, status: Shape, meta: Shape = metadata) -> Shape:
    """A whole object."""
    return record({"metadata": meta, "spec": spec, "status": status}, ("metadata",))


_node_requirement = record(
    {
        "key": text,
        "operator": one_of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
        "values": listing(text),
    },
    ("key", "operator"),
)
_node_term = record({"matchExpressions": listing(_node_requirement), "matchFields": listing(_node_requirement)})
node_selector = record({"nodeSelectorTerms": listing(_node_term)})
_node_affinity = record(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": node_selector,
        "preferredDuringSchedulingIgnoredDuringExecution": listing(record({"weight": whole, "preference": _node_term})),
    }
)
_pod_term = record(
    {
        "labelSelector": selector,
        "namespaceSelector": selector,
        "namespaces": listing(text),
        "topologyKey": text,
        "matchLabelKeys": listing(text),
        "mismatchLabelKeys": listing(text),
    }
)
_pod_affinity = record(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": listing(_pod_term),
        "preferredDuringSchedulingIgnoredDuringExecution": listing(
            record({"weight": whole, "podAffinityTerm": _pod_term})
        ),
    }
)
_toleration = record(
    {
        "key": text,
        "operator": one_of("Equal", "Exists", "Lt", "Gt", ""),
        "value": text,
        "effect": text,
        "tolerationSeconds": integer,
    }
)
_spread = record(
    {
        "maxSkew": whole,
        "topologyKey": text,
        "whenUnsatisfiable": text,
        "labelSelector": selector,
        "matchLabelKeys": listing(text),
        "minDomains": whole,
        "nodeAffinityPolicy": text,
        "nodeTaintsPolicy": text,
    }
)
_container = record(
    {
        "name": text,
        "image": text,
        "resources": record({"requests": quantities, "limits": quantities}),
        "restartPolicy": text,
        "ports": listing(record({"containerPort": whole, "hostPort": whole, "protocol": text, "hostIP": text})),
    }
)
_volume = record({"name": text, "persistentVolumeClaim": record({"claimName": name}, ("claimName",))})
pod_spec = record(
    {
        "nodeName": name,
        "nodeSelector": strings,
        "affinity": record(
            {"nodeAffinity": _node_affinity, "podAffinity": _pod_affinity, "podAntiAffinity": _pod_affinity}
        ),
        "tolerations": listing(_toleration),
        "topologySpreadConstraints": listing(_spread),
        "containers": listing(_container),
        "initContainers": listing(_container),
        "overhead": quantities,
        "resources": record({"requests": quantities, "limits": quantities}),
        "volumes": listing(_volume),
        "terminationGracePeriodSeconds": whole,
        "priorityClassName": text,
        "priority": integer,
        "schedulerName": text,
        "restartPolicy": text,
        "hostNetwork": boolean,
        "hostname": text,
    }
)
pod_status = record(
    {
        "phase": one_of("Pending", "Running", "Succeeded", "Failed", "Unknown"),
        "conditions": listing(condition),
        "containerStatuses": listing(record({"name": text, "restartCount": whole, "ready": boolean})),
        "startTime": moment,
        "reason": text,
    }
)
template = record({"metadata": _template_metadata, "spec": pod_spec})
