"""Asking the user at a terminal, where the policy "ask" wants it."""

from __future__ import annotations

import sys

import click

from sightline.interfaces.cli import output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sightline.interfaces.cli.call import Call


def approver(call: Call) -> Callable[[str, str], bool] | None:
    """Asks (path, diff) on the terminal; None where nobody sits at one."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def approve(path: str, diff: str) -> bool:
        output.note(call, output.coloured(call, diff, sys.stderr))
        try:
            return click.confirm(f"{path} is protected. Make this change?", err=True)
        except click.Abort:
            raise KeyboardInterrupt from None

    return approve
