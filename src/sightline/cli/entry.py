"""The command's entry point: an agent's hook is told apart before the command line is built."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

GARBAGE = 50_000
"""Objects after which Python looks for garbage. Loading a command makes fewer, and they all stay."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sightline` with these arguments (those of the process when None): its exit code."""
    _open_all()
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["hook"]:
        from sightline.hooks.client import main as hook

        hook(args[1:])
    gc.set_threshold(GARBAGE)
    from sightline.cli.group import cli  # a hook starts without click
    from sightline.cli.output import let_go

    try:
        return cli.run(args)
    finally:
        let_go(sys.stdout)
        let_go(sys.stderr)
        gc.freeze()  # the process ends: its end need not look through what was loaded


def _open_all() -> None:
    """Take the places of the standard streams that were closed before we began, lest a file that
    is opened later gets one. What is written goes nowhere; stdin stays known to be closed, because
    a text that nobody gave is not an empty one."""
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
