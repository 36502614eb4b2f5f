"""What each kind of event says, field by field, and what is refused with which words."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lambdas import contract
from lambdas.domain.decisions.events import SPOT_NOTICE_LEAD, parse
from lambdas.domain.values.messages import (
    Fulfilled,
    Gone,
    Ignored,
    Interruption,
    LifecycleHook,
    LifecycleTerminate,
    Malformed,
    ScheduledChange,
)
from lambdas.domain.values.notices import Notice, Reason
from tests.unit.events.bodies import INSTANCE, an_event, through_topics

AT = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)


def notice_of(event: dict[str, Any]) -> Notice:
    message = parse(json.dumps(event))
    assert isinstance(message, Interruption), message
    (notice,) = message.notices
    return notice


def reason_of(event: object) -> str:
    message = parse(event if isinstance(event, str) else json.dumps(event))
    assert isinstance(message, Malformed), message
    return message.reason


def a_health_event(**detail: Any) -> dict[str, Any]:
    whole = {
        "service": "EC2",
        "eventTypeCategory": "scheduledChange",
        "eventTypeCode": "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED",
        "startTime": "Wed, 11 Nov 2026 10:00:00 GMT",
        "affectedEntities": [{"entityValue": INSTANCE}],
    } | detail
    return an_event(contract.DETAIL_HEALTH, contract.SOURCE_HEALTH, whole)


def test_a_spot_notice_leaves_two_minutes_from_its_own_time() -> None:
    assert notice_of(an_event()) == Notice(INSTANCE, Reason.SPOT_INTERRUPTION, AT, AT + SPOT_NOTICE_LEAD)
    assert timedelta(minutes=2) == SPOT_NOTICE_LEAD


@pytest.mark.parametrize(
    "action", ["terminate", "stop", "reboot-into-something-new", "Hibernate", 7, None, ["hibernate"]]
)
def test_an_action_that_is_not_known_never_costs_the_drain(action: object) -> None:
    assert notice_of(an_event(detail={"instance-id": INSTANCE, "instance-action": action})).reclaim_at > AT


@pytest.mark.parametrize("state", ["stopping", "shutting-down"])
def test_a_host_on_its_way_down_is_due_at_the_event_s_own_time(state: str) -> None:
    event = an_event(contract.DETAIL_STATE_CHANGE, detail={"instance-id": INSTANCE, "state": state})
    assert notice_of(event) == Notice(INSTANCE, Reason.INSTANCE_STOPPING, AT, AT)


@pytest.mark.parametrize("state", ["", "stop", "shutting-down ", "Stopping", "running", "shutting-down,running"])
def test_a_state_is_compared_as_a_whole(state: str) -> None:
    message = parse(
        json.dumps(an_event(contract.DETAIL_STATE_CHANGE, detail={"instance-id": INSTANCE, "state": state}))
    )
    assert isinstance(message, Ignored | Malformed)


@pytest.mark.parametrize("state", ["stopped", "terminated"])
def test_a_host_that_is_gone_is_said_to_be(state: str) -> None:
    event = an_event(contract.DETAIL_STATE_CHANGE, detail={"instance-id": INSTANCE, "state": state})
    assert parse(json.dumps(event)) == Gone(INSTANCE, state, AT)


def test_a_reservation_taken_back_carries_its_exact_moment() -> None:
    detail = {"instance-id": INSTANCE, "instance-termination-time": "2026-11-02T03:14:05Z"}
    notice = notice_of(an_event(contract.DETAIL_CAPACITY_RESERVATION, detail=detail))
    assert (notice.reason, notice.reclaim_at - notice.noticed_at) == (
        Reason.CAPACITY_RESERVATION,
        timedelta(minutes=10),
    )


def test_an_archive_s_replay_is_known_by_its_name() -> None:
    assert notice_of(an_event(replay_name="last-tuesday")).is_replayed
    assert not notice_of(an_event()).is_replayed


def test_a_spot_request_s_fulfillment_names_its_instance() -> None:
    event = an_event(
        contract.DETAIL_SPOT_FULFILLMENT, detail={"instance-id": INSTANCE, "spot-instance-request-id": "s"}
    )
    assert parse(json.dumps(event)) == Fulfilled(INSTANCE, AT)


def test_every_instance_of_a_health_event_counts_once() -> None:
    other = "i-0bbbbbbbbbbbbbbbb"
    entities = [{"entityValue": v} for v in (INSTANCE, "vol-0cccccccccccccccc", other, INSTANCE, None, "i-xyz")]
    message = parse(json.dumps(a_health_event(affectedEntities=[*entities, "loose", 3])))
    assert isinstance(message, ScheduledChange)
    assert message.instance_ids == (INSTANCE, other)
    assert message.code == "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED"


def test_a_health_event_without_instances_is_nothing_to_act_on() -> None:
    for entities in ([], None, [{"entityValue": "vol-0cccccccccccccccc"}]):
        assert isinstance(parse(json.dumps(a_health_event(affectedEntities=entities))), Ignored)
    assert reason_of(a_health_event(affectedEntities="all")) == 'detail.affectedEntities: "all" is no list'


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Wed, 11 Nov 2026 10:00:00 GMT", datetime(2026, 11, 11, 10, tzinfo=UTC)),
        ("Tue, 1 Dec 2026 00:00:09 GMT", datetime(2026, 12, 1, 0, 0, 9, tzinfo=UTC)),
        ("2026-11-11T10:00:00Z", datetime(2026, 11, 11, 10, tzinfo=UTC)),
    ],
)
def test_a_health_event_s_start_is_read_in_either_writing(text: str, moment: datetime) -> None:
    message = parse(json.dumps(a_health_event(startTime=text)))
    assert isinstance(message, ScheduledChange)
    assert message.starts_at == moment


@pytest.mark.parametrize(
    "text", ["Wed, 31 Feb 2026 10:00:00 GMT", "Wed, 11 Nov 2026 10:00:00 CET", "soon", "11 Foo 2026 10:00:00 GMT"]
)
def test_a_health_event_s_start_that_is_no_time_is_refused(text: str) -> None:
    assert reason_of(a_health_event(startTime=text)) == f'detail.startTime: "{text}" is no time with an offset'


def test_a_hook_is_read_alike_from_event_bridge_and_from_auto_scaling_itself() -> None:
    hook = {
        "EC2InstanceId": INSTANCE,
        "AutoScalingGroupName": "workers",
        "LifecycleHookName": "drain",
        "LifecycleActionToken": "t",
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
    }
    event = an_event(contract.DETAIL_LIFECYCLE_TERMINATE, contract.SOURCE_AUTO_SCALING, hook)
    expected = LifecycleTerminate(LifecycleHook(INSTANCE, "workers", "drain", AT, "t"))
    assert parse(json.dumps(event)) == expected
    assert parse(json.dumps(hook | {"Time": "2026-11-02T03:04:05.000Z"})) == expected


@pytest.mark.parametrize("key", ["Event", "LifecycleTransition"])
def test_a_test_notification_is_acknowledged_whatever_it_calls_itself(key: str) -> None:
    assert parse(json.dumps({key: "autoscaling:TEST_NOTIFICATION"})) == Ignored(
        'a message "autoscaling:TEST_NOTIFICATION"'
    )


def test_a_topic_s_handshake_is_nothing_to_act_on() -> None:
    body = json.dumps({"Type": "SubscriptionConfirmation", "Message": "You have chosen to subscribe", "Token": "t"})
    assert parse(body) == Ignored("a topic's SubscriptionConfirmation")


@pytest.mark.parametrize(
    "variant",
    [
        contract.DETAIL_SPOT_INTERRUPTION.lower(),
        contract.DETAIL_SPOT_INTERRUPTION + " ",
        contract.DETAIL_SPOT_INTERRUPTION.replace("Warning", "warning"),
        "EC2 Spot Instance",
    ],
)
def test_a_detail_type_that_only_resembles_one_is_unknown(variant: str) -> None:
    assert parse(json.dumps(an_event(variant))) == Ignored(f'"aws.ec2" "{variant}"')


@pytest.mark.parametrize(
    "value",
    [
        "../../nodes",
        "",
        INSTANCE.upper(),
        INSTANCE + "\n",
        f" {INSTANCE}",
        INSTANCE[:-1],
        INSTANCE + "0",
        "i-0a1b2c3d4e5f6071g",
        "i-０a1b2c3d4e5f60718",
        "i-",
    ],
)
def test_an_instance_id_is_one_as_a_whole_or_not_at_all(value: str) -> None:
    reason = reason_of(an_event(detail={"instance-id": value}))
    assert reason == f"detail.instance-id: {json.dumps(value)} is no instance id"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (an_event(detail={"instance-id": 12345678}), "detail.instance-id: 12345678 is no instance id"),
        (an_event(detail={"instance-id": [INSTANCE]}), "detail.instance-id: a list is no instance id"),
        (an_event(detail={"instance-id": None}), "detail.instance-id: missing"),
        (an_event(detail={}), "detail.instance-id: missing"),
        (an_event(detail=[1]), "detail: a list is no object"),
        (an_event(detail="{}"), 'detail: "{}" is no object'),
        (an_event(detail=...), "detail: missing"),
        (an_event("EBS Volume Notification", detail=...), "detail: missing"),
        (an_event(source=...), "source: missing"),
        (an_event(source=7), "source: 7 is no text"),
        (an_event(detail_type=...), "detail-type: missing"),
        (an_event(time=...), "time: missing"),
        (an_event(time=1793588645), "time: 1793588645 is no time with an offset"),
        (
            an_event(contract.DETAIL_STATE_CHANGE, detail={"instance-id": INSTANCE, "state": True}),
            "detail.state: true is no text",
        ),
        (an_event(contract.DETAIL_CAPACITY_RESERVATION), "detail.instance-termination-time: missing"),
        ({}, "body: no event (no detail-type, LifecycleTransition or Message)"),
        ({"Message": {"detail-type": "x"}}, "body: no event (no detail-type, LifecycleTransition or Message)"),
        ([1], "body: JSON, but no object"),
        ("null", "body: JSON, but no object"),
        ("{", "body: no JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
        ('{"time": NaN}', "body: no JSON (NaN is none of JSON's)"),
        (through_topics("?"), "Message: no JSON (Expecting value: line 1 column 1 (char 0))"),
        (through_topics(json.dumps(an_event(detail={}))), "Message.detail.instance-id: missing"),
        (through_topics("[]", 2), "Message.Message: JSON, but no object"),
    ],
)
def test_a_reason_says_where_and_why(event: object, reason: str) -> None:
    assert reason_of(event) == reason


@pytest.mark.parametrize(
    "time",
    [
        "yesterday",
        "2026-11-02T03:04:05",
        "2026-11-02",
        "20261102T030405Z",
        "2026-11-02T03:04:05+0100",
        "2026-11-02T03:04:05Z\n",
        "2026-02-30T03:04:05Z",
        "２026-11-02T03:04:05Z",
        "2026-11-02T03:04:05+25:00",
        "0001-01-01T00:00:00+02:00",
        "9999-12-31T23:59:59-02:00",
    ],
)
def test_a_time_that_is_none_or_has_no_offset_is_refused(time: str) -> None:
    assert reason_of(an_event(time=time)) == f"time: {json.dumps(time)} is no time with an offset"


@pytest.mark.parametrize(
    "time", ["1999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2200-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
)
def test_a_time_of_another_age_is_refused(time: str) -> None:
    assert reason_of(an_event(time=time)) == f'time: "{time}" is out of range'


@pytest.mark.parametrize(
    "time", ["2026-11-02T03:04:05.123456789Z", "2026-11-02t03:04:05z", "2026-11-01T22:34:05-04:30"]
)
def test_a_time_is_read_in_every_writing_of_rfc_3339(time: str) -> None:
    noticed_at = notice_of(an_event(time=time)).noticed_at
    assert noticed_at.replace(microsecond=0) == AT
    assert noticed_at.tzinfo is UTC
