"""Reading hand-ins in a process that may die of them."""

from __future__ import annotations

import os
import sys

import pytest

from grader.static_analysis.facts import SourceFacts, pack, unpack
from grader.static_analysis.reader import SourceReader

GOOD = b"def f(x):\n    for i in x:\n        pass\n"


def test_one_process_reads_many_files() -> None:
    with SourceReader() as reader:
        first = reader.read(GOOD)
        process = reader._process
        assert reader.read(GOOD) == first
        assert reader._process is process
        assert first.entries["f"].loops[0].place.line == 2


@pytest.mark.parametrize(
    "data",
    [
        b"(" * 100_000,
        b"-" * 3_000_000 + b"1",
        b"x = " + b"a." * 200_000 + b"b",
        b"x = " + b"[" * 150 + b"]" * 150 + b"\n" + b"y = " + b"1+" * 300_000 + b"1",
        b"def f():\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 99)),
    ],
)
def test_text_that_kills_the_parser_is_unreadable_and_the_next_file_is_read(data: bytes) -> None:
    with SourceReader() as reader:
        assert reader.read(data).unreadable
        assert reader.read(GOOD).entries["f"].depth == 1


def test_text_that_takes_too_long_is_unreadable() -> None:
    with SourceReader(seconds=0.0) as reader:
        assert "too long" in reader.read(GOOD).unreadable


def test_a_reader_that_is_gone_is_replaced() -> None:
    with SourceReader() as reader:
        reader.read(GOOD)
        process = reader._process
        assert process is not None
        process.kill()
        process.wait()
        assert reader.read(GOOD).unreadable
        assert reader.read(GOOD).entries


@pytest.mark.skipif(sys.platform == "win32", reason="has no fork")
def test_after_a_fork_each_process_has_its_own() -> None:
    with SourceReader() as reader:
        reader.read(GOOD)
        child = os.fork()
        if child == 0:
            os._exit(0 if reader.read(b"def g(): pass").entries.keys() == {"g"} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert reader.read(GOOD).entries.keys() == {"f"}


def test_closing_twice_is_harmless() -> None:
    reader = SourceReader()
    reader.close()
    reader.read(GOOD)
    reader.close()
    reader.close()


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"entries": 1, "unreadable": ""}', b"[" * 9])
def test_an_answer_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  JSON's own error is one
        unpack(data)


def test_no_facts_survive_the_journey_too() -> None:
    assert unpack(pack(SourceFacts(unreadable="why"))) == SourceFacts(unreadable="why")


def test_a_reader_that_is_forgotten_ends_its_process() -> None:
    reader = SourceReader()
    reader.read(GOOD)
    process = reader._process
    assert process is not None
    assert process.poll() is None
    del reader
    assert process.returncode is not None
