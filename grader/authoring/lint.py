"""Beginning an assignment, and trying it before a class does: can it be earned, can it be failed?

``grader new`` writes an assignment of one question that grades and lints as it is. ``grader lint``
needs no opinion on tolerances: ``close`` has no default for ``rtol`` and ``atol``.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, starmap
from pathlib import Path

import numpy as np

from grader.assignment.cells import MISTAKES, unknown_voids
from grader.assignment.types import Assignment, Limits
from grader.authoring import template
from grader.authoring.labelled import LintStep, try_labelled
from grader.authoring.oversights import (
    compares_numbers,
    odd_stand_ins,
    unchecked_rules,
    unjudged_dtypes,
)
from grader.authoring.shielding import costs_elsewhere
from grader.authoring.shown_solutions import solutions_shown
from grader.authoring.starter import checks_of, lost_elsewhere
from grader.authoring.translated import unknown_docstrings, untranslated
from grader.checks.arrays import to_numpy
from grader.checks.base import Check
from grader.checks.by_hand import BY_HAND
from grader.checks.judge import judge_case
from grader.errors import InfrastructureError, UsageError
from grader.grading import Grader, Options
from grader.interpreter import plain_processor
from grader.report.model import CheckResult, Report
from grader.run.materials import Materials
from grader.run.mistakes import KnownMistakes, MistakeRun, same_results
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.run.timing.quick_screen import Screener
from grader.run.timing.stopwatch import NotTimedError
from grader.sandbox.host.processes import Sandbox
from grader.selfcheck.warm_sandbox import open_for_check
from grader.speed_statistics.sampling import readable
from grader.store.files import write_atomic
from grader.verdict import Basis, Status
from grader.wire.tree import map_leaves
from grader.wire.values import Opaque, Tensor, Value

SEEDS = (1, 2, 3)
_TRIALS = 3
_SLOW = 5.0
"""Times as long as the reference that a loop must take: noise and care for odd code need room."""


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
    materials: Materials,
    sandbox: Sandbox,
    step: LintStep = lambda *_: None,
    labels: bool = True,
    note: Callable[[str], None] = lambda _: None,
) -> list[LintFinding]:
    """Grade reference, starter and labelled submissions, time loops; return what is amiss.

    What the reference returned is judged in another type and dtype, too; its results have to
    stand on another processor, and known mistakes are tried on other questions.

    Args:
        materials: The assignment and its files.
        sandbox: Where they run.
        step: Called with what is tried, and how many are done of how many.
        labels: Compare each labelled submission with its label.
        note: Called with a sentence that is good to know, and no fault.

    Raises:
        UsageError: There is no starter yet.
    """
    options = Options(SEEDS[0])
    graders = [Grader(materials, sandbox, replace(options, seed=seed)) for seed in SEEDS]
    # What is seen without running anything.
    seen = (
        *unchecked_rules(materials), *odd_stand_ins(materials), *unknown_docstrings(materials)
    )  # fmt: skip
    findings = list(starmap(LintFinding, seen))
    for number, grader in enumerate(graders):
        step("reference", number, len(graders))
        grader.prepare()
        report = grader.grade(materials.reference_folder, "reference")
        findings += _not_full(report)
    told = (
        *resting_on_claims(report, materials.assignment),
        without_price(materials),
        *untranslated(materials),
    )
    for sentence in filter(None, told):
        note(sentence)
    findings += starmap(LintFinding, unjudged_dtypes(graders[0].plan))
    findings += starmap(LintFinding, costs_of_slips(graders[0]))
    step("files that students get", 0, None)
    findings += starmap(LintFinding, solutions_shown(graders[0], sandbox))
    step("another processor", 0, None)
    with plain_processor(), open_for_check() as elsewhere:
        report = graders[0].with_sandbox(elsewhere).grade(materials.reference_folder, "reference")
    findings += starmap(LintFinding, lost_elsewhere(report))
    step("loops and starter", 0, None)
    # Mistakes run once: to explain wrong submissions, and to be tried themselves.
    known = graders[0].mistakes = KnownMistakes(materials)
    # What a slip earns is only told by labels; without them it is asked which checks fail.
    graders[0].mends = labels
    findings += unfit_loops(graders[0], materials, sandbox)
    findings += _not_zero(graders[0], materials.starter)
    findings += starmap(LintFinding, try_labelled(graders[0], materials, labels, step))
    findings += unfit_mistakes(graders[0], known, sandbox)
    findings += starmap(LintFinding, costs_elsewhere(graders[0], step))
    return list(dict.fromkeys(findings))


def _not_full(report: Report) -> Iterator[LintFinding]:
    seed = report.environment.seed
    for where, check in checks_of(report):
        lost = check.score + check.pending < check.max_score or check.status is Status.ERROR
        # What a person reads need not lie beside the solution.
        if lost and check.kind != BY_HAND:
            yield LintFinding(
                where, f"the reference does not earn it with seed {seed}: {check.message}"
            )


def claims_in(report: Report) -> tuple[dict[str, CheckResult], float]:
    """Return the checks that rest on a process's word, by place, and the points of all checks.

    Bonuses are left out.

    Args:
        report: Of the reference.
    """
    checks = {where: check for where, check in checks_of(report) if not check.bonus}
    claims = {where: check for where, check in checks.items() if check.basis is Basis.CLAIM}
    return claims, sum(check.max_score for check in checks.values())


def held_by_claims(report: Report, assignment: Assignment) -> dict[str, CheckResult]:
    """Return the checks that are facts, and earn only where a claim does, by place.

    Whoever forges the claim has their points, too. Bonuses are left out.

    Args:
        report: Of the reference.
        assignment: Says which check requires which.
    """
    requires = {
        f"{question.id}.{check.id}": [f"{question.id}.{name}" for name in check.requires or ()]
        for question in assignment.questions
        for check in question.checks
    }
    claims, _ = claims_in(report)

    def rests(where: str) -> bool:
        return where in claims or any(map(rests, requires.get(where, ())))

    return {
        where: check
        for where, check in checks_of(report)
        if not check.bonus and where not in claims and rests(where)
    }


def resting_on_claims(report: Report, assignment: Assignment) -> Iterator[str]:
    """Yield sentences on the points of a right submission that rest on its process's word.

    Args:
        report: Of the reference.
        assignment: Of the report.
    """
    claims, total = claims_in(report)
    if points := _points(claims):
        yield (
            f"{points:g} of {total:g} points rest on what the student process says of itself "
            f"(docs/claims.md): {_named(claims)}"
        )
    held = held_by_claims(report, assignment)
    if points := _points(held):
        yield (
            f"{points:g} points more wait for one of these; whoever forges it has them, too: "
            f"{_named(held)}"
        )


def _points(checks: Mapping[str, CheckResult]) -> float:
    return sum(check.max_score for check in checks.values())


def _named(checks: Mapping[str, CheckResult]) -> str:
    return ", ".join(f"{where} ({check.max_score:g})" for where, check in checks.items())


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


def unfit_mistakes(
    grader: Grader, mistakes: KnownMistakes, sandbox: Sandbox
) -> Iterator[LintFinding]:
    """Yield the known mistakes that no submission can be recognised by."""
    right = grader.reference_runs
    known = mistakes.of(grader.plan, right, sandbox)
    file = grader.materials.reference_folder / MISTAKES
    # One function may be asked for by several questions; its mistake may show in one alone.
    shown = {
        name: [run for run in runs if not same_results(run.results, right[name].observations)]
        for name, runs in known.items()
    }
    lines = {run.mistake.name: run.mistake.line for runs in known.values() for run in runs}
    wrong: dict[str, bool] = {}
    for run in chain.from_iterable(shown.values()):
        wrong[run.mistake.name] = run.telling or wrong.get(run.mistake.name, False)
    for name, line in lines.items():
        text = "is wrong in too few numbers to be recognised by; add a case that shows more"
        if name not in wrong:
            text = "does what the reference does in every case; add a case that shows it"
        if not wrong.get(name):
            yield LintFinding(f"{file}:{line}", f"“{name}” {text}")
    yield from _unfit_prices(file, known, grader.materials)
    yield from _alike(file, shown.values())


def _unfit_prices(
    file: Path, known: Mapping[str, Sequence[MistakeRun]], materials: Materials
) -> Iterator[LintFinding]:
    """Yield the prices that are never paid, and the checks that they void and nobody has."""
    runs = [run for each in known.values() for run in each if run.mistake.earns]
    paid = {run.mistake.name for run in runs if not run.unpaid}
    for run in runs:
        if run.mistake.name not in paid:
            text = f"“{run.mistake.name}” has a price that is never paid: {run.unpaid}"
            yield LintFinding(f"{file}:{run.mistake.line}", f"{text}; leave out “# earns: …”")
    for mistake in materials.mistakes:
        for text in unknown_voids(mistake, materials.assignment):
            yield LintFinding(f"{file}:{mistake.line}", f"“{mistake.name}”: {text}")


def without_price(materials: Materials) -> str:
    """Return a sentence on the known mistakes that have no price; empty where there are none."""
    names = [each.name for each in materials.mistakes if each.earns is None]
    if not names or not materials.assignment.partial:
        return ""
    return f"{len(names)} known mistakes have no price (# earns: …): {', '.join(names)}"


def _alike(file: Path, shown: Iterable[Sequence[MistakeRun]]) -> Iterator[LintFinding]:
    """Yield the mistakes that no case of any question tells from others."""
    pairs = [pair for runs in shown for pair in combinations(runs, 2)]
    apart = {_names(*pair) for pair in pairs if not same_results(pair[0].results, pair[1].results)}
    same = {_names(*pair): pair for pair in pairs if _names(*pair) not in apart}
    for (first, second), (one, other) in same.items():
        where = f"{file}:{other.mistake.line}"
        if one.mistake.says != other.mistake.says:
            text = f"no case tells “{second}” from “{first}”, so neither is "
            yield LintFinding(where, f"{text}named; add a case, or have both say the same")
        if one.mistake.earns != other.mistake.earns:
            text = (
                f"“{second}” and “{first}” do the same and have two prices: the higher one counts"
            )
            yield LintFinding(where, f"{text}; give both one price")


def _names(one: MistakeRun, other: MistakeRun) -> tuple[str, str]:
    return one.mistake.name, other.mistake.name


def _not_zero(grader: Grader, starter: Path) -> Iterator[LintFinding]:
    if not starter.is_dir():
        raise UsageError(f"{starter} does not exist; make it with `grader starter` first")
    for where, check in checks_of(grader.grade(starter, "starter")):
        if check.score > 0:
            yield LintFinding(
                where, f"the unfilled starter earns {check.score:g} points; let it require a check "
                "of the returned value"
            )  # fmt: skip


_INT32 = np.iinfo(np.int32)


def costs_of_slips(grader: Grader) -> Iterator[tuple[str, str]]:
    """Yield ``question.check`` and a text for each check of values that a slip in form costs.

    Args:
        grader: Prepared: what the reference returned is judged again, changed.
    """
    for planned in grader.plan:
        for slip in SLIPS:
            yield from _lost(planned, grader.reference_runs[planned.question.id], slip)


def _lost(planned: PlannedQuestion, reference: QuestionRun, slip: str) -> Iterator[tuple[str, str]]:
    """Yield the checks of values that a slip costs without a price of its own for it."""
    question = planned.question
    found = {
        check.id: _judged(planned, check, reference, slip)
        for check in question.checks
        if compares_numbers(check) and check.points
    }
    items = {check.id: check.item for check in question.checks}
    passed = {items[name] for name, (failed, _) in found.items() if not failed}
    for name, (failed, others) in found.items():
        if failed and (others or items[name] not in passed):
            text = (
                f"fails on {', '.join(failed)} if the submission returns {slip} and is right "
                "otherwise; give these cases a check of their own, with the price of that"
            )
            yield f"{question.id}.{name}", text


def _judged(
    planned: PlannedQuestion, check: Check, reference: QuestionRun, slip: str
) -> tuple[list[str], list[str]]:
    """Return the cases that a check fails with a slip, and those that it does not."""
    failed: dict[str, None] = {}
    others: dict[str, None] = {}
    for case in planned.cases:
        if check.judges(case.case.id):
            right = reference.observations[case.key]
            # What a scenario computes has the dtype of the model that the scenario made.
            slipped = right
            if slip not in _DTYPES or case.case.scenario is None:
                value = map_leaves(SLIPS[slip], right.claims.value)
                slipped = replace(right, claims=replace(right.claims, value=value))
            verdict = judge_case(check, case.inputs, right, slipped, planned.question.id)
            (failed if verdict.status.wrong else others)[case.case.id] = None
    return list(failed), [name for name in others if name not in failed]


def _to_tensor(value: Value) -> Value:
    if type(value) is float or (type(value) is int and -(2**63) <= value < 2**63):
        array = np.array(value)
        return Tensor(str(array.dtype), (), array.tobytes())
    return value


def _to_numpys(value: Value) -> Value:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Opaque(f"numpy.{type(value).__name__}64", "", value)
    return value


def _to_float(value: Value) -> Value:
    return float(value) if type(value) is int and abs(value) <= 2**53 else value


def _to_number(value: Value) -> Value:
    return to_numpy(value).item() if isinstance(value, Tensor) and not value.shape else value


def _to_float32(value: Value) -> Value:
    if isinstance(value, Tensor) and value.dtype == "float64":
        data = to_numpy(value).astype(np.float32).tobytes()
        return replace(value, dtype="float32", data=data, layout=None)
    return value


def _to_int32(value: Value) -> Value:
    if not isinstance(value, Tensor) or value.dtype != "int64":
        return value
    numbers = to_numpy(value)
    if numbers.size and not _INT32.min <= numbers.min() <= numbers.max() <= _INT32.max:
        return value
    return replace(value, dtype="int32", data=numbers.astype(np.int32).tobytes(), layout=None)


_DTYPES: dict[str, Callable[[Value], Value]] = {
    "float32 instead of float64": _to_float32,
    "int32 instead of int64": _to_int32,
}
SLIPS: dict[str, Callable[[Value], Value]] = {
    "a tensor of rank 0 instead of a number": _to_tensor,
    "a number of NumPy's": _to_numpys,
    "a float instead of an int": _to_float,
    "a number instead of a tensor of rank 0": _to_number,
    **_DTYPES,
}


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
