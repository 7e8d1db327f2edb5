"""The text of answers, for a model and for people: every face takes it from here.

An answer says itself in the words of the package that makes it. `text_of` gives the whole text, as a tool
answers a model; faces that put an answer together take the words of its parts. A command that only asks about
the state of a workspace takes its words from `workspace_words`, and starts without the packages of the other verbs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sightline.answers.answer import AnswerResult, in_answer
from sightline.answers.words import for_agent, heads, how_read, requests
from sightline.briefing.compose import Briefing
from sightline.briefing.words import lines as registry_lines
from sightline.checkpoints.rewind.words import lines_of
from sightline.checkpoints.words import describe_taken
from sightline.codegraph import words as related_words
from sightline.codegraph.related_files import Related
from sightline.errors import Hint, Wording, in_python, joined_hints
from sightline.model.path import quoted
from sightline.model.results import (
    BatchResult,
    Checkpoint,
    Claim,
    EditResult,
    FileChange,
    FileInContext,
    FileView,
    Notice,
    RewindReport,
)
from sightline.notices.words import unread_calls
from sightline.search import words as search_words
from sightline.search.chains import FindResult
from sightline.search.listing import DirectoryListing
from sightline.search.stats import Stats
from sightline.sessions.words import affected
from sightline.subtasks import words as subtask_words
from sightline.subtasks.subtask import Graph
from sightline.text import phrases
from sightline.text.causes import NameOf

__all__ = [
    "affected",
    "heads",
    "how_read",
    "in_answer",
    "registry_lines",
    "requests",
    "subtask_words",
    "text_of",
    "unread_calls",
]


def text_of(answer: object, name_of: NameOf = str, by: Wording = in_python) -> str:
    """Return the text of a verb's answer; of a list, that of each. name_of: session -> its name for the reader;
    by: words a call in the text. TypeError for an answer that has no text."""
    if answer is None or isinstance(answer, str):
        return answer or ""
    for kind, words in TEXTS.items():
        if isinstance(answer, kind):
            return Hint(words(answer, name_of)).worded(by)
    if isinstance(answer, list | tuple):
        return "\n".join(text_of(each, name_of, by) for each in answer)
    raise TypeError(f"there are no words for {type(answer).__name__}")


def _shown(view: FileView, _: NameOf) -> str:
    """Return the shown lines with their numbers, and what else the reader has to know."""
    first, last = view.lines
    width = len(str(last))
    lines = view.text.removesuffix("\n").split("\n") if last else []
    rows = [f"{number:>{width}}  {line}" for number, line in enumerate(lines, first)]
    if not last:
        rows = [f"{quoted(view.path)} is empty."]
    if view.left_out:
        rows.append(f"(line {first} is cut: {view.left_out} more characters)")
    elif last < view.total_lines:
        rows.append(
            f"({phrases.count(view.total_lines - last, 'more line')} of {view.total_lines})"
        )
    if view.diff:
        rows += ["Changed since you saw it last:", view.diff.removesuffix("\n")]
    return "\n".join(rows)


def _edited(done: EditResult, name_of: NameOf) -> str:
    """Return the changes of one call, and what others changed meanwhile."""
    if not done.changed:
        parts = [f"{quoted(done.path)} has this text already: nothing was written."]
    else:
        parts = [done.diff.removesuffix("\n") or f"{quoted(done.path)} is changed."]
        parts += [f"Merged with what others changed in {quoted(done.path)}."] if done.merged else []
        parts += [done.notice.text.rstrip("\n")] if done.notice is not None else []
        parts += [affected(done.affected, name_of)] if done.affected else []
    return "\n".join([*parts, *(_edited(each, name_of) for each in done.others)])


def _held(file: FileInContext, _: NameOf) -> str:
    seen = phrases.shown(file.seen_lines, file.total_lines)
    gone = "" if file.in_window else ", no longer whole in the context window"
    return f"{file.state}  {quoted(file.path)}, {seen}{gone}"


def _claimed(claim: Claim, _: NameOf) -> str:
    until = f"{claim.expires_at:%H:%M} UTC"
    return f"{', '.join(map(quoted, claim.paths))} is claimed until {until}: {claim.id}"


TEXTS: dict[type, Callable[[Any, NameOf], str | Hint]] = {
    AnswerResult: lambda answer, _: for_agent(answer),
    BatchResult: lambda batch, name_of: text_of(batch.results, name_of),
    Briefing: lambda briefing, _: briefing.text,
    Checkpoint: lambda taken, _: "\n".join(describe_taken(taken)),
    Claim: _claimed,
    DirectoryListing: lambda listing, _: search_words.listing(listing),
    EditResult: _edited,
    FileChange: lambda change, _: "\n".join(
        filter(None, [change.summary, change.diff.rstrip("\n")])
    ),
    FileInContext: _held,
    FileView: _shown,
    Hint: lambda hint, _: hint,
    FindResult: lambda found, _: search_words.find_text(found),
    Graph: lambda graph, _: subtask_words.summary_of(graph),
    Notice: lambda notice, _: notice.text,
    Related: lambda related, _: related_words.text(related),
    RewindReport: lambda report, name_of: joined_hints(lines_of(report, name_of)),
    Stats: lambda stats, _: search_words.text(stats),
}
"""The type of an answer -> its text."""
