"""Whatever a conversation holds and whatever a provider allows: each try is smaller and valid, there
are three at most, and the task, the user's last words and the newest exchange stay."""

from __future__ import annotations

import json
from random import Random

import pytest
from tests.messages.formats.histories import NAMES, TOLD
from tests.messages.talks import COUNT
from tests.support.examples import fully

from sightline.errors import RecoveryRefused, WindowFull
from sightline.messages.formats.exchanges import split_exchanges
from sightline.messages.formats.format import FORMATS
from sightline.testing import make_session

WORDS = [
    "the",
    "file",
    "reads",
    "total",
    "of",
    "each",
    "row",
    "and",
    "writes",
    "a",
    "table",
    "for",
    "users",
    "who",
    "asked",
]
LIMITS = (400, 1_000, 2_500, 6_000, 15_000)
PARTS = (0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Windows: of some tokens, and as parts of the history."""


def prose(random, most):
    return " ".join(random.choices(WORDS, k=random.randint(1, most)))


def story(random):
    """Turns as tests.messages.formats.histories tells them in every format, with long results."""
    number = iter(range(10_000))
    turns = []
    for turn in range(random.randint(1, 5)):
        asked = [("text", f"Please do {turn}: {prose(random, 40)}")]
        answers = []
        for _ in range(random.randint(1, 6)):
            calls = [one_call(random, next(number)) for _ in range(random.randint(0, 2))]
            text = prose(random, 200) if not calls or random.random() < 0.4 else None
            thinking = random.choice([None, None, "signed"])
            answers.append({"thinking": thinking, "text": text, "calls": calls, "aside": None, "odd": 0})  # fmt: skip
        turns.append((asked, answers))
    if random.random() < 0.5:
        turns.append(([("text", f"And then: {prose(random, 10)}")], []))
    return turns


def one_call(random, number):
    name, args = random.choice(
        [
            ("Read", {"file_path": f"/w/{number}.py"}),
            ("Bash", {"command": f"make {number}"}),
            ("Write", {"file_path": "/w/c.py", "content": prose(random, 300)}),
        ]
    )
    answer = "\n".join(prose(random, 12) for _ in range(random.choice([1, 20, 200])))
    return {
        "id": f"call_{number}", "name": name, "args": args, "result": answer,
        "error": random.random() < 0.1, "picture": False,
    }  # fmt: skip


class Provider:
    """A provider with a window, for a history of so many tokens. It may name a wrong window or none, count otherwise than we do, want
    room for the answer, read only a part in silence, or have a smaller window from the second try on.
    told: the window that it names; room: tokens for the answer."""

    def __init__(self, random, tokens):
        self.random = random
        self.limit = random.choice([*LIMITS, *(int(tokens * part) for part in PARTS)])
        self.scale = random.choice([1.0, 1.0, 1.4, 0.8, 0.55, 1.9])
        self.prefix = random.choice([0, 0, self.limit // 8, self.limit // 3])
        self.room = random.choice([0, 0, 0, self.limit // 5])
        self.told = int(self.limit * random.choice([1, 1, 1, 1, 0.6, 1.6]))
        self.shrinks = random.random() < 0.15
        self.is_silent = random.random() < 0.1

    def used(self, name, view):
        return int(size(name, view) * self.scale) + self.prefix

    def error(self, used):
        told, random = self.told, self.random
        if self.shrinks:
            self.limit = int(self.limit * 0.8)
            self.told = int(self.told * 0.8)
        if self.is_silent:
            return {"message": {"content": "?"}, "prompt_eval_count": told // 2}
        if self.room:
            return (
                f"input length and `max_tokens` exceed context limit: {used} + {self.room} > {told}"
            )
        return random.choice(
            [
                f"prompt is too long: {used} tokens > {told} maximum",
                {"error": {"code": "context_length_exceeded", "message": f"This model's maximum context length is {told} tokens. However, your messages resulted in {used} tokens."}},
                {"error": {"status": "INVALID_ARGUMENT", "code": 400, "message": f"The input token count ({used}) exceeds the maximum number of tokens allowed ({told})."}},
                "Input is too long for requested model.",
                {"error": {"value": {"error_message": f"Range of input length should be [1, {told}]"}}},
            ]
        )  # fmt: skip


def summarizer_of(random):
    def fails(_request):
        raise RuntimeError("no key")

    answers = [lambda _: "It went well.", lambda _: "", lambda request: request, fails]
    return random.choice([None, None, *answers])


def size(name, view):
    return sum(block.tokens for block in FORMATS[name].blocks(view, COUNT))


def recover_all(seed):
    """Play one history against one provider; return what became of it."""
    random = Random(seed)
    name = NAMES[seed % len(NAMES)]
    messages = TOLD[name](story(random), random.randint(0, 3))
    provider, summarizer = Provider(random, size(name, messages)), summarizer_of(random)
    session = make_session(id="s", clock=lambda: 10**15)
    conversation = session.conversation
    for message in messages:
        conversation.append(message)
    if FORMATS[name].adapter.role(messages[-1]) == "model":
        return "the model's turn"
    typed = [block.text for block in FORMATS[name].blocks(messages, len) if block.kind == "user"]
    newest = [e for e in split_exchanges(FORMATS[name].adapter, messages) if e.answer]
    view = conversation.view(10**9)
    tries = 0
    while (used := provider.used(name, view)) + provider.room > provider.limit:
        tries += 1
        assert tries <= 4, "it goes on and on"
        before = size(name, view)
        try:
            error = provider.error(used)
            recovery = conversation.recover(error, summarizer=summarizer, prefix=provider.prefix)
        except (WindowFull, RecoveryRefused) as refused:
            assert conversation.messages() == messages
            return f"refused in words: {type(refused).__name__}"
        view = recovery.messages
        assert tries == recovery.attempt <= 3
        assert size(name, view) < before
        assert FORMATS[name].problems(view, sending=True) == []
        text = "\n".join(block.text for block in FORMATS[name].blocks(view, len))
        assert typed[0].strip() in text
        assert typed[-1].strip() in text
        for row in newest[-1].calls if newest else ():
            assert str(row.part.call or row.part.tool) in json.dumps(view)
        assert conversation.messages() == messages
        assert conversation.view(10**9) == view
    return f"{tries} tries"


@pytest.mark.wide
@pytest.mark.parametrize("part", [0, *fully(1, 2, 3)])
def test_generated_histories_are_recovered_or_refused_in_words(part):
    outcomes = [recover_all(seed) for seed in range(part * 10, part * 10 + 10)]
    assert len(outcomes) == 10


@pytest.mark.wide
@pytest.mark.parametrize("part", [0, 1, *fully(*range(2, 10))])
def test_a_thousand_histories(part, record_property):
    outcomes = [recover_all(seed) for seed in range(1_000 + part * 100, 1_100 + part * 100)]
    tally = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
    record_property("figures", f"histories {part * 100} to {part * 100 + 99}: {tally}")
