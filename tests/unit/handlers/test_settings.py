"""The function's environment is read whole or refused with the variable's name."""

import base64
from datetime import timedelta

import pytest

from lambdas import contract
from lambdas.domain.values.settings import BudgetMode, ReleaseMode, Settings
from lambdas.handlers.composition import compose
from lambdas.handlers.settings import SettingsError, read_deployment

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def environment(**changes: str) -> dict[str, str]:
    """A sound environment, changed; a variable set to "-" is left out."""
    whole = {
        contract.ENV_CLUSTER_NAME: "blue",
        contract.ENV_LEDGER_TABLE: "ledger",
        contract.ENV_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/notices",
        contract.ENV_MALFORMED_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/rejected",
    } | changes
    return {name: value for name, value in whole.items() if value != "-"}


def address(**changes: str) -> dict[str, str]:
    return environment(
        **{
            contract.ENV_CLUSTER_ENDPOINT: "https://abc.gr7.eu-west-1.eks.amazonaws.com",
            contract.ENV_CLUSTER_CA: base64.b64encode(PEM.encode()).decode(),
        }
        | changes
    )


def test_what_is_not_set_has_the_product_s_defaults() -> None:
    deployment = read_deployment(environment())
    assert deployment.drain == Settings(cluster_name="blue")
    assert (deployment.server, deployment.ca, deployment.is_dry_run) == ("", "", False)


def test_everything_can_be_set() -> None:
    deployment = read_deployment(
        address(
            **{
                contract.ENV_MARGIN_SECONDS: "7",
                contract.ENV_GRACE_COUNTED_SECONDS: "45",
                contract.ENV_BUDGETS: "deadline",
                contract.ENV_RELEASE: "Within",
                contract.ENV_RELEASE_UNCHECKED: "true",
                contract.ENV_DRY_RUN: "True",
            }
        )
    )
    assert deployment.drain == Settings(
        margin=timedelta(seconds=7),
        grace_counted=timedelta(seconds=45),
        budgets=BudgetMode.DEADLINE,
        release=ReleaseMode.WITHIN,
        releases_unchecked=True,
        cluster_name="blue",
    )
    assert (deployment.ca, deployment.is_dry_run) == (PEM, True)


@pytest.mark.parametrize("mode", [*BudgetMode, *ReleaseMode])
def test_each_mode_is_named_by_its_value(mode: BudgetMode | ReleaseMode) -> None:
    name = contract.ENV_BUDGETS if isinstance(mode, BudgetMode) else contract.ENV_RELEASE
    drain = read_deployment(environment(**{name: mode.value})).drain
    assert mode in {drain.budgets, drain.release}


def test_a_function_releases_nothing_without_its_guard_whatever_the_environment_says() -> None:
    assert read_deployment(environment(**{contract.ENV_RELEASE: "all"})).drain.needs_guard


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        (contract.ENV_CLUSTER_NAME, "-", "is not set"),
        (contract.ENV_CLUSTER_NAME, "  ", "is not set"),
        (contract.ENV_LEDGER_TABLE, "-", "is not set"),
        (contract.ENV_QUEUE_URL, "-", "is not set"),
        (contract.ENV_QUEUE_URL, "arn:aws:sqs:eu-west-1:123456789012:notices", "a URL is expected"),
        (contract.ENV_MALFORMED_QUEUE_URL, "rejected", "a URL is expected"),
        (contract.ENV_DRY_RUN, "yes", "true or false is expected"),
        (contract.ENV_BUDGETS, "strict", "'strict': one of pace, deadline, never is expected"),
        (contract.ENV_RELEASE, "true", "'true': one of within, enough, all, off is expected"),
        (contract.ENV_RELEASE_UNCHECKED, "1", "true or false is expected"),
        (contract.ENV_MARGIN_SECONDS, "-5", "whole seconds are expected"),
        (contract.ENV_MARGIN_SECONDS, "31", "0 to 30"),
        (contract.ENV_MARGIN_SECONDS, "5s", "whole seconds are expected"),
        (contract.ENV_GRACE_COUNTED_SECONDS, "1e1", "whole seconds are expected"),
        (contract.ENV_GRACE_COUNTED_SECONDS, "²", "whole seconds are expected"),
        (contract.ENV_GRACE_COUNTED_SECONDS, "86", "0 to 85"),
        (contract.ENV_CLUSTER_ENDPOINT, "-", "is not set, but its counterpart is"),
        (contract.ENV_CLUSTER_CA, "-", "is not set, but its counterpart is"),
        (contract.ENV_CLUSTER_ENDPOINT, "abc.eks.amazonaws.com", "a URL is expected"),
        (contract.ENV_CLUSTER_CA, PEM, "is no base64"),
        (contract.ENV_CLUSTER_CA, base64.b64encode("☂".encode()).decode(), "is no base64"),
        (contract.ENV_CLUSTER_CA, base64.b64encode(b"nothing").decode(), "no PEM certificate"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str, what: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        read_deployment(address(**{name: value}))
    assert what in str(caught.value)


def test_one_composition_serves_an_environment_for_as_long_as_it_stays_the_same() -> None:
    first = compose(environment())
    assert compose(environment()) is first
    assert compose(environment(**{contract.ENV_CLUSTER_NAME: "green"})) is not first
