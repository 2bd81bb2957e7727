"""A rule over many things lists every fault, and does not pass for want of things."""

from __future__ import annotations

import pytest
from faults import no_faults


def _too_long(text: str) -> list[str]:
    return [f"{len(text)} letters"] if len(text) > 3 else []


def test_every_fault_is_a_line_with_its_name_and_the_advice_comes_first() -> None:
    with pytest.raises(AssertionError) as caught:
        no_faults({"a": "long", "b": "ok", "c": "longer"}, _too_long, "cut it short")
    assert str(caught.value).splitlines()[:3] == [
        "2 to mend; cut it short", "a: 4 letters", "c: 6 letters",
    ]  # fmt: skip


def test_things_without_a_fault_pass() -> None:
    no_faults({"b": "ok"}, _too_long, "cut it short")


def test_a_rule_that_looks_at_nothing_fails() -> None:
    with pytest.raises(AssertionError, match="looked at nothing"):
        no_faults({}, _too_long, "cut it short")
