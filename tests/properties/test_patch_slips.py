"""Patches as models write them, with slips: what comes out is what was meant, all of it, or nothing.

A random change of real texts is written as a patch, and the patch is spoilt: counts and numbers that
are wrong, bare headers, one line of context, no marker of a missing newline, other prefixes, modes. The
judge is the change itself, and `git apply --recount` where git takes the patch.
"""

from __future__ import annotations

import difflib
import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.support.examples import examples, few_examples

import sightline
from sightline import EditRefused
from sightline.model.text import split
from sightline.testing import MemoryWorkspace, make_session

WIDE = bool(os.environ.get("SIGHTLINE_TEST_WIDE"))
SOURCES = sorted(Path(sightline.__file__).parent.rglob("*.py"))
NO_NEWLINE = "\\ No newline at end of file\n"
SLIPS = (
    *("counts", "starts", "bare", "dots", "heading", "unmarked", "prefix", "no_prefix"),
    *("stripped", "windows", "unended", "git", "sections", "mode", "mail"),
)
UNPLACED = {"counts", "starts", "heading", "bare", "dots", "sections"}
"""Slips after which no number says where a hunk without old lines stands."""


def changed(lines: list[str], dice: random.Random) -> list[str]:
    """Return lines with one to four random changes."""
    new = list(lines)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(new) + 1)
        put = [f"new_{dice.randrange(1000)} = {dice.choice(lines).strip()!r}\n"]
        end = min(at + dice.choice((0, 0, 1, 1, 2, 5)), len(new))
        new[at:end] = dice.choice((put, put * 2, [], [dice.choice(lines)]))
    if dice.random() < 0.15 and new and new[-1].strip():
        new[-1] = new[-1].removesuffix("\n")
    return [line if line.endswith("\n") else f"{line}\n" for line in new[:-1]] + new[-1:]


def hunks(old: list[str], new: list[str], context: int) -> list[tuple[int, int, list[str]]]:
    """Return the hunks of a change, each with its 1-based lines and its body."""
    found = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        body: list[str] = []
        for tag, a0, a1, b0, b1 in group:
            pairs = (
                [(" ", old[a0:a1])] if tag == "equal" else [("-", old[a0:a1]), ("+", new[b0:b1])]
            )
            for mark, part in pairs:
                for line in part:
                    body += (
                        [mark + line] if line.endswith("\n") else [f"{mark}{line}\n", NO_NEWLINE]
                    )
        start, size = group[0][1], group[-1][2] - group[0][1]
        found.append((start + 1 if size else start, group[0][3] + 1, body))
    return found


def counts(body: list[str]) -> tuple[int, int]:
    """Return how many old and how many new lines a hunk has."""
    return sum(line[0] in " -" for line in body), sum(line[0] in " +" for line in body)


def written(files, slips: set[str], context: int, dice: random.Random) -> str:
    """Return the patch for files (name, old lines, new lines), with slips."""
    out: list[str] = []
    for name, old, new in files:
        if "sections" in slips:
            out.append(f"*** Update File: {name}\n")
        else:
            a, b = (
                dice.choice((("i/", "w/"), ("c/", "i/"), ("o/", "w/")))
                if "prefix" in slips
                else ("a/", "b/")
            )
            a, b = ("", "") if "no_prefix" in slips else (a, b)
            out += [f"diff --git {a}{name} {b}{name}\n"] if slips & {"git", "mode"} else []
            out += ["old mode 100644\n", "new mode 100755\n"] if "mode" in slips else []
            out += ["index 83db48f..f1a2e09 100644\n"] if "git" in slips else []
            out += [f"--- {a}{name}\n", f"+++ {b}{name}\n"]
        for start, new_start, body in hunks(old, new, context):
            was, now = counts(body)
            if "counts" in slips:
                was, now = max(was + dice.randint(-3, 3), 0), max(now + dice.randint(-3, 3), 0)
            if "starts" in slips:
                start = max(start + dice.choice((-7, -2, -1, 1, 3, 40)), 1)
            header = f"@@ -{start},{was} +{new_start},{now} @@\n"
            header = "@@ ... @@\n" if "dots" in slips else header
            header = dice.choice(("@@\n", "@@ @@\n", header)) if "bare" in slips else header
            if "heading" in slips:
                above = [
                    line.strip()
                    for line in old[: max(start - 1, 0)]
                    if line.startswith(("def ", "class "))
                ]
                header = f"@@ {above[-1]}\n" if above else header
            if "unmarked" in slips:
                body = [line for line in body if line != NO_NEWLINE]
            if "stripped" in slips:
                body = ["\n" if line == " \n" else line for line in body]
            out += [header, *body]
    if "sections" in slips:
        out = ["*** Begin Patch\n", *out, "*** End Patch\n"]
    if "mail" in slips:
        out = [
            "From 1f2e Mon Sep 17 00:00:00 2001\n",
            "Subject: better\n",
            "\n",
            *out,
            "-- \n",
            "2.39.5\n",
        ]
    text = "".join(out)
    text = text.removesuffix("\n") if "unended" in slips else text
    return text.replace("\n", "\r\n") if "windows" in slips else text


def applied_by_git(place: Path, before: dict[str, str], patch: str) -> dict[str, str] | None:
    """Return the texts after `git apply --recount`; None where git refuses."""
    place.mkdir()
    for name, text in before.items():
        (place / name).write_text(text, newline="")
    command = ["git", "apply", "--recount", "--unidiff-zero", "--whitespace=nowarn", "-"]
    done = subprocess.run(
        command, cwd=place, input=patch.encode(), capture_output=True, check=False
    )
    if done.returncode:
        return None
    return {name: (place / name).read_bytes().decode() for name in before}


def drawn(dice: random.Random) -> list[tuple[str, list[str], list[str]]]:
    """Return one or two files: name, lines before, lines after."""
    files = []
    for name in ("a.py", "b.py")[: dice.choice((1, 1, 1, 2))]:
        old = split(dice.choice(SOURCES).read_text("utf-8"))[: dice.choice((12, 60, 200))]
        if old and old[-1].strip() and dice.random() < 0.2:
            old[-1] = old[-1].removesuffix("\n")
        new = changed(old, dice) if old else old
        files += [(name, old, new)] if new != old else []
    return files


def played(seed: int, place: Path) -> str:
    """One patch: all that was meant, or refused with a true reason. Return which, and what git does."""
    dice = random.Random(seed)
    files = drawn(dice)
    if not files:
        return "nothing to change"
    slips = set(dice.sample(SLIPS, dice.choice((0, 1, 1, 2, 3))))
    # Without a line around it, a new line has no place but its number.
    context = max(dice.choice((3, 3, 2, 1, 0)), bool(slips & UNPLACED))
    patch = written(files, slips, context, dice)
    before = {name: "".join(old) for name, old, _ in files}
    truth = {name: "".join(new) for name, _, new in files}
    is_apart = all(old[:3] == new[:3] for _, old, new in files)
    above = "# a line of the user's\n" * dice.choice((0, 1, 9)) * is_apart
    tree = MemoryWorkspace(dict(before))
    session = make_session(tree)
    for name, text in before.items():
        session.read(name)
        tree.put(name, above + text)
    reason, by_git = None, None
    try:
        session.patch(patch)
    except EditRefused as refused:
        reason = refused.reason
    after = {name: (tree.read(name).data or b"").decode() for name in before}
    if reason is not None:
        assert after == {name: above + text for name, text in before.items()}
        by_git = applied_by_git(place, before, patch)
        is_mode = "mode" in slips - {"sections"} and reason == "not_found"
        is_unclear = reason == "ambiguous" and slips & UNPLACED
        assert is_mode or is_unclear or by_git != truth, (reason, slips, patch)
    else:
        assert "mode" not in slips or "sections" in slips
        for name, text in truth.items():
            got, meant = after[name], above + text
            if "unmarked" in slips:  # the patch does not say how the file ends
                got, meant = got.removesuffix("\n"), meant.removesuffix("\n")
            assert got == meant, (slips, patch)
        if WIDE:
            by_git = applied_by_git(place, before, patch)
    git = "refused" if by_git is None else "as meant" if by_git == truth else "otherwise"
    return f"{reason or 'as meant'} (git: {git if reason or WIDE else 'not asked'})"


@pytest.mark.hypothesis
def test_a_patch_with_slips_does_all_that_was_meant_or_nothing(tmp_path, record_property):
    """`SIGHTLINE_TEST_WIDE=1` plays 5,000, asks git for each, and prints the table."""
    number = 5_000 if WIDE else few_examples(40, examples(300))
    found = Counter(played(seed, tmp_path / str(seed)) for seed in range(number))
    if WIDE:
        table = "\n".join(f"  {count:5,}  {what}" for what, count in found.most_common())
        record_property("figures", f"{number:,} patches with slips\n{table}")


# --- what was found


def edit(old: str, patch: str) -> str:
    tree = MemoryWorkspace({"a.py": old})
    session = make_session(tree)
    session.read("a.py")
    session.patch(patch)
    return (tree.read("a.py").data or b"").decode()


NAMES = "--- a/a.py\n+++ b/a.py\n"


def test_a_last_line_without_newline_goes_and_the_line_above_keeps_its_newline():
    assert edit("a\n\nb\nc", f"{NAMES}@@ -1,4 +1,2 @@\n a\n \n-b\n-c\n") == "a\n\n"
    assert edit("a\nb\nc", f"{NAMES}@@ -2,2 +2 @@\n b\n-c\n") == "a\nb\n"
    assert edit("a\nb\nc", f"{NAMES}@@ -2,2 +2,2 @@\n b\n-c\n+d\n") == "a\nb\nd"
    assert edit("a\nb\nc", f"{NAMES}@@ -2,2 +2 @@\n-b\n c\n") == "a\nc"


def test_a_blank_line_in_place_of_a_last_line_without_newline_is_kept():
    assert edit("a\n\nb", f"{NAMES}@@ -2,2 +2,2 @@\n \n-b\n+\n") == "a\n\n\n"
    assert edit("a\nb", f"{NAMES}@@ -2,1 +2,2 @@\n b\n+\n") == "a\nb\n\n"
    assert edit("a\nb", f"{NAMES}@@ -2,1 +2,1 @@\n-b\n+c\n") == "a\nc"


@pytest.mark.parametrize("header", ["@@\n", "@@ -1,9 +1,9 @@\n", "@@ -1,2 +1,2 @@\n"])
def test_the_signature_of_a_mail_ends_a_hunk_whatever_its_header_counts(header):
    assert edit("a\nb\n", f"{NAMES}{header}-a\n+A\n b\n-- \n2.39.5\n\n") == "A\nb\n"


def test_a_removed_line_of_dashes_is_no_signature():
    assert edit("a\n- \n", f"{NAMES}@@\n a\n-- \n") == "a\n"
    section = "*** Begin Patch\n*** Update File: a.py\n@@\n a\n--\n*** End Patch\n"
    assert edit("a\n-\n", section) == "a\n"


def test_blank_lines_that_stand_twice_below_an_anchor_have_no_place():
    text = "class A:\n    x = 1\n\n\ny = 1\n\n\nz = 1\n"
    with pytest.raises(EditRefused) as refused:
        edit(text, f"{NAMES}@@ class A:\n \n+new = 1\n \n")
    assert refused.value.reason == "ambiguous"
