"""Stores that version 0.1.0 wrote, and what is said of them, against the golden files in stores/."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.golden.running import Place
from tests.golden.telling import Story
from tests.golden.told_stores import ASKED

STORES = Path(__file__).parent / "stores"

SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


@pytest.mark.wide
@pytest.mark.parametrize("name", ASKED)
def test_a_store_of_the_first_version_says_what_it_said(name, golden, tmp_path):
    with tarfile.open(STORES / f"{name}.tar.xz") as archive:
        for member in archive.getmembers():  # Python 3.11.2 knows no filter
            archive.extract(member, tmp_path, **SAFELY)
    place = Place()
    try:
        shutil.rmtree(place.root)
        shutil.copytree(tmp_path / "project", place.root, symlinks=True)
        (place.root / ".git").mkdir()
        shutil.copytree(tmp_path / "store", place.home / "store")
        place.environ["SIGHTLINE_STORE"] = f"sqlite://{place.home}/store/store.db"
        story = Story(place)
        with place.entered():
            ASKED[name](story)
        golden(f"stores/{name}.txt", story.text)
    finally:
        place.close()
