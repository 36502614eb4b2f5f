"""The way into the cluster: the address from EKS, the token as aws-iam-authenticator reads it."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.config import Config

from lambdas.adapters.eks import Address, EksAddresses, StsTokens
from lambdas.domain.errors import PassingError, PermissionDenied, PortError
from tests.integration.builders import NOTICED, at
from tests.integration.wire import NOBODY_LISTENS, Bad, Good, Service, answering

pytestmark = pytest.mark.usefixtures("aws")


AUTHORITY = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def described(endpoint: str | None = "https://abc.gr7.eu-west-1.eks.amazonaws.com", ca: str = AUTHORITY) -> Good:
    """DescribeCluster's answer. (moto's authority is random bytes, which no EKS ever gave.)"""
    cluster: dict[str, Any] = {"name": "blue", "status": "ACTIVE" if endpoint else "CREATING"}
    if endpoint:
        data = base64.b64encode(ca.encode()).decode()
        cluster |= {"endpoint": endpoint, "certificateAuthority": {"data": data}}
    return Good({"cluster": cluster})


def addresses_from(service: Service) -> EksAddresses:
    once = Config(retries={"total_max_attempts": 1})
    return EksAddresses(boto3.client("eks", endpoint_url=service.url, config=once), "blue")


def presigned(token: str) -> tuple[str, dict[str, str]]:
    """Host and query of the request that a token stands for."""
    prefix, _, encoded = token.partition(".")
    assert prefix == "k8s-aws-v1"
    assert "=" not in encoded
    url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    assert (url.scheme, url.path) == ("https", "/")
    return url.netloc, {name: values[0] for name, values in parse_qs(url.query).items()}


def test_the_address_comes_from_eks_with_its_authority_in_pem() -> None:
    with answering([described()]) as service:
        address = addresses_from(service).find(NOTICED)
    assert address == Address("https://abc.gr7.eu-west-1.eks.amazonaws.com", AUTHORITY)
    assert service.requests == ["/clusters/blue"]


def test_the_address_is_asked_for_once_in_ten_minutes() -> None:
    with answering([described(), described("https://new")]) as service:
        addresses = addresses_from(service)
        found = [addresses.find(at(seconds)).server for seconds in (0, 1, 599, 600, 601)]
    assert found[:3] == ["https://abc.gr7.eu-west-1.eks.amazonaws.com"] * 3
    assert found[3:] == ["https://new"] * 2
    assert len(service.requests) == 2


def test_an_address_once_known_serves_while_eks_fails() -> None:
    with answering([described(), Bad(500, "ServerException")]) as service:
        addresses = addresses_from(service)
        known = addresses.find(NOTICED)
        assert addresses.find(NOTICED + timedelta(days=1)) == known


def test_a_first_look_up_that_fails_is_told_and_tried_again_at_the_next() -> None:
    with answering([Bad(500, "ServerException"), described()]) as service:
        addresses = addresses_from(service)
        with pytest.raises(PassingError):
            addresses.find(NOTICED)
        assert addresses.find(NOTICED).ca == AUTHORITY


def test_a_cluster_still_being_made_may_pass() -> None:
    with answering([described(endpoint=None)]) as service, pytest.raises(PassingError, match="is CREATING"):
        addresses_from(service).find(NOTICED)


def test_an_authority_that_is_no_text_is_told_of() -> None:
    with answering([described(ca="\u2602")]) as service, pytest.raises(PortError, match="no base64 of PEM"):
        addresses_from(service).find(NOTICED)


def test_a_cluster_that_does_not_exist_is_a_wrong_name() -> None:
    with pytest.raises(PermissionDenied, match="cluster green does not exist"):
        EksAddresses(boto3.client("eks"), "green").find(NOTICED)


def test_a_token_is_a_presigned_request_to_the_region_s_own_sts_with_the_cluster_s_name_signed() -> None:
    host, query = presigned(StsTokens(boto3.client("sts"), "blue").token())
    assert host == "sts.eu-west-1.amazonaws.com"
    assert (query["Action"], query["Version"]) == ("GetCallerIdentity", "2011-06-15")
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert query["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert query["X-Amz-Expires"] == "60"
    assert query["X-Amz-Credential"].endswith("/eu-west-1/sts/aws4_request")
    signed_at = datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - signed_at) < timedelta(minutes=1)


def test_in_another_partition_the_host_is_that_partition_s() -> None:
    host, _ = presigned(StsTokens(boto3.client("sts", region_name="cn-north-1"), "blue").token())
    assert host == "sts.cn-north-1.amazonaws.com.cn"


def test_the_signature_covers_the_cluster_s_name() -> None:
    queries = [presigned(StsTokens(boto3.client("sts"), name).token())[1] for name in ("blue", "green")]
    assert queries[0]["X-Amz-Signature"] != queries[1]["X-Amz-Signature"]


def test_a_token_serves_until_it_is_renewed_and_costs_no_request() -> None:
    sts = boto3.client("sts", endpoint_url=NOBODY_LISTENS)
    tokens = StsTokens(sts, "blue")
    first = tokens.token()
    assert tokens.token() == first
    renewed = tokens.renew()
    assert tokens.token() == renewed


def test_a_session_s_own_token_is_carried() -> None:
    session = boto3.session.Session(
        aws_access_key_id="ASIA", aws_secret_access_key="s", aws_session_token="t/+=", region_name="eu-west-1"
    )
    _, query = presigned(StsTokens(session.client("sts"), "blue").token())
    assert query["X-Amz-Security-Token"] == "t/+="
