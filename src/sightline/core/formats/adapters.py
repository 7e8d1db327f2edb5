"""The adapters by the names of their formats."""

from __future__ import annotations

from sightline.core.formats import anthropic, chat, gemini, langchain, pydantic_ai, responses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.formats.parts import Adapter

ADAPTERS: dict[str, Adapter] = {
    "anthropic": anthropic,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
    "litellm": chat,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
}
