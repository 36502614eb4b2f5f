#!/usr/bin/env python3
"""Reads the context and instantiates the stack: the only file that knows what is outside of it."""

import sys
from pathlib import Path

from aws_cdk import App

from infra import nag
from infra.assets import LocalBundling, function_code, layer_code
from infra.context import ContextError
from infra.layer import layer_of
from infra.settings import Settings
from infra.stack import EvacStack

ROOT = Path(__file__).resolve().parent


def main() -> int:
    """Synthesizes. 1, with one line on stderr, for a wrong context, a layer that cannot be built, or a finding."""
    bundling = LocalBundling(layer_of(ROOT))
    app = App(analytics_reporting=False)  # else the template depends on who synthesizes it
    try:
        settings = Settings.from_context(app.node.get_all_context())
        EvacStack(app, settings=settings, code=function_code(ROOT), dependencies=layer_code(bundling))
        nag.check(app)
        found = nag.findings(app.synth())
    except ContextError as error:
        return _refuse(str(error))
    except RuntimeError as error:  # what comes back from JavaScript has lost its type
        if bundling.failure is not None:
            return _refuse(str(bundling.failure))
        if str(error).startswith(nag.FAILED):
            return _refuse(str(error))
        raise
    return _refuse(f"findings: {', '.join(found)}") if found else 0


def _refuse(message: str) -> int:
    sys.stderr.write(f"evac: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
