"""Patches as git reads them: git itself turns the one side into the other, and back."""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from sightline.filesystem.git.binary_patch import EXECUTABLE, FILE, SYMLINK, Side, blob_id, patch

NAMES = ("plain", "with blank", 'q"uo\\te', "tab\tand\nline", "ÿ/umlaut", "d/e/f")

TEXTS = st.one_of(
    st.binary(max_size=300),
    st.lists(st.sampled_from([b"one", b"two\r", b"", b"caf\xe9", b"\x0c"]), max_size=20).map(
        b"\n".join
    ),
)
SIDES = st.one_of(
    st.none(),
    st.builds(Side, st.sampled_from([FILE, EXECUTABLE]), TEXTS),
    st.builds(Side, st.just(SYMLINK), st.sampled_from([b"elsewhere", b"../a b"])),
)


@pytest.fixture(scope="module", params=["sha1", "sha256"])
def repository(request, tmp_path_factory):
    """A repository's folder, and its hash."""
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run(["git", "init", "-q", f"--object-format={request.param}", folder], check=True)
    return folder, request.param


def put(folder, path, side):
    file = folder / path
    if os.path.lexists(file):
        file.unlink()
    if side is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if side.mode == SYMLINK:
        os.symlink(side.data, os.fsencode(file))
        return
    file.write_bytes(side.data)
    file.chmod(side.mode & 0o777)


def side_on_disk(folder, path):
    file = folder / path
    if not os.path.lexists(file):
        return None
    if file.is_symlink():
        return Side(SYMLINK, os.fsencode(os.readlink(file)))
    return Side(EXECUTABLE if file.stat().st_mode & 0o100 else FILE, file.read_bytes())


def apply(folder, text, *more):
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", *more],
        cwd=folder,
        input=text,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (done.stderr, text)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(path=st.sampled_from(NAMES), old=SIDES, new=SIDES)
def test_git_turns_one_side_into_the_other_and_back(repository, path, old, new):
    folder, algorithm = repository
    put(folder, path, old)
    text = patch(path, old, new, algorithm)
    if old == new:
        assert text == b""
        return
    apply(folder, text)
    assert side_on_disk(folder, path) == new
    apply(folder, text, "--reverse")
    assert side_on_disk(folder, path) == old
    put(folder, path, None)


def test_bytes_are_named_as_git_names_them(repository):
    folder, algorithm = repository
    said = subprocess.run(
        ["git", "hash-object", "--stdin"], cwd=folder, input=b"a\n", capture_output=True, check=True
    )
    assert blob_id(b"a\n", algorithm) == said.stdout.decode().strip()


def test_it_reads_as_one_of_gits():
    old, new = Side(FILE, b"one\ntwo\n"), Side(EXECUTABLE, b"one\n2")
    assert patch("a.py", old, new, "sha1").decode() == (
        "diff --git a/a.py b/a.py\n"
        "old mode 100644\n"
        "new mode 100755\n"
        "index 814f4a422927b82f5f8a43f8fab6d3839e3983f2..83b0fe7a9ff9bf4b2b4a4d8bd2a38e4b2e8f3d0a\n"
        "--- a/a.py\n"
        "+++ b/a.py\n"
        "@@ -1,2 +1,2 @@\n"
        " one\n"
        "-two\n"
        "+2\n"
        "\\ No newline at end of file\n"
    ).replace("83b0fe7a9ff9bf4b2b4a4d8bd2a38e4b2e8f3d0a", blob_id(b"one\n2", "sha1"))
