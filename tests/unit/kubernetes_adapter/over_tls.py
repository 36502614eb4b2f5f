"""What the tests of requests over TLS share: calls, tokens, and looking at what came of them."""

from collections.abc import Callable

from lambdas.adapters.kubernetes import calls
from lambdas.adapters.kubernetes.calls import Failure, Reply, Trouble
from lambdas.adapters.kubernetes.session import Session
from tests.unit.kubernetes_adapter.tls import Answer, HttpsServer

Connect = Callable[..., Session]
Serve = Callable[[Answer], HttpsServer]

GET = calls.get_node("spot-a")
PATCH = calls.patch_node("spot-a", [{"op": "test", "path": "/metadata/uid", "value": "x"}])
WATCH = calls.watch(calls.Collection("pods", "/api/v1/pods"), "7")
SECRET = "k8s-aws-v1.c2VjcmV0"
NODE = '{"kind": "Node", "metadata": {"name": "spot-a"}}'


class Tokens:
    """One token, and another after a renewal."""

    def __init__(self) -> None:
        self.renewals = 0

    def token(self) -> str:
        return f"{SECRET}-{self.renewals}"

    def renew(self) -> str:
        self.renewals += 1
        return self.token()


def trouble(reply: Reply) -> Trouble:
    """Why there was no answer; it is told without a secret."""
    assert isinstance(reply, Failure), reply
    assert SECRET not in reply.message
    return reply.trouble
