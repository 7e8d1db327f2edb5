"""What a folder holds, told by a sorted list of paths."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.search.listing import below, beyond, level

NAMES = st.sampled_from(["a", "b", "a-b", "a.b", "a0", "é", "\U0001f600"])
PATHS = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=20)


def sorted_files(paths):
    return sorted(p for p in paths if not any(q.startswith(f"{p}/") for q in paths))


@given(paths=PATHS.map(sorted_files), folder=st.sampled_from(["", "a/", "a/b/", "a-b/", "é/"]))
def test_a_level_is_what_splitting_every_path_says(paths, folder):
    rests = [path[len(folder) :].split("/") for path in paths if path.startswith(folder)]
    found = level(paths, folder)
    assert set(found.files) == {folder + rest[0] for rest in rests if len(rest) == 1}
    assert set(found.folders) == {folder + rest[0] for rest in rests if len(rest) > 1}
    assert len(found.folders) == len(set(found.folders))
    assert below(paths, folder) == len(rests)


@given(paths=PATHS.map(sorted_files), levels=st.integers(0, 3))
def test_what_is_beyond_is_counted_whole(paths, levels):
    folders = level(paths, "").folders
    parts = [path.split("/")[1:] for path in paths if "/" in path]
    heads = {tuple(path.split("/")[: n + 1]) for path in paths for n in range(path.count("/") + 1)}
    near = {head for head in heads if 2 <= len(head) <= levels + 1}
    deeper = sum(len(rest) > levels for rest in parts)
    assert beyond(paths, folders, levels) == (len(near), deeper)
