"""A listing in words."""

import json

from msgspec import structs

from sightline.api.json_shapes import shape
from sightline.search.listing import DirectoryListing, Entry
from sightline.search.words import listing

ENTRIES = (
    Entry("src", "folder"),
    Entry("src/a.py", "file", 2048),
    Entry("link", "symlink"),
    Entry("pi\npe", "other"),
)
CUT = (
    "(7 more left out: at most 200 are listed. List a folder below, narrow by a filter, or raise "
    "the limit.)"
)
WHOLE = DirectoryListing(".", ENTRIES, 1, 1, 0, 0, 1, 200)


def test_an_entry_is_a_line():
    assert listing(WHOLE).split("\n") == [
        "src/",
        "src/a.py  2.0 KiB",
        "link  (symlink)",
        listing(WHOLE).split("\n")[3],
    ]


def test_what_is_left_out_is_told_with_what_to_do():
    cut = structs.replace(WHOLE, left_out=7, deeper=1, ignored=3, depth=2, closed=("shut/",))
    assert listing(cut).split("\n")[4:] == [
        CUT,
        "(1 file deeper than 2 levels: list a folder below, or raise the depth.)",
        "(could not be listed: shut/. Check who may read them.)",
        "(3 ignored)",
    ]


def test_nothing_is_said_in_words():
    empty = DirectoryListing("src", (), 0, 0, 0, 0, 1, 200)
    assert listing(empty) == "src/ holds nothing that is not ignored."
    assert listing(structs.replace(empty, filter="*.ts")) == "Nothing in src/ matches *.ts."


def test_programs_get_all_of_it():
    told = json.loads(json.dumps(shape(structs.replace(WHOLE, left_out=1, complete=False))))
    assert told["entries"][1] == {"path": "src/a.py", "kind": "file", "size": 2048}
    assert (told["left_out"], told["complete"]) == (1, False)
