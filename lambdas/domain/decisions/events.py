"""What a queue message means: body in, one value out, by a table keyed (source, detail-type).

Law: parsing does no I/O, knows no clock and never raises. Unknown is a value, and so is unreadable.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from lambdas import contract
from lambdas.domain.decisions.envelope import is_topic_handshake, unwrap
from lambdas.domain.decisions.fields import Fields, Unreadable, is_instance_id, shown
from lambdas.domain.values.messages import (
    Fulfilled,
    Gone,
    Ignored,
    Interruption,
    LifecycleHook,
    LifecycleLaunch,
    LifecycleTerminate,
    Malformed,
    Message,
    Rebalance,
    ScheduledChange,
)
from lambdas.domain.values.notices import Notice, Reason

SPOT_NOTICE_LEAD: Final = timedelta(seconds=120)
"""Between a spot notice's time and the reclaim; no field carries it (EC2 user guide, spot interruption notices)."""


def parse(body: str | bytes) -> Message:
    """What the body of an SQS message says. Never raises; a `Malformed` says where and why."""
    try:
        return _read(unwrap(body))
    except Unreadable as error:
        return Malformed(str(error))


def _read(fields: Fields) -> Message:
    values = fields.values
    if "detail-type" in values or "source" in values:
        return _read_envelope(fields)
    if "LifecycleTransition" in values or "Event" in values:
        return _read_auto_scaling(fields)
    if is_topic_handshake(fields):
        return Ignored(f"a topic's {values['Type']}")
    raise Unreadable(f"{fields.path.rstrip('.') or 'body'}: no event (no detail-type, LifecycleTransition or Message)")


def _read_envelope(event: Fields) -> Message:
    source, detail_type = event.text("source"), event.text("detail-type")
    event.child("detail")
    reader = _READERS.get((source, detail_type))
    return reader(event) if reader else Ignored(f"{shown(source)} {shown(detail_type)}")


def _read_spot_notice(event: Fields) -> Message:
    """A hibernation begins at once; any other action, even one not known yet, comes after the two minutes."""
    detail, noticed_at = event.child("detail"), event.moment("time")
    lead = timedelta() if detail.optional_text("instance-action") == "hibernate" else SPOT_NOTICE_LEAD
    return _interruption(event, Reason.SPOT_INTERRUPTION, noticed_at + lead)


def _read_capacity_reservation(event: Fields) -> Message:
    reclaim_at = event.child("detail").moment("instance-termination-time")
    return _interruption(event, Reason.CAPACITY_RESERVATION, reclaim_at)


def _read_state_change(event: Fields) -> Message:
    """`state` is compared as a whole: a missing one must never drain a healthy node."""
    detail = event.child("detail")
    match state := detail.text("state"):
        case "stopping" | "shutting-down":
            return _interruption(event, Reason.INSTANCE_STOPPING, event.moment("time"))
        case "stopped" | "terminated":
            return Gone(detail.instance_id("instance-id"), state, event.moment("time"))
        case _:
            return Ignored(f"instance state {shown(state)}")


def _interruption(event: Fields, reason: Reason, reclaim_at: datetime) -> Interruption:
    instance_id = event.child("detail").instance_id("instance-id")
    is_replayed = event.values.get("replay-name") is not None
    return Interruption((Notice(instance_id, reason, event.moment("time"), reclaim_at, is_replayed),))


def _read_rebalance(event: Fields) -> Message:
    return Rebalance(event.child("detail").instance_id("instance-id"), event.moment("time"))


def _read_fulfillment(event: Fields) -> Message:
    return Fulfilled(event.child("detail").instance_id("instance-id"), event.moment("time"))


def _read_health(event: Fields) -> Message:
    """Every instance among the affected entities counts; they share one event id. Volumes and hosts are not ours."""
    detail = event.child("detail")
    service, category = detail.text("service"), detail.text("eventTypeCategory")
    if service != "EC2" or category != "scheduledChange":
        return Ignored(f"AWS Health {shown(category)} of {shown(service)}")
    instance_ids = _affected_instances(detail)
    if not instance_ids:
        return Ignored("AWS Health scheduledChange that names no instance")
    code = detail.optional_text("eventTypeCode")
    return ScheduledChange(instance_ids, event.moment("time"), detail.moment("startTime"), code)


def _affected_instances(detail: Fields) -> tuple[str, ...]:
    entities = detail.values.get("affectedEntities") or []
    if not isinstance(entities, list):
        raise detail.refuse("affectedEntities", f"{shown(entities)} is no list")
    named = [entity.get("entityValue") for entity in entities if isinstance(entity, dict)]
    return tuple(dict.fromkeys(str(name) for name in named if is_instance_id(name)))


def _read_terminate_hook(event: Fields) -> Message:
    return LifecycleTerminate(_hook(event.child("detail"), event.moment("time")))


def _read_launch_hook(event: Fields) -> Message:
    return LifecycleLaunch(_hook(event.child("detail"), event.moment("time")))


def _hook(fields: Fields, noticed_at: datetime) -> LifecycleHook:
    return LifecycleHook(
        instance_id=fields.instance_id("EC2InstanceId"),
        group_name=fields.text("AutoScalingGroupName"),
        hook_name=fields.text("LifecycleHookName"),
        noticed_at=noticed_at,
        token=fields.optional_text("LifecycleActionToken"),
    )


def _read_auto_scaling(message: Fields) -> Message:
    """What Auto Scaling itself sends to a queue or a topic: no envelope, and `Time` instead of `time`."""
    match message.values.get("LifecycleTransition"):
        case "autoscaling:EC2_INSTANCE_TERMINATING":
            return LifecycleTerminate(_hook(message, message.moment("Time")))
        case "autoscaling:EC2_INSTANCE_LAUNCHING":
            return LifecycleLaunch(_hook(message, message.moment("Time")))
        case None:
            return Ignored(f"a message {shown(message.text('Event'))}")
        case _:
            return Ignored(f"a message {shown(message.text('LifecycleTransition'))}")


_Reader = Callable[[Fields], Message]

_READERS: Final[Mapping[tuple[str, str], _Reader]] = {
    (contract.SOURCE_EC2, contract.DETAIL_SPOT_INTERRUPTION): _read_spot_notice,
    (contract.SOURCE_EC2, contract.DETAIL_CAPACITY_RESERVATION): _read_capacity_reservation,
    (contract.SOURCE_EC2, contract.DETAIL_STATE_CHANGE): _read_state_change,
    (contract.SOURCE_EC2, contract.DETAIL_REBALANCE): _read_rebalance,
    (contract.SOURCE_EC2, contract.DETAIL_SPOT_FULFILLMENT): _read_fulfillment,
    (contract.SOURCE_AUTO_SCALING, contract.DETAIL_LIFECYCLE_TERMINATE): _read_terminate_hook,
    (contract.SOURCE_AUTO_SCALING, contract.DETAIL_LIFECYCLE_LAUNCH): _read_launch_hook,
    (contract.SOURCE_HEALTH, contract.DETAIL_HEALTH): _read_health,
}
