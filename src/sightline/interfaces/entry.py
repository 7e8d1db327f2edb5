"""The command's entry point: an agent's hook is told apart before the command line is built."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sightline` with these arguments (those of the process when None): its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["hook"]:
        return hook()
    from sightline.interfaces.cli import cli

    return cli.run(args)


def hook() -> int:
    """Let the agent's call pass, and say why nothing judged it.

    Exit 2 would block the call in several products, and no installation may do that by accident.
    """
    sys.stderr.write("sightline: hooks come with a later version; nothing was checked.\n")
    return 0
