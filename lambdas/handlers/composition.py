"""The composition root: the one place where the function's ports meet AWS and the API server.

Law: nothing is made at import, and nothing that ages outlives an invocation. Clients last as long as the process; boto3
and the cluster's adapter are imported when they are first needed, in the order in which a notice needs them.
"""
# ruff: noqa: PLC0415 - late imports are what this file is for

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol

from lambdas.adapters.background import ThreadBackground
from lambdas.adapters.clock import SystemClock
from lambdas.application.ports import Background, Clock, Cluster, MalformedMessages, MessageLease, Reporter
from lambdas.application.requests import Ports
from lambdas.handlers.settings import Deployment, read_deployment

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from mypy_boto3_sqs import SQSClient

    from lambdas.adapters.dynamodb import DynamoDbLedger
    from lambdas.adapters.ec2 import Ec2InstanceDirectory
    from lambdas.adapters.eks import EksAddresses, StsTokens
    from lambdas.adapters.kubernetes import Endpoint

_CONNECT_SECONDS = 2
_READ_SECONDS = 2
_ATTEMPTS = 2


class Composition(Protocol):
    """What a handler needs of the world, each made when it is asked for."""

    @property
    def deployment(self) -> Deployment:
        """Where the function stands."""
        ...

    @property
    def clock(self) -> Clock:
        """The one clock."""
        ...

    def lease(self, receipts: Mapping[str, str]) -> MessageLease:
        """The batch's messages; `receipts`: receipt handles by message id."""
        ...

    def malformed(self) -> MalformedMessages:
        """Where bodies go that nobody understands."""
        ...

    def drain_ports(self, messages: MessageLease | None, reporter: Reporter) -> AbstractContextManager[Ports]:
        """The ports of a drain (of a sweep without messages), closed at the end.

        Raises PortError where the cluster's address cannot be had.
        """
        ...


class AwsComposition:
    """The `Composition` that runs in Lambda: AWS, and the EKS cluster of the deployment."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._clock = SystemClock()

    @property
    def deployment(self) -> Deployment:
        """Where the function stands."""
        return self._deployment

    @property
    def clock(self) -> Clock:
        """The system's."""
        return self._clock

    def lease(self, receipts: Mapping[str, str]) -> MessageLease:
        """Messages of the notice queue."""
        from lambdas.adapters.sqs_lease import SqsMessageLease

        return SqsMessageLease(self._sqs, self._deployment.queue_url, receipts)

    def malformed(self) -> MalformedMessages:
        """The notice queue's dead-letter queue."""
        from lambdas.adapters.sqs_malformed import SqsMalformedMessages

        return SqsMalformedMessages(self._sqs, self._deployment.malformed_queue_url)

    @contextmanager
    def drain_ports(self, messages: MessageLease | None, reporter: Reporter) -> Iterator[Ports]:
        """All of it on threads of its own, which end with the invocation."""
        cluster = self.connect()
        background = ThreadBackground(cluster.wake)
        try:
            yield self.ports(cluster, background, messages, reporter)
        finally:
            background.close()
            cluster.close()

    def ports(
        self, cluster: Cluster, background: Background, messages: MessageLease | None, reporter: Reporter
    ) -> Ports:
        """The ports around a cluster. A dry run changes nothing there, and takes no lock: it keeps nobody out."""
        if self._deployment.is_dry_run:
            from lambdas.adapters.rehearsal import RehearsalCluster

            rehearsal = RehearsalCluster(cluster, self.clock)
            return Ports(self.clock, rehearsal, background, reporter, self._directory, None, messages)
        return Ports(self.clock, cluster, background, reporter, self._directory, self._ledger, messages)

    def connect(self) -> Cluster:
        """A connection to the API server with a token of this invocation's own. Raises PortError."""
        from lambdas.adapters.kubernetes import connect

        self._tokens.renew()
        return connect(self._endpoint(), self._tokens, self.clock)

    def _endpoint(self) -> "Endpoint":
        from lambdas.adapters.kubernetes import Endpoint

        if self._deployment.server:
            return Endpoint(self._deployment.server, self._deployment.ca)
        address = self._addresses.find(self.clock.now())
        return Endpoint(address.server, address.ca)

    # --- made once a process

    @cached_property
    def _session(self) -> "boto3.session.Session":
        import boto3

        return boto3.session.Session()

    @cached_property
    def _config(self) -> "Config":
        """Every call ends within some seconds, tries included: a client's defaults would eat the two minutes."""
        from botocore.config import Config

        return Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": _ATTEMPTS, "mode": "standard"},
        )

    @cached_property
    def _sqs(self) -> "SQSClient":
        return self._session.client("sqs", config=self._config)

    @cached_property
    def _directory(self) -> "Ec2InstanceDirectory":
        from lambdas.adapters.ec2 import Ec2InstanceDirectory

        return Ec2InstanceDirectory(self._session.client("ec2", config=self._config))

    @cached_property
    def _ledger(self) -> "DynamoDbLedger":
        from lambdas.adapters.dynamodb import DynamoDbLedger

        return DynamoDbLedger(self._session.client("dynamodb", config=self._config), self._deployment.ledger_table)

    @cached_property
    def _addresses(self) -> "EksAddresses":
        from lambdas.adapters.eks import EksAddresses

        return EksAddresses(self._session.client("eks", config=self._config), self._deployment.cluster_name)

    @cached_property
    def _tokens(self) -> "StsTokens":
        from lambdas.adapters.eks import StsTokens

        return StsTokens(self._session.client("sts", config=self._config), self._deployment.cluster_name)


def compose(environment: Mapping[str, str]) -> Composition:
    """The composition for that environment; the same one for as long as it stays the same. Raises SettingsError."""
    return _composed(read_deployment(environment))


@cache
def _composed(deployment: Deployment) -> AwsComposition:
    return AwsComposition(deployment)
