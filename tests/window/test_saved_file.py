"""A saved conversation opens whole up to the last acknowledged message, whatever happened to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.errors import HistoryError
from sightline.filesystem import private_files
from sightline.window.saved_file import parse

LONG = "line of a file that is long enough to be worth a stub\n" * 30


def talk(session, turns, start=0):
    """A conversation with something to fold, and the view asked for at each step."""
    conversation = session.conversation
    for n in range(start, start + turns):
        conversation.append({"role": "user", "content": f"Please look at {n}"})
        used = {"type": "tool_use", "id": f"c{n}", "name": "Grep", "input": {"pattern": f"p{n}"}}
        conversation.append({"role": "assistant", "content": [used]})
        told = {"type": "tool_result", "tool_use_id": f"c{n}", "content": LONG}
        conversation.append({"role": "user", "content": [told]})
        conversation.view(500, price="none")
        conversation.append({"role": "assistant", "content": f"{n} is fine ä \udcff"})
    return conversation


def view(conversation):
    return json.dumps(conversation.view(500, price="none"))


@pytest.fixture
def file(place):
    return str(place.home / "talk.jsonl")


def test_what_is_saved_is_loaded_with_all_that_was_decided(place, s, file):
    ours = talk(s, 6)
    ours.side("explore").append({"role": "user", "content": "look"})
    assert "was removed" in view(ours)
    saved = ours.save(file)
    assert (saved.messages, saved.whole) == (25, True)
    theirs = place.session("other").conversation
    loaded = theirs.load(file)
    assert (loaded.messages, loaded.there, loaded.warnings) == (25, 25, ())
    assert theirs.messages() == ours.messages()
    assert theirs.side("explore").messages() == ours.side("explore").messages()
    assert [each.id for each in theirs.display()] == [each.id for each in ours.display()]
    assert [each.at for each in theirs.display()] == [each.at for each in ours.display()]
    assert view(theirs) == view(ours)
    assert theirs.load(file).messages == 0


def test_saving_again_puts_what_is_new_behind_what_is_there(place, s, file):
    ours = talk(s, 2)
    ours.save(file)
    before = Path(file).read_bytes()
    inode = os.stat(file).st_ino
    assert ours.save(file).added == 0
    talk(s, 1, start=2)
    again = ours.save(file)
    assert (again.messages, again.whole) == (12, False)
    assert Path(file).read_bytes().startswith(before)
    assert os.stat(file).st_ino == inode
    theirs = place.session("other").conversation
    theirs.load(file)
    talk(s, 1, start=3)
    ours.save(file)
    assert theirs.load(file).messages == 4
    assert theirs.messages() == ours.messages()


def test_after_a_rewind_the_file_is_what_the_conversation_is(place, s, file):
    ours = talk(s, 2)
    ours.save(file)
    ours.rewind(ours.display()[2].id)
    assert ours.save(file).whole
    theirs = place.session("other").conversation
    theirs.load(file)
    assert theirs.messages() == ours.messages()


def few(session, *words):
    for word in words:
        session.conversation.append({"role": "user", "content": word})
    return session.conversation


def messages_of(data):
    """Return what a file of these bytes is read as: its messages."""
    found = parse(data)
    return [each["message"] for each in found.records if each["kind"] == "message"]


def test_an_append_that_was_stopped_at_any_byte_leaves_all_that_was_acknowledged(s, file):
    few(s, "one", "two").save(file)
    acknowledged = Path(file).read_bytes()
    ours = few(s, "three", "four")
    ours.save(file)
    whole = Path(file).read_bytes()
    every = ours.messages()
    for cut in range(len(acknowledged), len(whole) + 1):
        found = parse(whole[:cut])
        assert found.damage is None
        assert messages_of(whole[:cut]) == every[: found.messages]
        assert 2 <= found.messages <= 2 + whole[len(acknowledged) : cut + 1].count(b"\n")


class Stopped(BaseException):
    """The process ends here."""


class Stopping:
    """A file that takes so many bytes and no more, ever."""

    left = 0

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.inner.close()

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def write(self, data):
        part = bytes(data)[: self.left]
        Stopping.left -= len(part)
        self.inner.write(part)
        if len(part) < len(data):
            raise Stopped
        return len(part)


@pytest.mark.wide
def test_a_save_that_was_stopped_at_any_byte_leaves_the_old_file_or_the_new_one(
    s, file, monkeypatch
):
    """The whole file is written anew here, because the conversation went back."""
    ours = few(s, "one", "two")
    ours.save(file)
    old = Path(file).read_bytes()
    ours.rewind(ours.display()[0].id)
    few(s, "three")

    def opening(path, mode="r", **more):
        made = open(path, mode, **more)  # noqa: SIM115  the caller closes it
        return Stopping(made) if mode == "wb" else made

    monkeypatch.setattr(private_files, "open", opening, raising=False)
    size = len(old) + 10
    for stop in range(size):
        Stopping.left = stop
        try:
            ours.save(file)
        except Stopped:
            assert Path(file).read_bytes() == old
        else:
            break
    assert stop > 300
    assert messages_of(Path(file).read_bytes()) == ours.messages()
    assert [name for name in os.listdir(os.path.dirname(file)) if "talk" in name] == ["talk.jsonl"]


def test_one_that_was_cut_is_loaded_told_and_mended_by_the_next_save(place, s, file):
    ours = talk(s, 2)
    ours.save(file)
    whole = Path(file).read_bytes()
    with open(file, "wb") as cut:
        cut.write(whole[:-5])
    theirs = place.session("other").conversation
    loaded = theirs.load(file)
    assert loaded.messages == 7
    assert "was never finished" in loaded.warnings[0]
    assert theirs.messages() == ours.messages()[:7]
    assert ours.save(file).whole
    assert Path(file).read_bytes() == whole


SAVING = """
import os, sys
import sightline
from sightline.config.settings import Settings
root, state, file, stop = sys.argv[1:5]
left = int(stop)
real_write = os.write

class Killed:
    def __init__(self, inner): self.inner = inner
    def __getattr__(self, name): return getattr(self.inner, name)
    def __enter__(self): return self
    def __exit__(self, *error): self.inner.close()
    def writelines(self, lines):
        for line in lines: self.write(line)
    def write(self, data):
        global left
        data = bytes(data)
        part = data[:left]
        self.inner.write(part)
        left -= len(part)
        if len(part) < len(data) or left == 0:
            self.inner.flush()
            os.kill(os.getpid(), 9)
        return len(part)

from sightline.window import saved_file as files
from sightline.filesystem import private_files
plain = open
private_files.open = files.open = lambda path, mode="r", **more: (
    Killed(plain(path, mode, **more)) if mode in ("wb", "r+b") else plain(path, mode, **more)
)
with sightline.open_session(root, id="s", settings=Settings(state_home=state)) as session:
    session.conversation.save(file)
"""


def saved_by_another(place, file, stop):
    """A save by a process that kills itself after so many bytes; whether it did."""
    arguments = [str(place.root), str(place.home / "state"), file, str(stop)]
    done = subprocess.run(
        [sys.executable, "-c", SAVING, *arguments], check=False, capture_output=True
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


@pytest.mark.wide
def test_a_process_killed_while_it_saves_leaves_the_file_whole(place, s, file):
    """Whole files are put in place at once, so that any byte is as good as another; lines that are
    added stand whole, or are left out."""
    ours = talk(s, 1)
    assert saved_by_another(place, file, 300)
    assert not os.path.exists(file)
    ours.save(file)
    old = ours.messages()
    talk(s, 1, start=1)
    for stop in (1, 60, 200, 700):
        assert saved_by_another(place, file, stop)
        found = parse(Path(file).read_bytes())
        assert found.damage is None
        assert found.messages >= len(old)
    assert not saved_by_another(place, file, 10**6)
    assert place.session("other").conversation.load(file).messages == 8


def test_every_damaged_byte_is_found_and_what_stands_before_it_is_salvaged(s, file):
    """By reading alone: each byte of a small file as another one."""
    ours = few(s, "one", "two")
    ours.save(file)
    whole = Path(file).read_bytes()
    every = ours.messages()
    for at in range(len(whole) - 1):
        damaged = whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :]
        found = parse(damaged)
        before = whole[:at].count(b"\n")
        assert found.damage is not None
        assert found.damage.line == before + 1
        assert messages_of(damaged) == every[: max(before - 1, 0)]


def spoiled(file, line):
    lines = Path(file).read_bytes().splitlines(keepends=True)
    middle = len(lines[line]) // 2
    lines[line] = lines[line][:middle] + b"~" + lines[line][middle + 1 :]
    with open(file, "wb") as damaged:
        damaged.writelines(lines)
    return b"".join(lines)


def test_a_damaged_file_is_named_and_stays_and_can_be_salvaged(place, s, file):
    ours = talk(s, 2)
    ours.save(file)
    data = spoiled(file, 6)
    theirs = place.session("other").conversation
    with pytest.raises(
        HistoryError, match=r"damaged in line 7: .* The \d messages before it are"
    ) as caught:
        theirs.load(file)
    assert "salvage=True" in caught.value.hint
    assert theirs.messages() == []
    assert Path(file).read_bytes() == data
    loaded = theirs.load(file, salvage=True)
    assert loaded.messages in (7, 8)
    assert [each for each in ours.messages() if each in theirs.messages()] == theirs.messages()
    assert Path(file + ".damaged").read_bytes() == data
    assert file + ".damaged" in loaded.warnings[0]


DAMAGES = {
    "spoiled": lambda line, _: [line[:40] + b"~" + line[41:]],
    "zeroed": lambda line, _: [b"\0" * (len(line) - 1) + b"\n"],
    "cut, with the next glued on": lambda line, after: [line[: len(line) // 2] + after],
    "the next glued on": lambda line, after: [line.rstrip(b"\n") + b"~" + after],
    "separators of lines that are none": lambda line, _: ["\u2028\x85\n".encode() + line[:9] + b"\n"],
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("at", [0, 2, 4])
def test_only_the_damaged_record_is_lost_and_it_is_named(place, s, file, kind, at):
    few(s, "one", "two", "three", "four").save(file)
    lines = Path(file).read_bytes().splitlines(keepends=True)
    glued = "glued" in kind
    if glued and at == 4:
        return
    damaged = DAMAGES[kind](lines[at], lines[at + 1] if glued else b"")
    Path(file).write_bytes(b"".join([*lines[:at], *damaged, *lines[at + 1 + glued :]]))
    theirs = place.session("other").conversation
    loaded = theirs.load(file, salvage=True)
    words = ["one", "two", "three", "four"]
    if at and kind != "the next glued on":
        del words[at - 1]
    assert [each["content"] for each in theirs.messages()] == words
    is_lost = at == 0 or kind != "the next glued on"
    lost = f"Lost: line {at + 1} ("
    assert (
        lost if is_lost else f"No message is missing in line {at + 1} (1 byte beside 2 records)"
    ) in loaded.warnings[0]
    assert theirs.load(file, salvage=True).messages == 0
    assert s.conversation.load(file, salvage=True).messages == 0
    theirs.append({"role": "user", "content": "five"})
    theirs.save(f"{file}.new")
    assert len(parse(Path(f"{file}.new").read_bytes()).records) == len(words) + 1


NULS = b"\0" * 4096
GLUED = {
    "two glued": (lambda a, b, c: [a + b, c], "No message is missing in line 2 (2 records stand in it). All 3"),
    "three glued": (lambda a, b, c: [a + b + c], "No message is missing in line 2 (3 records stand in it). All 3"),
    "blanks between": (lambda a, b, c: [a + b" \r " + b, c], "No message is missing in line 2 (2 records"),
    "one written twice": (lambda a, b, c: [a + a, b, c], "No message is missing in line 2 (2 records stand in it). All 3"),
    "NULs between": (lambda a, b, c: [a + NULS + b, c], "No message is missing in line 2 (4096 bytes beside"),
    "NULs in front": (lambda a, b, c: [NULS + a, b, c], "No message is missing in line 2 (4096 bytes beside"),
    "NULs alone, nothing gone": (lambda a, b, c: [a, NULS, b, c], "No message is missing in line 3 (it is not"),
    "NULs for one": (lambda a, b, c: [a, NULS, c], "Lost: line 3 (it is not as it was written). The other 2"),
    "NULs for the last": (lambda a, b, c: [a, b, NULS], "Lost: line 4 (it is not as it was written). The other 2"),
    "NULs for one, the next glued on": (lambda a, b, c: [a, NULS + c], "Lost: line 3 (4096 bytes beside 1 record)"),
    "cut, the next glued on": (lambda a, b, c: [a[:40] + b, c], "Lost: line 2 (40 bytes beside 1 record). The other 2"),
    "cut at its end": (lambda a, b, c: [a[:-2] + b, c], "Lost: line 2 ("),
    "the last cut, glued on": (lambda a, b, c: [a, b + c[:50]], "Lost: line 3 (50 bytes beside 1 record). The other 2"),
    "one glued, one cut": (lambda a, b, c: [a + b[:50], c], "Lost: line 2 (50 bytes"),
    "one glued, another gone": (lambda a, b, c: [a + b, b"~" + c[9:]], "No message is missing in line 2 (2 records stand in it). Lost: line 3 ("),
}  # fmt: skip


@pytest.mark.parametrize("kind", GLUED)
def test_a_salvage_says_what_is_lost_and_what_only_stands_on_another_line(place, s, file, kind):
    few(s, "one", "two", "three").save(file)
    head, *lines = Path(file).read_bytes().splitlines()
    written, said = GLUED[kind][0](*lines), GLUED[kind][1]
    Path(file).write_bytes(b"\n".join([head, *written, b""]))
    theirs = place.session("other").conversation
    loaded = theirs.load(file, salvage=True)
    assert said in loaded.warnings[0]
    words = [each["content"] for each in theirs.messages()]
    count = 3 - ("Lost" in said)
    assert (len(words), loaded.messages) == (count, count)
    assert words == [each for each in ("one", "two", "three") if each in words]


def test_a_head_with_a_record_glued_on_is_no_loss(place, s, file):
    few(s, "one", "two", "three").save(file)
    head, first, *lines = Path(file).read_bytes().splitlines()
    Path(file).write_bytes(b"\n".join([head + first, *lines, b""]))
    theirs = place.session("other").conversation
    loaded = theirs.load(file, salvage=True)
    assert "No message is missing in line 1 (2 records stand in it). All 3" in loaded.warnings[0]
    assert len(theirs.messages()) == 3


def test_decisions_behind_a_lost_message_hold(place, s, file):
    ours = talk(s, 6)
    ours.side("explore").append({"role": "user", "content": "look"})
    ours.save(file)
    every = parse(Path(file).read_bytes()).records
    lines = Path(file).read_bytes().splitlines()
    spoiled(file, next(n for n, line in enumerate(lines) if b"look at 1" in line))
    theirs = place.session("other").conversation
    assert theirs.load(file, salvage=True).messages == 24
    assert theirs.messages() == [*ours.messages()[:4], *ours.messages()[5:]]
    assert theirs.side("explore").messages() == ours.side("explore").messages()
    theirs.save(f"{file}.new")
    kept = parse(Path(f"{file}.new").read_bytes()).records
    assert len(kept) == len(every) - 1
    assert view(theirs).count("was removed") == view(ours).count("was removed") == 3


def test_a_damaged_file_is_never_written_over_without_a_copy(s, file):
    ours = talk(s, 2)
    ours.save(file)
    data = spoiled(file, 6)
    with pytest.raises(HistoryError, match="nothing was saved"):
        ours.save(file)
    assert Path(file).read_bytes() == data
    assert ours.save(file, replace=True).whole
    assert Path(file + ".damaged").read_bytes() == data
    spoiled(file, 2)
    with pytest.raises(HistoryError, match="keeps another damaged one"):
        ours.save(file, replace=True)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"[7]", "No message of .* can be loaded"),
        (b'{"role": "wizard"}\n', "No message of .* can be loaded"),
        (b"\0" * 100, "it does not begin as a saved conversation does"),
        (b"\xff\xfe\n", "it does not begin as a saved conversation does"),
    ],
)
def test_what_is_no_saved_conversation_is_never_taken_for_an_empty_one(s, file, data, why):
    with open(file, "wb") as other:
        other.write(data)
    with pytest.raises(HistoryError, match=why):
        s.conversation.load(file, salvage=True)
    s.conversation.append({"role": "user", "content": "hi"})
    with pytest.raises(HistoryError, match="does not begin"):
        s.conversation.save(file)
    assert Path(file).read_bytes() == data


def test_a_missing_and_an_empty_file_are_told(s, file):
    assert s.conversation.load(file).warnings == (f"There is no file {file}: nothing was loaded.",)
    s.conversation.save(file)
    [warning] = s.conversation.load(file).warnings
    assert "holds no message" in warning
    with open(file, "wb"):
        pass
    assert "holds no message" in s.conversation.load(file).warnings[0]


def test_another_conversation_is_not_written_over_nor_mixed_in(place, s, file):
    talk(s, 1).save(file)
    other = place.session("other")
    other.conversation.append({"role": "user", "content": "something else"})
    with pytest.raises(HistoryError, match="holds another conversation"):
        other.conversation.load(file)
    with pytest.raises(HistoryError, match="holds the conversation of the session 's'"):
        other.conversation.save(file)
    assert other.conversation.messages() == [{"role": "user", "content": "something else"}]
    assert other.conversation.save(file, replace=True).messages == 1


def test_a_folder_that_is_not_there_is_told(s, place):
    s.conversation.append({"role": "user", "content": "hi"})
    with pytest.raises(HistoryError, match="cannot be written"):
        s.conversation.save(str(place.home / "no" / "talk.jsonl"))
