"""What is done to nodes: found, cordoned, taken out of load balancers, restored, announced.

Law: a patch is built of the node as last read, and says so by its tests; where somebody was faster the node is read
again and the patch built anew, a few times, here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lambdas.adapters.kubernetes import calls, paths
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Response, Server
from lambdas.adapters.kubernetes.json_patch import Patch
from lambdas.adapters.kubernetes.kinds import NODES
from lambdas.adapters.kubernetes.listing import Unlisted, is_expired, pages
from lambdas.adapters.kubernetes.watching import Watching
from lambdas.domain.values.actions import Locate
from lambdas.domain.values.answers import Absent, Conflict, Done, Located, Refused, Result
from lambdas.domain.values.kubernetes import Node

_TRIES = 4


class Nodes:
    """Acts on nodes; any thread may."""

    def __init__(self, server: Server, watching: Watching) -> None:
        self._server = server
        self._watching = watching

    def locate(self, action: Locate) -> Result:
        """The node of that name, or whose provider id ends in the instance id: by the names first, then among all."""
        if not action.instance_id and not action.is_by_name:
            return Refused("an instance without an id cannot be looked for")
        for name in filter(paths.is_name, action.names):
            found = self._get(name)
            if isinstance(found, Node):
                if action.is_by_name or found.instance_id == action.instance_id:
                    return Located(found)
            elif not isinstance(found, Absent):
                return found
        return self._search(action.instance_id) if action.may_list else Absent()

    def patch(self, name: str, build: Callable[[Node], Patch], *, reads_first: bool = False) -> Result:
        """Read if need be, build, send; again where somebody else changed the node in between. Raises BadName."""
        node: Node | Result | None = None if reads_first else self._watching.known(name)
        answer: Result = Absent()
        for _ in range(_TRIES):
            node = node or self._get(name)
            if not isinstance(node, Node):
                return node
            operations = build(node)
            if not operations:
                return Done()
            answer = self._send(name, operations)
            if not isinstance(answer, Conflict):
                return answer
            node = None
        return answer

    def _send(self, name: str, operations: Patch) -> Result:
        call = calls.patch_node(name, operations)
        reply = self._server.ask(call)
        answer = result_of(call, reply)
        if isinstance(answer, Done) and isinstance(reply, Response):
            self._watching.remember(reply.body)
        return answer

    def _get(self, name: str) -> Node | Result:
        call = calls.get_node(name)
        reply = self._server.ask(call)
        answer = result_of(call, reply)
        if isinstance(answer, Done) and isinstance(reply, Response):
            return self._watching.remember(reply.body) or Refused(f"what came as node {name} cannot be read")
        return answer

    def _search(self, instance_id: str) -> Result:
        for _ in range(_TRIES):
            result = self._search_once(instance_id)
            if result is not None:
                return result
        return Conflict("the list of nodes expired again and again while it was read")

    def _search_once(self, instance_id: str) -> Result | None:
        for page in pages(self._server, NODES):
            if isinstance(page, Unlisted):
                return None if is_expired(page.reply) else result_of(page.call, page.reply)
            for item in page.get("items") or ():
                if _is_of(item, instance_id) and (node := self._watching.remember(item)):
                    return Located(node)
        return Absent()


def _is_of(item: Mapping[str, Any], instance_id: str) -> bool:
    """Whether the provider id ends in the instance id; the rest of the node is not looked at for that."""
    spec = item.get("spec") if isinstance(item, Mapping) else None
    provider_id = spec.get("providerID") if isinstance(spec, Mapping) else None
    return isinstance(provider_id, str) and provider_id.rpartition("/")[2] == instance_id
