"""Beginning an assignment, and trying it before a class does: can it be earned, can it be failed?

``grader new`` writes an assignment of one question that grades and lints as it is. ``grader lint``
needs no opinion on tolerances: ``close`` has no default for ``rtol`` and ``atol``.
"""

from __future__ import annotations

import keyword
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from grader.assignment.cells import LABELLED, labelled_submissions
from grader.assignment.mistakes import MISTAKES
from grader.assignment.types import Limits
from grader.authoring import template
from grader.clock.sampling import readable
from grader.errors import InfrastructureError, UsageError
from grader.grading import Grader, Options
from grader.report.model import CheckResult, Report
from grader.run.materials import Materials
from grader.run.mistakes import KnownMistakes, same_results
from grader.run.plan import PlannedQuestion
from grader.run.timing.screening import Screener
from grader.run.timing.stopwatch import NotTimedError
from grader.sandbox.host.guests import Sandbox
from grader.store.files import write_atomic
from grader.verdict import Code, Status

SEEDS = (1, 2, 3)
_TRIALS = 3
_SLOW = 5.0
"""Times as long as the reference that a loop must take: noise and care for odd code need room."""

_NOT_THE_CHECK = {
    Code.NOT_IMPLEMENTED, Code.MISSING_FUNCTION, Code.RAISED, Code.TIMED_OUT, Code.OUT_OF_MEMORY,
    Code.CRASHED, Code.PROTOCOL_VIOLATION, Code.REQUIREMENT_NOT_MET, Code.SYNTAX_ERROR,
    Code.IMPORT_FAILED, Code.MISSING_FILE, Code.BAD_SUBMISSION, Code.UNREADABLE_FILE,
}  # fmt: skip
"""Codes that any check gets when the function did not run; they say nothing about the check."""


LintStep = Callable[[str, int, int | None], object]
"""Called with what is tried, how many are done, and of how many."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something that an instructor should mend before using an assignment.

    Attributes:
        where: ``question.check``, or a folder.
        text: What was found, and what to do.
    """

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def lint_assignment(
    materials: Materials, sandbox: Sandbox, step: LintStep = lambda *_: None
) -> list[LintFinding]:
    """Grade reference, starter and labelled wrong submissions, time loops; return what is amiss.

    Args:
        materials: The assignment and its files.
        sandbox: Where they run.
        step: Called with what is tried, and how many are done of how many.

    Raises:
        UsageError: There is no starter yet.
    """
    options = Options(SEEDS[0])
    graders = [Grader(materials, sandbox, replace(options, seed=seed)) for seed in SEEDS]
    findings: list[LintFinding] = []
    for number, grader in enumerate(graders):
        step("reference", number, len(graders))
        grader.prepare()
        report = grader.grade(materials.reference_folder, "reference")
        findings += _not_full(report)
    step("loops and starter", 0, None)
    findings += unfit_loops(graders[0], materials, sandbox)
    findings += _not_zero(graders[0], materials.starter)
    findings += _never_failed(graders[0], materials, step)
    findings += unfit_mistakes(graders[0], materials, sandbox)
    return list(dict.fromkeys(findings))


def _not_full(report: Report) -> Iterator[LintFinding]:
    seed = report.environment.seed
    for where, check in _checks(report):
        if check.score + check.pending < check.max_score or check.status is Status.ERROR:
            yield LintFinding(
                where, f"the reference does not earn it with seed {seed}: {check.message}"
            )


def unfit_loops(grader: Grader, materials: Materials, sandbox: Sandbox) -> Iterator[LintFinding]:
    """Yield the loops for timing that are wrong, or not slow enough to tell others by."""
    screener = Screener(materials, sandbox, SEEDS[0])
    for planned in grader.plan if readable() else ():
        timed = planned.question.timed
        if timed is not None:
            text = _unfit_loop(screener, planned, materials.assignment.limits_of(planned.question))
            if text:
                yield LintFinding(f"{planned.question.id}.timed", f"the loop “{timed.loop}” {text}")
    screener.close()


def _unfit_loop(screener: Screener, planned: PlannedQuestion, limits: Limits) -> str:
    """Return what is wrong with a question's loop, or nothing."""
    times = 0.0
    for _ in range(_TRIALS):
        try:
            trial = screener.trial(planned, limits)
        except NotTimedError:
            continue  # too busy a machine: nothing is said without a reading
        except InfrastructureError as error:
            return f"cannot be timed: {error}"
        failed = trial.outcome.failed
        if failed is not None:
            return f"does not return on the case that is timed: {failed.outcome.value}"
        if trial.outcome.wrong is not None:
            return (
                "does not return what the reference does on the case that is timed; mend it, or "
                "say with “rtol” and “atol” how much rounding may differ"
            )
        times = max(times, trial.times)
        if times >= _SLOW:
            return ""
    if not times:
        return ""
    return (
        f"takes only {times:.1f} times as long as the reference; choose “dims” so that it takes "
        f"{_SLOW:g} times as long or more"
    )


def unfit_mistakes(grader: Grader, materials: Materials, sandbox: Sandbox) -> Iterator[LintFinding]:
    """Yield the known mistakes that no submission can be recognised by."""
    known = KnownMistakes(materials).of(grader.plan, grader.reference_runs, sandbox)
    file = materials.reference_folder / MISTAKES
    for name, runs in known.items():
        reference = grader.reference_runs[name].observations
        for run in runs:
            where = f"{file}:{run.mistake.line}"
            if same_results(run.results, reference):
                text = "does what the reference does in every case; add a case that shows it"
                yield LintFinding(where, f"“{run.mistake.name}” {text}")
            elif not run.telling:
                text = "is wrong in too few numbers to be recognised by; add a case that shows more"
                yield LintFinding(where, f"“{run.mistake.name}” {text}")
        for one, other in combinations(runs, 2):
            if one.mistake.says != other.mistake.says and same_results(one.results, other.results):
                yield LintFinding(
                    f"{file}:{other.mistake.line}",
                    f"no case tells “{other.mistake.name}” from “{one.mistake.name}”, so neither "
                    "is named; add a case, or have both say the same",
                )


def _not_zero(grader: Grader, starter: Path) -> Iterator[LintFinding]:
    if not starter.is_dir():
        raise UsageError(f"{starter} does not exist; make it with `grader starter` first")
    for where, check in _checks(grader.grade(starter, "starter")):
        if check.score > 0:
            yield LintFinding(
                where, f"the unfilled starter earns {check.score:g} points; let it require a check "
                "of the returned value"
            )  # fmt: skip


def _never_failed(grader: Grader, materials: Materials, step: LintStep) -> Iterator[LintFinding]:
    folder = materials.root / LABELLED / materials.assignment.id / "wrong"
    if not folder.is_dir():
        yield LintFinding(str(folder), "no labelled wrong submissions; add some, one mistake each")
        return
    untried = {
        f"{question.id}.{rule.id}": question.names
        for question in grader.assignment.questions
        for rule in question.checks
    }
    reference = materials.reference[materials.assignment.hand_in[0]].decode()
    submissions = labelled_submissions(folder, reference)
    with tempfile.TemporaryDirectory(prefix="grader-lint-") as written:
        for number, submission in enumerate(submissions):
            step("wrong submissions", number, len(submissions))
            path = submission.placed(Path(written))
            if any(_may_hold(path, names) for names in untried.values()):
                for where, check in _checks(grader.grade(path, submission.name)):
                    if _says_something(check):
                        untried.pop(where, None)
    for where in untried:
        yield LintFinding(where, f"no wrong submission in {folder} fails it; add one that does")


def _may_hold(path: Path, names: Sequence[str]) -> bool:
    """Tell whether a submission may hold one of these functions; grading all takes minutes."""
    return path.suffix != ".py" or any(name.encode() in path.read_bytes() for name in names)


def _says_something(check: CheckResult) -> bool:
    """Tell whether the check itself failed, or cannot be tried on this machine."""
    lost = check.status in (Status.FAILED, Status.PARTIAL) and check.code not in _NOT_THE_CHECK
    return lost or check.status is Status.DEFERRED


def _checks(report: Report) -> Iterator[tuple[str, CheckResult]]:
    for question in report.questions:
        for check in question.checks:
            yield f"{question.id}.{check.id}", check


_WRONG = {
    "not_doubled": (
        "Returns what it was given.",
        "{status: failed, checks: {values: wrong_value}}",
        "return x",
    ),
    "in_place": (
        "Doubles the argument itself.",
        "{status: partial, checks: {unmodified: input_modified}}",
        "return x.mul_(2)",
    ),
}


def new_assignment(name: str, root: Path) -> list[Path]:
    """Write the files of an assignment, and return their paths.

    Args:
        name: Its id, which is a module's name too.
        root: Folder that holds, or is to hold, ``assignments/``.

    Raises:
        UsageError: The id is none, or there is something of that name already.
    """
    if not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
        raise UsageError(
            f"“{name}” cannot be an id: the file handed in is called <id>.py and is imported, so "
            "write a lower-case letter, then letters, digits and _"
        )
    blanks = {"id": name, "title": name.replace("_", " ").capitalize()}
    files = {
        f"assignments/{name}/assignment.yml": template("assignment.yml", **blanks),
        f"assignments/{name}/handout.md": template("handout.md", **blanks),
        f"reference/{name}/{name}.py": template("reference.txt", **blanks),
        **{
            f"tests/submissions/{name}/wrong/{mistake}.py": _wrong(*content)
            for mistake, content in _WRONG.items()
        },
    }
    there = [path for path in files if (root / path).exists()]
    if there:
        raise UsageError(f"{root / there[0]} is there already; choose another id")
    for path, text in files.items():
        write_atomic(root / path, text.encode())
    return [root / path for path in files]


def _wrong(about: str, label: str, statement: str) -> str:
    return (
        f"# {about}\n# expect:\n#   questions:\n#     double: {label}\n\n\n"
        f"def double(x):\n    {statement}\n"
    )
