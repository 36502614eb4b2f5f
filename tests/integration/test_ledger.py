"""What the ledger's items look like, and that no write of one invocation ever lands on another's.

What every ledger owes is in `tests.contract.ledger_contract`.
"""

import json
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from lambdas import contract
from lambdas.adapters.dynamodb import DynamoDbLedger
from lambdas.domain.errors import PermissionDenied
from lambdas.domain.values.drain_excerpt import excerpt
from lambdas.domain.values.drains import Ending
from lambdas.domain.values.locks import Acquired, Ended, Held
from lambdas.domain.values.notices import Notice
from tests.integration.builders import NOTICED, a_notice, a_record, at
from tests.unit.events.bodies import INSTANCE

pytestmark = pytest.mark.usefixtures("aws")


def a_ledger() -> DynamoDbLedger:
    client = boto3.client("dynamodb")
    client.create_table(
        TableName="ledger",
        KeySchema=[{"AttributeName": contract.LEDGER_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": contract.LEDGER_KEY, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return DynamoDbLedger(client, "ledger")


def item(instance_id: str = INSTANCE) -> dict[str, Any]:
    key = {contract.LEDGER_KEY: {"S": instance_id}}
    return boto3.client("dynamodb").get_item(TableName="ledger", Key=key).get("Item", {})


def take(ledger: DynamoDbLedger, owner: str, now: datetime, notice: Notice | None = None) -> Acquired | Held | Ended:
    return ledger.acquire(notice or a_notice(), owner, now, now + timedelta(seconds=15))


def test_a_free_node_s_lock_is_ours_until_it_expires() -> None:
    assert take(a_ledger(), "a", at(1)) == Acquired(at(16))
    assert int(item()[contract.LEDGER_EXPIRES]["N"]) == int((at(1) + timedelta(days=30)).timestamp())


@pytest.mark.parametrize("ending", [e for e in Ending if e not in (Ending.DRAINED, Ending.PODS_LOST)])
def test_a_drain_that_did_not_do_its_work_frees_the_lock_for_the_next_try(ending: Ending) -> None:
    ledger = a_ledger()
    take(ledger, "a", at(1))
    ledger.finish(a_record(ending=ending), "a", at(40))
    assert item()["ending"]["S"] == ending.value
    assert take(ledger, "b", at(41)) == Acquired(at(56))


def test_the_whole_record_is_written_and_leaves_after_thirty_days() -> None:
    ledger, record = a_ledger(), a_record()
    take(ledger, "a", at(1))
    ledger.finish(record, "a", at(41))
    written = item()
    assert json.loads(written["record"]["S"]) == excerpt(record, 350_000)
    assert "owner" not in written
    assert "lock_until" not in written
    assert int(written[contract.LEDGER_EXPIRES]["N"]) == int((at(41) + timedelta(days=30)).timestamp())


def test_a_late_finish_never_frees_another_s_lock_nor_overwrites_its_item() -> None:
    ledger = a_ledger()
    take(ledger, "a", at(1))
    take(ledger, "b", at(20))
    before = item()
    ledger.finish(a_record(), "a", at(21))
    assert item() == before


def test_a_late_finish_never_overwrites_what_another_wrote() -> None:
    ledger = a_ledger()
    take(ledger, "a", at(1))
    take(ledger, "b", at(20))
    ledger.finish(a_record(ending=Ending.DRAINED, ended_at=at(30)), "b", at(30))
    before = item()
    ledger.finish(a_record(ending=Ending.PODS_LOST, ended_at=at(120)), "a", at(120))
    assert item() == before


def test_a_new_notice_s_record_follows_the_old_one_s() -> None:
    ledger = a_ledger()
    take(ledger, "a", at(1))
    ledger.finish(a_record(), "a", at(40))
    later = a_notice(noticed_at=at(86400))
    take(ledger, "b", at(86401), later)
    assert item()["ending"]["S"] == "drained"
    ledger.finish(a_record(later, Ending.PODS_LOST, at(86500)), "b", at(86500))
    assert item()["ending"]["S"] == "pods_lost"
    assert isinstance(take(ledger, "c", at(86600), a_notice(noticed_at=NOTICED)), Ended)


def test_a_record_of_250_pods_fits_into_an_item() -> None:
    from dataclasses import replace

    from lambdas.domain.values.drains import Departure, PodFate
    from lambdas.domain.values.kubernetes import BudgetRef, PodRef

    fates = tuple(
        PodFate(
            PodRef("a-namespace-of-some-length", f"a-deployment-of-some-length-6d4cf56db6-{i:05}", f"uid-{i:032}"),
            Departure.DELETED_AGAINST_BUDGET,
            timedelta(seconds=30),
            at(85),
            at(87),
            (BudgetRef("a-namespace-of-some-length", "a-deployment-of-some-length"),) * 2,
            "held by its disruption budget: a-namespace-of-some-length/a-deployment-of-some-length needs 39, has 39",
        )
        for i in range(250)
    )
    ledger = a_ledger()
    ledger.finish(replace(a_record(), pods=fates), "a", at(90))
    assert len(item()["record"]["S"]) < 200_000


def test_a_record_that_no_item_holds_is_written_all_the_same_the_lost_first() -> None:
    from dataclasses import replace

    from lambdas.domain.values.drains import Departure, PodFate
    from lambdas.domain.values.kubernetes import PodRef

    def fate(i: int) -> PodFate:
        how = Departure.LOST if i >= 1000 else Departure.EVICTED
        return PodFate(PodRef("a", f"p-{i:05}", f"uid-{i:032}"), how, note="n" * 500)

    ledger = a_ledger()
    take(ledger, "a", at(1))
    ledger.finish(replace(a_record(), pods=tuple(fate(i) for i in range(1037))), "a", at(90))
    written = json.loads(item()["record"]["S"])
    assert [pod["departure"] for pod in written["pods"][:37]] == ["lost with the host"] * 37
    assert written["pods_omitted"] == 1037 - len(written["pods"]) > 0
    assert "owner" not in item()


def test_a_table_that_does_not_exist_is_a_wrong_name() -> None:
    with pytest.raises(PermissionDenied, match="table ledger does not exist"):
        take(DynamoDbLedger(boto3.client("dynamodb"), "ledger"), "a", at(1))
