"""A pretended AWS account (moto), and nothing of the real one within reach."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

if TYPE_CHECKING:
    from tests.integration.stage import Stage

REGION = "eu-west-1"
ACCOUNT = "123456789012"


def pretend(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything boto3 asks for in here is answered by moto, in one region, with credentials that open nothing."""
    patch.setenv("AWS_DEFAULT_REGION", REGION)
    patch.setenv("AWS_REGION", REGION)
    patch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLEEXAMPLE00")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    patch.setenv("AWS_CONFIG_FILE", "/dev/null")
    patch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    patch.delenv("AWS_PROFILE", raising=False)
    with mock_aws():
        yield


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An account for one test."""
    yield from pretend(monkeypatch)


@pytest.fixture(scope="module")
def shared_aws() -> Iterator[None]:
    """An account for the tests of one file, where each makes its own things and filling one takes long (EC2)."""
    with pytest.MonkeyPatch.context() as patch:
        yield from pretend(patch)


@pytest.fixture
def stage(aws: None) -> "Stage":
    """The stack's queues, rules and table, in an account of the test's own. (The CDK is imported only for it.)"""
    from tests.integration.stage import Stage, deploy

    return Stage(deploy())
