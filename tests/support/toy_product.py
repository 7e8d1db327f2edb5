"""A toy agent product, as a folder `agents/toy/` would hold it: all that a product needs to be guarded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from sightline.agents.connection import Place, Program, Scope
from sightline.agents.dialect import Dialect, Payload
from sightline.agents.grouped_hooks import GroupedHooks, Hook
from sightline.agents.hook_line import posix_line
from sightline.agents.product import Capabilities, Product
from sightline.model.attempts import Attempt, Create, Delete, Move, Replace, WriteWhole
from sightline.model.hook_events import (
    Answer,
    Attempted,
    Began,
    Caller,
    CommandBegan,
    CommandEnded,
    Event,
    Prompted,
    Shown,
)
from sightline.model.json_fields import read_fields


class Change(Struct):
    """What a call does to a file. find: replaced by put, "" for the whole text; new, gone: the file is; to: its new
    name. more: what the same call does, too."""

    file: str
    find: str = ""
    put: str = ""
    new: bool = False
    gone: bool = False
    to: str = ""
    more: list[Change] = []

    def attempt(self) -> Attempt:
        if self.to or self.gone:
            return Move(self.to) if self.to else Delete()
        if self.find:
            return Replace(self.find, self.put)
        return Create(self.put) if self.new else WriteWhole(self.put)


class ToyDialect(Dialect):
    """Toy names its events start, ask, read, run, ran and change, and takes {"block": reason, "say": words,
    "texts": {file: text in place of its own}}."""

    def event_name(self, payload: Payload) -> str:
        return str(payload.get("event") or "")

    def caller(self, payload: Payload) -> Caller:
        return Caller(str(payload["chat"]), str(payload["folder"]))

    def events(self, payload: Payload, event: str | None = None) -> list[Event]:
        name = self.event_name(payload)
        if name == "change":
            fields = read_fields(payload, Change)
            every = [fields, *fields.more]
            return [Attempted(tuple((each.file, each.attempt()) for each in every), "")]
        if name == "read":
            return [Shown(str(payload["file"]), text=str(payload["text"]))]
        if name in ("run", "ran"):
            kind = CommandBegan if name == "run" else CommandEnded
            return [kind(str(payload["command"]), str(payload["id"]), str(payload["folder"]))]
        others = {"start": Began("startup"), "ask": Prompted("go on")}
        return [others[name]] if name in others else []

    def answer(
        self, payload: Payload, answers: Iterable[Answer], event: str | None = None
    ) -> dict[str, Any]:
        every = list(answers)
        texts = {path: text for each in every for path, text in each.contents.items()}
        said: dict[str, Any] = {
            "block": "\n".join([each.refuse for each in every if each.refuse]),
            "say": "\n".join([each.context for each in every if each.context]),
        }
        if not said["block"]:
            said["texts"] = texts
        return {name: text for name, text in said.items() if text}

    def trial(self, cwd: str, path: str, old: str, new: str) -> list[dict[str, Any]]:
        common = {"chat": "doctor", "folder": cwd}
        change = {"event": "change", "file": path, "find": old, "put": new}
        return [{**common, "event": "start"}, {**common, **change}, {**common, "event": "nap"}]


EVENTS = {"start": "", "change": ""}


class ToySettings(GroupedHooks):
    """Toy reads its hooks from a file of the project."""

    scopes = ("project",)
    events = EVENTS

    def file(self, scope: Scope, place: Place) -> str:
        return os.path.join(place.root, ".toy", "hooks.json")

    def hooks(self, scope: Scope, place: Place, program: Program) -> dict[str, Hook]:
        line = posix_line(program.python, program.script, "toy", {"project": "TOY_FOLDER"})
        return {event: {"type": "command", "command": line} for event in self.events}


PRODUCT = Product(
    name="toy",
    title="Toy Agent",
    can=Capabilities(before=True, deny=True),
    project_variable="TOY_FOLDER",
    dialect=ToyDialect(),
    connection=ToySettings(),
)
