"""The earlier rule for what is truncated: the two tests that came with it, and its priorities."""

from __future__ import annotations

from bench.policies.protecting import Ages, Protecting

from sightline.messages.blocks import Block, Decision, Excerpt, Rewrite

TEXT = "setting = 1\n" * 200


class History:
    """Blocks, one of the model's answers after another."""

    def __init__(self, **ages):
        self.folder = Protecting(len, Ages(soft=1, **ages))
        self.blocks: list[Block] = []

    def add(self, kind, text=TEXT, **more):
        step = self.blocks[-1].step + 1 if self.blocks else 1
        block = Block(len(self.blocks), 0, kind, text, len(text), step, **more)
        self.blocks.append(block)
        self.folder.add(block)

    def read(self, path):
        shown = (Excerpt(path, 1, TEXT, whole=True),)
        self.add("result", tool="read_file", deed="read", paths=(path,), excerpts=shown)

    def modify(self, path):
        rewrites = (Rewrite(path, "1", "2"),)
        edit = {"tool": "edit_file", "deed": "edit", "call": "e1", "paths": (path,)}
        self.add("call", rewrites=rewrites, **edit)
        self.add("result", "done", **edit)

    def run(self):
        self.add("result", tool="execute_bash", deed="run")

    def steps(self, number):
        for _ in range(number):
            self.add("text", "and so on")

    def folded(self):
        made = self.folder.decide(1_000_000)
        return {
            self.blocks[fold.block].paths or self.blocks[fold.block].tool: fold
            for fold in made.folds
        }


def test_preserves_recently_modified_files():
    history = History()
    history.modify("/app/config.ts")
    history.read("/app/config.ts")
    history.steps(10)
    assert history.folded() == {}


def test_truncates_stale_file_reads():
    history = History()
    history.read("/app/config.ts")
    history.steps(9)
    assert history.folded() == {}
    history.steps(1)
    fold = history.folded()["/app/config.ts",]
    assert fold.tier == "stale"
    assert fold.stub.startswith(
        "[File: /app/config.ts (201 lines) - content truncated, use read_file"
    )
    assert "Last read: step 1" in fold.stub
    assert "setting = 1" in fold.stub


def test_a_file_that_was_used_elsewhere_is_not_stale():
    history = History()
    history.read("/app/config.ts")
    history.steps(5)
    history.read("/app/config.ts")
    history.steps(5)
    assert history.folded() == {}


def test_a_file_that_the_user_named_stays_longer():
    history = History()
    history.add("user", "please look at config.ts")
    history.read("/app/config.ts")
    history.steps(10)
    assert history.folded() == {}
    history.steps(10)
    assert list(history.folded()) == [("/app/config.ts",)]


def test_what_can_be_run_again_goes_first():
    history = History()
    history.read("/app/config.ts")
    history.run()
    history.steps(10)
    made = history.folder.decide(len(TEXT) // 2)  # the first that goes is enough
    assert [history.blocks[fold.block].tool for fold in made.folds] == ["execute_bash"]


def test_below_the_budget_nothing_goes_and_what_went_is_not_folded_again():
    history = History()
    history.run()
    history.steps(10)
    assert history.folder.decide(1) == Decision()
    assert list(history.folded()) == ["execute_bash"]
    assert history.folder.decide(1_000_000) == Decision()
