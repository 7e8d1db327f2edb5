"""bench/speed.py runs, and its floors do the work they stand for. Nothing here looks at a clock."""

import json
import os
import sqlite3
from itertools import count

import pytest
from bench.filling import fill, opened, tracked
from bench.stopwatch import Figure, Limit, interleaved, measure

from bench import figures, speed
from sightline.model.events import Seen


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


def test_one_figure_runs_and_is_printed_as_json(capsys, monkeypatch):
    ran = Figure("quick", "nothing", "nothing", Limit(), lambda _: interleaved(id_, id_, 3))
    monkeypatch.setattr(speed, "FIGURES", (ran,))
    assert speed.main(["--json", "--only", "qui"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], len(said["rows"])) == (1, 1)
    assert said["rows"][0]["rounds"] == 3
    assert said["rows"][0]["met"] is None


def id_():
    return None


def test_a_name_that_no_figure_has_is_said(capsys):
    assert speed.main(["--only", "nothing"]) == 2
    assert "check" in capsys.readouterr().err


def test_a_missed_limit_is_printed_and_ends_with_one(capsys, monkeypatch):
    slow = Figure("slow", "w", "f", Limit(1.5), lambda _: ([2.0, 2.0], [1.0, 1.0]))
    monkeypatch.setattr(speed, "FIGURES", (slow,))
    assert speed.main([]) == 1
    assert "MISSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("limit", "ours", "met"),
    [
        (Limit(1.5), [1.4, 1.6, 1.4], True),
        (Limit(1.5), [1.6, 1.6, 1.6], False),
        (Limit(1.5), [1.4, 1.6, 1.6], True),  # the fastest rounds had the machine to themselves
        (Limit(ms=1500), [1.4, 1.4, 9.0], True),
        (Limit(ms=1000), [1.4, 1.4, 1.4], False),
    ],
)
def test_a_limit_is_held_against_the_medians_and_the_fastest_rounds(limit, ours, met):
    row = measure(Figure("f", "w", "f", limit, lambda _: (ours, [1.0, 1.0, 1.0])), "")
    assert row.met is met


def test_both_sides_take_turns_in_beginning():
    said = []
    interleaved(lambda: said.append("o"), lambda: said.append("f"), 3)
    assert "".join(said) == "fo" + "of" + "fo" + "of"


def test_each_side_is_prepared_ahead_of_its_own_rounds():
    said = []
    ready = {"before": lambda: said.append("r"), "before_floor": lambda: said.append("s")}
    interleaved(lambda: said.append("o"), lambda: said.append("f"), 1, **ready)
    assert "".join(said) == "sfro" + "rosf"


def test_the_bare_transaction_writes_the_rows_that_an_append_writes(folder):
    """Else it would be no floor: as many facts and the same state, in the same tables."""
    bare = figures._bare(folder, durable=False)
    bare(3)
    bare(4)
    with sqlite3.connect(f"{folder}/bare.db") as db:
        assert db.execute("SELECT count(*), max(position) FROM events").fetchone() == (52, 52)
        newest = db.execute("SELECT path, position FROM knowledge ORDER BY position DESC LIMIT 2")
        assert newest.fetchall() == [("f4.py", 52), ("f3.py", 51)]
        kinds = db.execute("SELECT DISTINCT kind FROM events").fetchall()
        assert kinds == [("Seen",)]
    db.close()


def test_a_filled_session_has_that_many_facts(folder):
    with opened(folder) as session:
        fill(session, 2500, paths=10, about="target.py", share=5)
        log = list(session._context.store.timeline(kinds=[Seen]))
        assert len(log) == 2500
        about = list(session._context.store.timeline(path="target.py"))
        assert len(about) == 500
        assert session._context.store.verify() == []


def test_tracked_files_are_known_unchanged_and_a_change_of_one_is_found(folder):
    """The scan that is timed does see the files: it is no loop over nothing."""
    with opened(folder) as session:
        paths = tracked(session, 250)
        assert len({os.stat(path).st_ino for path in paths}) == 250
        assert session.changes() == []
        looked = list(session._context.workspace.scan(session._context.tracked().stamps))
        assert looked == []  # no file is in doubt, so none is hashed
        with open(paths[7], "a") as file:
            file.write("more")
        assert [change.state for change in session.changes()] == ["stale"]


def test_the_deeds_of_a_save_leave_the_file_in_place(tmp_path):
    figures._saved(str(tmp_path / "a"), b"text")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"text"


def test_growth_compares_many_operations_with_few(folder, monkeypatch):
    """Both copies are of what real operations left, and the verb is asked of each file of both."""
    monkeypatch.setattr(figures, "MANY", 30)
    asked = count()

    def verb(session, name):
        session.read(name)
        next(asked)

    times = figures.growth(verb, 3, 2)(folder)
    assert [len(side) for side in times] == [2, 2]
    rounds = 2 * 3 * (1 + 3)  # two sides, three rounds: one to warm up, three files
    assert next(asked) == 30 + 10 + rounds


def test_every_figure_has_its_own_name_and_a_floor():
    names = [figure.name for figure in figures.FIGURES]
    assert len(set(names)) == len(names)
    assert all(figure.floor and figure.what for figure in figures.FIGURES)


def test_a_process_that_begins_writes_to_no_other_folder(folder):
    ours, floor = figures.unchanged_afresh(folder, 3)
    assert len(ours) == len(floor) == 3
