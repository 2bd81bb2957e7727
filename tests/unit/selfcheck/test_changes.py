from __future__ import annotations

from collections.abc import Iterator

import pytest
import toy_starter

from grader.selfcheck.terminal import prints, touched
from grader.static_analysis.reader import SourceReader

TEXT = '''\
import torch


SIZE = 2


def helper(x):
    """Text
at the left."""
    return x


# about double
def double(x):
    return helper(x) * 2


def mean_of(x):
    return x.mean()


class Counter:
    def add(self, n):
        return n
'''


@pytest.fixture
def reader() -> Iterator[SourceReader]:
    with SourceReader() as found:
        yield found


def after(
    reader: SourceReader, old: str, new: str, right: tuple[str, ...] = ("double", "mean_of")
) -> list[str]:
    assignment = toy_starter.made()[2].public.assignment
    before = prints(TEXT.encode(), assignment, reader)
    assert old in TEXT
    now = prints(TEXT.replace(old, new).encode(), assignment, reader)
    return touched(before, now, frozenset(right))


def test_a_function_touches_its_own_question(reader: SourceReader) -> None:
    assert after(reader, "* 2", "+ x") == ["double"]


def test_a_helper_touches_what_comes_to_it(reader: SourceReader) -> None:
    assert after(reader, "def helper(x):", "def helper(x, *_):") == ["double"]


def test_a_method_touches_its_class(reader: SourceReader) -> None:
    assert after(reader, "return n", "return 2 * n") == ["Counter"]


@pytest.mark.parametrize("old", ["import torch", "SIZE = 2", "at the left"])
def test_the_module_level_touches_everything(reader: SourceReader, old: str) -> None:
    assert after(reader, old, f"{old}, sys"[: len(old) + 5]) == ["double", "mean_of", "Counter"]


@pytest.mark.parametrize(
    ("old", "new"), [("# about", "# on"), ("2\n\n\ndef mean", "2\n\ndef mean")]
)
def test_comments_and_blank_lines_touch_nothing_that_is_right(
    reader: SourceReader, old: str, new: str
) -> None:
    assert after(reader, old, new, ("double", "mean_of", "Counter")) == []


def test_what_moved_is_checked_again_where_a_message_may_name_its_line(
    reader: SourceReader,
) -> None:
    assert after(reader, "* 2\n", "* 2\n\n\n", ("double", "mean_of")) == ["Counter"]


def test_text_that_cannot_be_read_touches_everything(reader: SourceReader) -> None:
    assert after(reader, "return x.mean()", "return (") == ["double", "mean_of", "Counter"]
