"""Grading the labelled submissions of an assignment for ``grader lint``.

Each is to get what its label says, and each check is to fail one of the wrong ones: a check that
nothing fails gives points away. One run of a submission serves both.

More are proposed to an author: the mutants of a reference that no check catches. Each becomes a
labelled cell in ``tests/submissions/<id>/proposed/<function>.py``. Nobody knows yet whether it is
wrong: an author adds the case that catches it and moves the cell to ``wrong``, or marks the mutant
in ``mutants.yml`` as doing the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grader.assignment.cells import LABELLED, LabelledSubmission, binds, labelled_submissions
from grader.assignment.types import Assignment
from grader.authoring.labels import NEUTRAL, Label, LabelError, NoLabelError, read_label, waits
from grader.authoring.mutants import MARKS, Mutant, Tally
from grader.grading import Grader
from grader.report.model import Report
from grader.run.materials import Materials
from grader.store.files import write_atomic
from grader.verdict import NOTHING_TO_JUDGE, Status

GROUPS = ("wrong", "accepted", "faults", "exploits")
"""Folders of ``tests/submissions/ID`` whose submissions lint grades; ``wrong`` shows the checks."""

LintStep = Callable[[str, int, int | None], object]
"""Called with what is tried, how many are done, and of how many."""


def try_labelled(
    grader: Grader, materials: Materials, compared: bool, step: LintStep
) -> Iterator[tuple[str, str]]:
    """Grade the labelled submissions; yield where something is amiss, and what.

    Args:
        grader: Prepared.
        materials: The assignment that they are of.
        compared: Compare each report with its label. Otherwise only the wrong submissions are
            graded, those first whose labels promise most of what has not failed yet.
        step: Called with what is tried, and how many are done of how many.

    Raises:
        UsageError: A file of cells is broken.
    """
    wrong = materials.root / LABELLED / materials.assignment.id / GROUPS[0]
    if not wrong.is_dir():
        yield str(wrong), "no labelled wrong submissions; add some, one mistake each"
    untried = checks_to_fail(grader.assignment)
    left = _found(materials, GROUPS if compared else GROUPS[:1])
    promised = {one.where: set() if compared else _promised(one, materials) for one in left}
    count = len(left)
    with TemporaryDirectory(prefix="grader-lint-") as written:
        while left:
            step("labelled submissions", count - len(left), count)
            # The first of those that promise alike.
            submission = max(left, key=lambda one: len(promised[one.where] & untried.keys()))
            left.remove(submission)
            tells = submission.group == wrong.name and _may_hold(submission, untried.values())
            if not tells and not compared:
                continue
            report = _graded(grader, submission, materials, Path(written))
            for where in failed_in(report) if tells else ():
                untried.pop(where, None)
            for miss in _misses(submission, report, materials) if compared else ():
                yield submission.where, miss
    for where in untried if wrong.is_dir() else ():
        yield where, f"no wrong submission in {wrong} fails it; add one that does"


def _graded(
    grader: Grader, submission: LabelledSubmission, materials: Materials, folder: Path
) -> Report:
    """Grade the questions that a submission's label judges; all, where it cannot be read."""
    if label := _label(submission, materials):
        grader = grader.with_questions(label.judged(grader.assignment))
    return grader.grade(submission.placed(folder), submission.name)


def _label(submission: LabelledSubmission, materials: Materials) -> Label | None:
    try:
        return read_label(submission, materials.assignment.hand_in)
    except LabelError:
        return None


def _promised(submission: LabelledSubmission, materials: Materials) -> set[str]:
    """Return the checks that fail by a label, as ``question.check``."""
    label = _label(submission, materials)
    return {
        f"{question}.{check}"
        for question, each in (label.questions.items() if label else ())
        for check, code in each.checks.items()
        if code not in NEUTRAL
    }


def _found(materials: Materials, groups: Sequence[str]) -> list[LabelledSubmission]:
    asked = materials.assignment.asked
    texts = {name: materials.reference[name].decode() for name in asked}
    folders = (materials.root / LABELLED / materials.assignment.id / group for group in groups)
    return [
        submission
        for folder in folders
        if folder.is_dir()
        for submission in labelled_submissions(folder, texts, asked)
    ]


def _misses(submission: LabelledSubmission, report: Report, materials: Materials) -> Iterator[str]:
    """Yield how a submission's report differs from its label, or what the label lacks."""
    content = report.model_dump(mode="json")
    try:
        label = read_label(submission, materials.assignment.hand_in)
    except NoLabelError as error:
        text = str(error).removeprefix(f"{submission.where}: ")
        yield f"{text}; write the label. It got\n{_written(content, submission)}"
        return
    except LabelError as error:
        yield str(error).removeprefix(f"{submission.where}: ")
        return
    loses = any(each.loses for each in label.questions.values())
    if submission.group == "accepted" and loses:
        yield "lies in “accepted”, but its label expects lost points; move it to “wrong”"
    if submission.group == "wrong" and not loses:
        yield "lies in “wrong”, but its label expects no lost points; say what it must lose"
    # Lint has neither the limits nor the clock under which such an attack is tried.
    if label.exploit and {"limits", "clock"} & {*label.exploit}:
        return
    there = label.on(report.environment.isolation.tier)
    yield from there.where_graded(content).misses(content)
    # A cell has one mistake. A known mistake of another name is told with a false sentence.
    if submission.module is not None:
        for name in sorted(told_mistakes(content) - {submission.name, *label.mistakes}):
            yield (
                f"students are told the known mistake “{name}”; name it under “mistakes:” if its "
                "sentence is true here"
            )


def _written(report: Mapping[str, Any], submission: LabelledSubmission) -> str:
    """Return what a submission got as the text of a label."""
    lines = ["# expect:", "#   questions:"]
    source = "" if submission.path.is_dir() else submission.data.decode(errors="replace")
    for question in report["questions"]:
        if waits(question) or (source and not re.search(rf"\b{question['id']}\b", source)):
            continue
        codes = {item["id"]: item["code"] for item in question["checks"]}
        lost = ", ".join(f"{name}: {code}" for name, code in codes.items() if code not in NEUTRAL)
        checks = f", checks: {{{lost}}}" if lost else ""
        lines.append(f"#     {question['id']}: {{status: {question['status']}{checks}}}")
    return "\n".join(lines)


def _may_hold(submission: LabelledSubmission, names: Iterable[Sequence[str]]) -> bool:
    """Tell whether a submission may hold one of these functions; grading all takes minutes."""
    every = {name for each in names for name in each}
    whole = submission.path.suffix != ".py"
    return whole or any(name.encode() in submission.data for name in every)


def checks_to_fail(assignment: Assignment) -> dict[str, tuple[str, ...]]:
    """Return the checks that some wrong submission is to fail, each with its functions' names."""
    return {
        f"{question.id}.{rule.id}": tuple(question.names)
        for question in assignment.questions
        for rule in question.checks
        # A person's points wait whatever was written: no submission can show that they are lost.
        if not rule.by_person
    }


def failed_in(report: Report) -> Iterator[str]:
    """Yield the checks that failed by their own finding, or that this machine cannot try.

    Diagnostic ones too: the check that says their message names them.
    """
    for question in report.questions:
        for check in question.checks:
            lost = check.status.wrong
            if check.status is Status.DEFERRED or (lost and check.code not in NOTHING_TO_JUDGE):
                yield f"{question.id}.{check.id}"
            said = check.params.get("diagnostics")
            yield from (
                f"{question.id}.{name}" for name in (said if isinstance(said, list) else ())
            )


def told_mistakes(report: Mapping[str, Any]) -> set[str]:
    """Return the names of the known mistakes that a ``report.json`` tells."""
    checks = (check for question in report["questions"] for check in question["checks"])
    return {check["params"]["mistake"] for check in checks if "mistake" in check["params"]}


PROPOSED = "proposed"
_ABOUT = """\
# Wrong ways to write {function}? Proposed by `grader lint {id} --write-missing`:
# no check catches them. Of each: add a case or a check that catches it, write its codes into
# the label, and move the cell to ../wrong. Or mark it in assignments/{id}/{marks},
# with the reason why it does the same.
"""
_CELL = """\
# %% {name}
# {kind}. Was: {was}
# Now: {now}
# right: {right}
# expect:
#   questions:
{labels}

{code}
"""
_NOTHING = "nothing"


def write_proposals(tallies: Iterable[Tally], materials: Materials) -> list[Path]:
    """Write a file of cells for each function with survivors; return their paths.

    Files of an earlier run are replaced; one whose survivors are gone is removed.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    folder = materials.root / LABELLED / materials.assignment.id / PROPOSED
    written = []
    for tally in tallies:
        by_function: dict[str, list[Mutant]] = {}
        for mutant in tally.survivors:
            by_function.setdefault(mutant.function, []).append(mutant)
        for function, mutants in by_function.items():
            path = folder / f"{function}.py"
            write_atomic(path, _file(function, mutants, materials).encode())
            written.append(path)
        gone = folder / f"{tally.question}.py"
        if gone not in written:
            gone.unlink(missing_ok=True)
    return written


def _file(function: str, mutants: list[Mutant], materials: Materials) -> str:
    about = _ABOUT.format(function=function, id=materials.assignment.id, marks=MARKS)
    cells = (_cell(mutant, number, materials) for number, mutant in enumerate(mutants, 1))
    return "\n\n\n".join([about.rstrip("\n"), *(cell.rstrip("\n") for cell in cells)]) + "\n"


def _cell(mutant: Mutant, number: int, materials: Materials) -> str:
    tree = ast.parse(mutant.source)
    (block,) = (node for node in tree.body if getattr(node, "name", "") == mutant.function)
    questions = [*_questions(mutant, tree, materials)]
    bound = {name for node in tree.body for name in binds(node)}
    callers = [name for _, name in questions if name != mutant.function]
    used = {node.id for node in ast.walk(block) if isinstance(node, ast.Name)}
    right = [*callers, *sorted((used & bound) - {mutant.function})]
    slug = re.sub(r"\W+", "_", mutant.kind)
    for node in ast.walk(block):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return _CELL.format(
        name=f"{mutant.function}_{number}_{slug}",
        kind=mutant.kind.capitalize(),
        was=" / ".join(mutant.was.splitlines()) or _NOTHING,
        now=" / ".join(mutant.now.splitlines()) or _NOTHING,
        right=", ".join(right) or "none",
        labels="\n".join(f"#     {question}: {{status: failed}}" for question, _ in questions),
        code=ast.unparse(block),
    )


def _questions(mutant: Mutant, tree: ast.Module, materials: Materials) -> Iterator[tuple[str, str]]:
    """Yield question and function for each question that a function answers, or helps to."""
    function, assignment = mutant.function, materials.assignment
    asked = assignment.asked.get(mutant.file, assignment.functions)
    users = {function}
    blocks = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for _ in blocks:
        users |= {
            block.name
            for block in blocks
            if any(isinstance(n, ast.Name) and n.id in users for n in ast.walk(block))
        }
    for question in assignment.questions:
        here = mutant.file == assignment.file_of(question) or len(assignment.asked) == 1
        name = next((name for name in question.names if here and name in users), None)
        if name and (name == function or function not in asked):
            yield question.id, name
