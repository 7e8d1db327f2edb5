"""Models with a script, reached in four ways: a function of Pydantic AI, and local servers that speak the
streaming protocols of OpenAI (two of them) and of Anthropic."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

import pytest

pytest.importorskip("pydantic_ai")
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

PIECE = 24
"""Characters of one piece of a stream."""


class Asked(NamedTuple):
    """A request as the model reads it: the system text, and the texts of the user's and its own messages.
    reported: the tokens that the provider says it has; None for its own count. schema: the JSON Schema that
    the answer is to follow; None without one."""

    system: str
    texts: list[str]
    reported: int | None = None
    schema: dict[str, Any] | None = None

    @property
    def is_plan(self) -> bool:
        return self.system.startswith("You plan the work")

    @property
    def is_summary(self) -> bool:
        return self.system.startswith("You sum up")

    @property
    def last(self) -> str:
        return self.texts[-1]

    @property
    def size(self) -> int:
        """The provider's own count of tokens."""
        if self.reported is not None:
            return self.reported
        return sum(map(len, [self.system, *self.texts])) // 4


class Overflow(NamedTuple):
    """A request that is refused as too long."""

    used: int
    limit: int


class NoSchema(NamedTuple):
    """A request that is refused because the server cannot hold a model to a schema."""


class Cut(NamedTuple):
    """An answer whose stream stays open behind its first half, until the reader hangs up."""

    text: str


Answer = str | dict[str, Any] | Overflow | NoSchema | Cut
Step = Answer | Callable[[Asked], Answer]


class Script:
    """The answers of the main pass in order, and the plan of each planning pass. A step may be a function of
    the request."""

    def __init__(
        self, *answers: Step, plan: Step = "{}", summary: str = "The work so far."
    ) -> None:
        self._answers = list(answers)
        self._plan, self._summary = plan, summary
        self.asked: list[Asked] = []

    @property
    def main(self) -> list[Asked]:
        """The requests of the main pass."""
        return [each for each in self.asked if not each.is_plan and not each.is_summary]

    @property
    def is_over(self) -> bool:
        return not self._answers

    def next(self, asked: Asked) -> str | Overflow | NoSchema | Cut:
        self.asked.append(asked)
        step: Step = self._plan
        if asked.is_summary:
            step = self._summary
        elif not asked.is_plan:
            step = self._answers.pop(0)
        answer = step(asked) if callable(step) else step
        return json.dumps(answer) if isinstance(answer, dict) else answer


def pieces(text: str) -> Iterator[str]:
    yield from (text[at : at + PIECE] for at in range(0, len(text), PIECE))


# --- a function


def function_model(script: Script) -> FunctionModel:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        system = str(messages[0].parts[0].content)  # type: ignore[union-attr]
        texts = [text for message in messages for text in texts_of(message)]
        answer = script.next(Asked(system, texts))
        if isinstance(answer, Overflow):
            raise ModelHTTPError(400, "scripted", too_long("anthropic", answer))
        assert isinstance(answer, str), "a function cannot be cut"
        for piece in pieces(answer):
            yield piece

    return FunctionModel(stream_function=stream, model_name="scripted")


def texts_of(message: ModelMessage) -> list[str]:
    if isinstance(message, ModelRequest):
        prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
        return [str(part.content) for part in prompts]
    return [message.text or ""]


# --- servers


def too_long(protocol: str, full: Overflow) -> dict[str, Any]:
    if protocol == "anthropic":
        why = f"prompt is too long: {full.used} tokens > {full.limit} maximum"
        return {"type": "error", "error": {"type": "invalid_request_error", "message": why}}
    why = (
        f"This model's maximum context length is {full.limit} tokens. However, your messages resulted in"
        f" {full.used} tokens. Please reduce the length of the messages."
    )
    error = {"message": why, "type": "invalid_request_error", "param": "messages"}
    return {"error": {**error, "code": "context_length_exceeded"}}


NO_SCHEMA = {"error": {"message": "'response_format' of type 'json_schema' is not supported", "type": "invalid_request_error"}}  # fmt: skip


def content_texts(content: Any) -> list[str]:
    """The texts in the content of a message, which is a text or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [str(part["text"]) for part in content or () if "text" in part]


def read_anthropic(body: Any) -> Asked:
    system = "".join(content_texts(body["system"]))
    wanted = body.get("output_config", {}).get("format", {})
    texts = [t for m in body["messages"] for t in content_texts(m["content"])]
    return Asked(system, texts, schema=wanted.get("schema"))


def read_openai(body: Any) -> Asked:
    first, *others = body.get("messages") or body["input"]
    assert first["role"] in ("system", "developer")
    system = "".join(content_texts(first["content"]))
    chat = body.get("response_format", {}).get("json_schema")
    wanted = chat or body.get("text", {}).get("format", {})
    assert wanted.get("strict", True)
    texts = [t for m in others for t in content_texts(m.get("content"))]
    return Asked(system, texts, schema=wanted.get("schema"))


def sse(event: str | None, data: Any) -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def anthropic_stream(text: Iterator[str], asked: Asked) -> Iterator[bytes]:
    usage = {"input_tokens": asked.size, "output_tokens": 1}
    message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    yield sse("message_start", {"type": "message_start", "message": message})
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}  # fmt: skip
    yield sse("content_block_start", start)
    for piece in text:
        delta = {"type": "text_delta", "text": piece}
        data = {"type": "content_block_delta", "index": 0, "delta": delta}
        yield sse("content_block_delta", data)
    yield sse("content_block_stop", {"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield sse("message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}})  # fmt: skip
    yield sse("message_stop", {"type": "message_stop"})


def chat_stream(text: Iterator[str], asked: Asked) -> Iterator[bytes]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5-mini"}
    for piece in text:
        choice = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}  # fmt: skip
        yield sse(None, {**head, "choices": [choice]})
    choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield sse(None, {**head, "choices": [choice]})
    usage = {"prompt_tokens": asked.size, "completion_tokens": 9, "total_tokens": asked.size + 9}
    yield sse(None, {**head, "choices": [], "usage": usage})
    yield sse(None, "[DONE]")


def responses_stream(text: Iterator[str], asked: Asked) -> Iterator[bytes]:
    usage = {"input_tokens": asked.size, "output_tokens": 9, "total_tokens": asked.size + 9, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    response: dict[str, Any] = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-5-mini", "status": "in_progress", "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None, "instructions": None, "metadata": {}}  # fmt: skip
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
    item: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}  # fmt: skip
    whole = []
    events: Iterator[dict[str, Any]]

    def numbered() -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": response}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.content_part.added", **at, "part": part}
        for piece in text:
            whole.append(piece)
            yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        done = {**part, "text": "".join(whole)}
        yield {"type": "response.output_text.done", **at, "text": done["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": done}
        ended = {**item, "status": "completed", "content": [done]}
        yield {"type": "response.output_item.done", "output_index": 0, "item": ended}
        last = {**response, "status": "completed", "output": [ended], "usage": usage}
        yield {"type": "response.completed", "response": last}

    events = numbered()
    for number, event in enumerate(events):
        yield sse(event["type"], {**event, "sequence_number": number})


PROTOCOLS: dict[str, tuple[str, Any, Any]] = {
    "/v1/messages": ("anthropic", read_anthropic, anthropic_stream),
    "/v1/chat/completions": ("openai", read_openai, chat_stream),
    "/v1/responses": ("openai", read_openai, responses_stream),
}


@contextmanager
def serving(script: Script, reported: int | None = None) -> Iterator[str]:
    """Run a server that answers by the script in all protocols; yield its address. reported: the tokens that
    it says each request has."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            protocol, read, stream = PROTOCOLS[self.path.partition("?")[0]]
            asked = read(body)._replace(reported=reported)
            answer = script.next(asked)
            if isinstance(answer, Overflow | NoSchema):
                refused = too_long(protocol, answer) if isinstance(answer, Overflow) else NO_SCHEMA
                data = json.dumps(refused).encode()
                self.send_response(400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for chunk in stream(self._text(answer), asked):
                self.wfile.write(chunk)
                self.wfile.flush()

        def _text(self, answer: str | Cut) -> Iterator[str]:
            if isinstance(answer, str):
                yield from pieces(answer)
                return
            yield from pieces(answer.text[: len(answer.text) // 2])
            self.connection.recv(1)  # ends when the reader hangs up
            raise ConnectionAbortedError

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


WAYS = [
    "function",
    *(
        pytest.param(name, marks=pytest.mark.wide)
        for name in ("anthropic", "openai", "openai-chat")
    ),
]
"""A function, and the servers: the SDKs of their providers take seconds to import."""


@contextmanager
def reached(way: str, script: Script) -> Iterator[Model]:
    """Yield a model that answers by the script."""
    if way == "function":
        yield function_model(script)
        return
    with serving(script) as url:
        if way == "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            there = AnthropicProvider(base_url=url, api_key="k")
            yield AnthropicModel("claude-haiku-4-5", provider=there)
        else:
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            kind = OpenAIChatModel if way == "openai-chat" else OpenAIResponsesModel
            yield kind("gpt-5-mini", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="k"))
