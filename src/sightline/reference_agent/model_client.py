"""Ask a model of any provider through Pydantic AI: stream its text, count its tokens and its cost."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct, structs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition

from sightline.errors import ModelFailed

Message = dict[str, Any]
"""A message of Pydantic AI as JSON. Session.conversation keeps messages in this format."""

Show = Callable[[str], None]
"""Takes a piece of the model's text as it comes."""


class Usage(Struct, frozen=True):
    """The use of models. cost: in US dollars, without the requests whose price is not known; unpriced:
    the number of these."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, more: Usage) -> Usage:
        pairs = zip(structs.astuple(self), structs.astuple(more), strict=True)
        return Usage(*(ours + theirs for ours, theirs in pairs))


class Reply(Struct, frozen=True):
    """A model's answer to one request."""

    text: str
    message: Message
    usage: Usage


class ModelClient:
    """Asks one model. It holds no connection between two requests, so that Ctrl-C leaves nothing open."""

    def __init__(self, model: Model | str, schema: dict[str, Any] | None = None) -> None:
        """model: a name such as "anthropic:claude-sonnet-4-5", or a model of Pydantic AI. schema: strict, of the
        answers; the provider holds the model to it where it can. ModelFailed for an unknown name, a missing
        key, and a missing package of the provider."""
        try:
            self._model = infer_model(model)
        except (UserError, ImportError) as error:
            hint = "Name a model as PROVIDER:MODEL, such as openai:gpt-5."
            raise ModelFailed(f"The model {model} cannot be used: {error}", hint) from error
        self.name = self._model.model_name
        self.provider = self._model.system
        self.window = self._model.context_window
        """Tokens of the context window; None where they are not known."""
        self._output: ModelRequestParameters | None = None
        if schema and self._model.profile.get("supports_json_schema_output"):
            wanted = OutputObjectDefinition(schema, "answer", strict=True)
            self._output = ModelRequestParameters(output_mode="native", output_object=wanted)

    def ask(self, system: str, messages: Sequence[Message], show: Show) -> Reply:
        """Send messages, pass the text of the answer on as it comes, and return the whole answer. ModelFailed,
        with the provider's error as its cause."""
        try:
            response = asyncio.run(self._stream(system, messages, show))
        except AgentRunError as error:
            if self._output and is_about_schemas(error):
                self._output = None
                return self.ask(system, messages, show)
            hint = "Nothing was changed. When the provider answers again, go on with: continue"
            raise ModelFailed(f"The model did not answer: {error}", hint) from error
        return Reply(response.text or "", dumped(response), _usage_of(response))

    async def _stream(self, system: str, messages: Sequence[Message], show: Show) -> ModelResponse:
        head = ModelRequest(parts=[SystemPromptPart(system)])
        sent = [head, *ModelMessagesTypeAdapter.validate_python(messages)]
        asked = model_request_stream(self._model, sent, model_request_parameters=self._output)
        async with self._model, asked as stream:
            async for event in stream:
                match event:
                    case PartStartEvent(part=TextPart(content=text)):
                        show(text)
                    case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                        show(text)
            return stream.get()


def is_about_schemas(error: AgentRunError) -> bool:
    """Return whether a server refused a request for its schema, as local ones do that take none."""
    words = r"schema|response_format|output_(config|format)"
    return isinstance(error, ModelHTTPError) and re.search(words, str(error.body)) is not None


def dumped(message: ModelRequest | ModelResponse) -> Message:
    """Return a message as JSON."""
    held: list[Message] = ModelMessagesTypeAdapter.dump_python([message], mode="json")
    return held[0]


def user_message(*texts: str) -> Message:
    """Return a message with these texts. Texts of a program are wrapped by `by_program`."""
    return dumped(ModelRequest(parts=[UserPromptPart(text) for text in texts if text]))


def by_program(text: str) -> str:
    """Wrap a text in the tag that marks words of a program, not of a person; "" stays ""."""
    inside = text.replace("</system-reminder>", "</system-reminder >")  # as a file may have it
    return f"<system-reminder>\n{inside}\n</system-reminder>" if text else ""


def _usage_of(response: ModelResponse) -> Usage:
    usage = response.usage
    try:
        cost, unpriced = response.cost().total_price, 0
    except (LookupError, ValueError, AssertionError):  # no price of this model, or no usage
        cost, unpriced = Decimal(0), 1
    return Usage(1, usage.input_tokens, usage.output_tokens, cost, unpriced)
