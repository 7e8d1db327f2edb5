"""bench/replay.py --html writes a page that stands alone."""

from __future__ import annotations

from html.parser import HTMLParser

from tests.cli.test_replay import record

from bench import replay


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_the_page_stands_alone_and_no_text_of_a_recording_is_markup(tmp_path, capsys):
    record(tmp_path / "rec")
    record(tmp_path / "rec", "<i>two</i>")
    written = tmp_path / "p.html"
    asked = [str(tmp_path / "rec"), "--min-tokens", "0", "--html", str(written)]
    assert replay.main(asked) == 0
    page = Page()
    page.feed(written.read_text())
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "i", "b", "object", "base"}
    held = [(key, value or "") for _, given in page.tags for key, value in given.items()]
    assert not [key for key, _ in held if key in ("style", "href", "src") or key.startswith("on")]
    policy = next(value for key, value in held if key == "content" and "default-src" in value)
    assert "default-src 'none'" in policy
    assert "<i>two</" in page.text  # as text, cut to the length of a name
    assert page.text.count("modelled here, not observed") == 2
    assert [tag for tag, _ in page.tags].count("svg") == 4
