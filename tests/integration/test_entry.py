"""The handler as Lambda calls it, in its own composition, and in a dry run."""

import base64
import json
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import boto3
import pytest

from lambdas import contract
from lambdas.adapters.kubernetes import preload
from lambdas.handlers.batch import NoBatch
from lambdas.handlers.composition import AwsComposition
from lambdas.handlers.interruption import handle
from lambdas.handlers.settings import SettingsError
from tests.integration.invocations import FakeContext, SimulatedComposition, invoke
from tests.integration.stage import Stage, a_cluster, a_notice_for, an_instance, ids_of
from tests.integration.wire import NOBODY_LISTENS
from tests.scenes import at
from tests.unit.events.bodies import an_event

Capture = pytest.CaptureFixture[str]


def test_lambda_finds_the_handler_by_the_contract_s_name(
    stage: Stage, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in stage.environment.items():
        monkeypatch.setenv(name, value)
    module, _, function = contract.HANDLER_INTERRUPTION.rpartition(".")
    entry = getattr(import_module(module), function)
    batch = stage.batch("?", an_event("EBS Volume Notification"))

    assert entry(batch, FakeContext()) == {"batchItemFailures": []}
    assert [message["Body"] for message in stage.rejected()] == ["?"]
    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    assert (line[contract.METRIC_MALFORMED], line[contract.METRIC_IGNORED]) == ([1], [1])


def test_a_deployment_that_is_set_wrongly_fails_every_invocation_with_the_variable_s_name(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in stage.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(contract.ENV_LEDGER_TABLE)
    with pytest.raises(SettingsError, match=contract.ENV_LEDGER_TABLE):
        handle(stage.batch("?"), FakeContext())


@pytest.mark.parametrize(
    "event", [{}, {"Records": None}, {"Records": []}, {"Records": [{"body": "x"}]}, {"source": "aws.ec2"}, []]
)
def test_an_event_that_is_no_batch_fails_loudly(stage: Stage, capsys: Capture, event: Any) -> None:
    with pytest.raises(NoBatch, match="expected an SQS batch event"):
        invoke(event, SimulatedComposition(stage.deployment, a_cluster()), capsys)


def test_the_real_composition_asks_a_real_api_server_and_gives_back_what_it_cannot_reach(
    stage: Stage, capsys: Capture
) -> None:
    stage.environment |= {contract.ENV_CLUSTER_ENDPOINT: NOBODY_LISTENS, contract.ENV_CLUSTER_CA: an_authority()}
    event: dict[str, Any] = a_notice_for(an_instance())
    event["time"] = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    batch = stage.batch(event)
    preload()  # so that the few seconds below are for asking, on any machine
    result = invoke(batch, AwsComposition(stage.deployment), capsys, FakeContext(remaining_seconds=14))

    assert result.failures == ids_of(batch)
    assert "no connection to 127.0.0.1:9" in result.errors()


def an_authority() -> str:
    """A certificate authority, as EKS gives it: base64 of PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return base64.b64encode(certificate.public_bytes(serialization.Encoding.PEM)).decode()


def test_a_dry_run_changes_nothing_and_deletes_no_notice_that_is_still_good(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    before = {kind: simulation.list(kind) for kind in ("Node", "Pod", "Event")}
    stage.environment[contract.ENV_DRY_RUN] = "true"
    batch = stage.batch(a_notice_for(instance_id), a_notice_for(an_instance("another")))
    result = invoke(batch, SimulatedComposition(stage.deployment, simulation), capsys)

    assert {kind: simulation.list(kind) for kind in before} == before
    assert boto3.client("dynamodb").scan(TableName=stage.deployment.ledger_table)["Items"] == []
    assert result.failures == ids_of(batch)[:1]
    assert result.total(contract.METRIC_PODS_GRACEFUL) is None
    assert result.total(contract.METRIC_GIVEN_BACK) is None, "an alarm would ring for every notice"
    record = next(r for r in result.drains() if r["node"])
    assert {pod["departure"] for pod in record["pods"]} == {"evicted"}
    assert all(line["dry_run"] is True for line in result.logs)

    simulation.run_until(at(181))
    assert invoke(batch, SimulatedComposition(stage.deployment, simulation), capsys).failures == []
