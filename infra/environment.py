"""What the functions are told of the deployment: the same for all of them."""

from aws_cdk import aws_dynamodb

from infra.queues import NoticeQueues
from infra.settings import Settings
from lambdas import contract


def environment(settings: Settings, queues: NoticeQueues, ledger: aws_dynamodb.ITable) -> dict[str, str]:
    """A function's environment. A setting that was not given is left to the function's own default."""
    given: dict[str, str | int | bool | None] = {
        contract.ENV_CLUSTER_NAME: settings.cluster_name,
        contract.ENV_CLUSTER_ENDPOINT: settings.cluster_endpoint,
        contract.ENV_CLUSTER_CA: settings.cluster_ca,
        contract.ENV_LEDGER_TABLE: ledger.table_name,
        contract.ENV_QUEUE_URL: queues.notices.queue_url,
        contract.ENV_MALFORMED_QUEUE_URL: queues.rejected.queue_url,
        contract.ENV_MARGIN_SECONDS: settings.margin_seconds,
        contract.ENV_GRACE_COUNTED_SECONDS: settings.grace_counted_seconds,
        contract.ENV_BUDGETS: settings.budgets,
        contract.ENV_RELEASE: settings.release,
        contract.ENV_RELEASE_UNCHECKED: settings.release_unchecked,
        contract.ENV_DRY_RUN: settings.dry_run,
    }
    return {name: _as_text(value) for name, value in given.items() if value is not None}


def _as_text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
