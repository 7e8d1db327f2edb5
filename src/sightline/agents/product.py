"""An agent product as one value: what a guard needs to know of it, and nothing else does."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from sightline.agents.connection import Connection
from sightline.agents.dialect import Dialect
from sightline.model.attempts import Attempt
from sightline.model.hook_events import Answer, Answered, CallEnded, CommandEnded, Event

ClientMatching = Literal["exact", "unique", "lenient"]
"""How a product's own tool finds the old text of an edit. exact: it is there, and the first of several places
counts; unique: it is there once; lenient: text that is like it will do, or nobody knows."""


class Capabilities(Struct, frozen=True, kw_only=True):
    """The abilities of a product's hooks. Nothing is the default.

    before, after: a hook is called before, or after, a tool is used. deny: its answer before stops the call,
    and the reason reaches the model. ask: the answer has the user asked first. rewrite: the attempts
    in whose place the answer can put the whole text of the file, for all files of a call. inject: the events whose answer
    may hold further words for the model. tell: an answer may hold a line for the user. watch: an answer
    may name files that the product watches. client_matching: where the product edits by an old text that is
    not in the file.
    """

    before: bool = False
    after: bool = False
    deny: bool = False
    ask: bool = False
    rewrite: tuple[type[Attempt], ...] = ()
    inject: tuple[type[Event], ...] = ()
    tell: bool = False
    watch: bool = False
    client_matching: ClientMatching = "lenient"

    @property
    def only_after(self) -> bool:
        """Return whether hooks see what was done, and never what is about to be done."""
        return self.after and not self.before

    @property
    def injects_in_turn(self) -> bool:
        """Return whether words reach the model between two prompts, beside those of a refusal."""
        return any(issubclass(each, self.inject) for each in (Answered, CommandEnded, CallEnded))


class Limits(Struct, frozen=True, kw_only=True):
    """The largest answers that reach the model, in characters. Words beyond them must not count as shown.

    context: of the words for the model. diff: of the diffs among these, and of a refusal. timeout_s: seconds
    after which the product waits no longer for a hook.
    """

    context: int = 9_000
    diff: int = 6_000
    timeout_s: int = 10


class Product(Struct, frozen=True, kw_only=True):
    """An agent product.

    name: in settings, stores, JSON and on the command line. title: what people call it; help and
    messages use no other name. project_variable: the environment variable in which the product tells its
    hooks the folder that it was started for; "" for none. everywhere: the argument by which its editing tool
    replaces a text at all places, as its model reads it; "" for none.
    """

    name: str
    title: str
    can: Capabilities = Capabilities()
    limits: Limits = Limits()
    project_variable: str = ""
    everywhere: str = ""
    dialect: Dialect = Dialect()
    connection: Connection = Connection()


def fitted(answer: Answer, event: Event, can: Capabilities) -> Answer:
    """Return what of an answer to an event the hooks of a product can carry out.

    A question becomes a refusal where the product cannot ask. A refusal becomes words where it cannot deny: for
    the model, or else for the user. Words beside a refusal become part of it where the event takes no others.
    All other words have no such substitute, nor has a rewritten text: a handler gives them only where
    the product can take them.
    """
    refuse, ask, context, tell = answer.refuse, answer.ask, answer.context, answer.tell
    injects = isinstance(event, can.inject)
    if ask is not None and not can.ask:
        refuse, ask = "\n\n".join(filter(None, [refuse, ask])), None
    if refuse is not None and not can.deny:
        if injects:
            context = "\n\n".join(filter(None, [refuse, context]))
        else:
            tell = "\n".join(filter(None, [tell, refuse]))
        refuse = None
    if refuse is not None and not injects:
        refuse = "\n\n".join(filter(None, [refuse, context]))
    return structs.replace(
        answer,
        refuse=refuse,
        ask=ask,
        contents=answer.contents if can.rewrite else {},
        context=context if injects else "",
        watch=answer.watch if can.watch else (),
        tell=tell if can.tell else "",
    )
