"""`python -m tests.cluster.record`: what real API servers answer, kept for the unit tests of the answers' table.

One line for each version and provocation: what was asked, in RBAC's words, and the reply's status, body, Retry-After.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controlplane import Api, ControlPlane, versions
from lambdas.adapters.kubernetes.calls import Response
from tests.cluster.conftest import HANDLER
from tests.cluster.provocations import ALL, without_the_right
from tests.cluster.rig import connected

KEPT = Path(__file__).parents[1] / "unit" / "kubernetes_adapter" / "recorded.jsonl"


def record(version: str) -> Iterator[dict[str, Any]]:
    """Provoke everything on a control plane of that version."""
    with ControlPlane(version, identities=[HANDLER]) as plane:
        api = Api(plane)
        for provocation in (*ALL, without_the_right):
            identity = "handler" if provocation is without_the_right else "admin"
            with connected(plane, identity) as cluster:
                call, reply = provocation(plane, api, cluster.server)
            assert isinstance(reply, Response), reply
            body = reply.body if reply.body.get("kind") == "Status" else {"kind": reply.body.get("kind")}
            asked = {"verb": call.verb, "resource": call.resource, "method": call.method, "namespace": call.namespace}
            answered = {"status": reply.status, "retry_after": reply.retry_after, "body": body}
            yield {"version": version, "provocation": provocation.__name__, **asked, **answered}
            plane.restore()
            api.wipe()


if __name__ == "__main__":
    lines = [json.dumps(kept) for version in sys.argv[1:] or versions() for kept in record(version)]
    KEPT.write_text("\n".join(lines) + "\n")
