"""What is related in Java and in C, in the words of these languages."""

import pytest

from sightline.codegraph.find_related import related
from sightline.testing import FixedClock, MemoryWorkspace, make_session

MAIN, TEST = "app/src/main/java/org/acme", "app/src/test/java/org/acme"
FILES = {
    f"{MAIN}/Cart.java": "package org.acme;\nimport org.acme.tax.*;\nclass Cart { Rate r; Item i; }\n",
    f"{MAIN}/Item.java": "package org.acme;\nclass Item {}\n",
    f"{MAIN}/Shop.java": "package org.acme;\nclass Shop { /* Item */ Cart cart; }\n",
    f"{MAIN}/tax/Rate.java": "package org.acme.tax;\npublic class Rate {}\n",
    f"{MAIN}/tax/Other.java": "package org.acme.tax;\npublic class Other {}\n",
    f"{TEST}/CartTest.java": "package org.acme;\nclass CartTest { Cart cart; }\n",
    "include/acme/cache.h": "#pragma once\n#include <stdint.h>\n#include <acme/slice.h>\n",
    "include/acme/slice.h": "#pragma once\n",
    "util/cache.cc": '#include "acme/cache.h"\n',
    "util/other.cc": '// so\n#include "acme/cache.h"\n',
    "util/cache_test.cc": '#include "acme/cache.h"\n',
}


@pytest.fixture
def near():
    ground = make_session(MemoryWorkspace(FILES), clock=FixedClock())._context

    def asked(path):
        return {each.path: each.why for each in related(ground, path, limit=20)}

    return asked


def test_java_names_types_of_its_package_and_of_those_it_imports(near):
    found = near(f"{MAIN}/Cart.java")
    assert found == {
        f"{TEST}/CartTest.java": ("a test of it by name", "a test that names it in line 2"),
        f"{MAIN}/Item.java": ("named in line 3", "in the same folder"),
        f"{MAIN}/tax/Rate.java": ("named in line 3",),
        f"{MAIN}/Shop.java": ("names it in line 2", "in the same folder"),
    }


def test_a_header_is_included_and_defined(near):
    found = near("include/acme/cache.h")
    assert next(iter(found)) == "util/cache.cc"
    assert found == {
        "util/cache.cc": ("what defines it, by name", "includes it in line 1"),
        "include/acme/slice.h": ("included in line 3", "in the same folder"),
        "util/cache_test.cc": ("a test that includes it in line 1",),
        "util/other.cc": ("includes it in line 2",),
    }
    assert near("util/cache.cc")["include/acme/cache.h"] == (
        "its header, by name",
        "included in line 1",
    )


def test_what_comes_later_is_found_and_what_goes_is_not(place):
    place.put("src/a.c", '#include "made.h"\n#include <x.h>\n')
    place.put("src/A.java", "class A { Late late; }\n")
    place.put("one/x.h", "#pragma once\n")
    place.put("two/x.h", "#pragma once\n")
    ground = place.session()._context

    def near(path):
        found = related(ground, path, siblings=False)
        return [each.path for each in found]

    assert near("src/a.c") == ["one/x.h"]
    assert near("src/A.java") == []
    place.put("src/made.h", "#pragma once\n")
    place.put("src/Late.java", "class Late {}\n")
    assert near("src/a.c") == ["one/x.h", "src/made.h"]
    assert near("src/A.java") == ["src/Late.java"]
    assert near("src/Late.java") == ["src/A.java"]
    (place.root / "src/made.h").unlink()
    assert near("src/a.c") == ["one/x.h"]
