"""Texts that an agent, or the log, gets through hooks. Every text names Sightline, because the
agent did not call Sightline itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sightline.errors import Hint, NextCall, PathError, Wording, fenced, without_calls
from sightline.model.path import quoted
from sightline.model.text import UNKNOWN_ENCODING
from sightline.shell_parsing.secrets import without_secrets
from sightline.text.phrases import by, count, named
from sightline.text.printable import printable


def refused_unjudged(why: str) -> str:
    """Return the refusal of an attempt that could not be judged. why: the fault, for a person."""
    return (
        "Sightline could not judge this edit, and it is set to refuse what it cannot judge "
        f"(fail = closed). What happened: {why} Nothing was written. Tell the user: "
        "`sightline doctor` says more, and SIGHTLINE_FAIL=open lets edits pass unjudged."
    )


def passed_unjudged(why: str) -> str:
    """Say that an attempt goes on although it could not be judged. why: the fault, for a person."""
    return (
        f"Sightline could not judge this edit, and it is set to let it pass (fail = open). {why} "
        "Others may have changed the file since you were shown it: read the file again."
    )


def outage(why: str, *, closed: bool) -> str:
    """Tell the user, once a session, that the guard is off. why: the fault, for a person."""
    so = "refuses every edit (fail = closed)" if closed else "lets every edit pass unjudged"
    return f"Sightline's guard is off. {why} Until that is mended Sightline {so}: sightline doctor"


FAULTS_MAX = 3
"""Wrong settings that one line for the user names."""


def left_out_of_settings(faults: Sequence[str], root: str) -> str:
    """Tell the user, once a session, of faults in a workspace's own settings. faults: each with its next
    step. root: the folder of a workspace that is not the agent's project, else ""."""
    where = quoted(root) if root else "this workspace"
    first = " ".join(faults[:FAULTS_MAX])
    more = len(faults) - FAULTS_MAX
    others = f" There are {more} more: sightline doctor" if more > 0 else ""
    return (
        f"Sightline found wrong settings in {where} and leaves them out. {first}{others} Edits are judged"
        " by all other settings."
    )


def other_checkout(path: str, place: str, own: str, *, exists: bool) -> str:
    """Tell the agent, once a conversation, that a file is of another checkout. path: from the top of that
    checkout; place: as checkout() names it; own: the file of this name in the agent's own checkout."""
    yours = (
        f"yours is {quoted(own)}" if exists else f"yours would be {quoted(own)}, which is not there"
    )
    return (
        f"Sightline: this is {quoted(path)} of {place}; {yours}. You work in another checkout of the"
        " repository: unless you mean this file, change yours, and take this change back."
    )


def tells_other_checkout(path: str, place: str) -> str:
    """Tell the user, once a conversation, that the agent changes a file of another checkout. path, place: as
    in other_checkout()."""
    return f"Your agent changes {quoted(path)} of {place}, and works in another checkout."


def checkout(top: str, *, is_main: bool) -> str:
    """Name a checkout."""
    return f"the main checkout ({quoted(top)})" if is_main else f"the checkout {quoted(top)}"


def unjudged(why: str, *, closed: bool) -> str:
    """Tell the user, once a session, that a call was not judged. why: the fault, for a person."""
    so = "An edit is refused then" if closed else "An edit passes unjudged then"
    return f"Sightline could not judge a step of the agent. {why} {so}: sightline doctor"


def unsure(path: str) -> str:
    """Refuse an attempt while the transcript does not show where the conversation goes on."""
    return (
        f"Sightline cannot see yet whether you still have what you were shown of {quoted(path)}: the row of "
        "the user's last message is not in the transcript. Nothing was written. Make the same call "
        "again; if this comes again, read the file first."
    )


UNRECORDED = "Nothing was recorded."
"""A hook says this of a store that fails: the host's tool may have changed files."""

HELD = "The store is held by another process: let it finish, or end it."


def late(seconds: float | None) -> str:
    """Say that the store or the disk did not answer in time."""
    within = "in time" if seconds is None else f"within {seconds:g} s"
    return f"The store or the disk did not answer {within}."


def unknown_agent(agent: str, known: str) -> str:
    """Say that no dialect has this name."""
    return f"No agent is called {agent!r:.60}; known: {known}."


def not_json(why: str) -> str:
    """Say that stdin held no JSON object."""
    return f"The hook's input is not a JSON object: {why}."


def too_large(limit: int) -> str:
    """Say that stdin held too much. limit: in bytes."""
    return f"The hook's input is larger than {limit >> 20} MiB and was not read."


def no_root(path: str) -> str:
    """Say that a path belongs to no workspace."""
    return f"{quoted(path)} is in no workspace: it was not judged."


def unbriefed(why: str) -> str:
    """Say that the briefing before a turn was left out."""
    return f"This prompt got no listings, no related files and no memory: {why}"


def broken(kind: str, place: str) -> str:
    """Name an unforeseen error and its place. Its values may be a file's text, so they are left
    out."""
    return f"Sightline itself failed ({kind} at {place})."


SILENT = "The process that answers hooks took this event and did not answer in time."

USAGE = """\
Usage: sightline hook AGENT [EVENT]
Answers one hook call of an agent: its JSON on stdin, the answer on stdout.
Known agents: {known}. `sightline init` connects them. Nothing was checked.
"""


def for_own_tools(everywhere: str) -> Wording:
    """Return how a call is worded for a model that has its product's own tools. everywhere: the argument of
    its editing tool that replaces a text at all places; "" for none."""

    def worded(call: NextCall) -> str:
        return everywhere if call.again and "count" in call.named else ""

    return worded


def refused(error: PathError, wording: Wording = without_calls) -> str:
    """Return why an attempt is refused, and the next step. wording: of a call of the model's tools."""
    fresh = getattr(error, "text", None)
    again = f"\nThe file as it stands:\n{fenced(fresh)}" if fresh else ""
    return f"Sightline refused this and left {quoted(error.path)} alone. {error.worded(wording)}{again}"


def whole_call(refusals: int, files: int) -> str:
    """Say that a call that changes several files is refused as a whole."""
    return (
        f"Sightline refused this call as a whole, because of {refusals:,} of its {files:,} files."
        " Nothing was written."
    )


ENTRIES_MAX = 20
"""Paths that the refusal of a search names."""


def refused_search(entries: Mapping[str, str], option: Callable[[str], str]) -> str:
    """Return the refusal of a search. entries: path that an ignore file refuses ("/" ends a folder)
    -> the name of the ignore file. option: the words that make the search leave a path out."""
    named = list(entries)[:ENTRIES_MAX]
    rest = len(entries) - len(named)
    paths = ", ".join(map(quoted, named)) + (f" and {rest:,} more" if rest else "")
    rules = ", ".join(sorted(set(entries.values())))
    options = " ".join(filter(None, dict.fromkeys(map(option, named))))
    how = f"Search again with {options}, or name the files to search."
    if not options:
        how = "Name the files to read."
    elif rest:
        how = f"Search a smaller folder, or name the files to search. Options for these: {options}"
    return f"Sightline refused this search: it would read {paths}, refused by {rules}.\n{how}"


BLIND_EDITS = {
    "git": "has git put its own text in place of that change",
    "number": "edits it by line number",
    "removed": "removes the file",
    "stash": "has git take that change away (into its stash)",
    "whole": "writes over the whole file",
}
"""What a command does to a file that changed unseen."""

LISTED_MAX = 20
"""Further files that the refusal of a command names."""


def blind_edit(summary: str, how: str, others: Sequence[str] = ()) -> tuple[str, str]:
    """Return message and hint for a command that would hit the wrong text of a changed file. how: a key of
    BLIND_EDITS. others: further files of which the command would hit the wrong text."""
    more = ""
    if others:
        names = named([*map(quoted, others)], LISTED_MAX)
        more = f" It would do so to {count(len(others), 'more file')} with changes that you were not shown: {names}."
    return (
        f"{summary} since you were shown it, and your command {BLIND_EDITS[how]}.{more} The command was not run.",
        "Correct the command, or send the same command again to run it as it is.",
    )


def diff_above(hint: str | Hint) -> Hint:
    """Return the next step after a refusal whose diff an earlier answer of the same batch holds."""
    return Hint("The diff is in the answer to an earlier call. ", hint)


def why_it_failed(error: PathError, wording: Wording, alike: str = "") -> str:
    """Return why an attempt does not fit that the host rejected. wording: as in refused(); alike: a
    description of the lines nearest to its text."""
    told = f"Sightline on the failed edit: {error.worded(wording)}"
    return "\n".join(filter(None, [told, alike]))


def other_form(path: str) -> str:
    """Return the refusal of an attempt on a name that differs from a file's name in its Unicode form
    alone. path: the file."""
    letters = [letter if letter.isascii() else "*" for letter in path.rpartition("/")[2]]
    glob = "".join(letters).replace("**", "*")
    return (
        f"Sightline refused this: {quoted(path)} exists, and its name is stored in another Unicode form "
        "than the one you sent. Your tool does not find that file, and would write a second one that "
        "looks the same.\n"
        f"Use the name exactly as `ls {glob}` prints it, or first rename the file with `mv` to the name "
        "that you sent."
    )


def damaged(path: str, encoding: str, lines: int) -> tuple[str, str]:
    """Return the words for the agent and for the person about a tool that destroyed bytes. encoding: of the
    file before; lines: that lost bytes."""
    which = "its encoding is not certain" if encoding == UNKNOWN_ENCODING else f"it was {encoding}"
    what = f"wrote U+FFFD in place of bytes that are not UTF-8 ({which}), in {count(lines, 'line')} of {quoted(path)}"
    back = "`sightline undo` brings the bytes back"
    instead = f"`sightline edit {quoted(path)} --old TEXT --new TEXT`"
    return (
        f"Sightline: your tool {what}. No other program did that. {back}; then edit with {instead}.",
        f"Your agent's tool {what}. {back}.",
    )


def bytes_unknown(path: str) -> tuple[str, str]:
    """Return the words for the agent and for the person about a tool that wrote U+FFFD where a file's bytes
    may have been others, which nothing keeps."""
    what = (
        f"wrote U+FFFD into {quoted(path)} where it had read U+FFFD. If other bytes stood there, they are"
        " lost: they are not on record, and an undo writes U+FFFD, too"
    )
    return f"Sightline: your tool {what}.", f"Your agent's tool {what}."


def would_damage(path: str, encoding: str) -> str:
    """Return the refusal of an attempt on a file whose bytes the host's tool does not keep. encoding: of
    the file, UNKNOWN_ENCODING where it is not certain."""
    own = "" if encoding == UNKNOWN_ENCODING else f" but {encoding}"
    if encoding.startswith("utf-8"):
        what = f"{quoted(path)} has bytes that are not UTF-8"
    else:
        what = f"{quoted(path)} is not UTF-8{own}"
    return (
        f"Sightline refused this: {what}, and your tool would damage it: it writes U+FFFD in place of"
        " such bytes, also in lines that you leave alone.\n"
        f"`sightline edit {quoted(path)} --old TEXT --new TEXT` keeps the encoding and all other bytes."
        " Or ask the user whether the file may be converted to UTF-8."
    )


def moved_away(path: str, where: str) -> tuple[str, str]:
    """Return message and hint for a file that was renamed: the host would write at the old name."""
    return (
        f"{quoted(path)} was renamed to {quoted(where)} since it was shown.",
        f"Make the edit in {quoted(where)}.",
    )


def gone(hint: Hint, reason: str) -> Hint:
    """Return the next step for a missing file. A host's tool that writes a file also creates
    one."""
    if reason == "deleted":
        return Hint("To create the file again, write it once more.")
    return Hint(hint, " To create a new file of this name, write it once more.")


def asks(path: str, setting: str) -> str:
    """Return why the user must approve a write. setting: "protect" or "policy", which asks."""
    if setting == "protect":
        pattern = quoted(f"!{path}").strip('"')
        return (
            f"Sightline: {quoted(path)} is protected (setting `protect`); a change needs your approval."
            f' To allow such changes, add "{pattern}" to `protect` in the settings'
            " that protect it: your own, for a built-in pattern."
        )
    return f'Sightline: a change of {quoted(path)} needs your approval (setting `policy` = "ask").'


def asks_for_ignored(path: str) -> str:
    """Return why the user must approve a command that may read or change a refused file."""
    return (
        f"Sightline: this command seems to name {quoted(path)}, which an ignore file refuses to agents; a"
        " variable or another program makes the name, so Sightline cannot be sure before the command runs."
    )


def turned_down(summary: str, diff: str) -> str:
    """Return the changes that a merge would have kept, for an attempt that the host rejected."""
    return (
        f"Sightline on the failed edit: {summary} since you were shown it. Your edit does not overlap"
        f" this change: read the file again, then make the edit.\n{fenced(diff, 'diff')}"
    )


TAKES_NONE = ""
"""In the place of hooks that could replace a merge: the product's hooks cannot hand over a text."""


def no_merge(hint: Hint, places: Sequence[str]) -> Hint:
    """Return the next step where a merge could be replaced, or cannot be handed over. places: of the hooks that could
    do it, or TAKES_NONE."""
    if list(places) == [TAKES_NONE]:
        return Hint(
            hint,
            " Sightline cannot merge here: this agent's program writes only the text that its model gave.",
        )
    return Hint(
        hint,
        " Sightline does not merge here: another hook could replace the merged text"
        f" ({named([*map(quoted, places)], 3)}).",
    )


def merged(path: str) -> str:
    """Say that Sightline merged a whole-file write with changes that the agent knows, and the host wrote it."""
    return f"Sightline: your text of {quoted(path)} was merged with changes by others; the file holds both."


def merged_with(summary: str, diff: str) -> str:
    """Say that a whole-file write was merged with a change, and written, and show the change."""
    return (
        f"Sightline: {summary} since you were shown it, and your text was merged with that change; the file"
        f" holds both. What is new to you:\n{fenced(diff, 'diff')}"
    )


def merged_for_user(path: str, who: str, lines: int) -> str:
    """Tell the user of a merge that was written. lines: the number of lines of others that the agent had
    not seen, all of which are kept; 0 where nobody knows."""
    changes = "changes" if not lines else count(lines, "line")
    kept = "the file holds both" if not lines else "kept" if lines == 1 else "all kept"
    return (
        f"Sightline merged the agent's text of {quoted(path)} with {changes} that the agent had not seen,"
        f" changed {by(who)}; {kept}: sightline log {quoted(path)}"
    )


def not_judged(path: str, reason: str) -> str:
    """Say that an attempt goes on unjudged; "" for an attempt that changes nothing."""
    if reason == "no_change":
        return ""
    return (
        f"Sightline: {quoted(path)} is too large to check: it may have changed since you read it."
    )


IN_FILE = {
    True: "",
    False: " since you were shown it. Your edit is not in the file",
    None: " since you were shown it",
}


def also_changed(summary: str, diff: str, *, is_in: bool | None) -> str:
    """Return others' changes to a file that was just edited. is_in: whether the file holds the edit, which
    the host's own answer says then; None where that cannot be said."""
    return f"Sightline: {summary}{IN_FILE[is_in]}. What is new to you:\n{fenced(diff, 'diff')}"


def joined(path: str, who: str, diff: str) -> str:
    """Say that a file holds an edit and another change of the same moment, and show the new lines."""
    return (
        f"Sightline: {quoted(path)} was changed {by(who)} while you wrote it, and one change replaced the other."
        f" Sightline merged both: the file holds both now. What is new to you:\n{fenced(diff, 'diff')}"
    )


def joined_for_user(path: str, who: str, lines: int) -> str:
    """Tell the user that a file holds an edit and another change of the same moment. lines: the number
    of lines in the other change."""
    return (
        f"Sightline: the agent wrote {quoted(path)} while it was changed {by(who)}, and one change replaced"
        f" the other. Sightline merged both ({count(lines, 'line')} of that change): sightline log {quoted(path)}"
    )


def not_in_file(path: str, who: str, diff: str) -> str:
    """Say that another session wrote the same lines just behind an edit."""
    return (
        f"Sightline: {quoted(path)} was written {by(who)} in the same moment, over your edit of the same lines. Your"
        f" edit is not in the file. What the file holds now, against what you knew:\n{fenced(diff, 'diff')}\n"
        "Make your edit again if it is still right."
    )


def gone_for_user(path: str, who: str, agent: str) -> str:
    """Tell the user that a file holds another change in place of an edit of the same lines. agent: the
    name of the session whose edit is not in the file."""
    return (
        f"Sightline: the same lines of {quoted(path)} were changed at once by {agent}, and {by(who)}. The file"
        f" holds the second change; {agent} was told."
    )


def left_out(diff: str, path: str) -> str:
    """Return the beginning of a diff that is too long for one answer."""
    return (
        f"{diff}\n… The rest is left out here: read {quoted(path)} before you write to it again.\n"
    )


def lost(path: str, who: str, diff: str, *, whole: bool, is_inside: bool) -> str:
    """Return the change that an edit went over. whole: the diff is; is_inside: the edit was made within
    lines that the change had left."""
    what = (
        "Your edit was made within the changed lines, with a result that nobody meant"
        if is_inside
        else "Your write replaced that change of the same lines"
    )
    more = "" if whole else "\n… and more than fits here. Tell the user: Sightline has all of it."
    return (
        f"Sightline: {quoted(path)} was changed {by(who)} while your edit waited. {what}. What had been changed:\n"
        f"{fenced(diff, 'diff')}{more}\nPut right what you did not mean to change, or ask the user."
    )


def lost_unkept(path: str, who: str) -> str:
    """Say that a write went over a change whose text may not be kept, or is none."""
    return (
        f"Sightline: {quoted(path)} was changed {by(who)} while your write waited, and your write replaced that"
        " change. Sightline keeps no text of this file: tell the user."
    )


def lost_for_user(path: str, who: str, position: int | None, *, is_inside: bool) -> str:
    """Tell the user of a change that the agent went over. position: of the fact of the change; None where
    its text is not kept."""
    what = "was made within lines" if is_inside else "replaced lines"
    said = f"Sightline: an edit of the agent {what} of {quoted(path)} that were changed {by(who)} while it waited."
    if position is None:
        return f"{said} Sightline keeps no text of this file."
    return f"{said} To bring back the file as it was before the edit: sightline rewind {position} --force-path {quoted(path)}"


def lost_to_command(path: str, diff: str, *, whole: bool, removed: bool) -> str:
    """Return the changes of others that the agent's command removed or wrote over. whole: the diff is
    whole; removed: the file is gone."""
    more = "" if whole else "\n… and more than fits here: tell the user."
    done = "removed it with" if removed else "wrote over"
    back = "" if removed else " Put back what belongs there."
    return (
        f"Sightline: {quoted(path)} had changed since you were shown it, and your command {done}"
        f" these changes. Sightline keeps the text.{back}\n{fenced(diff, 'diff')}{more}"
    )


def lost_to_command_for_user(path: str, who: str, position: int, command: str) -> str:
    """Tell the user of changes that the agent's command took away and that the agent had not seen. position:
    of the fact of these changes."""
    return (
        f"Sightline: the agent's command `{command}` removed lines of {quoted(path)} that the agent had not"
        f" seen, changed {by(who)}. To bring the file back: sightline rewind {position} --force-path"
        f" {quoted(path)}"
    )


def kept_by_command_for_user(paths: Sequence[str], command: str) -> str:
    """Tell the user that the agent's command worked on files with changes that the agent had not seen, and
    kept these."""
    return (
        f"Sightline: the agent's command `{command}` worked on {named([*map(quoted, paths)], 3)}, with changes"
        " in it that the agent had not seen; they are all kept."
    )


LENGTH = 200


def short(command: str, *, background: bool = False) -> str:
    """Return the first line of a command without its secrets, cut to LENGTH characters, as facts
    name the command."""
    first, _, rest = without_secrets(command).strip().partition("\n")
    cut = first[:LENGTH]
    name = f"{cut}…" if rest or cut != first else cut
    return f"{name} (goes on in the background)" if background else name


INSERTED_LENGTH = 1_000


def inserted(command: str) -> str:
    """Return a command without its secrets in one line, cut to INSERTED_LENGTH characters. Its words name
    the files that its output may show."""
    lines = filter(None, map(str.strip, without_secrets(command).split("\n")))
    return "; ".join(lines)[:INSERTED_LENGTH]


TITLE_LENGTH = 40


def title(prompt: str) -> str:
    """Return the first words of a prompt, without its secrets, as people know a session by; "" for a
    prompt that the client itself wrote."""
    words = printable(" ".join(without_secrets(prompt).split())).replace('"', "'")
    if words.startswith("<"):
        return ""
    cut = words[:TITLE_LENGTH]
    return words if cut == words else f"{cut.rpartition(' ')[0] or cut}…"


def not_walked(seconds: float) -> str:
    """Return why files that commands created are not searched for."""
    return f"the workspace could not be searched for what commands made within {seconds:g} s"
