import pickle

import pytest

from sightline.model.value import Value


class Point(Value):
    x: int
    y: int = 0


class Named(Point):
    name: str = ""


def test_fields_come_by_place_by_name_or_by_default():
    assert Point(1) == Point(1, 0) == Point(x=1) == Point(1, y=0) == Point(**dict(Point(1).items()))


def test_a_subclass_has_its_parents_fields_first():
    assert list(Named(1, 2, "n").items()) == [("x", 1), ("y", 2), ("name", "n")]


def test_equality_asks_for_the_same_type():
    assert Point(1, 2) != Named(1, 2)
    assert Point(1, 2) != (1, 2)


def test_equal_values_are_one_key():
    assert {Point(1): "a"}[Point(1, 0)] == "a"
    assert len({Point(1, 2), Named(1, 2), Point(1, 2)}) == 2


def test_nothing_can_be_changed_added_or_taken_away():
    point = Point(1)
    for act in (
        lambda: setattr(point, "x", 2),
        lambda: setattr(point, "z", 2),
        lambda: delattr(point, "x"),
    ):
        with pytest.raises(AttributeError, match="frozen"):
            act()
    assert point == Point(1)


def test_a_changed_copy_leaves_the_first():
    point = Point(1, 2)
    assert point.replace(y=3) == Point(1, 3)
    assert point == Point(1, 2)


def test_wrong_fields_are_named():
    with pytest.raises(TypeError, match="Point needs x"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="does not take z"):
        Point(1, z=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="too many values"):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="does not take x"):
        Point(1, x=1)  # type: ignore[misc]


def test_values_survive_pickling_and_print_as_they_are_made():
    assert pickle.loads(pickle.dumps(Named(1, 2, "n"))) == Named(1, 2, "n")
    assert repr(Named(1, 2, "n")) == "Named(x=1, y=2, name='n')"
