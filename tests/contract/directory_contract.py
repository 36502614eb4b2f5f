"""What every `InstanceDirectory` owes. An `instances` fixture can launch some."""

from typing import Protocol

from lambdas.application.ports import InstanceDirectory

NOBODYS = "i-0a1b2c3d4e5f60718"


class Instances(Protocol):
    """An account that instances can be launched in."""

    @property
    def directory(self) -> InstanceDirectory:
        """Who is asked."""
        ...

    def launch(self, *cluster_names: str) -> str:
        """A running instance with the tags of these clusters; its id."""
        ...

    def terminate(self, instance_id: str) -> None:
        """End it; EC2 still knows it for a while."""
        ...


def test_a_running_instance_is_known_with_its_clusters(instances: Instances) -> None:
    launched = instances.launch("blue", "green")
    found = instances.directory.describe([launched])[launched]
    assert (found.instance_id, found.state) == (launched, "running")
    assert found.cluster_names == {"blue", "green"}
    assert found.private_dns_name


def test_an_instance_without_tags_names_no_cluster(instances: Instances) -> None:
    launched = instances.launch()
    assert instances.directory.describe([launched])[launched].cluster_names == frozenset()


def test_an_unknown_id_is_left_out_and_costs_the_others_nothing(instances: Instances) -> None:
    launched = instances.launch("blue")
    assert instances.directory.describe([NOBODYS]) == {}
    assert set(instances.directory.describe([NOBODYS, launched])) == {launched}


def test_nothing_asked_is_nothing_known(instances: Instances) -> None:
    assert instances.directory.describe([]) == {}


def test_an_instance_asked_for_twice_is_told_once(instances: Instances) -> None:
    launched = instances.launch()
    assert list(instances.directory.describe([launched, launched])) == [launched]


def test_an_instance_that_is_terminated_says_so(instances: Instances) -> None:
    launched = instances.launch("blue")
    instances.terminate(launched)
    assert instances.directory.describe([launched])[launched].state in {"shutting-down", "terminated"}
