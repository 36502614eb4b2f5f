"""Names as long as they may be, and a notice for a node that a person drains. Seconds from the notice."""

import pytest

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Simulation
from lambdas.application.requests import Ports
from lambdas.application.sweeping import sweep
from lambdas.contract import ANNOTATION_MARK, ANNOTATION_RELEASED_FROM, LABEL_RELEASED
from lambdas.domain.values.marks import decode_mark
from lambdas.domain.values.releases import RELEASED, WRITTEN_ON_RELEASE, Released, encode_release
from tests.scenarios.stage import drain
from tests.scenarios.test_stalls import marked
from tests.scenes import at, bare, deployment, node, times


@pytest.mark.parametrize("length", [20, 47, 48, 53, 60])
def test_a_released_pod_of_a_long_name_is_given_back_too(length: int) -> None:
    """A generated name keeps 58 characters of its base (apiserver, pkg/storage/names/generate.go)."""
    name = "w" * length
    owner, sets, pod = deployment(name, {"od-1": 1}, annotations=times(1, 1))
    replica_set = sets["metadata"]["name"]
    pod["metadata"]["name"] = f"{replica_set}-"[:58] + "x7k2p"
    pod["metadata"].pop("ownerReferences")
    pod["metadata"]["labels"] |= {"pod-template-hash": "released-5d4f8c7b9", LABEL_RELEASED: RELEASED}
    mark = Released(replica_set, sets["metadata"]["uid"], name, owner["metadata"]["uid"], "5d4f8c7b9", at(-600))
    pod["metadata"]["annotations"] |= {**WRITTEN_ON_RELEASE, ANNOTATION_RELEASED_FROM: encode_release(mark)}
    simulation = Simulation([node("od-1"), owner, sets, pod], at(-1))
    simulation.run_until(at(0))
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter())
    swept = sweep(ports, owner="s", until=at(175))
    assert len(swept.pods_taken_back) == 1


@pytest.mark.parametrize("reclaim", [None, 60, 3600])
def test_a_notice_writes_its_reclaim_over_a_persons_mark_whatever_deadline_that_had(reclaim: float | None) -> None:
    """`evac drain --within 1h`, and two minutes' notice meanwhile: the sweep finishes no person's drain."""
    outcome = drain(marked("spot-a", "maintenance", reclaim, -600), node("od-1"), bare("p", "spot-a"))
    found = outcome.simulation.get("Node", "", "spot-a")
    assert found
    mark = decode_mark(found["metadata"]["annotations"][ANNOTATION_MARK])
    assert mark
    assert (mark[0].reason, mark[0].reclaim_at) == ("spot-interruption", at(120))
