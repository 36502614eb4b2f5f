import pytest

from infra.queues import NOTICE_RETENTION_SECONDS
from infra.rules import EVENT_AGE_SECONDS, NOTICES
from lambdas import contract
from tests.infra.synth import Template, named, notice_rules, resources

QUEUE = "AWS::SQS::Queue"


def _id(template: Template, part: str) -> str:
    return named(template, part, QUEUE)


def _arn(template: Template, part: str) -> object:
    return {"Fn::GetAtt": [_id(template, part), "Arn"]}


def _statements(template: Template, part: str) -> list[dict[str, object]]:
    (policy,) = [
        policy
        for policy in resources(template, "AWS::SQS::QueuePolicy").values()
        if policy["Queues"] == [{"Ref": _id(template, part)}]
    ]
    statements: list[dict[str, object]] = policy["PolicyDocument"]["Statement"]
    return statements


def test_each_kind_of_notice_has_one_enabled_rule_on_the_default_bus(template: Template) -> None:
    rules = notice_rules(template).values()
    assert [rule["EventPattern"] for rule in rules] == [kind.pattern for kind in NOTICES]
    assert all(rule["State"] == "ENABLED" and "EventBusName" not in rule for rule in rules)


def test_only_kinds_that_the_function_acts_on_are_routed(template: Template) -> None:
    (rule,) = notice_rules(template).values()
    assert rule["EventPattern"] == {
        "source": [contract.SOURCE_EC2],
        "detail-type": [contract.DETAIL_SPOT_INTERRUPTION],
    }


def test_a_rule_gives_up_at_the_deadline_and_keeps_what_it_could_not_deliver(template: Template) -> None:
    assert EVENT_AGE_SECONDS == 120
    for rule in notice_rules(template).values():
        (target,) = rule["Targets"]
        assert target["Arn"] == _arn(template, "Notices")
        assert target["DeadLetterConfig"] == {"Arn": _arn(template, "Undelivered")}
        assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 120, "MaximumRetryAttempts": 185}


def test_there_are_three_queues_encrypted_by_sqs_itself_and_without_a_delay(template: Template) -> None:
    queues = resources(template, QUEUE)
    assert len(queues) == 3
    for queue in queues.values():
        assert queue["SqsManagedSseEnabled"] is True
        assert "KmsMasterKeyId" not in queue
        assert "DelaySeconds" not in queue


def test_a_message_is_hidden_for_as_long_as_an_invocation_may_last(template: Template) -> None:
    queue = template["Resources"][_id(template, "Notices")]["Properties"]
    assert queue["VisibilityTimeout"] >= contract.FUNCTION_TIMEOUT_SECONDS
    assert queue["MessageRetentionPeriod"] == NOTICE_RETENTION_SECONDS
    assert 600 <= NOTICE_RETENTION_SECONDS <= 3600


def test_a_live_notice_is_not_dead_lettered_by_its_short_visibilities(template: Template) -> None:
    queue = template["Resources"][_id(template, "Notices")]["Properties"]
    assert queue["RedrivePolicy"] == {
        "deadLetterTargetArn": _arn(template, "Rejected"),
        "maxReceiveCount": contract.MAX_RECEIVE_COUNT,
    }
    assert contract.MAX_RECEIVE_COUNT >= 50


@pytest.mark.parametrize("queue", ["Undelivered", "Rejected"])
def test_what_went_wrong_is_kept_for_two_weeks(template: Template, queue: str) -> None:
    properties = template["Resources"][_id(template, queue)]["Properties"]
    assert properties["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert "RedrivePolicy" not in properties


@pytest.mark.parametrize("queue", ["Notices", "Undelivered", "Rejected"])
def test_every_queue_takes_tls_only(template: Template, queue: str) -> None:
    assert {
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "sqs:*",
        "Resource": _arn(template, queue),
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    } in _statements(template, queue)


@pytest.mark.parametrize("queue", ["Notices", "Undelivered"])
def test_only_our_rules_of_this_account_may_send(template: Template, queue: str) -> None:
    (allowed,) = [one for one in _statements(template, queue) if one["Effect"] == "Allow"]
    rules = [{"Fn::GetAtt": [rule, "Arn"]} for rule in notice_rules(template)]
    assert allowed == {
        "Sid": "RulesMaySend",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": _arn(template, queue),
        "Condition": {
            "ArnEquals": {"aws:SourceArn": rules},
            "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
        },
    }


def test_nobody_but_the_function_and_the_redrive_puts_messages_aside(template: Template) -> None:
    assert all(one["Effect"] == "Deny" for one in _statements(template, "Rejected"))
