"""``make setup`` finds each version that is pinned, with each Python that torchgrade declares.

What a version requires is read from the one that is installed: of pins with a marker, the Python
that runs this sees its own. That there is a file for this Python only an installation shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest
from faults import no_faults
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
ADVICE = """pin an older one with '; python_version < "3.11"' beside it in .ci/constraints.txt"""


def declared() -> list[str]:
    """Return the versions of Python that docs/versions.md names."""
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    found = re.search(r"Python 3\.(\d+) to 3\.(\d+) and torch", page)
    assert found is not None
    return [f"3.{minor}" for minor in range(int(found[1]), int(found[2]) + 1)]


def pins(text: str) -> dict[str, list[Requirement]]:
    """Return the lines of a file of constraints, by the name of the package."""
    by_name: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            pin = Requirement(line)
            by_name.setdefault(canonicalize_name(pin.name), []).append(pin)
    return by_name


PINS = pins((ROOT / ".ci/constraints.txt").read_text(encoding="utf-8"))


def for_python(python: str, pins: list[Requirement]) -> list[Requirement]:
    there = {"python_version": python, "python_full_version": f"{python}.99"}
    return [pin for pin in pins if pin.marker is None or pin.marker.evaluate(there)]


def miscounted(pins: list[Requirement], pythons: list[str]) -> Iterator[str]:
    """What the newest Python has pinned, each has; an older one may need more packages."""
    for python in pythons:
        count = len(for_python(python, pins))
        if count > 1 or (not count and for_python(pythons[-1], pins)):
            yield f"{count} versions for Python {python}"


def is_pinned(installed: str, pin: Requirement) -> bool:
    # 2.13.0+cpu is 2.13.0 to every index.
    return f"=={Version(installed).public}" == str(pin.specifier)


def left_behind(found: metadata.Distribution, pythons: list[str]) -> Iterator[str]:
    """What is installed, if it is pinned, goes with each Python that it is pinned for."""
    requires = found.metadata.get("Requires-Python") or ""
    for python in pythons:
        for pin in for_python(python, PINS[canonicalize_name(found.name)]):
            of_this = is_pinned(found.version, pin)
            if of_this and not SpecifierSet(requires).contains(f"{python}.99"):
                yield f"{found.version} needs Python {requires}, and is pinned for {python}"


def test_the_oldest_python_is_the_one_that_pip_asks_for() -> None:
    asked = re.search(r'^requires-python = ">=(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert asked is not None
    assert asked[1] == declared()[0]


def test_each_python_has_one_version_of_each_package() -> None:
    no_faults(PINS, partial(miscounted, pythons=declared()), "one line of pins for each Python")


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ("a==1", []),
        ('a==1; python_version < "3.11"', []),
        ('a==1; python_version >= "3.11"', ["0 versions for Python 3.10"]),
        ('a==1; python_version < "3.12"\na==2', ["2 versions for Python 3.10"]),
    ],
)
def test_what_would_be_missing_or_twice_is_found(lines: str, faults: list[str]) -> None:
    assert list(miscounted(pins(lines)["a"], ["3.10", "3.12"])) == faults


def test_each_version_goes_with_each_python_it_is_pinned_for() -> None:
    installed = {
        found.name: found
        for found in metadata.distributions()
        if canonicalize_name(found.name) in PINS
    }
    no_faults(installed, partial(left_behind, pythons=declared()), ADVICE)
