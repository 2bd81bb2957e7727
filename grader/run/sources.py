"""What the text of a hand-in says, laid beside what its functions did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from grader.checks.base import Probe
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.source.facts import EntryFacts
from grader.source.reader import SourceReader


def start_reader(reader: SourceReader) -> None:
    """Have the reader begin while the submission runs."""
    # What cannot be started is told when it is asked.
    with suppress(OSError):
        reader.start()


def read_sources(
    reader: SourceReader,
    plan: Sequence[PlannedQuestion],
    runs: Mapping[str, QuestionRun],
    data: bytes,
) -> dict[str, QuestionRun]:
    """Return the runs with what the source says of each, and where the file reaches.

    The facts on an entry point go into the observations of questions that ask for them. A file that
    cannot be read leaves them out; that is for the judge to weigh.

    Args:
        reader: Reads the file, once for all questions.
        plan: Names the questions and their checks.
        runs: By question id.
        data: The exact bytes that ran.
    """
    wanted = {
        planned.question.id
        for planned in plan
        if any(Probe.SOURCE in check.needs() for check in planned.question.checks)
    }
    if not any(run.observations for run in runs.values()):
        return dict(runs)
    facts = reader.read(data)
    reached = facts.reach[0] if facts.reach else None
    return {
        name: _with(replace(run, reach=reached), facts.entries.get(run.entry or ""), name in wanted)
        for name, run in runs.items()
    }


def _with(run: QuestionRun, facts: EntryFacts | None, wanted: bool) -> QuestionRun:
    if not wanted:
        return run
    seen = {key: replace(item, source=facts) for key, item in run.observations.items()}
    return replace(run, observations=seen)
