"""What went wrong in a hook call, in words. Loaded only when something has."""

from __future__ import annotations

import os

from sightline.errors import SightlineError
from sightline.render import unjudged as words
from sightline.workspace.deadline import DeadlinePassed


def in_words(error: Exception) -> str:
    """What went wrong, for a person; never a text that may come from a file."""
    if isinstance(error, SightlineError):
        return f"{error.message} {error.hint}".strip()
    if isinstance(error, DeadlinePassed):
        return words.late(None)
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror or type(error).__name__}."
    if isinstance(error, ImportError) or type(error) is ValueError:
        return str(error)
    return words.broken(type(error).__name__, _place(error))


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


def reason(error: Exception) -> str:
    """Of a text that is no JSON, without a piece of it."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    return str(error)
