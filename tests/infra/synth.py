"""Synthesizes the stack as `cdk synth` does, offline and without building the layer.

`synthesize(**context)` is for every test that needs the template, wherever it lives.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aws_cdk import App
from aws_cdk.cx_api import CloudAssembly

from infra import nag
from infra.assets import LocalBundling, function_code, layer_code
from infra.layer import layer_of
from infra.settings import Settings
from infra.stack import EvacStack

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = "demo"
ENDPOINT = "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n...").decode()

Template = dict[str, Any]


def synthesize(**context: object) -> Template:
    """The template for this context (clusterName is `demo` unless given); the same one is made only once."""
    return _template(json.dumps(context, sort_keys=True))


def resources(template: Template, kind: str) -> dict[str, Any]:
    """The properties of all resources of a type, by logical id."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


def the_one(template: Template, kind: str) -> Any:
    """The properties of the only resource of a type."""
    (properties,) = resources(template, kind).values()
    return properties


def named(template: Template, part: str, kind: str) -> str:
    """The logical id of the only resource of a type whose id has this part."""
    (found,) = [name for name in resources(template, kind) if part in name]
    return found


def routing(template: Template) -> Template:
    """The part of a template that moto can create and that carries an event: rules, queues, ledger."""
    kinds = {"AWS::Events::Rule", "AWS::SQS::Queue", "AWS::DynamoDB::Table"}
    swept = {named(template, "EachMinute", "AWS::Events::Rule")}
    return {
        "Resources": {
            name: it for name, it in template["Resources"].items() if it["Type"] in kinds and name not in swept
        }
    }


def notice_rules(template: Template) -> dict[str, Any]:
    """The properties of the rules that wait for events, by logical id."""
    rules = resources(template, "AWS::Events::Rule")
    return {name: rule for name, rule in rules.items() if "EventPattern" in rule}


def of_function(template: Template, whose: str, kind: str) -> Any:
    """The properties of the resource of a type that belongs to one function: Interruption or Sweeper."""
    (found,) = [it for name, it in resources(template, kind).items() if name.startswith(whose)]
    return found


@contextmanager
def assembly(**context: object) -> Iterator[CloudAssembly]:
    """The whole cloud assembly, gone when the block ends."""
    with TemporaryDirectory() as folder:
        app = App(outdir=folder, analytics_reporting=False, context=_as_cdk_gives_it(context))
        EvacStack(
            app,
            settings=Settings.from_context(app.node.get_all_context()),
            code=function_code(ROOT),
            dependencies=layer_code(LocalBundling(layer_of(ROOT))),
        )
        nag.check(app)
        yield app.synth()


@cache
def _template(context: str) -> Template:
    with assembly(**json.loads(context)) as made:
        template: Template = json.loads(Path(made.stacks[0].template_full_path).read_text())
    return template


def _as_cdk_gives_it(context: Mapping[str, object]) -> dict[str, object]:
    ours = json.loads((ROOT / "cdk.json").read_text())["context"]
    return {"clusterName": CLUSTER, **ours, **context, "aws:cdk:bundling-stacks": []}
