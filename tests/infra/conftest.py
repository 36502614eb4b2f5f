import pytest

from tests.infra.synth import Template, synthesize


@pytest.fixture(scope="session")
def template() -> Template:
    """The template with every setting at its default."""
    return synthesize()
