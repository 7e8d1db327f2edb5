"""What comes first and what happens when it fails: load, ask core, act, append.

A verb's module is loaded when it is first called: a hook calls one or two of them and ends, and
its agent waits for every import.
"""

from __future__ import annotations

from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from sightline.services import (
        batches,
        briefing,
        checkpointed,
        checkpoints,
        claims,
        conversation,
        deleted,
        edited,
        edits,
        exporting,
        finding,
        handing,
        hosts,
        listing,
        looks,
        mentioning,
        moves,
        news,
        notices,
        presence,
        registry,
        related,
        requests,
        rewind,
        stats,
        telling,
        thrift,
        usage,
        views,
        warnings,
    )

__all__ = [
    "batches",
    "briefing",
    "checkpointed",
    "checkpoints",
    "claims",
    "conversation",
    "deleted",
    "edited",
    "edits",
    "exporting",
    "finding",
    "handing",
    "hosts",
    "listing",
    "looks",
    "mentioning",
    "moves",
    "news",
    "notices",
    "presence",
    "registry",
    "related",
    "requests",
    "rewind",
    "stats",
    "telling",
    "thrift",
    "usage",
    "views",
    "warnings",
]
"""The modules of a session's verbs."""


def module(name: str) -> ModuleType:
    """importlib.import_module, of a full name, without the half millisecond for importlib."""
    __import__(name)
    return modules[name]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return module(f"sightline.services.{name}")
    raise AttributeError(f"module 'sightline.services' has no attribute {name!r}")
