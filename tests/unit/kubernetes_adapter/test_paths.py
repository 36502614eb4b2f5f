"""No name reaches a URL unchecked."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.adapters.kubernetes import paths
from lambdas.adapters.kubernetes.paths import BadName

names = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?){0,4}", fullmatch=True)


@given(st.text() | st.text("./%?#&\\ \n:@-aA0", max_size=12))
def test_a_name_is_one_segment_of_the_path_or_none_at_all(name: str) -> None:
    try:
        path = paths.node(name)
    except BadName:
        return
    assert urlsplit(f"https://host{path}").path == path
    assert path.split("/") == ["", "api", "v1", "nodes", name]
    assert name not in (".", "..")


@given(names, names)
def test_every_kubernetes_name_is_taken(namespace: str, name: str) -> None:
    assert paths.eviction(namespace, name) == f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a..b",
        "-a",
        "a-",
        "a/b",
        "a%2fb",
        "A",
        "a\n",
        "a b",
        "a?x=1",
        "../../secrets",
        "a" * 254,
        "ünter",
    ],
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(BadName, match="not a Kubernetes name"):
        paths.checked(name)
    assert not paths.is_name(name)


@pytest.mark.parametrize("name", ["a", "ip-10-0-1-2.eu-west-1.compute.internal", "i-0abc", "a" * 253, "0"])
def test_names_of_nodes_are_names(name: str) -> None:
    assert paths.checked(name) == name
    assert paths.is_name(name)
