"""The picture of the architecture is made from the imports."""

from tools import house_picture


def test_an_import_that_a_longer_way_leads_to_has_no_arrow():
    imports = {"errors": set(), "model": {"errors"}, "api": {"errors", "model"}, "cli": {"api"}}
    assert list(house_picture.arrows(imports)) == [
        ("model", "errors"), ("api", "model"), ("cli", "api"),
    ]  # fmt: skip


def test_the_page_shows_the_imports_as_they_are(monkeypatch):
    """Else run: python tools/house_picture.py"""
    monkeypatch.setattr("sys.argv", ["house_picture.py", "--check"])
    assert house_picture.main() == 0
