"""A stub server for each provider's protocol refuses a request by its size with the provider's own
error, and accepts the recovered one."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any, Self

import pytest
from tests.messages.formats.histories import TOLD

from sightline.messages.formats.format import FORMATS
from sightline.testing import make_session
from sightline.text.tokens import estimate

ROOM = 0.85
"""Part of the first request that the provider's window holds: it grew beyond it in one turn."""


def size(body):
    """The provider's own count, which is another than ours: a token for each five characters of JSON."""
    held = body.get("messages") or body.get("contents") or body.get("input")
    return len(json.dumps(held, ensure_ascii=False)) // 5


def anthropic(used, limit):
    why = f"prompt is too long: {used} tokens > {limit} maximum"
    return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": why}}


def openai(used, limit):
    why = (
        f"This model's maximum context length is {limit} tokens. However, your messages resulted in"
        f" {used} tokens. Please reduce the length of the messages."
    )
    return 400, {"error": {"message": why, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}  # fmt: skip


def responses(used, limit):
    why = "Your input exceeds the context window of this model. Please adjust your input and try again."  # fmt: skip
    return 400, {"error": {"message": why, "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"}}  # fmt: skip


def responses_stream(used, limit):
    failed = {"type": "response.failed", "response": {"status": "failed", "error": {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}}}  # fmt: skip
    return 200, failed


def gemini(used, limit):
    why = f"The input token count ({used}) exceeds the maximum number of tokens allowed ({limit})."
    return 400, {"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}}


def bedrock(used, limit):
    return 400, {"__type": "ValidationException", "message": "Input is too long for requested model."}  # fmt: skip


def openrouter(used, limit):
    why = (
        f"This endpoint's maximum context length is {limit} tokens. However, you requested about {used}"
        ' tokens. Please reduce the length of either one, or use the "middle-out" transform.'
    )
    return 400, {"error": {"code": 400, "message": why, "metadata": {"provider_name": None}}}


def vllm(used, limit):
    why = (
        f"This model's maximum context length is {limit} tokens. However, you requested {used} tokens"
        f" ({used} in the messages, 0 in the completion)."
    )
    return 400, {"object": "error", "message": why, "type": "BadRequestError", "code": 400}


def llama_cpp(used, limit):
    why = "the request exceeds the available context size, try increasing it"
    return 400, {"error": {"code": 400, "message": why, "type": "exceed_context_size_error", "n_prompt_tokens": used, "n_ctx": limit}}  # fmt: skip


def mistral(used, limit):
    why = f"Prompt contains {used} tokens and 0 draft tokens, too large for model with {limit} maximum context length"  # fmt: skip
    return 400, {"object": "error", "message": why, "type": "invalid_request_prompt", "code": "3051"}  # fmt: skip


def gateway(used, limit):
    inner = json.dumps({"status": 400, "message": f"requested input length {used} exceeds maximum input length {limit}"})  # fmt: skip
    return 400, {"error": {"value": {"error_message": inner}}}


def ollama(used, limit):
    """No error: the answer, after only a part of the request was read."""
    return 200, {"message": {"role": "assistant", "content": "?"}, "prompt_eval_count": limit // 2}


PROVIDERS = {
    "anthropic": ("anthropic", "messages", anthropic),
    "openai chat": ("chat", "messages", openai),
    "openai responses": ("responses", "input", responses),
    "openai responses, in the stream": ("responses", "input", responses_stream),
    "gemini": ("gemini", "contents", gemini),
    "bedrock": ("anthropic", "messages", bedrock),
    "openrouter": ("litellm", "messages", openrouter),
    "vllm": ("chat", "messages", vllm),
    "llama.cpp": ("chat", "messages", llama_cpp),
    "mistral": ("chat", "messages", mistral),
    "qwen behind a gateway": ("chat", "messages", gateway),
    "ollama": ("chat", "messages", ollama),
}


class Provider:
    """A server that takes what is valid and fits, and refuses everything else as the provider does."""

    def __init__(self, name: str, refuse: Any) -> None:
        self.sizes: list[int] = []
        self.limit = 0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                held = body.get("messages") or body.get("contents") or body.get("input")
                used = size(body)
                provider.sizes.append(used)
                provider.limit = provider.limit or int(used * ROOM)
                status, answer = 200, {"usage": {"input_tokens": used, "prompt_tokens": used}}
                if FORMATS[name].problems(held, sending=True):
                    status, answer = 400, {"error": {"message": "roles must alternate"}}
                elif used > provider.limit:
                    status, answer = refuse(used, provider.limit)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def ask(self, field: str, messages: list[Any]) -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.server.server_port)
        try:
            connection.request("POST", "/", json.dumps({field: messages}))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


def history(name):
    """A long conversation in a format, with calls, that ends with the user."""
    turns: list[Any] = []
    for n in range(6):
        call = {
            "id": f"call_{n}", "name": "Bash", "args": {"command": f"make {n}"},
            "result": f"line {n} of an answer\n" * 150, "error": False, "picture": False,
        }  # fmt: skip
        answer = {"thinking": None, "text": None, "calls": [call], "aside": None, "odd": 0}
        words = {**answer, "text": f"I did {n}. " + "Because of that. " * 40, "calls": []}
        turns.append(([("text", f"Please do {n}")], [answer, words]))
    turns.append(([("text", "Is it right now?")], []))
    return TOLD[name](turns, 0)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_refused_request_is_accepted_when_it_was_recovered(name):
    wire_format, field, refuse = PROVIDERS[name]
    session = make_session(id="s")
    for message in history(wire_format):
        session.conversation.append(message)
    with Provider(wire_format, refuse) as provider:
        status, answer = provider.ask(field, session.conversation.view(10**9))
        recovery = session.conversation.recover(answer, status=status)
        assert recovery.error.kind == "overflow"
        assert recovery.attempt == 1
        status, answer = provider.ask(field, recovery.messages)
    assert status == 200
    assert "usage" in answer
    assert provider.sizes[1] <= provider.limit < provider.sizes[0]
    measured = session.conversation.record_usage(answer)
    assert measured.problem is None
    text = "\n".join(b.text for b in FORMATS[wire_format].blocks(recovery.messages, estimate))
    assert "Please do 0" in text
    assert "Is it right now?" in text
