"""Who goes, who is released, and who waits, of one workload at one moment."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.plan import Plan, plan
from lambdas.domain.decisions.release_memory import ReleaseMemory
from lambdas.domain.decisions.steps import Free, Go, Hold, Stay
from lambdas.domain.values.actions import Release
from lambdas.domain.values.answers import Conflict, Done, Forbidden
from lambdas.domain.values.kubernetes import Owner, Pod
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView
from lambdas.domain.values.releases import Released
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.settings import ReleaseMode, Settings
from lambdas.domain.values.workloads import Deployment, ReplicaSet
from tests.unit.builders import at, current, doomed, pod

READ: dict[str, Any] = {"freshness": Freshness.CURRENT}
LABELS = {"app": "web", LABEL_TEMPLATE_HASH: "h"}
DEPLOYMENT = Owner("Deployment", "web", "d-1", "apps/v1")
OURS = Owner("ReplicaSet", "web-h", "rs-1", "apps/v1")
ALL = Settings(release=ReleaseMode.ALL)


def owned(name: str, node: str = "spot-a", *, ready: bool = True) -> Pod:
    """A pod of the ReplicaSet, made and Ready long ago."""
    made = pod(name, labels=LABELS, ready=ready, created_at=at(-100), scheduled_at=at(-100), ready_at=at(-90))
    return replace(made, owner=OURS, node_name=node)


def released(name: str, node: str = "spot-a") -> Pod:
    """A pod that was released from it at second 0."""
    mark = Released("web-h", "rs-1", "web", "d-1", "h", at(0))
    return replace(owned(name, node), owner=None, released=mark)


def around(*pods: Pod, replicas: int, memory: ReleaseMemory | None = None, **more: Any) -> Around:
    """A namespace with one Deployment and these pods, all of which was read."""
    deployment = Deployment("default", "web", "d-1", replicas=replicas, max_surge=10, revision="1")
    replica_set = ReplicaSet("default", "web-h", "rs-1", Selector.from_labels(LABELS), DEPLOYMENT, replicas, "1")
    kinds = ("daemonsets", "jobs", "replicationcontrollers", "networkpolicies")
    view = NamespaceView(
        pods=Listing(pods, **READ),
        deployments=Listing((deployment,), **READ),
        replica_sets=Listing((replica_set,), **READ),
        selecting={kind: Listing((), **READ) for kind in kinds},
        quotas=Listing((), **READ),
        autoscalers=Listing((), **READ),
        claims=Listing((), **READ),
    )
    services: Listing[Any] = Listing((), **READ)
    return Around({"default": view}, services, memory=memory or ReleaseMemory(), **more)


def step(*on_node: Pod, of: Around, settings: Settings = ALL, now: float = 1) -> Plan:
    """The plan for the pods of the node."""
    return plan(doomed(*on_node, settings=settings), current(), {}, settings, at(now), around=of)


def going(of: Plan) -> list[str]:
    """Who goes."""
    return sorted(ref.name for ref, decision in of.decisions.items() if isinstance(decision, Go))


def freed(of: Plan) -> list[str]:
    """Who is released."""
    return sorted(ref.name for ref, decision in of.decisions.items() if isinstance(decision, Free))


def test_a_surplus_lets_released_pods_go_first_whatever_their_names() -> None:
    early, late, elsewhere = owned("a"), released("z"), owned("n", "od-1")
    assert going(step(early, late, of=around(early, late, elsewhere, replicas=2))) == ["z"]


def test_nobody_goes_while_as_many_are_ready_as_are_wanted() -> None:
    first, second = released("a"), released("b")
    made = step(first, second, of=around(first, second, replicas=2))
    assert going(made) == []
    assert {d.hold for d in made.decisions.values() if isinstance(d, Stay)} == {Hold.REPLACEMENT}


def test_one_pod_stays_owned_until_there_is_a_replacement() -> None:
    pods = (released("r"), owned("a"), owned("b"))
    assert freed(step(*pods, of=around(*pods, replicas=3))) == ["a"]
    fresh = replace(owned("new", "od-1", ready=False), created_at=at(1))
    assert freed(step(*pods, of=around(*pods, fresh, replicas=3))) == ["a", "b"]


def test_the_only_pod_of_a_deployment_is_released_all_the_same() -> None:
    alone = owned("a")
    assert freed(step(alone, of=around(alone, replicas=1))) == ["a"]


def test_the_first_release_goes_alone_and_no_other_while_it_is_on_its_way() -> None:
    pods, memory = (owned("a"), owned("b"), owned("c")), ReleaseMemory()
    made = step(*pods, of=around(*pods, replicas=3, memory=memory))
    assert freed(made) == ["a"]
    memory.asked(ask_of(made, "a"))
    assert freed(step(*pods, of=around(*pods, replicas=3, memory=memory))) == []


def ask_of(made: Plan, name: str) -> Release:
    """The release of one pod in a plan."""
    return next(d.ask for ref, d in made.decisions.items() if ref.name == name and isinstance(d, Free))


def test_once_it_was_accepted_it_counts_as_released_though_that_does_not_show_yet() -> None:
    pods, memory = (owned("a"), owned("b"), owned("c")), ReleaseMemory()
    ask = ask_of(step(*pods, of=around(*pods, replicas=3, memory=memory)), "a")
    memory.asked(ask)
    memory.answered(ask, pods[0], Done(), at(1))
    assert freed(step(*pods, of=around(*pods, replicas=3, memory=memory))) == ["b"]


def test_a_refusal_counts_for_the_whole_workload() -> None:
    pods, memory = (owned("a"), owned("b"), owned("c")), ReleaseMemory()
    ask = ask_of(step(*pods, of=around(*pods, replicas=3, memory=memory)), "a")
    memory.asked(ask)
    memory.answered(ask, pods[0], Forbidden("no ownerless pods here"), at(1))
    made = step(*pods, of=around(*pods, replicas=3, memory=memory))
    assert going(made) == ["a", "b", "c"]  # no budget holds them, and nothing is won by waiting
    assert set(made.refusals.values()) == {"its release was refused: no ownerless pods here"}


def test_what_changed_in_between_is_tried_again_after_a_moment() -> None:
    pods, memory = (owned("a"), owned("b")), ReleaseMemory()
    ask = ask_of(step(*pods, of=around(*pods, replicas=2, memory=memory)), "a")
    memory.asked(ask)
    memory.answered(ask, pods[0], Conflict("somebody was faster"), at(1))
    made = step(*pods, of=around(*pods, replicas=2, memory=memory))
    assert freed(made) == []
    assert made.look_again_at
    assert made.look_again_at < at(1.2)
    assert freed(step(*pods, of=around(*pods, replicas=2, memory=memory), now=1.2)) == ["a"]


def test_pods_past_their_last_safe_moment_use_up_the_surplus_that_others_wait_for() -> None:
    due, other = released("due"), released("other", "spot-b")
    spare = owned("n", "od-1")
    both = [*doomed(due, reclaim=30), *doomed(other, node="spot-b", reclaim=120)]
    made = plan(both, current(), {}, ALL, at(1), around=around(due, other, spare, replicas=2))
    assert going(made) == ["due"]


def test_pods_on_hosts_that_were_taken_serve_nobody() -> None:
    mine, gone = released("a"), owned("n", "spot-z")
    assert going(step(mine, of=around(mine, gone, replicas=1))) == ["a"]
    assert going(step(mine, of=around(mine, gone, replicas=1, taken_hosts=frozenset({"spot-z"})))) == []


def test_pods_of_other_marked_nodes_are_counted_in_one_order_with_ours() -> None:
    mine, theirs, spare = released("b"), released("a", "spot-b"), owned("n", "od-1")
    elsewhere = doomed(theirs, node="spot-b", reclaim=110)
    first = around(mine, theirs, spare, replicas=2, elsewhere=elsewhere)
    assert going(step(mine, of=first)) == []  # theirs is due earlier, and takes the one that may go
    later = around(mine, theirs, spare, replicas=2, elsewhere=doomed(theirs, node="spot-b", reclaim=130))
    assert going(step(mine, of=later)) == ["b"]


def test_nothing_is_decided_while_the_workloads_are_still_being_read() -> None:
    mine = owned("a")
    made = step(mine, of=Around(awaited=frozenset({"default"})))
    [decision] = made.decisions.values()
    assert isinstance(decision, Stay)
    assert decision.hold is Hold.ANSWER


def test_min_ready_seconds_are_counted_from_ready() -> None:
    mine = released("a")
    fresh = replace(owned("n", "od-1"), ready_at=at(0), created_at=at(0))
    of = around(mine, fresh, replicas=1)
    [deployment] = of.namespaces["default"].deployments.items
    patient = replace(deployment, min_ready=timedelta(seconds=10))
    view = replace(of.namespaces["default"], deployments=Listing((patient,), **READ))
    of = replace(of, namespaces={"default": view})
    assert going(step(mine, of=of)) == []
    assert step(mine, of=of).look_again_at == at(10)
    assert going(step(mine, of=of, now=10)) == ["a"]


def test_a_pod_past_its_last_safe_moment_is_not_released_any_more() -> None:
    late = owned("a")
    made = step(late, of=around(late, owned("n", "od-1"), replicas=2), now=86)
    assert freed(made) == []
    assert going(made) == ["a"]


def test_a_pod_that_came_to_the_node_after_the_notice_is_not_released_while_more_may_come() -> None:
    new = owned("a")
    [before] = doomed(new, settings=ALL)
    of = around(new, owned("n", "od-1"), replicas=2)
    made = plan([replace(before, came_after_notice=True)], current(), {}, ALL, at(1), around=of)
    assert freed(made) == []
    assert freed(plan([before], current(), {}, ALL, at(1), around=of)) == ["a"]
