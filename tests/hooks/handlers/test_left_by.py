"""Who left a text is answered as a fold over the whole timeline answers it."""

import random

import pytest

from sightline.hooks.handlers.lost_saves import left_by
from sightline.model.events import Cause, Changed, GitMoved, Rewritten, WriteIntended
from sightline.model.projections import git_cause
from sightline.model.revision import revision_of

TEXTS = [b"one\n", b"two\n", b"three\r\n", b"\xef\xbb\xbffour\n", b"five\r\nsix\n"]


def fact(chosen, before, after):
    kind = chosen.choice(["external", "agent", "git", "intended"])
    if kind == "git":
        return GitMoved(
            "a" * 40, "b" * 40, "checkout", ("a.txt",), (Rewritten("a.txt", before, after),)
        )
    if kind == "intended":
        return WriteIntended("a.txt", before, after)
    return Changed("a.txt", before, after, "content", Cause(kind, "other"))


def folded(log, revisions, judged):
    """The answer by its definition, from the first fact to the last."""
    left, intended = None, None
    for recorded in log:
        match recorded.fact:
            case WriteIntended(after=after):
                if after in revisions:
                    intended = Cause("agent", recorded.session)
                continue
            case GitMoved(changes=(change, *_)) as moved:
                after, cause = change.after, git_cause(moved)
            case Changed(after=after, cause=cause):
                pass
        if after in revisions:
            left = cause, recorded.position
        elif after == judged:
            left, intended = None, None
    return left or (intended or Cause("external"), None)


@pytest.mark.parametrize("seed", range(8))
def test_who_left_a_text_is_the_fold_of_the_whole_timeline(place, seed):
    chosen = random.Random(seed)
    context = place.session("s")._context
    before = revision_of(b"")
    for _ in range(60):
        after = revision_of(data := chosen.choice(TEXTS))
        other = context.for_session(chosen.choice("ab"))
        other.append([fact(chosen, before, after)], blobs=[data])
        before = after
    log = [*context.store.timeline(path="a.txt", kinds=[Changed, GitMoved, WriteIntended])]
    asked = [*map(revision_of, TEXTS), "0" * 64]
    for data in TEXTS:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        for judged in asked:
            expected = folded(log, {revision_of(data)}, judged)
            assert left_by(context, "a.txt", text, judged) == expected


def test_a_text_is_found_behind_any_number_of_changes_of_others(place):
    context = place.session("s")._context
    other = context.for_session("b")
    first = Changed("a.txt", "0" * 64, revision_of(b"one\n"), "content", Cause("agent", "b"))
    [recorded] = other.append([first], blobs=[b"one\n"])
    for number in range(20):
        after = revision_of(data := b"%d\n" % number)
        other.append(
            [Changed("a.txt", first.after, after, "content", Cause("external"))], blobs=[data]
        )
    assert left_by(context, "a.txt", "one\n", "0" * 64) == (Cause("agent", "b"), recorded.position)
