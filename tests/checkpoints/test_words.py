"""What `gc` says of what went."""

from __future__ import annotations

from sightline.checkpoints.words import FILES_NAMED, swept
from sightline.store.retention import AGE, SIZE, KeptTexts, Swept, SweptText


def going(number, path, why=AGE):
    return SweptText(f"{number:064x}", path, 1024, None, why)


def test_a_dry_run_names_the_files_that_take_most():
    gone = [going(n, f"f{n // 2}.py") for n in range(60)]
    said = swept(Swept(True, tuple(gone), 60 << 10, KeptTexts(5, 100)))
    assert said[0] == "Would forget 60 texts (60.0 KiB):"
    assert sum(1 for line in said if line.startswith("  f") and "2 texts" in line) == FILES_NAMED
    assert "  and of 10 more" in said
    assert said[-1] == "5 texts (100 bytes) would stay. Facts stay for ever."


def test_reasons_are_told_apart_and_a_text_of_no_file_is_said():
    gone = (going(1, None), going(2, "a\x1b.py", SIZE))
    said = "\n".join(swept(Swept(True, gone, 2048, KeptTexts(1, 1), over=2048, returned=4096)))
    assert "not needed, and older than the limit" in said
    assert "the oldest above the size limit" in said
    assert "(of no file)" in said
    assert "\x1b" not in said
    assert "2.0 KiB above the limit, but every text is needed" in said


def test_a_real_run_says_what_the_disk_got_back():
    said = swept(Swept(False, (going(1, "a.py"),), 1024, KeptTexts(1, 1), returned=4096))
    assert said[0].startswith("Forgot 1 text")
    assert "The store is 4.0 KiB smaller on disk." in said
