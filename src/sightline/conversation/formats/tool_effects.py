"""Work out what a tool call does, to which files, and which lines of files its result shows."""

from __future__ import annotations

from msgspec import Struct

from sightline.conversation.formats import file_excerpts
from sightline.conversation.formats.file_writes import rewrites
from sightline.conversation.formats.shell_effects import (
    ShellEffect,
    output_excerpts,
    shell_effect,
    split_output,
)
from sightline.conversation.tool_calls import Call
from sightline.conversation.tool_names import SHELLS, deed_of, plain_name
from sightline.conversation.window.blocks import Deed, Excerpt, Rewrite
from sightline.conversation.written_files import paths_of


class Effect(Struct, frozen=True):
    """The effect of a call. shell: of a command."""

    call: Call
    deed: Deed
    paths: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    shell: ShellEffect | None = None


def effect_of(call: Call) -> Effect:
    """Work out the effect of a call, as far as its tool is known and its arguments can be parsed."""
    if plain_name(call.name) in SHELLS:
        shell = shell_effect(call)
        return Effect(call, shell.deed, shell.paths, shell.rewrites, shell)
    deed = deed_of(call)
    if deed not in ("read", "edit", "write"):
        return Effect(call, deed)
    written = () if deed == "read" else rewrites(call, whole=deed == "write")
    return Effect(call, deed, tuple(dict.fromkeys(paths_of(call))), written)


def result_excerpts(effect: Effect, text: str) -> tuple[Excerpt, ...]:
    """Return the lines of files that a result shows; none where that is not certain."""
    if text.startswith("[File: "):
        return file_excerpts.window_excerpts(text)
    if effect.shell is not None:
        return output_excerpts(effect.shell, text, trims=effect.call.name == "Bash")
    if effect.deed != "read" or ("<file>" not in text and len(effect.paths) != 1):
        return ()
    path = effect.paths[0] if effect.paths else None
    return file_excerpts.read_excerpts(effect.call, path, text)


def has_failed(effect: Effect, text: str) -> bool:
    """Return whether a result says that its call failed, for formats without a field for errors."""
    if effect.shell is not None:
        return split_output(text)[1] not in (None, 0)
    head = text[:200].lstrip()
    return head.startswith(("<tool_use_error>", "apply_patch verification failed", "Error: "))
