"""Paths of the API, built of checked parts.

Law: a name that came from an event, from EC2 or from an object never reaches a URL unchecked.
"""

import re

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_LONGEST = 253


class BadName(ValueError):
    """No Kubernetes object can be meant by this."""


def checked(name: str) -> str:
    """`name` itself, if it is an RFC 1123 subdomain, as names of nodes, pods and namespaces are. Raises BadName."""
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        raise BadName(f"not a Kubernetes name: {name[:80]!r}")
    return name


def is_name(name: str) -> bool:
    """Whether `checked` takes it."""
    try:
        return bool(checked(name))
    except BadName:
        return False


def node(name: str) -> str:
    """A node. Raises BadName."""
    return f"/api/v1/nodes/{checked(name)}"


def pod(namespace: str, name: str) -> str:
    """A pod. Raises BadName."""
    return f"/api/v1/namespaces/{checked(namespace)}/pods/{checked(name)}"


def eviction(namespace: str, name: str) -> str:
    """A pod's eviction subresource. Raises BadName."""
    return f"{pod(namespace, name)}/eviction"


def events(namespace: str) -> str:
    """The Events of a namespace. Raises BadName."""
    return f"/api/v1/namespaces/{checked(namespace)}/events"


def within(namespace: str, group: str, resource: str) -> str:
    """A kind's objects in a namespace; `group` as in a path ("api/v1", "apis/apps/v1"). Raises BadName."""
    return f"/{group}/namespaces/{checked(namespace)}/{resource}"


NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
SERVICES = "/api/v1/services"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
