"""The benches of Java and C read what builds say, and their judges see what is wrong."""

from __future__ import annotations

from bench import imports_c, imports_java, judged


def put(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return str(root)


def test_a_row_keeps_what_was_promised_or_promises_nothing():
    good = judged.Row("t", "w", 98, 100, 100, (1.0,))
    assert good.kept
    assert not judged.Row("t", "w", 97, 100, 100, (1.0,)).kept
    assert not judged.Row("t", "w", 94, 94, 100, (1.0,)).kept
    assert not judged.Row("t", "w", 100, 100, 100, (3.0,)).kept
    assert judged.Row("t", "w", 0, 100, 100).kept


def test_the_status_tells_of_a_row_that_missed(capsys):
    assert judged.printed([judged.Row("tree", "ours", 1, 2, 2, (1.0,))]) == 1
    assert "0.5000" in capsys.readouterr().out


def test_answers_are_held_against_the_directives_that_were_met(tmp_path):
    tree = put(tmp_path, {"a.c": '#include "a.h"\n#include "b.h"\n#include "c.h"\n', "a.h": ""})
    put(tmp_path, {"b.h": "", "deep/c.h": ""})
    met: dict[imports_c.Place, set[str | None]] = {
        ("a.c", 1): {"a.h"},
        ("a.c", 2): {"other/b.h"},
        ("a.c", 3): {None},
    }
    row = imports_c.ours("t", tree, met, 0)
    assert (row.right, row.given, row.wanted) == (1, 3, 2)
    rule = imports_c.old_rule("t", tree, met)
    assert (rule.right, rule.given, rule.wanted) == (1, 2, 2)


def test_the_root_of_a_source_is_told_by_what_it_declares(tmp_path):
    tree = put(tmp_path, {"m/java/a/b/A.java": "/* package x; */ package a.b;", "B.java": ""})
    assert imports_java.root_of(tree, "m/java/a/b/A.java") == "m/java"
    assert imports_java.root_of(tree, "B.java") == ""
