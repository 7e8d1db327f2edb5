"""Words on a structured answer: for the agent that gave it, and for the label of its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.answers.answer import Answer, AnswerResult, ChangeState, in_answer
from sightline.errors import EditRefused
from sightline.model.path import quoted
from sightline.model.results import Notice
from sightline.search import words as search_words
from sightline.text.phrases import count, named, shortened
from sightline.text.printable import one_line

LABEL = 60
"""Characters of a summary in the label of a checkpoint."""

NAMED = 20
"""Files that one sentence names."""

HEADS: dict[ChangeState, str] = {
    "applied": "Applied",
    "allowed": "Can be applied",
    "held": "Not applied, because another change was refused",
}

SUBTASKS = {
    "proposed": "Sub-tasks that wait for the user's approval",
    "pending": "Sub-tasks that wait for others",
    "ready": "Sub-tasks that may begin",
}
"""State -> what an answer says of its sub-tasks in that state."""

CUT = "Your answer ended early. Only its complete items count: send the rest again."


def label(answer: Answer) -> str:
    """Return the label of the checkpoint before the changes of an answer."""
    summary = shortened(one_line(answer.summary), LABEL)
    return f"before: {summary}" if summary else "before an answer"


def nothing_to_apply(path: str) -> tuple[str, str]:
    """Return the message and the hint of a change that names a file and nothing else."""
    return (
        f"The change of {quoted(path)} does not say what to change.",
        "Give content, edits, patch, delete or moveTo.",
    )


def for_agent(result: AnswerResult) -> str:
    """Return the text for the agent that gave the answer."""
    lines = [*how_read(result), *heads(result)]
    applied = (each.result for each in result.changes if each.state == "applied")
    merged = dict.fromkeys(done.path for done in applied if done and done.merged)
    lines += [f"Merged with what others changed in {quoted(path)}." for path in merged]
    for told in told_by(result):
        lines.append(told.worded(in_answer) if isinstance(told, EditRefused) else str(told))
    others = (each.refusal for each in result.changes if each.refusal is not None)
    lines += [each.worded(in_answer) for each in others if not isinstance(each, EditRefused)]
    for state, then in SUBTASKS.items():
        ids = [each.id for each in result.subtasks if each.state == state]
        lines += [f"{then}: {named(ids, NAMED)}."] if ids else []
    return "\n".join([*lines, *requests(result)])


def how_read(result: AnswerResult) -> Iterator[str]:
    """Yield a line where the text of an answer ended early, one on the slips in its JSON, and one on the
    fields that were left out."""
    if result.is_cut:
        yield CUT
    if result.slips:
        yield f"Your JSON was read without {', '.join(result.slips)}: JSON has none of these."
    if result.set_aside:
        yield f"Left out, because an answer has no such fields: {named(result.set_aside, NAMED)}."


def told_by(result: AnswerResult) -> list[EditRefused | Notice]:
    """Return the refusals and notices in the text for the agent."""
    refusals = {
        id(each.refusal): each.refusal
        for each in result.changes
        if isinstance(each.refusal, EditRefused)
    }
    applied = [each.result for each in result.changes if each.state == "applied" and each.result]
    notices = {id(done.notice): done.notice for done in applied if done.notice is not None}
    return [*refusals.values(), *notices.values()]


def heads(result: AnswerResult) -> Iterator[str]:
    """Yield a line for each state of changes that are not refused, with their files."""
    for state, head in HEADS.items():
        paths = [quoted(each.path) for each in result.changes if each.state == state]
        if paths:
            yield f"{head}: {named(list(dict.fromkeys(paths)), NAMED)}."


def requests(result: AnswerResult) -> Iterator[str]:
    """Yield a line on the contents of the next briefing, and one for each request without a match."""
    found = sum(bool(each.matches) for each in result.files)
    listings = len(result.answer.directory_requests)
    asked = [f"the files of {count(found, 'request')}"] if found else []
    asked += [count(listings, "listing")] if listings else []
    if asked and result.mode != "preview":
        yield f"The next briefing brings {' and '.join(asked)}."
    yield from (search_words.find_text(each) for each in result.files if not each.matches)
