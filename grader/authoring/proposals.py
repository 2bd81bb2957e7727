"""Wrong submissions proposed to an author: the mutants of a reference that no check catches.

Each becomes a labelled cell in ``tests/submissions/<id>/proposed/<function>.py``. Nobody knows yet
whether it is wrong: an author adds the case that catches it and moves the cell to ``wrong``, or
marks the mutant in ``mutants.yml`` as doing the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.assignment.cells import LABELLED, binds
from grader.authoring.mutants import MARKS, Mutant, Tally
from grader.run.materials import Materials
from grader.store.files import write_atomic

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
    return _CELL.format(
        name=f"{mutant.function}_{number}_{slug}",
        kind=mutant.kind.capitalize(),
        was=" / ".join(mutant.was.splitlines()) or _NOTHING,
        now=" / ".join(mutant.now.splitlines()) or _NOTHING,
        right=", ".join(right) or "none",
        labels="\n".join(f"#     {question}: {{status: failed}}" for question, _ in questions),
        code=_without_docstrings(block),
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


def _without_docstrings(block: ast.stmt) -> str:
    for node in ast.walk(block):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(block)
