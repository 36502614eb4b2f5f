"""A process of its own that is one invocation of the interruption function, cold start included.

Asked on stdin, in JSON: event, token (of the function's identity in the cluster). The environment is the function's.
Answers on stdout, in one line of JSON after the metrics: given_back (message ids), called_at (when the handler was).
Everything is what runs in Lambda but the token, which EKS would take from STS.
"""

import json
import os
import sys
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from aws_lambda_powertools import Logger

from lambdas import contract
from lambdas.application.ports import Cluster
from lambdas.handlers.composition import AwsComposition
from lambdas.handlers.interruption import respond
from lambdas.handlers.settings import Deployment, read_deployment


@dataclass(slots=True)
class _Context:
    """Lambda's context object, as far as it is read."""

    began: float = field(default_factory=time.monotonic)
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    function_name: str = contract.SERVICE
    memory_limit_in_mb: int = 1769
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:evac"

    def get_remaining_time_in_millis(self) -> int:
        """Of the deployed time-out."""
        return int((contract.FUNCTION_TIMEOUT_SECONDS - (time.monotonic() - self.began)) * 1000)


@dataclass(frozen=True, slots=True)
class _Token:
    value: str

    def token(self) -> str:
        """The one there is."""
        return self.value

    def renew(self) -> str:
        """The same."""
        return self.value


class _Composition(AwsComposition):
    def __init__(self, deployment: Deployment, token: str) -> None:
        super().__init__(deployment)
        self._token = token

    def connect(self) -> Cluster:
        """As in Lambda, with the token that was given."""
        from lambdas.adapters.kubernetes import connect  # noqa: PLC0415 - when the function imports it

        return connect(self._endpoint(), _Token(self._token), self.clock)


def main() -> None:
    """One invocation."""
    asked: dict[str, Any] = json.load(sys.stdin)
    called_at = time.time()
    composition = _Composition(read_deployment(os.environ), asked["token"])
    logger = Logger(service=contract.SERVICE, stream=sys.stderr)
    answer = respond(asked["event"], _Context(), composition, logger)
    given_back = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    print(json.dumps({"given_back": given_back, "called_at": called_at}), flush=True)


if __name__ == "__main__":
    main()
