"""What is uploaded: our code as it stands, and the layer, each with a hash that changes only with its content."""

import shutil
from pathlib import Path
from typing import Any, Final

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, IgnoreMode, ILocalBundling, aws_lambda

from infra.layer import Layer, LayerError

SHIPPED: Final = ("/*", "!/lambdas", "__pycache__", "/lambdas/**/*.*", "!/lambdas/**/*.py")
"""As in .gitignore, over the repository's root: of all files only lambdas/**/*.py, under that very path, so that the
import name in Lambda is the repository's."""


def function_code(root: Path) -> aws_lambda.Code:
    """The package `lambdas` of the repository at `root`, and nothing else of it."""
    return aws_lambda.Code.from_asset(str(root), exclude=list(SHIPPED), ignore_mode=IgnoreMode.GIT)


def layer_code(bundling: "LocalBundling") -> aws_lambda.Code:
    """The layer; built only where the CDK needs it (not for `cdk ls`, `cdk destroy`, or a test)."""
    return aws_lambda.Code.from_asset(
        str(bundling.layer.requirements.parent),
        asset_hash=bundling.layer.digest,
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(image=DockerImage.from_registry("never-used"), local=bundling),
    )


@jsii.implements(ILocalBundling)
class LocalBundling:
    """Puts the layer where the CDK wants it. Never leaves it to Docker: it has built it, or it has raised.

    The error crosses into JavaScript and back and loses its type on the way: `failure` keeps it.
    """

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.failure: LayerError | None = None

    def try_bundle(self, output_dir: str, *_options: Any, **_more: Any) -> bool:
        """True, always. Raises LayerError. (jsii passes Docker's options by position, its own types by name.)"""
        try:
            built = self.layer.build()
        except LayerError as error:
            self.failure = error
            raise
        shutil.copytree(built, output_dir, dirs_exist_ok=True)
        return True
