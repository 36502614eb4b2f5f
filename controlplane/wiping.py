"""Answers for an empty cluster between tests, in about a second.

The controller manager lets five seconds pass before it looks at a deleted namespace. So the namespace is
emptied here: first it is deleted, from when on nothing can be made in it; then every kind of object in it;
and when all are gone, its finalizer is taken off, which is what the controller manager would do last.
"""

from __future__ import annotations

from datetime import timedelta

from controlplane.client import Client
from controlplane.kinds import KINDS, Object
from controlplane.polling import until

AT_ONCE = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}

_KEPT = ("default", "kube-system", "kube-public", "kube-node-lease")

_NOT = "metadata.name!="

# Of the kinds that tests make outside namespaces of their own: all but what the cluster itself has of them.
_OURS = {
    "Service": f"?fieldSelector={_NOT}kubernetes",
    "ClusterRole": "?labelSelector=kubernetes.io/bootstrapping!=rbac-defaults",
    "ClusterRoleBinding": "?labelSelector=kubernetes.io/bootstrapping!=rbac-defaults",
    "PriorityClass": f"?fieldSelector={_NOT}system-cluster-critical,{_NOT}system-node-critical",
}
# Kinds of which the cluster has too much of its own there.
_THEIRS = ("Namespace", "ServiceAccount", "ConfigMap", "Role", "RoleBinding")


def wipe(client: Client, within: timedelta) -> None:
    """Leave what a new cluster has, and nothing else. Raises TimeoutError."""
    namespaces = [n for n in _names(client, "/api/v1/namespaces") if n not in _KEPT]
    for namespace in namespaces:
        client.delete(f"/api/v1/namespaces/{namespace}")
    resources = _resources(client) if namespaces else []
    until(lambda: _clear_kept(client), within, "objects outside the tests' namespaces gone")
    for namespace in namespaces:
        _empty(client, namespace, resources, within)
    until(lambda: not set(namespaces) & set(_names(client, "/api/v1/namespaces")), within, "namespaces gone")


def _empty(client: Client, namespace: str, resources: list[tuple[str, str]], within: timedelta) -> None:
    paths = [f"{root}/namespaces/{namespace}/{plural}" for root, plural in resources]
    until(lambda: _delete_all(client, paths), within, f"namespace {namespace} empty")
    body = {"kind": "Namespace", "metadata": {"name": namespace}, "spec": {"finalizers": []}}
    client.put(f"/api/v1/namespaces/{namespace}/finalize", body)


def _clear_kept(client: Client) -> bool:
    paths = []
    for name, kind in KINDS.items():
        if name not in _THEIRS:
            for namespace in ("default", "kube-system") if kind.namespaced else (None,):
                paths.append(kind.collection(namespace) + _OURS.get(name, ""))
    return _delete_all(client, paths)


def _delete_all(client: Client, paths: list[str]) -> bool:
    """Delete these collections; whether all of them were empty already."""
    found = [item for path in paths for item in _deleted(client, path)]
    return not found


def _deleted(client: Client, path: str) -> list[Object]:
    items: list[Object] = client.delete(path, AT_ONCE)[1].get("items") or []
    for item in items:
        if item["metadata"].get("finalizers"):
            itself = f"{path.partition('?')[0]}/{item['metadata']['name']}"
            client.patch(itself, {"metadata": {"finalizers": None}})
    return items


def _names(client: Client, path: str) -> list[str]:
    return [item["metadata"]["name"] for item in client.get(path)[1]["items"]]


def _resources(client: Client) -> list[tuple[str, str]]:
    """The root path and plural of everything in namespaces that can be deleted by the collection."""
    versions = [group["preferredVersion"]["groupVersion"] for group in client.get("/apis")[1]["groups"]]
    roots = ["/api/v1", *(f"/apis/{version}" for version in versions)]
    return [
        (root, resource["name"])
        for root in roots
        for resource in client.get(root)[1]["resources"]
        if resource["namespaced"] and "deletecollection" in resource["verbs"]
    ]
