"""JSON values that a schema allows, for tests that call tools with all of them."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = (
    "app.py",
    "src",
    "src/app.py",
    "new.py",
    "../x",
    ".",
    "",
    "a\0b",
    "\ud800",
    "*.py",
    "cli",
    "cp-1",
    "2h",
)
"""Texts that mean something to one tool or another, or are wrong to all of them."""

LARGE = (-(2**70), -1, 0, 1, 2, 2**31, 2**63, 2**70)

texts = st.sampled_from(WORDS) | st.text(max_size=8)

anything = st.recursive(
    st.none() | st.booleans() | st.sampled_from(LARGE) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)


def values(schema, named=None):
    """Values that a JSON Schema, as msgspec writes them, allows."""
    named = schema.get("$defs", named or {})
    if "$ref" in schema:
        return st.deferred(lambda: values(named[schema["$ref"].rpartition("/")[2]], named))
    if "anyOf" in schema:
        return st.one_of([values(each, named) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    make = MAKERS.get(schema.get("type"))
    return make(schema, named) if make else anything


def _integers(schema, _):
    least, most = schema.get("minimum"), schema.get("maximum")
    allowed = [n for n in LARGE if (least is None or n >= least) and (most is None or n <= most)]
    return st.sampled_from(allowed) | st.integers(least, most)


def _objects(schema, named):
    fields, required = schema.get("properties", {}), schema.get("required", [])
    if not fields:
        return st.dictionaries(texts, anything, max_size=2)
    made = {name: values(each, named) for name, each in fields.items()}
    needed = {name: made.pop(name) for name in required}
    return st.fixed_dictionaries(needed, optional=made)


def _arrays(schema, named):
    if "prefixItems" in schema:
        return st.tuples(*(values(each, named) for each in schema["prefixItems"])).map(list)
    return st.lists(values(schema.get("items", {}), named), max_size=3)


MAKERS = {
    "string": lambda schema, _: (
        st.datetimes().map(lambda at: f"{at.isoformat()}Z") if schema.get("format") else texts
    ),
    "integer": _integers,
    "number": lambda *_: st.floats() | st.sampled_from(LARGE),
    "boolean": lambda *_: st.booleans(),
    "null": lambda *_: st.none(),
    "object": _objects,
    "array": _arrays,
}
