"""The agent products that Sightline knows: one line for each."""

from __future__ import annotations

from importlib import import_module

from sightline.agents.product import Product

PRODUCTS = {
    "claude-code": "sightline.agents.claude_code.product",
}
"""Name -> the module whose PRODUCT it is. A module is loaded when its product is first asked for: a hook
pays for one product."""


def product(name: str) -> Product | None:
    """Return a product; None for an unknown name."""
    module = PRODUCTS.get(name)
    if module is None:
        return None
    found: Product = import_module(module).PRODUCT
    return found


def title_of(name: str) -> str:
    """Return what people call a product; an unknown name itself."""
    known = product(name)
    return name if known is None else known.title


def connectable() -> list[Product]:
    """Return the products whose settings can hold our hooks."""
    known = [product(name) for name in PRODUCTS]
    return [each for each in known if each is not None and each.connection.scopes]
