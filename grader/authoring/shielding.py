"""A mistake costs its own question: the known mistakes show whether others are shielded from it.

Each known mistake takes its function's place in the reference, and the questions that use that
function, or whose scenario does, are graded with it. One that loses points by a mistake elsewhere
lacks a stand-in; a student would pay twice for one slip. First the function only raises: a question
that loses nothing then does not run it, and no mistake of it is tried there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.assignment.cells import KnownMistake, binds
from grader.assignment.rules import reachable
from grader.assignment.types import Question
from grader.authoring.labelled import LintStep
from grader.grading import Grader
from grader.report.model import Report
from grader.static_analysis.scope import first_line
from grader.verdict import Code

_BY_LIMITS = (Code.TIMED_OUT, Code.OUT_OF_MEMORY)
_SLACK = 1e-6
Uses = Mapping[str, frozenset[str]]
"""Name of a function or class → the names and texts that it holds."""


def costs_elsewhere(grader: Grader, step: LintStep) -> Iterator[tuple[str, str]]:
    """Yield each question that known mistakes of another cost points.

    Args:
        grader: Prepared.
        step: Called with what is tried, and how many are done of how many.
    """
    uses = _uses(grader)
    mistakes = [(item, _users(item, grader, uses)) for item in grader.materials.mistakes]
    trials = [(mistake, users) for mistake, users in mistakes if users]
    full: dict[str, float] = {}
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    unshielded: dict[str, list[str]] = {}

    def losing(users: Sequence[str], mistake: KnownMistake, by_limits: float) -> list[str]:
        earned = dict.fromkeys(users, by_limits) | earned_with(grader, users, mistake)
        return [name for name in users if earned[name] < full.get(name, 0.0) - _SLACK]

    for number, (mistake, users) in enumerate(trials):
        step("mistakes elsewhere", number, len(trials))
        full |= earned_with(grader, [name for name in users if name not in full], None)
        raising = _raising(mistake)
        if raising.module not in unshielded:
            unshielded[raising.module] = losing(users, raising, 0.0)
        # A mistake may be written in a slow way; that says nothing of what it costs.
        for name in losing(unshielded[raising.module], mistake, math.inf):
            found.setdefault((name, mistake.questions), []).append(mistake.name)
    for (name, others), names in found.items():
        text = f"loses points by a mistake in {' and '.join(others)} alone ({', '.join(names)})"
        yield name, f"{text}; put a stand-in for that function into its scenario"


def earned_with(
    grader: Grader, questions: Sequence[str], mistake: KnownMistake | None
) -> dict[str, float]:
    """Return question → points that the reference with a mistake earns, or that wait.

    Questions that ran into a limit are left out.
    """
    if not questions:
        return {}
    files = {name: data.decode() for name, data in grader.materials.reference.items()}
    if mistake is not None:
        asked = next(q for q in grader.assignment.questions if q.id in mistake.questions)
        file = grader.assignment.file_of(asked)
        files[file] = with_mistake(files[file], mistake.module)
    with TemporaryDirectory(prefix="grader-lint-") as written:
        for name, text in files.items():
            path = Path(written) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        report: Report = grader.with_questions(questions).grade(Path(written), "mistake")
    return {
        each.id: each.score + each.pending
        for each in report.questions
        if each.id in questions and not any(check.code in _BY_LIMITS for check in each.checks)
    }


def _raising(mistake: KnownMistake) -> KnownMistake:
    """Return a mistake whose functions only raise."""
    names = sorted(name for node in _definitions(ast.parse(mistake.module)) for name in binds(node))
    texts = (f"def {name}(*args, **kwargs):\n    raise RuntimeError({name!r})" for name in names)
    return replace(mistake, module="\n\n\n".join(texts))


def with_mistake(reference: str, module: str) -> str:
    """Return a solution's text in which a mistake's functions stand in the place of the right ones.

    Args:
        reference: The solution's text.
        module: The mistake's, with all that it uses.
    """
    own = {name for node in _definitions(ast.parse(module)) for name in binds(node)}
    lines, place = reference.splitlines(), None
    for node in reversed(_definitions(ast.parse(reference))):
        if own.intersection(binds(node)):
            place = first_line(node) - 1
            del lines[place : node.end_lineno]
    # The solution's own line of that sort stands at its top, where alone it may.
    wrong = [line for line in module.splitlines() if not line.startswith("from __future__ ")]
    at = len(lines) if place is None else place
    return "\n".join([*lines[:at], *wrong, *lines[at:]]) + "\n"


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(tree: ast.Module) -> list[_Definition]:
    return [node for node in tree.body if isinstance(node, _Definition)]


def _uses(grader: Grader) -> Uses:
    """Return what the functions of solution, scenarios and ``given.py`` hold."""
    materials = grader.materials
    texts = [data.decode() for name, data in materials.reference.items() if name.endswith(".py")]
    found: dict[str, frozenset[str]] = {}
    for text in filter(None, (*texts, materials.scenario, materials.given)):
        for node in ast.parse(text).body:
            # Scenarios name functions in texts, and ``given.py`` as what a module has.
            words = frozenset(_words(node, named=text not in texts))
            for name in binds(node):
                found[name] = found.get(name, frozenset()) | words
    return found


def _words(node: ast.AST, named: bool) -> Iterator[str]:
    """Yield the names in a part of a program; with ``named`` also attributes and texts."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif named and isinstance(part, ast.Attribute):
            yield part.attr
        elif named and isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _users(mistake: KnownMistake, grader: Grader, uses: Uses) -> list[str]:
    """Return the questions that may run a mistaken function besides its own."""
    wrong = {name for q in grader.assignment.coded if q.id in mistake.questions for name in q.names}
    others = (each.question for each in grader.plan if each.question.id not in mistake.questions)
    return [other.id for other in others if wrong & _reached(other, uses)]


def _reached(question: Question, uses: Uses) -> set[str]:
    """Return the names that a question's functions and scenarios lead to, their own included."""
    scenarios = (case.scenario for case in question.cases if case.scenario)
    return reachable([*question.names, *scenarios], uses)
