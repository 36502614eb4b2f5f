"""Answers for what tests and benches want of a cluster: objects made as written, and cleared away."""

from __future__ import annotations

from datetime import timedelta

from controlplane.client import Client
from controlplane.credentials import ADMIN
from controlplane.errors import ApiError
from controlplane.kinds import KINDS, Object, collection_of, path_of
from controlplane.plane import ControlPlane
from controlplane.polling import until
from controlplane.wiping import AT_ONCE, wipe

_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


class Api(Client):
    """The API server through the eyes of one identity of a control plane."""

    until = staticmethod(until)

    def __init__(self, plane: ControlPlane, identity: str = ADMIN.name) -> None:
        super().__init__(plane.url, plane.ca_file, plane.token(identity))

    def apply(self, manifest: Object) -> Object:
        """Create the object, in place of one of that name if there is any; as the server then holds it.

        What a server fills in (uid, resourceVersion, …) is left out, so it may come from `kubectl get`.
        A List is its items. A namespace that exists is kept with what is in it, and is usable on return: it
        has its default service account, without which no pod is admitted. Raises ApiError.
        """
        if manifest["kind"].endswith("List"):
            return {**manifest, "items": [self.apply(item) for item in manifest["items"]]}
        metadata = {key: value for key, value in manifest["metadata"].items() if key not in _SERVERS_OWN}
        wanted = {**manifest, "metadata": metadata}
        status, made = self.post(collection_of(wanted), wanted)
        if status == 409 and made.get("reason") == "AlreadyExists":
            status, made = self._replace(wanted)
        if status >= 300:
            raise ApiError(f"{wanted['kind']} {metadata['name']}", status, made)
        if wanted["kind"] == "Namespace":
            account = f"{path_of(wanted)}/serviceaccounts/default"
            until(lambda: self.get(account)[0] == 200, what=f"default service account of {metadata['name']}")
        found: Object = made
        return found

    def items(self, kind: str, namespace: str | None = None, query: str = "") -> list[Object]:
        """All objects of a kind, of one namespace or of all; `query` may select. Raises ApiError."""
        path = KINDS[kind].collection(namespace) + (f"?{query}" if query else "")
        status, answer = self.get(path)
        if status != 200:
            raise ApiError(f"list {path}", status, answer)
        items: list[Object] = answer["items"]
        return items

    def wipe(self, within: timedelta = timedelta(seconds=60)) -> None:
        """Make the cluster empty again, pods without any grace. Returns when it is. Raises TimeoutError."""
        wipe(self, within)

    def _replace(self, wanted: Object) -> tuple[int, Object]:
        path = path_of(wanted)
        if wanted["kind"] == "Namespace":
            return self.patch(path, {"metadata": wanted["metadata"]})
        _, old = self.get(path)
        self.delete(path, AT_ONCE)
        uid = old.get("metadata", {}).get("uid")
        until(lambda: self.get(path)[1].get("metadata", {}).get("uid") != uid, what=f"{path} deleted")
        return self.post(collection_of(wanted), wanted)
