"""What a function comes to in the other files of its submission."""

from __future__ import annotations

from grader.static_analysis.analyse import analyse
from grader.static_analysis.facts import EntryFacts, reachable

HELPERS = """\
import torch
from net import leaf


def rows(x):
    for row in x:
        torch.mean(row)
    return [leaf(row) for row in x]


def quiet(x):
    return x[0]


class Layer:
    def forward(self, x):
        while x:
            x = leaf(x)
"""
NET = """\
import helpers
from helpers import quiet, rows as by_rows


def plain(x):
    return quiet(x)


def nested(x):
    for part in x:
        by_rows(part)


def through(x):
    return helpers.Layer().forward(x)


def leaf(x):
    return x.tolist()


def alone(x):
    return x + 1
"""


def facts(entry: str, **others: str) -> EntryFacts:
    read = {
        f"{name}.py": analyse(text.encode())
        for name, text in {"net": NET, "helpers": HELPERS, **others}.items()
    }
    found = reachable(read, "net.py", entry)
    assert found is not None
    return found


def test_what_is_used_of_another_file_is_there_with_its_place() -> None:
    found = facts("plain")
    assert found.functions == ("plain", "quiet")
    assert found.indexings == 1
    assert not found.loops


def test_loops_nest_across_files() -> None:
    found = facts("nested")
    where = [(loop.place.file, loop.place.line, loop.depth) for loop in found.loops]
    assert where == [("", 10, 1), ("helpers.py", 6, 2), ("helpers.py", 8, 2)]
    assert found.depth == 2
    mean = next(item for item in found.mentions if item.name == "torch.mean")
    assert (str(mean.place), mean.place.params) == (
        "helpers.py, line 7", {"line": 7, "file": "helpers.py"},
    )  # fmt: skip


def test_a_class_of_another_file_and_what_that_uses_of_the_first_are_followed() -> None:
    found = facts("through")
    assert [(loop.kind, loop.place.file) for loop in found.loops] == [("while", "helpers.py")]
    back = next(item for item in found.mentions if item.last == "tolist")
    # Its place is in the file that was asked about, so it names none.
    assert (back.place.line, back.place.file) == (19, "")


def test_other_files_add_nothing_to_what_does_not_use_them() -> None:
    assert facts("alone") == analyse(NET.encode()).entries["alone"]


def test_a_file_that_cannot_be_read_adds_nothing() -> None:
    assert facts("nested", helpers="def rows(x)\n").depth == 1


def test_an_entry_that_is_not_there_has_no_facts() -> None:
    read = {"net.py": analyse(NET.encode()), "helpers.py": analyse(HELPERS.encode())}
    assert reachable(read, "net.py", "rows") is None
    assert reachable(read, "gone.py", "rows") is None
