"""What belongs to the last edits comes with the next briefing: only what was not seen as it is."""

import os

import pytest

from sightline.briefing.bundle import LINES_MAX

APP = "from shop import prices\n\n\ndef total(cart):\n    return sum(map(prices.of, cart))\n"
PRICES = "def of(item):\n    return item.price\n"
TEST = "from shop.app import total\n\n\ndef test_total():\n    assert total([]) == 0\n"


@pytest.fixture
def shop(place, s):
    place.put("shop/__init__.py", "")
    place.put("shop/app.py", APP)
    place.put("shop/prices.py", PRICES)
    place.put("shop/other.py", "x = 1\n")
    place.put("tests/test_app.py", TEST)
    return s


def edited(session, path="shop/app.py", old="sum(", new="0 + sum("):
    session.read(path)
    session.edit(path, old, new)
    return session


def bundle(session, **options):
    told = session.briefing("and now?", **options)
    return next((part.text for part in told.parts if part.name == "bundle"), "")


def test_imports_and_tests_of_what_was_edited_are_shown_with_numbers(shop):
    said = bundle(edited(shop))
    assert said.startswith("Files related to those you edited (shop/app.py)")
    assert "     1\tdef of(item):\n     2\t    return item.price" in said
    assert "     4\tdef test_total():" in said
    assert "tests/test_app.py, 5 lines: " in said
    assert "(shop/app.py)" in said
    assert "other.py" not in said


def test_without_an_edit_there_is_none(shop):
    shop.read("shop/app.py")
    assert bundle(shop) == ""


def test_it_comes_once_and_its_files_count_as_seen(shop):
    told = edited(shop).briefing("and now?")
    shop.acknowledge(told)
    assert bundle(shop) == ""
    assert {each.path: each.via for each in shop.files()} == {
        "shop/app.py": "read",
        "shop/prices.py": "bundle",
        "tests/test_app.py": "bundle",
    }
    shop.edit("shop/prices.py", "item.price", "item.price * 2")


def test_what_was_seen_as_it_is_does_not_come_again(place, shop):
    shop.read("shop/prices.py")
    said = bundle(edited(shop))
    assert "prices.py" not in said
    assert "test_app.py" in said
    place.put("shop/prices.py", PRICES + "# dearer\n")
    assert "# dearer" in bundle(shop)


def test_what_left_the_window_comes_again(shop):
    shop.read("shop/prices.py")
    shop.dropped("shop/prices.py")
    assert "def of(item)" in bundle(edited(shop))


def test_the_next_edit_makes_the_next_one(shop):
    shop.acknowledge(edited(shop).briefing("and now?"))
    shop.edit("shop/app.py", "0 + sum(", "1 + sum(")
    assert bundle(shop) == ""
    shop.dropped("tests/test_app.py")
    assert "test_total" in bundle(shop)


def test_it_is_due_for_two_turns(shop):
    edited(shop)
    for turn in (1, 2):
        shop.turn(turn)
        assert bundle(shop) != ""
    shop.turn(3)
    assert bundle(shop) == ""


def test_a_long_file_is_named_and_not_shown(place, shop):
    place.put("shop/prices.py", PRICES + "# long\n" * LINES_MAX)
    said = bundle(edited(shop))
    assert f"shop/prices.py, {LINES_MAX + 2} lines: " in said
    assert "# long" not in said


def test_it_keeps_to_its_room_and_names_what_it_does_not_show(place, shop):
    place.put("shop/prices.py", PRICES + "# a line that takes some room\n" * 200)
    told = edited(shop).briefing("and now?", budget=600)
    assert told.tokens <= 600
    assert "shop/prices.py, 202 lines" in told.text
    assert "takes some room" not in told.text


@pytest.mark.parametrize(
    ("settings", "there", "not_there"),
    [
        ({"bundle": "off"}, (), ("prices", "test_app")),
        ({"bundle_imports": "off"}, ("test_app",), ("prices",)),
        ({"bundle_tests": "off"}, ("prices",), ("test_app",)),
        ({"bundle_imports": "off", "bundle_tests": "off"}, (), ("prices", "test_app")),
        ({"bundle_files": 1}, ("1 more file left out",), ()),
    ],
)
def test_it_can_be_switched(place, shop, settings, there, not_there):
    shop.close()
    session = place.session(**settings)
    said = bundle(edited(session))
    assert all(word in said for word in there)
    assert not any(word in said for word in not_there)


def test_secrets_are_never_brought_along(place, shop):
    shop.close()
    session = place.session(source={"never_store": ("prices.py",)})
    said = bundle(edited(session))
    assert "test_app.py" in said
    assert "prices.py" not in said


def test_a_hard_link_to_a_secret_is_not_brought_along(place, shop):
    (place.root / "shop/prices.py").unlink()
    place.put(".env", "TOKEN = 'hunter2'\n")
    os.link(place.root / ".env", place.root / "shop/prices.py")
    said = bundle(edited(shop))
    assert "test_app.py" in said
    assert "prices.py" not in said.replace("shop.prices", "")
    assert "hunter2" not in said


def test_an_edited_file_that_went_has_no_bundle(place, shop):
    edited(shop)
    (place.root / "shop/app.py").unlink()
    assert bundle(shop) == ""


def test_mentions_are_shown_and_counted_when_they_arrived(shop):
    told = shop.briefing("look at @shop/prices.py and @shop/none.py")
    assert [part.name for part in told.parts] == ["mentions"]
    assert "shop/prices.py, whole, 2 lines, revision" in told.text
    assert "     1\tdef of(item):" in told.text
    assert "shop/none.py is not shown" in told.text
    assert shop.files() == []
    shop.acknowledge(told)
    assert [(each.path, each.via) for each in shop.files()] == [("shop/prices.py", "mention")]


def test_a_mention_is_cut_to_the_room(place, shop):
    place.put("big.txt", "a line of some length, and more of it\n" * 200)
    told = shop.briefing("@big.txt", budget=500)
    assert 0 < told.tokens <= 500
    shop.acknowledge(told)
    [seen] = shop.files()
    assert 0 < seen.seen_lines[-1][1] < 200
