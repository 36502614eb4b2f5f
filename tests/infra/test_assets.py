"""What is uploaded. Nothing here asks a package index."""

import json
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from infra import layer as layers
from infra.assets import LocalBundling
from infra.layer import Layer, LayerError
from tests.infra.synth import ROOT, assembly

RUNTIME = {"boto3", "botocore", "s3transfer"}
"""What Lambda's own Python brings along (Lambda developer guide, Python)."""

LOADED = """
import sys
before = set(sys.modules)  # what site's own .pth files load is not ours
import importlib, importlib.metadata, json, pkgutil, lambdas
for module in pkgutil.walk_packages(lambdas.__path__, "lambdas."):
    importlib.import_module(module.name)
owners = importlib.metadata.packages_distributions()
files = {name: module.__file__ for name, module in list(sys.modules.items()) if getattr(module, "__file__", None)}
foreign = {name: file for name, file in files.items() if "site-packages" in file and name not in before}
json.dump({file: owners.get(name.partition(".")[0], ["?"]) for name, file in foreign.items()}, sys.stdout)
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    requirements = tmp_path / "lambda.txt"
    requirements.write_text("no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n")
    return Layer(requirements=requirements, cache=tmp_path / "cache")


def _already_built(layer: Layer) -> Path:
    module = layer.folder / "python" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("")
    return module


def test_the_code_that_is_uploaded_is_the_package_lambdas_and_nothing_else() -> None:
    with assembly() as made:
        (asset,) = [folder for folder in Path(made.directory).glob("asset.*") if (folder / "lambdas").is_dir()]
        shipped = {file.relative_to(asset).as_posix() for file in asset.rglob("*") if file.is_file()}
    sources = {file.relative_to(ROOT).as_posix() for file in (ROOT / "lambdas").rglob("*.py")}
    assert shipped == sources


def test_a_layer_that_was_built_once_is_not_built_again(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    _already_built(layer)
    monkeypatch.setattr(layers, "_install", lambda *_: pytest.fail("asked pip again"))
    assert layer.build() == layer.folder


def test_another_pin_is_another_layer(layer: Layer) -> None:
    before = layer.digest
    layer.requirements.write_text("other==2.0\n")
    assert layer.digest != before


def test_a_layer_that_cannot_be_built_says_what_to_type_in_one_line_and_leaves_nothing(
    layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(LayerError) as failure:
        layer.build()
    assert "no-such-package" in str(failure.value)
    assert "type `python -m infra.layer`" in str(failure.value)
    assert "\n" not in str(failure.value)
    assert list(layer.cache.iterdir()) == []


def test_the_cdk_gets_the_layer_where_it_wants_it(layer: Layer, tmp_path: Path) -> None:
    _already_built(layer)
    assert LocalBundling(layer).try_bundle(str(tmp_path / "out")) is True
    assert (tmp_path / "out" / "python" / "module.py").exists()


def test_the_cdk_is_never_sent_to_docker(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    bundling = LocalBundling(layer)
    with pytest.raises(LayerError):
        bundling.try_bundle(str(layer.cache))
    assert bundling.failure is not None


def test_pruning_leaves_packages_and_what_identifies_them(tmp_path: Path) -> None:
    kept = ["kubernetes/client/api.py", "a-1.0.dist-info/METADATA", "a-1.0.dist-info/licenses/LICENSE", "six.py"]
    gone = ["bin/tool", "kubernetes/aio/x.py", "a/tests/test_a.py", "a/__pycache__/a.pyc", "a-1.0.dist-info/RECORD"]
    for name in [*kept, *gone]:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    layers._prune(tmp_path)
    assert sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()) == sorted(
        kept
    )


@pytest.fixture(scope="module")
def loaded() -> dict[str, list[str]]:
    """Every file of other people's that is loaded once all of `lambdas` is, and the distributions it may be of."""
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True)
    files: dict[str, list[str]] = json.loads(done.stdout)
    return files


def test_nothing_that_is_pruned_is_imported(loaded: dict[str, list[str]]) -> None:
    folders = [pattern.removeprefix("**/") for pattern in layers.PRUNED]
    patterns = [f"*/site-packages/{before}{folder}/*" for folder in folders for before in ("", "*/")]
    assert [file for file in loaded if any(fnmatch(file, pattern) for pattern in patterns)] == []


def test_what_the_function_imports_is_in_the_layer_or_in_the_runtime(loaded: dict[str, list[str]]) -> None:
    pins = (ROOT / "requirements" / "lambda.txt").read_text()
    layer = {line.partition("==")[0].lower() for line in pins.splitlines() if "==" in line}
    names = {tuple(name.lower().replace("_", "-") for name in owners) for owners in loaded.values()}
    assert [owners for owners in names if not (layer | RUNTIME) & set(owners)] == []
