"""Which files of a submission are read, and what they may import."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grader.observation import HostFacts, Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.submitted import read_sources, with_sources
from grader.static_analysis.facts import Mention
from grader.static_analysis.reader import SourceReader


def reached(files: Mapping[str, bytes]) -> Mention | None:
    run = QuestionRun("f", None, None, {"a": Observation(Outcome.COMPLETED, HostFacts(0.0))})
    with SourceReader() as reader:
        sources = read_sources(reader, files, ["resnet.py"])
    return next(iter(with_sources(sources, [], {"f": run})["f"].reach), None)


def test_what_is_not_installed_can_do_nothing() -> None:
    assert reached({"a.py": b"import torch\nimport not_installed_anywhere"}) is None


def test_files_of_the_assignment_may_be_imported() -> None:
    assert reached({"a.py": b"import torch, resnet\nimport b\n", "b.py": b"x = 1"}) is None


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"a.py": b"import torch\nimport jinja2"}, "import jinja2"),
        ({"a.py": b"import b", "b.py": b"import sys\nsys.modules"}, "sys.modules"),
        ({"a.py": b"x = " + b"-" * 50_000 + b"1"}, ""),
    ],
    ids=["not known", "beside", "unreadable"],
)
def test_reaches(files: Mapping[str, bytes], name: str) -> None:
    mention = reached(files)
    assert mention is not None
    assert mention.name.startswith(name)
