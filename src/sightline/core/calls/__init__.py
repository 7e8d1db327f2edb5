"""Calls of tools in messages: which there are, and which files they say they write.

reading finds them by the shape of a message, tagged in its text; editing knows the tools.
"""

from __future__ import annotations

from sightline.core.calls.call import Call
from sightline.core.calls.editing import written
from sightline.core.calls.reading import calls

__all__ = ["Call", "calls", "written"]
