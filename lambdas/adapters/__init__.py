"""Adapters: one port, one vendor, one file; none knows another.

What those that call AWS share stands here: lists cut to what a call may carry, and, at the edge, the vendor's errors
turned into ours, told apart by what they mean for a drain, with the missing action and its cure named.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from lambdas.domain.errors import PassingError, PermissionDenied, PortError

_DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "InvalidClientTokenId",
        "KMS.AccessDeniedException",
        "KmsAccessDenied",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
_NO_SUCH_THING: Final = frozenset(
    {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "ResourceNotFoundException"}
)
_PASSING: Final = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "ProvisionedThroughputExceededException",
        "RequestExpired",
        "RequestLimitExceeded",
        "RequestThrottled",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
        "TooManyRequestsException",
    }
)


def chunks(items: Iterable[str], most: int) -> Iterator[list[str]]:
    """The items in their order, at most so many at a time: AWS bounds what one call may carry."""
    rest = iter(items)
    while chunk := list(islice(rest, most)):
        yield chunk


@contextmanager
def aws_errors(action: str, target: str) -> Iterator[None]:
    """Inside, boto3's errors become `PortError`s. `action` is IAM's name of the call, `target` what it is on."""
    # Here and not above: whoever imports an adapter for something else (a replay) has no boto3, and needs none.
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except ClientError as error:
        raise _refused(error.response, action, target) from error
    except BotoCoreError as error:
        raise _unanswered(error, action, target) from error


def _refused(response: Any, action: str, target: str) -> PortError:
    """The service answered, and not with what was asked for."""
    error = response.get("Error", {})
    code, said = str(error.get("Code", "")), str(error.get("Message", ""))
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in _PASSING or status >= 500:
        return PassingError(f"{action} on {target} failed for now ({code}, HTTP {status}). AWS: {said}")
    if code in _NO_SUCH_THING:
        return PermissionDenied(f"{action}: {target} does not exist ({code}). Deploy again, or correct the name.")
    if code in _DENIED or status in (401, 403):
        return PermissionDenied(
            f"{action} on {target} is denied ({code}). Allow it in the function's role. AWS: {said}"
        )
    return PortError(f"{action} on {target} was refused ({code}, HTTP {status}). AWS: {said}")


def _unanswered(error: Exception, action: str, target: str) -> PortError:
    """No answer, or no request: the network between, or what it takes to sign one."""
    from botocore.exceptions import (  # noqa: PLC0415 - see above
        ConnectionError as ConnectionFailed,
    )
    from botocore.exceptions import (  # noqa: PLC0415
        CredentialRetrievalError,
        HTTPClientError,
        NoCredentialsError,
        PartialCredentialsError,
    )

    match error:
        case ConnectionFailed() | HTTPClientError():
            return PassingError(
                f"{action} on {target} got no answer ({type(error).__name__}: {error}). In a VPC: is there an endpoint "
                f"for {action.partition(':')[0]}, and may the function's security group reach it on 443?"
            )
        case CredentialRetrievalError():
            return PassingError(f"{action} on {target}: credentials could not be had for now ({error})")
        case NoCredentialsError() | PartialCredentialsError():
            return PermissionDenied(f"{action} on {target}: no credentials. Does the function have its role? ({error})")
        case _:
            return PortError(f"{action} on {target} could not be asked for ({type(error).__name__}: {error})")
