"""Many files replaced side by side: each for itself, and synced together."""

import errno
import os

import pytest
from tests.filesystem.doubles import BySteps, Hooked, NoLinks, before, dying, failing

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.file_state import Link, Replacement
from sightline.filesystem.read import signature_of
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import MISSING, as_link, revision_of

pytestmark = pytest.mark.wide

OLD, NEW, SAVE = b"old bytes", b"new", b"a save in between"
STOOD = {"a/one": OLD, "a/two": OLD, "b/gone": OLD, "b/made": None}
WANTED = {"a/one": NEW, "a/two": NEW, "b/gone": None, "b/made": NEW}
HERE, THERE = Link("one"), Link("no/where")
LINKS_STOOD = {"a/led": HERE, "a/link": HERE, "a/file": OLD, "a/gone": THERE, "a/made": None}
LINKS_WANTED = {"a/led": THERE, "a/link": NEW, "a/file": HERE, "a/gone": None, "a/made": HERE}
BOTH = [(STOOD, WANTED), (LINKS_STOOD, LINKS_WANTED)]


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "root"
    lay_out(made)
    return made


def lay_out(root, stood=STOOD):
    for path, data in stood.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if isinstance(data, Link):
            file.symlink_to(data.target)
        elif data is not None:
            file.write_bytes(data)


def content_at(file):
    if file.is_symlink():
        return Link(os.readlink(file))
    return file.read_bytes() if file.exists() else None


def contents(root, wanted=WANTED):
    return {path: content_at(root / path) for path in wanted}


def litter(root):
    names = {path.rpartition("/")[2] for path in (*WANTED, *LINKS_WANTED)}
    return [name for _, _, found in os.walk(root) for name in found if name not in names]


def opened(root, calls=None):
    return DiskWorkspace(str(root), str(root.parent / "state"), calls=calls)


def asked(stood=STOOD, wanted=WANTED):
    return [
        Replacement(path, compared(data), wanted[path], f"t{n}")
        for n, (path, data) in enumerate(stood.items())
    ]


def compared(data):
    if isinstance(data, Link):
        return as_link(data.target)
    return MISSING if data is None else revision_of(data)


def answered(found):
    return found.data if found.target is None else Link(found.target)


def test_symlinks_come_go_and_lead_elsewhere_and_are_not_followed(root):
    lay_out(root, LINKS_STOOD)
    answers = opened(root).replace_each(asked(LINKS_STOOD, LINKS_WANTED))
    assert [answered(found) for found in answers] == list(LINKS_WANTED.values())
    assert contents(root, LINKS_WANTED) == LINKS_WANTED
    assert (root / "a/one").read_bytes() == OLD
    assert litter(root) == []


def test_a_symlink_that_leads_elsewhere_than_expected_stays(root):
    lay_out(root, LINKS_STOOD)
    (root / "a/led").unlink()
    (root / "a/led").symlink_to("the-users")
    answers = opened(root).replace_each(asked(LINKS_STOOD, LINKS_WANTED))
    assert answers[0].target == "the-users"
    assert contents(root, LINKS_WANTED) == {**LINKS_WANTED, "a/led": Link("the-users")}


def test_each_gets_its_bytes_and_is_answered_in_order(root):
    answers = opened(root).replace_each(asked())
    assert [(found.path, found.data) for found in answers] == list(WANTED.items())
    assert contents(root) == WANTED
    assert litter(root) == []


def test_of_nothing_there_is_no_answer(root):
    assert opened(root).replace_each([]) == []


def test_each_file_is_synced_before_it_takes_its_name_and_its_folder_afterwards(root):
    made: list[str] = []
    opened(root, Hooked(made.append)).replace_each(asked())
    calls = [name for name in made if name in ("fsync", "exchange", "move")]
    changed, deleted, created = (
        ["fsync", "exchange", "fsync"],
        ["fsync"],
        ["fsync", "move", "fsync"],
    )
    assert calls == [*changed, *changed, *deleted, *created]


def test_one_that_is_not_as_expected_stays_and_the_others_are_done(root):
    (root / "a/two").write_bytes(SAVE)
    answers = opened(root).replace_each(asked())
    assert answers[1].data == SAVE
    assert contents(root) == {**WANTED, "a/two": SAVE}


def test_one_that_the_disk_refuses_is_an_error_and_the_others_are_done(root):
    (root / "a/two").unlink()
    (root / "a/two").symlink_to("one")
    wanted = [each for each in asked() if each.path != "a/two"]
    full = failing_writes(1, errno.ENOSPC)
    first, *others = opened(root, full).replace_each(wanted)
    assert isinstance(first, Unverifiable)
    assert isinstance(first.__cause__, OSError)
    assert [found.data for found in others] == [None, NEW]
    assert (root / "a/one").read_bytes() == OLD
    assert litter(root) == []


def failing_writes(times, code):
    """A system that refuses so many writes."""
    left = [times]

    def hook(name):
        if name == "write" and left[0]:
            left[0] -= 1
            raise OSError(code, os.strerror(code))

    return Hooked(hook)


@pytest.mark.parametrize("disk", [Calls, BySteps, NoLinks])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize(("stood", "wanted"), BOTH)
def test_whatever_call_fails_each_is_old_or_new_as_its_answer_says(root, disk, code, stood, wanted):
    for number in range(1, 400):
        lay_out(root, stood)
        calls, made = failing(number, code, disk)
        answers = opened(root, calls).replace_each(asked(stood, wanted))
        now = contents(root, wanted)
        for path, answer in zip(wanted, answers, strict=True):
            if isinstance(answer, Unverifiable):
                assert now[path] == stood[path], made
            else:
                # The last read may fail, too, after the write was done: then it says so.
                assert answer.kind == "unreadable" or answered(answer) == now[path], made
                assert now[path] in (stood[path], wanted[path])
        assert litter(root) == [], made
        if len(made) < number:
            break
    assert contents(root, wanted) == wanted
    assert number > 40


@pytest.mark.parametrize("call", ["fsync", "exchange"])
def test_a_save_while_others_are_written_is_kept(root, call):
    def save():
        (root / "a/two").write_bytes(SAVE)

    answers = opened(root, before(call, save)).replace_each(asked())
    assert answers[1].data == SAVE
    assert contents(root) == {**WANTED, "a/two": SAVE}
    assert litter(root) == []


def test_one_that_a_program_holds_open_is_an_error_and_the_others_are_done(root):
    with (root / "a/two").open("r+b") as held:  # an editor that opened it before, and saves after
        answers = opened(root).replace_each(asked())
        held.write(SAVE)
    assert "open for writing" in answers[1].message
    assert contents(root) == {**WANTED, "a/two": SAVE}
    assert litter(root) == []


def test_the_answer_is_the_stat_of_what_stands_there(root):
    for answer in opened(root).replace_each(asked()):
        now = os.lstat(root / answer.path) if answer.kind == "file" else None
        assert answer.signature == (signature_of(now) if now else None)


def test_what_somebody_wrote_into_the_new_file_is_what_the_answer_says(root):
    def save():
        [aside] = [each for each in (root / "a").iterdir() if each.name.endswith(".new")]
        aside.write_bytes(SAVE)

    [answer] = opened(root, before("after replace", save)).replace_each(asked()[:1])
    assert answer.data == (root / "a/one").read_bytes() == SAVE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a child")
@pytest.mark.parametrize(("stood", "wanted"), BOTH)
def test_killed_at_any_call_it_is_cleaned_up_to_old_or_new(root, stood, wanted):
    for number in range(1, 2_000, 3):
        lay_out(root, stood)
        some = asked(stood, wanted)
        if not killed_at(root, number, some):
            break
        workspace = opened(root)
        for each in some:
            asides = workspace.asides(each.path, each.token)
            after = compared(each.new)
            workspace.clean(each.path, asides, before=each.expected, after=after)
        now = contents(root, wanted)
        assert all(now[path] in (stood[path], wanted[path]) for path in wanted)
        assert litter(root) == []
    assert number > 50
    assert contents(root, wanted) == wanted


def killed_at(root, number, some):
    child = os.fork()
    if child == 0:
        try:
            opened(root, dying(number)).replace_each(some)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9


FEW, MANY = STOOD, {f"{'abc'[n % 3]}/{n}": OLD if n % 2 else None for n in range(30)}
counts = pytest.mark.parametrize("stood", [FEW, LINKS_STOOD, MANY], ids=["few", "links", "many"])


def opposite(stood):
    """Return a wanted state: each file that exists is deleted or changed, and each other one is made."""
    gone = {path: None if n % 3 else NEW for n, path in enumerate(stood)}
    return {path: NEW if stood[path] is None else gone[path] for path in stood}


@counts
def test_files_and_links_are_created_deleted_and_changed_together(root, stood):
    lay_out(root, stood)
    wanted = opposite(stood)
    answers = opened(root).replace_each(asked(stood, wanted))
    assert [found.data for found in answers] == [*wanted.values()]
    assert contents(root, stood) == wanted


def test_rights_and_names_that_are_given_meanwhile_are_kept(root):
    def give():
        (root / "a/one").chmod(0o751)
        os.link(root / "a/two", root / "b/too")

    answers = opened(root, before("fsync", give)).replace_each(asked())
    assert [found.data for found in answers] == [*WANTED.values()]
    assert (root / "a/one").stat().st_mode & 0o777 == 0o751
    assert os.path.samefile(root / "a/two", root / "b/too")
    assert (root / "b/too").read_bytes() == NEW
