"""Public cases, made: the reference runs once on the visible cases, and what matters is kept.

Everything stays small enough to be committed and downloaded. A case that would not is left to
grading, as hidden ones are.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.assignment.find import GIVEN, SCENARIO
from grader.assignment.types import Assignment
from grader.authoring.markers import strip_solutions
from grader.errors import Problem, UsageError
from grader.run.grade import Grader, Options
from grader.run.materials import Materials
from grader.sandbox.host.guests import Sandbox
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.public import (
    CASES_FILE,
    PUBLIC_SEED,
    CaseName,
    PublicCases,
    public_part,
    public_questions,
)
from grader.selfcheck.read import read_public
from grader.selfcheck.spare import open_for_check
from grader.selfcheck.workplace import Workplace
from grader.selfcheck.write import needs_numbers, size_of
from grader.verdict import Status

_HINT = re.compile(r"^Hints?:\n((?:[ ]+\S.*(?:\n|\Z))+)", re.MULTILINE)
_BULLET = re.compile(r"^[ ]*\* ", re.MULTILINE)
CASE_BYTES = 200_000
ALL_BYTES = 400_000


@dataclass(frozen=True, slots=True)
class _Shown:
    """The instructor's files that run in a student's guest, without what is hidden."""

    scenario: str
    given: str


@dataclass(frozen=True, slots=True)
class Made:
    """Public cases, and the visible cases that are not among them.

    Attributes:
        public: What travels.
        left_out: Visible cases that stay behind, each with the reason.
    """

    public: PublicCases
    left_out: dict[CaseName, str]


def make_public(materials: Materials, sandbox: Sandbox) -> Made:
    """Run the reference on the visible cases.

    Args:
        materials: The whole assignment.
        sandbox: Where the reference runs.

    Raises:
        AssignmentError: The reference, a generator or a scenario does not do what it should.
        InfrastructureError: No guest can be started.
    """
    shown = _Shown(
        _stripped(materials.scenario, materials.folder / SCENARIO),
        _stripped(materials.given, materials.folder / GIVEN),
    )
    left_out = dict(_hidden_code(materials.assignment, shown))
    public = _run(materials, shown, left_out, sandbox)
    if too_large := dict(_too_large(public)):
        left_out |= too_large
        public = _run(materials, shown, left_out, sandbox)
    return Made(public, left_out | dict(_not_run(public)))


def _not_run(public: PublicCases) -> Iterator[tuple[CaseName, str]]:
    """Yield the cases that the reference could not run on this machine."""
    ran = {planned.question.id: planned for planned in public.plan}
    for name in public_questions(public.assignment):
        question = next(item for item in public.assignment.questions if item.id == name)
        cases = {item.case.id for item in ran[name].cases} if name in ran else set()
        for case in question.cases:
            if case.id not in cases:
                yield (name, case.id), "the reference could not be run on it here"


def check_public(materials: Materials) -> list[Problem]:
    """Return where a starter's public cases are not those of the assignment as it is now.

    They are not made anew and compared: floating-point results differ in their last bits from one
    machine to another. Instead, what they were made from must be what is there, and the reference
    must earn everything on them that can be earned here.

    Args:
        materials: The whole assignment, with the folder of its starter.

    Raises:
        InfrastructureError: No guest can be started.
    """
    file, remedy = materials.starter / CASES_FILE, f"run make starter ID={materials.starter.name}"
    try:
        public = read_public(materials.starter)
    except UsageError as error:
        return [Problem(str(file), None, "", f"{error} Or {remedy}")]
    if public.digest != materials.digest:
        text = f"was made from other files than the assignment has now; {remedy}"
        return [Problem(str(file), None, "", text)]
    module = materials.reference_folder / materials.assignment.module
    place = Workplace(materials.starter, public, module)
    with SelfCheck(place, open_for_check(), "virtual") as own:
        report = own.check()
    return [
        Problem(str(file), None, f"{question.id}.{check.id}", f"{check.message}; {remedy}")
        for question in report.questions
        for check in question.checks
        if check.status not in (Status.PASSED, Status.DEFERRED)
    ]


def _run(
    materials: Materials, shown: _Shown, left_out: dict[CaseName, str], sandbox: Sandbox
) -> PublicCases:
    assignment = public_part(materials.assignment, left_out)
    part = replace(materials, assignment=assignment)
    options = Options(PUBLIC_SEED, "virtual", public_questions(assignment))
    grader = Grader(part, sandbox, options)
    grader.prepare()
    return PublicCases(
        assignment,
        materials.digest,
        shown.scenario,
        shown.given,
        {name: hashlib.sha256(data).hexdigest() for name, data in materials.support.items()},
        dict(_hints(materials)),
        grader.plan,
        grader.reference_runs,
    )


def _stripped(source: str, path: Path) -> str:
    return strip_solutions(source, str(path)) if source else ""


def _hidden_code(assignment: Assignment, shown: _Shown) -> Iterator[tuple[CaseName, str]]:
    """Yield the cases whose scenario is hidden from students."""
    scenarios = _functions(shown.scenario)
    for question in assignment.questions:
        for case in question.cases:
            if case.scenario is not None and case.scenario not in scenarios:
                yield (question.id, case.id), "its scenario is hidden"


def _functions(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _too_large(public: PublicCases) -> Iterator[tuple[CaseName, str]]:
    """Yield the cases that take too much room by themselves, or together, the largest first."""
    sizes: dict[CaseName, int] = {}
    for planned in public.plan:
        run = public.reference[planned.question.id]
        for case in planned.cases:
            name = planned.question.id, case.case.id
            seen = run.observations[case.key]
            sizes[name] = sizes.get(name, 0) + size_of(case, seen, needs_numbers(planned, case))
    total = sum(sizes.values())
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size > CASE_BYTES or total > ALL_BYTES:
            total -= size
            yield name, f"it takes {size // 1000} kB"


def _hints(materials: Materials) -> Iterator[tuple[str, str]]:
    """Yield what the docstrings of the reference's functions say under “Hint:” or “Hints:”."""
    source = materials.reference[materials.assignment.module]
    names = {question.names[0]: question.id for question in materials.assignment.questions}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
            found = _HINT.search(ast.get_docstring(node) or "")
            if found:
                # Code is marked for Sphinx there; a terminal shows one backtick as well as two.
                hint = _BULLET.sub("", found[1]).replace("``", "`")
                yield names[node.name], " ".join(hint.split())
