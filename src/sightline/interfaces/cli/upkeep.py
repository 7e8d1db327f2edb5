"""The command's own affairs: up, completion, and hook for whoever reaches it this way."""

from __future__ import annotations

import os

import click

from sightline.interfaces.cli import output
from sightline.interfaces.cli.options import verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.cli.call import Call

AGENT_FOLDERS = {
    "claude-code": ".claude", "codex": ".codex", "gemini-cli": ".gemini", "cursor": ".cursor",
    "opencode": ".config/opencode", "cline": ".cline", "roo": ".roo", "copilot": ".copilot",
    "windsurf": ".codeium", "kiro": ".kiro", "goose": ".config/goose", "amp": ".config/amp",
}  # fmt: skip
"""Agent -> where it keeps its settings, in the user's home folder or in the workspace."""


@verb()
@click.option("--once", is_flag=True, help="Print the state and exit.")
@click.pass_obj
def up(call: Call, *, once: bool) -> None:
    """Print the state: workspace, store, agents, sessions."""
    from sightline.interfaces import shapes
    from sightline.interfaces.cli.words import status_lines
    from sightline.services import history

    with call.survey() as ground:
        with output.progress(call, "Looking at the files that sessions were shown"):
            found = history.status(ground, call.session)
        root = ground.workspace.root
        store = call.store_url(ground)
        agents = _agents(root)
        if call.json:
            sessions = [shapes.session_files(each) for each in found]
            output.json({"workspace": root, "store": store, "agents": agents, "sessions": sessions})
            return
        workspace, *rest = status_lines(call, ground, found, call.session)
        output.text(workspace)
        output.text(f"Store     {store}")
        output.text(f"Agents    {', '.join(agents) or 'none found'}")
        output.text("\n".join(rest))
    output.note(call, "Connecting agents comes with a later version; so far they are only named.")
    if not once:
        output.note(call, "The live view comes with a later version: this was `up --once`.")


@verb()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    bash: eval "$(sightline completion bash)"         in ~/.bashrc
    zsh:  eval "$(sightline completion zsh)"          in ~/.zshrc
    fish: sightline completion fish | source          in config.fish
    """
    from click.shell_completion import get_completion_class

    from sightline.interfaces.cli import cli

    made = get_completion_class(shell)
    assert made is not None
    output.text(made(cli, {}, "sightline", "_SIGHTLINE_COMPLETE").source())


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def hook(rest: tuple[str, ...]) -> None:  # noqa: ARG001 - taken so that nothing is wrong usage
    """Let the agent's call pass; what it says of itself (rest) is nothing to this version."""
    from sightline.interfaces import entry

    entry.hook()


def _agents(root: str) -> list[str]:
    homes = (os.path.expanduser("~"), root)
    return [
        agent
        for agent, folder in AGENT_FOLDERS.items()
        if any(os.path.isdir(os.path.join(home, folder)) for home in homes)
    ]
