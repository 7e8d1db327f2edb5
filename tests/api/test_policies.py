"""What the settings decide: policies per path, lines never shown, secrets."""

from __future__ import annotations

import pytest

import sightline
from sightline.model.events import Refused

TEN = "".join(f"line {n}\n" for n in range(1, 11))
OUTSIDE = TEN.replace("line 9", "LINE 9")
INSIDE = TEN.replace("line 3", "LINE 3")


def stale(place, s, now):
    place.put("a.py", TEN)
    s.read("a.py")
    place.put("a.py", now)


@pytest.mark.parametrize("policy", ["merge", "warn", "block", "refresh"])
def test_an_edit_outside_the_change_is_allowed_under_every_policy(place, policy):
    s = place.session(policy=policy)
    stale(place, s, OUTSIDE)
    result = s.edit("a.py", "line 3\n", "mine\n")
    assert "+LINE 9" in result.notice.text
    assert place.text("a.py") == OUTSIDE.replace("line 3", "mine")


@pytest.mark.parametrize("policy", ["merge", "warn", "block", "refresh"])
def test_an_edit_inside_the_change_is_refused_under_every_policy(place, policy):
    s = place.session(policy=policy)
    stale(place, s, INSIDE)
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit("a.py", "line 3\n", "mine\n")
    assert refused.value.reason == "stale"
    assert (refused.value.text == INSIDE) == (policy == "refresh")


@pytest.mark.parametrize(
    ("policy", "after"),
    [
        ("merge", OUTSIDE.replace("line 3", "mine")),
        ("warn", TEN.replace("line 3", "mine")),
        ("block", None),
        ("refresh", None),
    ],
)
def test_a_stale_whole_write_by_policy(place, policy, after):
    s = place.session(policy=policy)
    stale(place, s, OUTSIDE)
    if after is None:
        with pytest.raises(sightline.EditRefused, match="changed"):
            s.write("a.py", TEN.replace("line 3", "mine"))
        assert place.text("a.py") == OUTSIDE
        return
    result = s.write("a.py", TEN.replace("line 3", "mine"))
    assert place.text("a.py") == after
    assert result.notice is not None
    assert result.merged == (policy == "merge")


def test_text_given_with_a_refusal_is_enough_to_go_on(place):
    s = place.session(policy="refresh")
    stale(place, s, INSIDE)
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit_lines("a.py", 3, 3, "mine\n")
    assert refused.value.text == INSIDE
    s.acknowledge(refused.value)
    s.write("a.py", refused.value.text.replace("LINE 3", "mine"))
    assert place.text("a.py") == TEN.replace("line 3", "mine")


def test_the_last_policy_that_matches_decides(place):
    s = place.session(source={"policies": (("*.py", "block"), ("a.*", "warn"))})
    stale(place, s, OUTSIDE)
    assert s.write("a.py", TEN.replace("line 3", "mine")).notice is not None


def test_unseen_lines_may_be_refused_to_a_replace(place):
    place.put("a.py", TEN)
    s = place.session(unseen="refuse")
    s.read("a.py", (1, 2))
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit("a.py", "line 5\n", "mine\n")
    assert (refused.value.reason, refused.value.lines) == ("unseen", ((5, 5),))


def test_a_replace_in_lines_never_shown_is_allowed_with_a_notice(place, s):
    place.put("a.py", TEN)
    s.read("a.py", (1, 2))
    result = s.edit("a.py", "line 5\n", "mine\n")
    assert "line 5 was never shown" in result.notice.text
    assert s.check("a.py").seen_lines == ((1, 2), (5, 5))


def test_an_approval_is_for_the_diff_that_was_shown(place):
    asked = []

    def approve(path, diff):
        asked.append(diff)
        if len(asked) == 1:  # somebody saves while the user reads
            place.put("a.py", TEN.replace("line 5", "LINE 5"))
        return True

    s = place.session(policy="ask", approve=approve)
    place.put("a.py", TEN)
    s.read("a.py")
    s.edit("a.py", "line 3\n", "mine\n")
    first, second = asked
    assert " line 5\n" in first
    assert " LINE 5\n" in second
    assert place.text("a.py") == TEN.replace("line 3", "mine").replace("line 5", "LINE 5")


@pytest.mark.parametrize("answer", [True, False])
def test_ask_puts_it_to_the_user(place, answer):
    asked = []

    def approve(path, diff):
        asked.append((path, diff))
        return answer

    s = place.session(policy="ask", approve=approve)
    place.put("a.py", TEN)
    s.read("a.py")
    assert s.check("a.py", old="line 3\n").decision == "ask"
    if answer:
        s.edit("a.py", "line 3\n", "mine\n")
    else:
        with pytest.raises(sightline.EditRefused) as refused:
            s.edit("a.py", "line 3\n", "mine\n")
        assert refused.value.reason == "scope"
        assert "+mine" in refused.value.diff
        assert [r.fact.reason for r in s._context.store.timeline(kinds=[Refused])] == ["scope"]
    [(path, diff)] = asked
    assert path == "a.py"
    assert "-line 3\n+mine\n" in diff
    assert ("mine" in place.text("a.py")) == answer


def test_where_nobody_can_be_asked_it_is_refused(place):
    s = place.session(policy="ask")
    place.put("a.py", TEN)
    s.read("a.py")
    for act in (
        lambda: s.edit("a.py", "line 3\n", "mine\n"),
        lambda: s.apply([{"path": "a.py", "delete": True}]),
        lambda: s.move("a.py", "b.py"),
    ):
        with pytest.raises(sightline.EditRefused) as refused:
            act()
        assert refused.value.reason == "scope"
    assert place.text("a.py") == TEN


def test_secrets_are_never_stored_and_still_guarded(place, s):
    secret = "TOKEN=hunter2\nMODE=dev\n"
    place.put(".env", secret)
    s.read(".env")
    s.edit(".env", "MODE=dev", "MODE=prod")
    s.saw(".env", text=place.text(".env"))
    place.put(".env", "TOKEN=hunter3\nMODE=prod\n")
    assert s.check(".env").state == "stale"
    with pytest.raises(sightline.EditRefused):
        s.write(".env", "MODE=test\n")
    s.wrote(".env", content="TOKEN=hunter3\nMODE=x\n")
    with s.ran("nothing"):
        place.put(".env", "TOKEN=hunter4\n")
    s.delete(".env") if s.read(".env") else None
    s.close()
    for file in (place.home / "state").rglob("*"):
        if file.is_file():
            assert b"hunter" not in file.read_bytes(), file.name
