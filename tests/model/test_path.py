import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.errors import PathRefused
from sightline.model.path import MACOS, POSIX, WINDOWS, canonical, flavour_of, key

ROOTS = {"posix": "/home/ada/ws", "macos": "/Users/ada/ws", "windows": r"C:\Users\ada\ws"}
FLAVOURS = [POSIX, MACOS, WINDOWS]
ODD = ["a", "B.txt", "..", ".", "", "/", "\\", "C:", "c", "é", "e\u0301", "ß", "nul", "x ", "\0"]
ODD += ["//?/", "UNC", "\ud800", "home", "ada", "ws", "Users", "x" * 256]

names = st.lists(st.sampled_from(ODD) | st.text(max_size=4), max_size=9).map("/".join) | st.text()


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda f: f.name)
@given(name=names, absolute=st.booleans())
@example(name="a//./b/../c/", absolute=True)
def test_a_canonical_path_stays_inside_and_is_its_own_canonical_path(flavour, name, absolute):
    root = ROOTS[flavour.name]
    try:
        path = canonical(f"{root}/{name}" if absolute else name, root, flavour)
    except PathRefused:
        return
    assert canonical(path, root, flavour) == path
    assert canonical(f"{root}/{path}", root, flavour) == path
    assert path == "." or not {"", ".", ".."} & set(path.split("/"))
    assert not path.startswith("/")
    assert "\0" not in path


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda f: f.name)
@given(text=st.text())
def test_a_key_is_its_own_key(flavour, text):
    assert key(key(text, flavour), flavour) == key(text, flavour)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", "a"),
        ("./a", "a"),
        ("a/", "a"),
        ("a//b", "a/b"),
        ("a/../b", "b"),
        ("/home/ada/ws/a", "a"),
        ("/home/ada/ws", "."),
        ("/home/../home/ada/ws/./a", "a"),
        ("a\\b", "a\\b"),
        (" ", " "),
    ],
)
def test_posix(name, path):
    assert canonical(name, "/home/ada/ws") == path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (r"src\app.py", "src/app.py"),
        (r"C:\Users\ada\ws\a.py", "a.py"),
        ("c:/users/ADA/ws/A.py", "A.py"),
        ("/c/Users/ada/ws/a.py", "a.py"),
        (r"\\?\C:\Users\ada\ws\a.py", "a.py"),
        (r".\a\..\b", "b"),
    ],
)
def test_windows(name, path):
    assert canonical(name, ROOTS["windows"], WINDOWS) == path


@pytest.mark.parametrize("name", [r"\\Server\Share\ws\a", r"\\?\UNC\server\share\ws\a"])
def test_windows_shares(name):
    assert canonical(name, r"\\server\share\ws", WINDOWS) == "a"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "empty"),
        ("..", "outside"),
        ("a/../../b", "outside"),
        ("../ws/a", "outside"),
        ("/home/ada", "outside"),
        ("/home/ada/ws2/a", "outside"),
        ("/home/ada/ws/../x", "outside"),
        ("a\0", "invalid"),
        ("x" * 256, "invalid"),
        ("é" * 128, "invalid"),
        ("/".join(["x" * 200] * 21), "invalid"),
        ("\udcff", "invalid"),
    ],
)
def test_refused(name, reason):
    with pytest.raises(PathRefused) as refused:
        canonical(name, "/home/ada/ws")
    assert refused.value.reason == reason
    assert refused.value.hint


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (r"D:\Users\ada\ws\a", "outside"),
        (r"\Users\ada\ws\a", "outside"),
        (r"\\server\share\a", "outside"),
        ("C:a", "invalid"),
        ("a.py:stream", "invalid"),
        ("con", "invalid"),
        ("src/NUL.txt", "invalid"),
        ("a.", "invalid"),
        ("a ", "invalid"),
        ("a*", "invalid"),
    ],
)
def test_refused_on_windows(name, reason):
    with pytest.raises(PathRefused) as refused:
        canonical(name, ROOTS["windows"], WINDOWS)
    assert refused.value.reason == reason


def test_spellings_of_one_file_share_a_key():
    assert key("Caf\u00e9.TXT", MACOS) == key("cafe\u0301.txt", MACOS)
    assert key("STRASSE", WINDOWS) == key("straße", WINDOWS)
    assert key("A", POSIX) != key("a", POSIX)


def test_the_display_is_kept():
    assert canonical("/users/ADA/WS/Caf\u00e9", ROOTS["macos"], MACOS) == "Caf\u00e9"


def test_flavours_by_platform():
    assert [flavour_of(p) for p in ("linux", "darwin", "win32")] == [POSIX, MACOS, WINDOWS]
