"""Related files in words: each with its reasons, and what the limits left out is said."""

import json

from sightline.api.json_shapes import shape
from sightline.codegraph.related_files import Related, RelatedFile
from sightline.codegraph.words import text

ONE = RelatedFile("src/b.py", ("imported in line 3", "in the same folder"), 0.9, 2048, 512)


def test_each_file_is_a_line_with_its_reasons():
    assert text(Related("src/a.py", [ONE])) == (
        "Related to src/a.py:\n"
        "  src/b.py (2.0 KiB, about 512 tokens): imported in line 3; in the same folder"
    )


def test_what_is_not_in_the_answer_is_said_with_what_to_do():
    found = Related(
        "a.py", [ONE], left_out=1, sources=3_000, unread=2_000, unreadable=1, too_large=2
    )
    said = text(found).splitlines()
    assert said[-4:] == [
        "1 more file is related but did not fit. Ask with a higher limit to see them.",
        "There was time to look at 1,000 of 3,000 sources, so importers may be missing. Ask again to go on.",
        "1 source cannot be read now, so its imports are not known.",
        "2 sources are too large to be read for imports.",
    ]


def test_nothing_related_is_said_as_such():
    assert text(Related("a.py")) == "No other file is related to a.py."
    assert "that fits the limits" in text(Related("a.py", left_out=3))


def test_as_json_everything_is_there():
    found = Related("src/a.py", [ONE], left_out=4)
    assert json.loads(json.dumps(shape(found))) == {
        "path": "src/a.py",
        "files": [
            {
                "path": "src/b.py",
                "why": ["imported in line 3", "in the same folder"],
                "score": 0.9,
                "size": 2048,
                "tokens_estimate": 512,
            }
        ],
        "left_out": 4,
        "complete": True,
        "sources": 0,
        "unread": 0,
        "unreadable": 0,
        "too_large": 0,
        "unkept": "",
    }


def test_what_could_not_be_kept_is_told():
    told = text(Related("src/a.py", [ONE], unkept="No space left on device"))
    assert told.endswith("so the next command reads all sources again: No space left on device.")
