"""The starter: what students begin with, generated from the reference and the handout.

Generated files are committed, so that they can be read and linked to, and checked for drift, so
that nobody edits them by hand. Building is deterministic, byte for byte.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path

from grader.assignment.types import Assignment
from grader.authoring.markers import strip_solutions
from grader.authoring.notebook import build_notebook, split_handout, unshown
from grader.errors import AssignmentError, Problem
from grader.selfcheck.public import CASES_FILE, TENSORS_FILE
from grader.verdict import Visibility

HANDOUT = "handout.md"
_README = """\
# {title}

1. Fill in the functions in `{module}`. Each docstring says what goes in, what comes out and what \
is not allowed.
2. Try them in `{notebook}`, which explains the ideas, loads your file again whenever you save it, \
and has a check after each function.
3. Check your work in this folder, as often as you like:

   ```
   grader check            # what is right, what is not and why, what to do next
   grader check --watch    # the same, again whenever you save
   pytest                  # the same as tests: in an editor, or pytest -k name
   ```

4. Hand in {hand_in}, or what `grader submit-zip` packs.

The check tries public cases, which lie in `{cases}` and `{tensors}` beside your file; grading \
tries more. It needs `pip install torchgrade`, once.

| question | points |
|---|---|
{questions}
| **sum** | **{points:g}** |
{given}
You can hand in before everything is written: a function that still raises `NotImplementedError` \
earns nothing and costs the others nothing.
"""


def build_starter(assignment: Assignment, folder: Path, reference: Path) -> dict[str, bytes]:
    """Return the starter's files by name.

    Args:
        assignment: What is asked.
        folder: ``assignments/<id>``, with the support files and ``handout.md``, if it has one.
        reference: ``reference/<id>``, with the module that carries solution markers.

    Raises:
        AssignmentError: A file is missing or broken, a solution or a case generator would be given
            away, or there is a handout and it has no example of a question.
    """
    notebook = f"{assignment.id}.ipynb"
    files = {name: _stripped(assignment, name, reference) for name in assignment.hand_in}
    files |= {name: _read(folder / name) for name in assignment.support}
    files[notebook] = _notebook(assignment, folder / HANDOUT)
    files["README.md"] = _readme(assignment, notebook).encode()
    return files


def write_starter(files: Mapping[str, bytes], target: Path) -> list[Path]:
    """Write the starter into ``target``; return the files that changed.

    Files that no longer belong there are left: removing what a person may have put there is theirs.
    """
    changed = []
    for name, data in files.items():
        path = target / name
        if path.is_file() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        changed.append(path)
    return changed


def check_starter(files: Mapping[str, bytes], target: Path) -> list[Problem]:
    """Return where ``target`` differs from what would be generated; empty if it does not."""
    problems = []
    for name, data in files.items():
        path = target / name
        if not path.is_file():
            problems.append(Problem(str(path), None, "", f"is missing; run {_remedy(target)}"))
        elif drift := _first_difference(path.read_bytes(), data):
            line, text = drift
            problems.append(Problem(str(path), line, "", f"{text}; run {_remedy(target)}"))
    for path in sorted(_strays(files, target)):
        text = "is not generated from anything; remove it, or name it under support:"
        problems.append(Problem(str(path), None, "", text))
    return problems


def _remedy(target: Path) -> str:
    return f"make starter ID={target.name}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        text = f"cannot be read ({error.strerror}), and the starter needs it"
        raise AssignmentError([Problem(str(path), None, "", text)]) from None


def _text(path: Path) -> str:
    try:
        text = _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = f"is not UTF-8 (byte {error.start})"
        raise AssignmentError([Problem(str(path), None, "", text)]) from None
    return text.replace("\r\n", "\n")


def _stripped(assignment: Assignment, name: str, reference: Path) -> bytes:
    path = reference / name
    graded = [question.names[0] for question in assignment.questions]
    source = strip_solutions(_text(path), str(path), graded if name == assignment.module else ())
    left = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    cases = (case for question in assignment.questions for case in question.cases)
    text = "the case generator “{}” would be given to students; BEGIN HIDDEN … END HIDDEN keeps it"
    problems = [
        Problem(str(path), None, "", text.format(generator))
        for generator in sorted({case.generate for case in cases if case.generate} & left)
    ]
    if problems:
        raise AssignmentError(problems)
    return source.encode()


def _notebook(assignment: Assignment, handout: Path) -> bytes:
    module = assignment.module.removesuffix(".py")
    text = _text(handout) if handout.exists() else _minimal_handout(assignment, module)
    cells = split_handout(text, str(handout))
    names = [question.names[0] for question in assignment.questions]
    problems = [
        Problem(str(handout), None, "", f"no ```python example calls {module}.{name}")
        for name in unshown(cells, module, names)
    ]
    if problems:
        raise AssignmentError(problems)
    shown = {
        question.names[0]: question.id
        for question in assignment.questions
        if question.visibility is Visibility.VISIBLE
    }
    return build_notebook(cells, assignment.module, shown)


def _minimal_handout(assignment: Assignment, module: str) -> str:
    """Return a handout that shows each question's own docstring."""
    questions = (
        f"## {question.title}\n\n```python\nhelp({module}.{question.names[0]})\n```\n"
        for question in assignment.questions
    )
    return "\n".join([f"# {assignment.title}\n", *questions])


def _readme(assignment: Assignment, notebook: str) -> str:
    given = ""
    if assignment.given:
        given = f"\nGiven, and worth no points: {_listed(assignment.given)}.\n"
    rows = [f"| `{question.id}` | {question.points:g} |" for question in assignment.questions]
    return _README.format(
        title=assignment.title,
        module=assignment.module,
        notebook=notebook,
        hand_in=_listed(assignment.hand_in),
        questions="\n".join(rows),
        points=assignment.points,
        given=given,
        cases=CASES_FILE,
        tensors=TENSORS_FILE,
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _first_difference(found: bytes, wanted: bytes) -> tuple[int, str] | None:
    pairs = zip_longest(found.splitlines(keepends=True), wanted.splitlines(keepends=True))
    for number, (old, new) in enumerate(pairs, start=1):
        if old != new:
            return number, f"is {_shown(old)}, generated would be {_shown(new)}"
    return None


def _shown(line: bytes | None) -> str:
    return "nothing" if line is None else repr(line.decode(errors="replace"))[:120]


def _strays(files: Mapping[str, bytes], target: Path) -> set[Path]:
    wanted = {target / name for name in (*files, CASES_FILE, TENSORS_FILE)}
    return {
        path
        for path in target.rglob("*")
        if path.is_file()
        and path not in wanted
        and not any(
            part.startswith(".") or part == "__pycache__" for part in path.relative_to(target).parts
        )
    }
