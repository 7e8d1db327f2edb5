"""The types that providers and frameworks publish for messages: of their SDKs where those are installed (the
extras agent and langchain), and Google's schema from gemini_content.json, which names its source."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest

NOT_OPENAIS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""Fields that other providers of Chat Completions add, and LiteLLM."""


def check_types(name: str, messages: Sequence[Any]) -> None:
    """Raise ValueError where messages are not of the types that a provider publishes, with no other
    fields. A test is skipped where the SDK is not installed."""
    VALIDATORS[name]()(json.dumps(messages, ensure_ascii=False))


# --- SDKs made with pydantic


def _validator(message: Any) -> Callable[[str], None]:
    """Return a validator for the JSON of a list of messages, that takes no other fields. What an SDK types as an iterable is a list
    here: pydantic would look at its items only when somebody iterates."""
    from pydantic import ConfigDict, TypeAdapter
    from pydantic_core import SchemaValidator, ValidationError

    adapter: Any = TypeAdapter(list[message], config=ConfigDict(extra="forbid"))
    validator = SchemaValidator(_strict(adapter.core_schema))

    def validate(text: str) -> None:
        try:
            validator.validate_json(text, strict=True)
        except (
            ValidationError
        ) as error:  # it says hundreds of lines: one for each type of a message
            raise ValueError(f"{str(error)[:400]} … in {text}") from None

    return validate


def _strict(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(_strict(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    schema = {key: _strict(value) for key, value in schema.items()}
    if schema.get("type") == "generator":
        schema["type"] = "list"
    more = {key: "forbid" for key in ("extra_behavior", "extra_fields_behavior") if key in schema}
    return schema | more


@cache
def anthropic() -> Callable[[str], None]:
    return _validator(pytest.importorskip("anthropic.types").MessageParam)


@cache
def chat() -> Callable[[str], None]:
    return _validator(pytest.importorskip("openai.types.chat").ChatCompletionMessageParam)


def litellm() -> Callable[[str], None]:
    def validate(text: str) -> None:
        own = [
            {key: value for key, value in each.items() if key not in NOT_OPENAIS}
            for each in json.loads(text)
        ]
        chat()(json.dumps(own))

    return validate


@cache
def responses() -> Callable[[str], None]:
    return _validator(pytest.importorskip("openai.types.responses").ResponseInputItemParam)


# --- Google's schema


@cache
def gemini() -> Callable[[str], None]:
    with open(os.path.join(os.path.dirname(__file__), "gemini_content.json")) as file:
        schemas = json.load(file)["schemas"]

    def validate(text: str) -> None:
        for number, content in enumerate(json.loads(text)):
            _of_schema(content, {"$ref": "Content"}, schemas, f"{number}")

    return validate


KINDS: dict[str, Any] = {
    "string": str,
    "boolean": bool,
    "object": dict,
    "array": list,
    "number": (int, float),
}


def _of_schema(value: Any, schema: Any, schemas: Any, at: str) -> None:
    """Raise ValueError where a value is not of a schema of a Discovery document."""
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    kind = schema["type"]
    if kind == "any":
        return
    if not isinstance(value, KINDS[kind]):
        raise ValueError(f"{at}: no {kind}: {value!r}")  # noqa: TRY004 # as pydantic says it
    if value not in schema.get("enum", [value]):
        raise ValueError(f"{at}: not one of {schema['enum']}: {value!r}")
    if schema.get("format") == "byte":
        base64.b64decode(value, validate=True)
    for number, each in enumerate(value if kind == "array" else ()):
        _of_schema(each, schema["items"], schemas, f"{at}.{number}")
    for key, each in value.items() if kind == "object" else ():
        inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
        if inner is None:
            raise ValueError(f"{at}: no field {key!r}")
        _of_schema(each, inner, schemas, f"{at}.{key}")


# --- frameworks


@cache
def langchain() -> Callable[[str], None]:
    """LangChain's own reader takes the messages, and what it makes of them for OpenAI is OpenAI's."""
    core = pytest.importorskip("langchain_core.messages")
    load = pytest.importorskip("langchain_core.load").load
    from pydantic import TypeAdapter

    message: Any = core.AnyMessage
    adapter: Any = TypeAdapter(list[message])

    def validate(text: str) -> None:
        told = json.loads(text)
        if any("lc" in each for each in told):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the reader is a beta of theirs
                read = [load(each, allowed_objects="messages") for each in told]
        elif any("data" in each for each in told):
            read = core.messages_from_dict(told)
        else:
            read = adapter.validate_python(told)
        chat()(json.dumps(core.convert_to_openai_messages(read)))

    return validate


@cache
def pydantic_ai() -> Callable[[str], None]:
    messages = pytest.importorskip("pydantic_ai.messages")

    def validate(text: str) -> None:
        messages.ModelMessagesTypeAdapter.validate_json(text)

    return validate


def pydantic_ai_requests(provider: str) -> Callable[[Sequence[Any]], list[Any]]:
    """Return a function of messages of Pydantic AI: the messages of the request that Pydantic AI itself
    makes of them for a provider, "chat" or "anthropic"."""
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.direct import model_request
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    sent: list[Any] = []
    model = _model(provider, sent)

    def send(messages: Sequence[Any]) -> list[Any]:
        read = ModelMessagesTypeAdapter.validate_json(json.dumps(messages))
        sent.clear()
        with pytest.raises(ModelHTTPError):
            asyncio.run(model_request(model, read))  # its own function leaves an event loop open
        found: list[Any] = sent[0]["messages"]
        return found

    return send


def _model(provider: str, sent: list[Any]) -> Any:
    """Return a model whose requests are kept, and refused."""

    import httpx2

    def keep(request: Any) -> Any:
        sent.append(json.loads(request.content))
        return httpx2.Response(400, json={"error": {"message": "kept"}})

    own: dict[str, Any] = {"api_key": "none", "base_url": "http://localhost", "max_retries": 0}
    own["http_client"] = httpx2.AsyncClient(transport=httpx2.MockTransport(keep))
    if provider == "chat":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        openai = AsyncOpenAI(**own)
        return OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=openai))
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    claude = AsyncAnthropic(**own)
    return AnthropicModel("claude", provider=AnthropicProvider(anthropic_client=claude))


VALIDATORS: dict[str, Callable[[], Callable[[str], None]]] = {
    "anthropic": anthropic,
    "chat": litellm,
    "litellm": litellm,
    "responses": responses,
    "gemini": gemini,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
}
