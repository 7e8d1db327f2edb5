"""An agent's product, played: it asks before each edit, and writes as it was answered."""

from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace, WriteWhole
from sightline.model.hook_events import Answered, Attempted, Wrote


class Host:
    """One agent of it, in a place of the tests."""

    def __init__(self, place, id="s", **settings):
        self.place, self.session = place, place.session(id, **settings)
        self.calls = 0

    def facts(self, *kinds):
        found = self.session._context.store.timeline(session=self.session.id, kinds=list(kinds))
        return [recorded.fact for recorded in found]

    def read(self, path, lines=None):
        self.session.saw(path, lines=lines)

    def ask(self, path, attempt):
        self.calls += 1
        return attend(self.session, Attempted.single(path, attempt, f"c{self.calls}"))

    def edit(self, path, old, new, between=None):
        asked = self.ask(path, Replace(old, new))
        if asked.refuse is not None:
            return asked, None
        if between:
            between()
        before = self.place.text(path)
        self.place.put(path, before.replace(old, new, 1))
        done = Wrote(path, f"c{self.calls}", before, content=before.replace(old, new, 1))
        return asked, attend(self.session, done)

    def write(self, path, content, between=None):
        asked = self.ask(path, WriteWhole(content))
        if asked.refuse is not None:
            return asked, None
        if between:
            between()
        there = self.place.root / path
        before = self.place.text(path) if there.exists() else None
        text = asked.contents.get(path, content)
        self.place.put(path, text)
        done = Wrote(path, f"c{self.calls}", before, content=text, whole=True)
        return asked, attend(self.session, done)

    def batch_ends(self):
        return attend(self.session, Answered())

    def state(self, path):
        return self.session.check(path).state
