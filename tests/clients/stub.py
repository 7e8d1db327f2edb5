"""A scripted model behind the Anthropic Messages API, on loopback.

A script is the steps that answer one prompt. The client sends its whole conversation each time, so
the prompt that stands last in it names the script, and the tool calls that it holds of that script
tell the step. Nothing else is kept: sub-agents, resumed and compacted conversations need no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple

Body = dict[str, Any]

COMPACTION = "create a detailed summary of the conversation"
"""How the client asks for the summary that replaces a conversation."""


class Step(NamedTuple):
    """One answer of the model. tools: names and inputs; without any its turn ends. before: called
    before the step is answered, once: what a user does meanwhile, or waits for."""

    text: str = ""
    tools: tuple[tuple[str, Body], ...] = ()
    before: Callable[[], object] | None = None


class Request(NamedTuple):
    """What the model was sent when it was asked for a step of a script."""

    prompt: str
    step: int
    body: Body

    @property
    def news(self) -> str:
        """The text since the model's own last words: results, notices, the user's prompt."""
        messages = self.body["messages"]
        spoke = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
        return "\n".join(map(_text, messages[spoke[-1] + 1 if spoke else 0 :]))


class Model:
    """The scripts by their prompts, and a record of all requests."""

    def __init__(self) -> None:
        self.scripts: dict[str, tuple[Step, ...]] = {
            COMPACTION: (Step("<summary>Work.</summary>"),)
        }
        self.requests: list[Request] = []
        self.errors: list[str] = []
        self.url = ""
        self._lock = Lock()

    def script(self, prompt: str, *steps: Step) -> None:
        """Answer a prompt, of the user or of a sub-agent, by these steps."""
        self.scripts[prompt] = steps

    def sent(self, step: int, prompt: str | None = None) -> str:
        """Return what was new to the model when it was asked for a step, of the only prompt or of this;
        a last step is asked for again when something else arrives."""
        asked = [r.news for r in self.requests if r.step == step and prompt in (None, r.prompt)]
        assert asked, f"no request for step {step} of {prompt or 'any prompt'}"
        return "\n".join(asked)

    def answer(self, body: Body) -> tuple[str, list[Body]]:
        """The id and the content blocks of the message that is the next step."""
        if not body.get("tools"):
            return "msg_title", [{"type": "text", "text": "A title"}]
        prompt = _newest(self.scripts, body["messages"])
        number = list(self.scripts).index(prompt)
        step = _done(number, body["messages"])
        with self._lock:
            first = not any(r.step == step and r.prompt == prompt for r in self.requests)
            self.requests.append(Request(prompt, step, body))
            message = f"msg_{len(self.requests)}"  # two messages of one id are taken for one
        text, tools, before = self.scripts[prompt][step]
        if first and before:
            before()
        called = [
            {"type": "tool_use", "id": f"toolu_{number}x{step}x{at}", "name": name, "input": given}
            for at, (name, given) in enumerate(tools)
        ]
        return message, [{"type": "text", "text": text}, *called] if text else called


@contextmanager
def serving(model: Model) -> Iterator[Model]:
    """Serve a model on a free port for as long as the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    model: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        try:
            if path.endswith("/count_tokens"):
                self._reply("application/json", json.dumps({"input_tokens": 100}))
            elif path.endswith("/messages"):
                self._reply("text/event-stream", "".join(_stream(*self.model.answer(body))))
            else:
                self._reply("application/json", "{}")
        except Exception as error:  # noqa: BLE001 - told to the test, whose thread is another
            self.model.errors.append(f"{type(error).__name__}: {error}")
            self.send_error(400)

    def do_GET(self) -> None:
        self._reply("application/json", "{}")

    def do_HEAD(self) -> None:
        self._reply("application/json", "")

    def _reply(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on the tests' own stderr."""


def _stream(id: str, blocks: list[Body]) -> Iterator[str]:
    """The server-sent events of a whole message."""
    stop = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
    usage = {"input_tokens": 100, "output_tokens": 20}
    message: Body = {"id": id, "type": "message", "role": "assistant", "model": "scripted"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event("message_start", message=message)
    for index, block in enumerate(blocks):
        empty, delta = _in_parts(block)
        yield _event("content_block_start", index=index, content_block=block | empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
    yield _event("message_stop")


def _in_parts(block: Body) -> tuple[Body, Body]:
    """Return what of a block is empty at its start, and what fills it."""
    if block["type"] == "text":
        return {"text": ""}, {"type": "text_delta", "text": block["text"]}
    given = json.dumps(block["input"])
    return {"input": {}}, {"type": "input_json_delta", "partial_json": given}


def _event(name: str, **fields: object) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name} | fields)}\n\n"


def _newest(prompts: dict[str, tuple[Step, ...]], messages: list[Body]) -> str:
    """The prompt that a user's text of the conversation holds last."""
    said = "\n".join(_text(each, results=False) for each in messages if each["role"] == "user")
    at, prompt = max((said.rfind(prompt), prompt) for prompt in prompts)
    if at < 0:
        raise LookupError(f"no script for: {said[-200:]}")
    return prompt


def _done(number: int, messages: list[Body]) -> int:
    """Return how many steps of a script a conversation holds."""
    called = (
        block["id"].split("x")
        for each in messages
        if each["role"] == "assistant" and isinstance(each["content"], list)
        for block in each["content"]
        if block["type"] == "tool_use"
    )
    return len({step for script, step, _ in called if script == f"toolu_{number}"})


def _text(block: Body | str, *, results: bool = True) -> str:
    """The text of a message or block, with that of the tools' results or without."""
    if isinstance(block, str):
        return block
    if block.get("type") == "tool_result" and not results:
        return ""
    content = block.get("text") or block.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(_text(each, results=results) for each in content)
