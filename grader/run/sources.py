"""What the text of a hand-in says, laid beside what its functions did."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from grader.checks.base import Probe
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.static_analysis.facts import EntryFacts, Mention, Place, SourceFacts
from grader.static_analysis.reach import IMPORT
from grader.static_analysis.reader import SourceReader


def start_reader(reader: SourceReader) -> None:
    """Have the reader begin while the submission runs."""
    # What cannot be started is told when it is asked.
    with suppress(OSError):
        reader.start()


@dataclass(frozen=True, slots=True)
class Sources:
    """What the files of a submission say.

    Attributes:
        facts: On the file whose functions are called.
        reached: Where any of them reaches for what the process says about itself, if one does.
    """

    facts: SourceFacts
    reached: Mention | None


def read_sources(reader: SourceReader, files: Mapping[str, bytes], own: Collection[str]) -> Sources:
    """Read the files of a submission.

    Args:
        reader: Reads each file, once for all questions.
        files: The exact bytes that run; first the file whose functions are called.
        own: Paths of files beside them that a submission may import, too.
    """
    read = [reader.read(data) for path, data in files.items() if path.endswith(".py")]
    allowed = {f"{IMPORT}{_module_of(path)}" for path in (*files, *own)}
    return Sources(read[0], next((item for each in read for item in _reach(each, allowed)), None))


def with_sources(
    sources: Sources, plan: Sequence[PlannedQuestion], runs: Mapping[str, QuestionRun]
) -> dict[str, QuestionRun]:
    """Return the runs with what the source says of each, and where the file reaches.

    The facts on an entry point go into the observations of questions that ask for them. A file that
    cannot be read leaves them out; that is for the judge to weigh.

    Args:
        sources: Of the submission that ran.
        plan: Names the questions and their checks.
        runs: By question id.
    """
    wanted = {
        planned.question.id
        for planned in plan
        if any(Probe.SOURCE in check.needs() for check in planned.question.checks)
    }
    entries, reached = sources.facts.entries, sources.reached
    return {
        name: _with(replace(run, reach=reached), entries.get(run.entry or ""), name in wanted)
        for name, run in runs.items()
    }


def _module_of(path: str) -> str:
    return PurePosixPath(path).parts[0].removesuffix(".py")


def _reach(facts: SourceFacts, allowed: Collection[str]) -> tuple[Mention, ...]:
    if facts.unreadable:
        # What nobody could read may do anything.
        return (Mention(facts.unreadable[:80], Place(1, 0, 1), called=False),)
    return tuple(
        item for item in facts.reach
        if not item.name.startswith(IMPORT)
        or (item.name not in allowed and _is_here(item.name.removeprefix(IMPORT)))
    )  # fmt: skip


def _is_here(module: str) -> bool:
    """Return whether a module is installed. Guests have what this interpreter has, and no more."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return True


def _with(run: QuestionRun, facts: EntryFacts | None, wanted: bool) -> QuestionRun:
    if not wanted:
        return run
    seen = {key: replace(item, source=facts) for key, item in run.observations.items()}
    return replace(run, observations=seen)
