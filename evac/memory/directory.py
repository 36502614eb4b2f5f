"""`InstanceDirectory` of instances that somebody names."""

from collections.abc import Iterable, Mapping

from lambdas.domain.errors import PortError
from lambdas.domain.values.notices import Instance


class MemoryDirectory:
    """Law: an instance that nobody named is unknown, which is an answer, not an error."""

    def __init__(self, instances: Iterable[Instance] = ()) -> None:
        self._instances = {instance.instance_id: instance for instance in instances}
        self.error: PortError | None = None
        self.asked: list[tuple[str, ...]] = []
        """The ids of each call."""

    def put(self, instance: Instance) -> None:
        """Name an instance, or say something new about it."""
        self._instances[instance.instance_id] = instance

    def describe(self, instance_ids: Iterable[str]) -> Mapping[str, Instance]:
        """Those that are known."""
        ids = tuple(instance_ids)
        self.asked.append(ids)
        if self.error:
            raise self.error
        return {i: self._instances[i] for i in ids if i in self._instances}
