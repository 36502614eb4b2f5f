"""What the environment says, read once and checked.

Law: a wrong value is one clear error that names the variable, what it holds and what it may hold; never a default
in its place.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final, TypeVar

from lambdas import contract
from lambdas.domain.values.settings import Settings

Mode = TypeVar("Mode", bound=Enum)

_TRUTHS: Final = {"true": True, "false": False}


class SettingsError(ValueError):
    """The deployment's environment is wrong; the message names the variable and the cure."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where this function stands: names of what it works on, and how it drains.

    `server` and `ca` (PEM) are both empty where EKS is to be asked for them.
    """

    cluster_name: str
    ledger_table: str
    queue_url: str
    malformed_queue_url: str
    server: str
    ca: str
    is_dry_run: bool
    drain: Settings


def read_deployment(environment: Mapping[str, str]) -> Deployment:
    """The deployment that `environment` describes. Raises SettingsError."""
    given = _Environment(environment)
    cluster_name = given.required(contract.ENV_CLUSTER_NAME)
    server, ca = _read_address(given)
    return Deployment(
        cluster_name=cluster_name,
        ledger_table=given.required(contract.ENV_LEDGER_TABLE),
        queue_url=given.url(contract.ENV_QUEUE_URL),
        malformed_queue_url=given.url(contract.ENV_MALFORMED_QUEUE_URL),
        server=server,
        ca=ca,
        is_dry_run=given.truth(contract.ENV_DRY_RUN, default=False),
        drain=_read_drain(given, cluster_name),
    )


def _read_drain(given: "_Environment", cluster_name: str) -> Settings:
    default = Settings()
    return Settings(
        margin=given.seconds(contract.ENV_MARGIN_SECONDS, default.margin, most=contract.MOST_MARGIN_SECONDS),
        grace_counted=given.seconds(
            contract.ENV_GRACE_COUNTED_SECONDS, default.grace_counted, most=contract.MOST_GRACE_COUNTED_SECONDS
        ),
        budgets=given.choice(contract.ENV_BUDGETS, default.budgets),
        release=given.choice(contract.ENV_RELEASE, default.release),
        releases_unchecked=given.truth(contract.ENV_RELEASE_UNCHECKED, default=default.releases_unchecked),
        cluster_name=cluster_name,
    )


def _read_address(given: "_Environment") -> tuple[str, str]:
    """One without the other is of no use: half of it would be asked for, and half of it old."""
    server, encoded = given.optional(contract.ENV_CLUSTER_ENDPOINT), given.optional(contract.ENV_CLUSTER_CA)
    if bool(server) != bool(encoded):
        missing = contract.ENV_CLUSTER_CA if server else contract.ENV_CLUSTER_ENDPOINT
        raise SettingsError(f"{missing} is not set, but its counterpart is: set both, or none (EKS is then asked)")
    if not server:
        return "", ""
    return given.url(contract.ENV_CLUSTER_ENDPOINT), given.pem(contract.ENV_CLUSTER_CA)


@dataclass(frozen=True, slots=True)
class _Environment:
    """Reads one variable at a time."""

    variables: Mapping[str, str]

    def optional(self, name: str) -> str:
        return self.variables.get(name, "").strip()

    def required(self, name: str) -> str:
        value = self.optional(name)
        if not value:
            raise SettingsError(f"{name} is not set: deploy the stack again, or set it by hand")
        return value

    def url(self, name: str) -> str:
        value = self.required(name)
        if not value.startswith(("https://", "http://")):
            raise SettingsError(f"{name} is {value!r}: a URL is expected (https://…), not a name or an ARN")
        return value

    def truth(self, name: str, *, default: bool) -> bool:
        value = self.optional(name).lower()
        if value and value not in _TRUTHS:
            raise SettingsError(f"{name} is {value!r}: true or false is expected")
        return _TRUTHS.get(value, default)

    def choice(self, name: str, default: Mode) -> Mode:
        """One of the modes that `default` is of, by its value."""
        value = self.optional(name).lower()
        modes = {mode.value: mode for mode in type(default)}
        if value and value not in modes:
            raise SettingsError(f"{name} is {value!r}: one of {', '.join(modes)} is expected")
        return modes.get(value, default)

    def seconds(self, name: str, default: timedelta, *, most: int) -> timedelta:
        value = self.optional(name)
        if not value:
            return default
        if not (value.isascii() and value.isdigit() and int(value) <= most):
            raise SettingsError(f"{name} is {value!r}: whole seconds are expected, 0 to {most}")
        return timedelta(seconds=int(value))

    def pem(self, name: str) -> str:
        """A certificate, base64 of PEM as `aws eks describe-cluster` prints it."""
        try:
            text = base64.b64decode(self.required(name), validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise SettingsError(f"{name} is no base64 ({error}): take certificateAuthority.data as it is") from error
        if "BEGIN CERTIFICATE" not in text:
            raise SettingsError(f"{name} is base64, but of no PEM certificate: take certificateAuthority.data as it is")
        return text
