"""What comes first and what happens when it fails: load, ask core, act, append.

A verb's module is loaded when it is first called: a hook calls one or two of them and ends, and
its agent waits for every import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from sightline.services import batches, edits, hosts, looks, moves, telling, views

__all__ = ["batches", "edits", "hosts", "looks", "moves", "telling", "views"]
"""The modules of a session's verbs."""


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        from importlib import import_module

        return import_module(f"sightline.services.{name}")
    raise AttributeError(f"module 'sightline.services' has no attribute {name!r}")
