"""What boto3 raises becomes what the drain understands, with the action that is missing and what to do."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config

from lambdas.adapters import aws_errors
from lambdas.adapters.dynamodb import DynamoDbLedger
from lambdas.adapters.ec2 import Ec2InstanceDirectory
from lambdas.adapters.eks import EksAddresses, StsTokens
from lambdas.adapters.sqs_lease import SqsMessageLease
from lambdas.adapters.sqs_malformed import SqsMalformedMessages
from lambdas.domain.errors import PassingError, PermissionDenied, PortError
from tests.integration.builders import NOTICED, a_notice, at
from tests.integration.wire import NOBODY_LISTENS, Bad, answering
from tests.unit.events.bodies import INSTANCE

QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/q"
ONCE = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1})


def client(service: Any, url: str) -> Any:
    session: Any = boto3.session.Session("AKIAEXAMPLEEXAMPLE00", "none", region_name="eu-west-1")
    return session.client(service, endpoint_url=url, config=ONCE)


CALLS: dict[str, Callable[[str], object]] = {
    "dynamodb:UpdateItem": lambda url: DynamoDbLedger(client("dynamodb", url), "ledger").acquire(
        a_notice(), "me", NOTICED, at(15)
    ),
    "ec2:DescribeInstances": lambda url: Ec2InstanceDirectory(client("ec2", url)).describe([INSTANCE]),
    "sqs:ChangeMessageVisibility": lambda url: SqsMessageLease(client("sqs", url), QUEUE, {"m": "r"}).hold(
        ["m"], timedelta(seconds=15)
    ),
    "sqs:SendMessage": lambda url: SqsMalformedMessages(client("sqs", url), QUEUE).keep("body", "reason"),
    "eks:DescribeCluster": lambda url: EksAddresses(client("eks", url), "blue").find(NOTICED),
}


def error_of(action: str, answer: Bad) -> PortError:
    with answering([answer]) as service, pytest.raises(PortError) as caught:
        CALLS[action](service.url)
    assert len(service.requests) == 1
    assert str(caught.value).startswith(action)
    assert caught.value.__cause__ is not None
    return caught.value


def bad(action: str, status: int, code: str) -> Bad:
    return Bad(status, code, is_xml=action.startswith("ec2:"))


@pytest.mark.parametrize("action", CALLS)
def test_a_refused_action_is_named_with_its_cure(action: str) -> None:
    code = "UnauthorizedOperation" if action.startswith("ec2:") else "AccessDeniedException"
    error = error_of(action, bad(action, 403 if action.startswith("ec2:") else 400, code))
    assert isinstance(error, PermissionDenied)
    assert "Allow it in the function's role" in str(error)
    assert "said so" in str(error)


@pytest.mark.parametrize("action", CALLS)
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (503, "ServiceUnavailable"),
        (500, "InternalFailure"),
        (400, "ThrottlingException"),
        (403, "ExpiredTokenException"),
    ],
)
def test_what_may_pass_is_told_apart(action: str, status: int, code: str) -> None:
    assert isinstance(error_of(action, bad(action, status, code)), PassingError)


@pytest.mark.parametrize("action", ["dynamodb:UpdateItem", "eks:DescribeCluster"])
def test_a_name_that_does_not_exist_is_no_passing_fault(action: str) -> None:
    error = error_of(action, bad(action, 400, "ResourceNotFoundException"))
    assert isinstance(error, PermissionDenied)
    assert "does not exist" in str(error)


@pytest.mark.parametrize("action", CALLS)
def test_a_fault_of_ours_is_neither(action: str) -> None:
    error = error_of(action, bad(action, 400, "ValidationException"))
    assert type(error) is PortError


@pytest.mark.parametrize("action", CALLS)
def test_a_service_that_cannot_be_reached_may_pass_and_the_vpc_is_named(action: str) -> None:
    with pytest.raises(PassingError, match="In a VPC: is there an endpoint for") as caught:
        CALLS[action](NOBODY_LISTENS)
    assert action.partition(":")[0] in str(caught.value)


def test_a_function_without_a_role_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    sts = boto3.session.Session(region_name="eu-west-1").client("sts")
    with pytest.raises(PermissionDenied, match="Does the function have its role"):
        StsTokens(sts, "blue").token()


def test_what_boto3_itself_refuses_is_a_fault_of_ours() -> None:
    with pytest.raises(PortError, match="could not be asked for") as caught, aws_errors("sqs:SendMessage", "a queue"):
        client("sqs", NOBODY_LISTENS).send_message(QueueUrl=7)
    assert type(caught.value) is PortError


def test_an_error_of_no_vendor_goes_through_untouched() -> None:
    with pytest.raises(KeyError), aws_errors("sqs:SendMessage", "a queue"):
        raise KeyError("x")
