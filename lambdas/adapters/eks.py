"""The way into an EKS cluster: where its API server is, and who we are to it.

Law: nothing here outlives its time: a token is minted for each invocation, a cluster's address is asked for again
after some minutes, and where that fails the last known one serves.
"""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from lambdas.adapters import aws_errors
from lambdas.domain.errors import PassingError, PortError

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_sts import STSClient

_ADDRESS_LIFE: Final = timedelta(minutes=10)
_PREFIX: Final = "k8s-aws-v1."
_CLUSTER_HEADER: Final = "x-k8s-aws-id"
_PRESIGNED_SECONDS: Final = 60
"""The authenticator counts 15 minutes from the signature's date and reads no more into this (aws-iam-authenticator)."""


@dataclass(frozen=True, slots=True)
class Address:
    """An API server: its URL, and its certificate authority in PEM."""

    server: str
    ca: str


class EksAddresses:
    """Asks EKS for the cluster's address, once in a while."""

    def __init__(self, client: "EKSClient", cluster_name: str) -> None:
        self._client = client
        self._name = cluster_name
        self._known: tuple[Address, datetime] | None = None

    def find(self, now: datetime) -> Address:
        """The address, at most some minutes old, or the last known where EKS fails. Raises PortError."""
        if self._known is not None and now - self._known[1] < _ADDRESS_LIFE:
            return self._known[0]
        try:
            self._known = (self._ask(), now)
        except PortError:
            if self._known is None:
                raise
        return self._known[0]

    def _ask(self) -> Address:
        with aws_errors("eks:DescribeCluster", f"cluster {self._name}"):
            cluster = self._client.describe_cluster(name=self._name)["cluster"]
        endpoint, ca_data = cluster.get("endpoint"), cluster.get("certificateAuthority", {}).get("data")
        if not endpoint or not ca_data:
            raise PassingError(f"cluster {self._name} is {cluster.get('status')} and has no API server yet")
        return Address(endpoint, _read_pem(ca_data, self._name))


def _read_pem(ca_data: str, name: str) -> str:
    try:
        return base64.b64decode(ca_data, validate=True).decode("ascii")
    except ValueError as error:
        raise PortError(f"cluster {name}: its certificate authority is no base64 of PEM ({error})") from error


class StsTokens:
    """A token source for one cluster: presigned STS GetCallerIdentity requests (aws-iam-authenticator's format).

    The client is this object's alone: a hook on it adds the cluster's name to what is signed.
    """

    def __init__(self, client: "STSClient", cluster_name: str) -> None:
        self._client = client
        self._name = cluster_name
        self._minted = ""
        client.meta.events.register("before-sign.sts.GetCallerIdentity", self._add_cluster)

    def token(self) -> str:
        """The token in use, minted if there is none yet. Costs no request. Raises PortError."""
        return self._minted or self.renew()

    def renew(self) -> str:
        """Mint a new one, valid for 15 minutes, which `token` gives from then on. Raises PortError."""
        with aws_errors("sts:GetCallerIdentity", f"cluster {self._name} (signing only)"):
            url = self._client.generate_presigned_url(
                "get_caller_identity", ExpiresIn=_PRESIGNED_SECONDS, HttpMethod="GET"
            )
        self._minted = _PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
        return self._minted

    def _add_cluster(self, request: Any, **_: object) -> None:
        request.headers[_CLUSTER_HEADER] = self._name
