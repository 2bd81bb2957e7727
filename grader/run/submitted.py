"""A submission, run: every question of a plan, and what its text says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.run.allowance import allowance
from grader.run.care import Care
from grader.run.materials import Materials
from grader.run.observe import Follower, Progress, QuestionRun, observations, observe
from grader.run.plan import PlannedQuestion
from grader.run.sources import Sources, read_sources, start_reader, with_sources
from grader.run.stage import open_session
from grader.run.watch import Watch
from grader.sandbox.host.guests import Sandbox
from grader.static_analysis.reader import SourceReader


class Place:
    """Where hand-ins run, one after the other.

    Attributes:
        versions: What the last guest said of its torch and Python.

    Args:
        materials: The assignment and its files.
        sandbox: Starts the guests.
        care: What surrounds work on what hand-ins answer.
    """

    def __init__(self, materials: Materials, sandbox: Sandbox, care: Care) -> None:
        self.versions: dict[str, str] = {}
        self._materials = materials
        self._sandbox = sandbox
        self._care = care
        self._sources = SourceReader()

    def run(
        self,
        plan: Sequence[PlannedQuestion],
        files: Mapping[str, bytes],
        watch: Watch,
        progress: Progress,
        reference: Mapping[str, QuestionRun],
    ) -> dict[str, QuestionRun]:
        """Return what came of each question.

        Args:
            plan: What to call.
            files: Of the hand-in, by the names that the assignment gives them.
            watch: Told of each part that is done.
            progress: Told the id of each question as it begins.
            reference: What came of the plan for the reference.

        Raises:
            InfrastructureError: No guest can be started.
        """
        limits_of = self._materials.assignment.limits_of
        start_reader(self._sources)
        sources = None
        if isinstance(progress, Follower):
            # Read while the guest starts: each question is judged as soon as it has run.
            sources = self._read(files)
            progress = _with_text(progress, sources, plan)
        most = allowance(observations(reference), self._care.reading)
        session = open_session(self._sandbox, self._materials, files, most)
        try:
            runs = observe(session, plan, limits_of, progress, reference)
        finally:
            session.finish()
        self.versions = session.versions
        watch.lap("run")
        watch.questions = {name: run.seconds for name, run in runs.items()}
        if any(run.observations for run in runs.values()):
            runs = with_sources(sources or self._read(files), plan, runs)
        watch.lap("source")
        return runs

    def _read(self, files: Mapping[str, bytes]) -> Sources:
        module = self._materials.assignment.module
        texts = {module: files[module], **files}
        return read_sources(self._sources, texts, [*self._materials.support])


def _with_text(follower: Follower, sources: Sources, plan: Sequence[PlannedQuestion]) -> Follower:
    """Return a follower that passes on runs with what the source says."""

    def ends(name: str, run: QuestionRun) -> None:
        follower.ends(name, with_sources(sources, plan, {name: run})[name])

    return Follower(follower.begins, ends)
