"""What was asked for, read once from the CDK context and checked as a whole.

Law: below app.py nothing reads context, environment or the network; what a construct needs is in here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from infra import keys
from infra.context import ContextError, Key

CDK_WORDS: Final = frozenset({"acknowledged-issue-numbers", "cli-telemetry", "cdk-migrate"})
"""Context that the CDK command line keeps for itself under plain words; its other keys carry a : or an @."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one stack, each already valid by itself and with the others."""

    cluster_name: str
    access_entry: bool
    cluster_endpoint: str | None
    cluster_ca: str | None
    alarm_topic_arn: str | None
    alarm_email: str | None
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]
    memory_size: int
    max_concurrency: int
    margin_seconds: int | None
    grace_counted_seconds: int | None
    budgets: str | None
    release: str | None
    release_unchecked: bool | None
    reserve_sweeper: bool
    dry_run: bool
    log_retention_days: int
    account: str | None
    region: str | None

    def __post_init__(self) -> None:
        _go_together(keys.CLUSTER_ENDPOINT, self.cluster_endpoint, keys.CLUSTER_CA, self.cluster_ca)
        _go_together(keys.SUBNET_IDS, self.subnet_ids, keys.SECURITY_GROUP_IDS, self.security_group_ids)
        _go_together(keys.ACCOUNT, self.account, keys.REGION, self.region)
        self._check_alarms()

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> "Settings":
        """The settings in this context. Raises ContextError for the first thing that is wrong with it."""
        _refuse_unknown(context)
        return cls(
            cluster_name=keys.CLUSTER_NAME.of(context),
            access_entry=keys.ACCESS_ENTRY.of(context),
            cluster_endpoint=keys.CLUSTER_ENDPOINT.of(context),
            cluster_ca=keys.CLUSTER_CA.of(context),
            alarm_topic_arn=keys.ALARM_TOPIC_ARN.of(context),
            alarm_email=keys.ALARM_EMAIL.of(context),
            subnet_ids=keys.SUBNET_IDS.of(context),
            security_group_ids=keys.SECURITY_GROUP_IDS.of(context),
            memory_size=keys.MEMORY_SIZE.of(context),
            max_concurrency=keys.MAX_CONCURRENCY.of(context),
            margin_seconds=keys.MARGIN_SECONDS.of(context),
            grace_counted_seconds=keys.GRACE_COUNTED_SECONDS.of(context),
            budgets=keys.BUDGETS.of(context),
            release=keys.RELEASE.of(context),
            release_unchecked=keys.RELEASE_UNCHECKED.of(context),
            reserve_sweeper=keys.RESERVE_SWEEPER.of(context),
            dry_run=keys.DRY_RUN.of(context),
            log_retention_days=keys.LOG_RETENTION_DAYS.of(context),
            account=keys.ACCOUNT.of(context),
            region=keys.REGION.of(context),
        )

    def _check_alarms(self) -> None:
        if self.alarm_topic_arn is None:
            return
        if self.alarm_email is not None:
            raise ContextError(
                f"context key alarmEmail is {self.alarm_email!r}: type it without alarmTopicArn only "
                "(it subscribes to the topic that is made), or subscribe it to your topic yourself"
            )
        region = self.alarm_topic_arn.split(":")[3]
        if self.region is not None and region != self.region:
            raise ContextError(
                f"context key alarmTopicArn is {self.alarm_topic_arn!r}: type the ARN of a topic in {self.region} "
                "(an alarm publishes in its own region only)"
            )


def _go_together(one: Key[Any], first: object, other: Key[Any], second: object) -> None:
    """Refuses one of two keys that mean something only together."""
    if bool(first) == bool(second):
        return
    given, missing = (one, other) if first else (other, one)
    raise ContextError(f"context key {missing.name} is missing beside {given.name}: type {missing.cure}")


def _refuse_unknown(context: Mapping[str, object]) -> None:
    names = [key.name for key in keys.KEYS]
    for name in context:
        if name in names or ":" in name or name.startswith("@") or name in CDK_WORDS:
            continue
        if name in keys.RETIRED:
            raise ContextError(
                f"context key {name} is no more (its value is {context[name]!r}): type {keys.RETIRED[name]}"
            )
        close = get_close_matches(name, names, n=1)
        cure = f"-c {close[0]}=... instead" if close else f"one of {', '.join(names)}"
        raise ContextError(f"context key {name} is unknown (its value is {context[name]!r}): type {cure}")
