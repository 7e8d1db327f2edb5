"""What is related in Go, whose imports name folders, and in Rust, whose paths go through modules."""

import pytest

from sightline.codegraph.find_related import related
from sightline.testing import FixedClock, MemoryWorkspace, make_session

GO = {
    "go.mod": "module acme.org/shop\n",
    "main.go": 'package main\nimport (\n"fmt"\n"acme.org/shop/cart"\n)\nvar c = cart.NewItem()\n',
    "other.go": 'package main\nimport "acme.org/shop/cart"\nvar s = cart.Store{}\n',
    **{f"cart/{name}.go": "package cart\n" for name in ("alone", "item", "more", "store")},
    "cart/item_test.go": "package cart\n",
}
RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["app", "kit"]\n',
    "app/Cargo.toml": '[package]\nname = "app"\nedition = "2021"\n[dependencies]\nkit = { path = "../kit" }\n',
    "app/src/main.rs": "mod view;\nuse kit::shapes::Circle;\nfn main() { view::draw() }\n",
    "app/src/view.rs": "use kit::things::round::Ball;\n#[cfg(test)] mod tests;\n",
    "app/src/view/tests.rs": "use super::*;\n",
    "kit/Cargo.toml": '[package]\nname = "kit"\nedition = "2021"\n',
    "kit/src/lib.rs": "pub mod shapes;\npub use shapes as things;\n",
    "kit/src/shapes.rs": "pub mod round;\n",
    "kit/src/shapes/round.rs": "pub struct Ball;\n",
    "kit/src/round.rs": "pub struct Ball;\n",
}


def opened(files):
    workspace = MemoryWorkspace(files)
    return workspace, make_session(workspace, clock=FixedClock())._context


def near(ground, path):
    return {each.path: each.why for each in related(ground, path, limit=20)}


def test_the_file_of_a_package_that_fits_comes_first_and_the_others_count_less():
    _, ground = opened(GO)
    found = related(ground, "main.go", limit=20)
    assert [each.path for each in found] == [
        *("cart/item.go", "cart/alone.go", "cart/more.go", "cart/store.go", "other.go"),
    ]
    assert found[0].why == ("imported in line 4",)
    assert found[0].score > found[1].score > found[2].score > found[3].score
    near_item, near_store = near(ground, "cart/item.go"), near(ground, "cart/store.go")
    assert next(iter(near_item)) == "cart/item_test.go"
    assert list(near_item)[1] == "main.go"
    assert next(iter(near_store)) == "other.go"


def test_modules_and_crates_are_related_through_their_paths():
    _, ground = opened(RUST)
    assert near(ground, "app/src/main.rs") == {
        "app/src/view.rs": ("imported in line 1", "in the same folder"),
        "kit/src/shapes.rs": ("imported in line 2",),
    }
    found = near(ground, "app/src/view.rs")
    assert "a test of it by name" in found["app/src/view/tests.rs"]
    assert found["kit/src/shapes/round.rs"] == ("imported in line 1",)


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        (
            "kit/src/lib.rs",
            "pub mod shapes;\npub mod round;\npub use crate as things;\n",
            "kit/src/round.rs",
        ),
        ("app/Cargo.toml", '[package]\nname = "app"\nedition = "2021"\n', None),
    ],
)
def test_what_paths_lead_through_is_followed_when_it_changes(path, text, target):
    workspace, ground = opened(RUST)
    assert "kit/src/shapes/round.rs" in near(ground, "app/src/view.rs")
    workspace.put(path, text)
    imported = [
        each for each, why in near(ground, "app/src/view.rs").items() if "imported in line 1" in why
    ]
    assert imported == ([target] if target else [])
