"""No file that students get may do the work of a question: a starter would hold its solution.

Scenarios travel with the public cases, with their stand-ins for students' functions. So do
``given.py``, the files under ``support:`` and what is left of the reference. Each function in them
that can be called like a question's takes its place in the reference, and the question's checks
judge what comes of it.

Does not see: a function that takes other arguments than the question's, and a solution in part.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.assignment.cells import KnownMistake, binds, text_of
from grader.assignment.find import GIVEN, SCENARIO
from grader.authoring.oversights import FORM, judges_values
from grader.authoring.shielding import with_mistake
from grader.authoring.student_files import strip_solutions
from grader.checks.base import Check, Probe
from grader.checks.judge import judge_case
from grader.grading import Grader
from grader.run.materials import Materials
from grader.run.mistakes import KnownMistakes
from grader.run.plan import PlannedQuestion
from grader.run.prices import Results
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Status

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Callable = _Function | ast.ClassDef
_GRADERS = re.compile(r"^(?:from|import) grader\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A function, class or lambda in a file that students get.

    Attributes:
        file: Its path.
        node: What it is.
        needed: Text of the statements of the file that bind what it uses.
    """

    file: str
    node: _Callable
    needed: str

    @property
    def name(self) -> str:
        if isinstance(self.node, ast.Lambda):
            return f"“{ast.unparse(self.node)}”"
        return self.node.name

    def takes(self, count: int) -> bool:
        """Tell whether it can be called with so many arguments."""
        least, most = _counts(self.node)
        return least <= count <= most

    def module(self, name: str) -> str:
        """Return the text of a module that has it under another name."""
        if isinstance(self.node, ast.Lambda):
            arguments, body = ast.unparse(self.node.args), ast.unparse(self.node.body)
            text = f"def {name}({arguments}):\n    return {body}"
        else:
            node = copy.copy(self.node)
            node.name = name
            text = ast.unparse(node)
        return f"{self.needed}\n\n{text}\n"


def solutions_shown(grader: Grader, sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """Yield the file and a text for each function in it that does the work of a question.

    Args:
        grader: Prepared.
        sandbox: Where the functions run.
    """
    materials = grader.materials
    shown = list(_shown(materials))
    tried = {
        f"shown_{number}": (planned, each)
        for number, (planned, each) in enumerate(
            (planned, each)
            for planned in grader.plan
            if any(map(judges_values, _judged(planned)))
            for each in shown
            if each.takes(_asked(materials, planned))
        )
    }
    # They run as known mistakes do: together where they can, and for their results alone.
    mistakes = tuple(_mistake(name, *trial, materials) for name, trial in tried.items())
    known = KnownMistakes(replace(materials, mistakes=mistakes))
    for runs in known.of(grader.plan, grader.reference_runs, sandbox).values():
        for run in runs:
            planned, each = tried[run.mistake.name]
            right = grader.reference_runs[planned.question.id].observations
            if _passes(planned, run.results, right):
                yield (
                    each.file,
                    f"students get this file, and {each.name} in it does the work of "
                    f"{planned.question.id}; put it between BEGIN HIDDEN and END HIDDEN",
                )


def _mistake(
    name: str, planned: PlannedQuestion, each: _Shown, materials: Materials
) -> KnownMistake:
    question = planned.question
    entry = question.names[0]
    solution = materials.reference[materials.assignment.file_of(question)].decode()
    module = with_mistake(solution, each.module(entry))
    return KnownMistake(name, 0, (question.id,), frozenset({entry}), module)


def _judged(planned: PlannedQuestion) -> Sequence[Check]:
    """Return the checks with points that look at what came back, and not at its form alone."""
    return [
        check
        for check in planned.question.checks
        if check.points and check.kind not in FORM and {*check.needs()} <= {Probe.ARGS_AFTER}
    ]


def _passes(planned: PlannedQuestion, results: Results, right: Results) -> bool:
    """Tell whether results pass all of these checks."""
    return all(
        judge_case(check, case.inputs, right[case.key], results[case.key]).status is Status.PASSED
        for check in _judged(planned)
        for case in planned.cases
        if check.judges(case.case.id)
    )


def _shown(materials: Materials) -> Iterator[_Shown]:
    """Yield what is in the files that students get, without what they write themselves."""
    texts = {SCENARIO: materials.scenario, GIVEN: materials.given}
    support = materials.support.items()
    texts |= {name: data.decode() for name, data in support if name.endswith(".py")}
    for name, text in texts.items():
        yield from _in_file(str(materials.folder / name), text)
    for name, data in materials.reference.items():
        for each in _in_file(str(materials.reference_folder / name), data.decode()):
            # A function under ``given:`` is the author's to give.
            if each.name not in materials.assignment.functions.union(materials.assignment.given):
                yield each


def _in_file(path: str, source: str) -> Iterator[_Shown]:
    """Yield the functions that are left for students, inner ones too, but no methods."""
    text = strip_solutions(source, path)
    tree = ast.parse(text)
    bound = {name for node in tree.body for name in binds(node)}
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    methods = {id(part) for node in classes for part in node.body}
    for node in ast.walk(tree):
        if isinstance(node, _Callable) and id(node) not in methods:
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            needed = text_of(text).functions(sorted(used & bound), {getattr(node, "name", "")})
            # What drives a submission does not do its work.
            if not _GRADERS.search(needed):
                yield _Shown(path, node, needed)


def _asked(materials: Materials, planned: PlannedQuestion) -> int:
    """Return how many arguments a question's function takes at most."""
    question = planned.question
    tree = ast.parse(materials.reference[materials.assignment.file_of(question)])
    found = (node for node in tree.body if getattr(node, "name", "") in question.names)
    return next((_counts(node)[1] for node in found if isinstance(node, _Callable)), 0)


def _counts(node: _Callable) -> tuple[int, int]:
    """Return how many arguments something takes at least and at most, ``*args`` not counted."""
    if isinstance(node, ast.ClassDef):
        made = (part for part in node.body if isinstance(part, ast.FunctionDef))
        init = next((part for part in made if part.name == "__init__"), None)
        least, most = _counts(init) if init else (1, 1)
        return least - 1, most - 1
    arguments = node.args
    most = len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])
    optional = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
    return most - len(optional), most
