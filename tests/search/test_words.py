"""What is said of a chain."""

from __future__ import annotations

import json

from msgspec import structs

from sightline.api.json_shapes import shape
from sightline.search.chains import FindResult, Request
from sightline.search.guesses import Candidate
from sightline.search.words import find_text, question

ASKED = Request(("src/a.py", "**/a.py"), "the app", "a test")
GUESS = Candidate("lib/a.py", 0.9, "the same name in lib")


def test_matches_stand_one_to_a_line():
    result = FindResult(("a\nb.py", "c.py"), "**/*.py", 2, truncated=True, total=1200)
    assert find_text(result) == (
        "a␊b.py\nc.py\n(2 of 1,200 shown; name a folder, or a longer part of the name)\n"
        "(found by **/*.py; nothing matched before it)"
    )


def test_nothing_found_says_what_may_have_been_meant_and_what_to_do():
    result = FindResult((), None, 2, "skip", (GUESS,), request=ASKED)
    assert find_text(result) == (
        "No file matches src/a.py or **/a.py.\nDid you mean:\n  lib/a.py (the same name in lib)\n"
        "Go on without the file, or try a broader pattern, such as '**/*.py'."
    )


def test_a_question_that_a_person_can_answer():
    result = FindResult((), None, 2, "ask_user", (GUESS,), request=ASKED)
    asked = question(result)
    assert asked == (
        "Which file is the app? It is needed for: a test. No file matches src/a.py or **/a.py."
    )
    required = structs.replace(
        result, request=structs.replace(ASKED, required=True), question=asked
    )
    assert find_text(required).endswith(f"It is required. Ask the user: {asked}")


def test_a_plan_to_create_says_that_nothing_was_done():
    result = FindResult(
        (), None, 1, "create_new", create="src/a.py", request=Request(("src/a.py",))
    )
    assert "If you mean a new file, create src/a.py. Nothing was created." in find_text(result)


def test_time_that_ran_out():
    early = FindResult((), None, 1, "skip", timed_out=True, request=ASKED)
    assert "Time ran out before 1 more pattern could be tried." in find_text(early)
    assert find_text(structs.replace(early, tried=0)).startswith(
        "No file was found. Time ran out before 2 more"
    )
    late = structs.replace(early, tried=2)
    assert "before similar names could be searched" in find_text(late)


def test_json():
    result = FindResult((), None, 2, "ask_user", (GUESS,), "Where?", request=ASKED)
    told = json.loads(json.dumps(shape(result)))
    assert told["candidates"] == [
        {"path": "lib/a.py", "score": 0.9, "reason": "the same name in lib"}
    ]
    assert (told["matches"], told["pattern"], told["tried"]) == ([], None, 2)
    assert (told["fallback"], told["question"], told["create"]) == ("ask_user", "Where?", None)
