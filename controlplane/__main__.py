"""`python -m controlplane build | up`: the binaries, or a control plane to look at."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time

from controlplane import NEWEST, ControlPlane, ControlPlaneError, provide, versions


def main() -> int:
    """Run one command; the process's exit code."""
    arguments = _parser().parse_args()
    try:
        if arguments.command == "build":
            print(provide(arguments.version))
        else:
            _up(arguments.version)
    except ControlPlaneError as error:
        print(f"control plane: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m controlplane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="find or build the binaries, and print their folder")
    up = commands.add_parser("up", help="start a control plane, print its kubeconfig, stay until Ctrl-C")
    for command in (build, up):
        command.add_argument("--version", default=NEWEST, choices=versions(), help=f"default {NEWEST}")
    return parser


def _up(version: str) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ControlPlane(version) as plane:
        print(plane.kubeconfig(), flush=True)
        print(f"control plane: up at {plane.url}; Ctrl-C ends it", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(1)
                plane.check()


if __name__ == "__main__":
    sys.exit(main())
