"""What a student reads in wrong states of the file, counted: the mistake itself, or less.

Each state of `tests/students/states` is put into a copy of the starter, beside right answers to all
other questions, and checked by `grader check`, as at a terminal of 80 columns. A state is

    named     the sentence stands there that the state must have (`says:`)
    symptom   not that, but what is wrong and where: values side by side, an exception and its line
    useless   true, and no help
    false     a sentence stands there that is not true of it (`never:`)

Whoever labels a state reads what it is told. Where that is not the wanted sentence, the label notes
what it is (`else:`); symptom where nothing is noted.

    python tests/bench/states.py [pytorch101 knn …] [--language ko] [--show] [-k PART]

In Korean a state has to give the marks that it gives in English, and no English sentence of ours.
`--show` prints what is told where the wanted sentence is missing.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nbformat
import toy_starter

from grader.cli import app as cli
from grader.report.messages.language import VARIABLE
from grader.selfcheck import warm_sandbox

ROOT = Path(__file__).parents[2]
STATES = ROOT / "tests/students/states"
VERDICTS = ("named", "symptom", "useless", "false")
_HEAD = re.compile(r"# %% (seen|made) ([\w.]+): (.+)")
_LABEL = re.compile(r"# (says|never|else|run|without): ?(.*)")
_FILE = re.compile(r"# --- (\S.*)")
_CELL = "# cell\n"
_HIDDEN = re.compile(r"# BEGIN HIDDEN\n.*?# END HIDDEN\n", re.DOTALL)
_MARKERS = re.compile(r" *# (?:BEGIN|END) SOLUTION\n")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class State:
    """One way in which a student's folder can be wrong.

    Attributes:
        assignment: Id.
        target: What is replaced: a function or method; ``top`` for lines above all functions;
            ``files`` for files of the folder.
        seen: Whether public notebooks were found that do that; the others were made up.
        title: The mistake, in words.
        says: Parts of the sentence that names it.
        never: Parts of sentences that are not true of it.
        otherwise: What the student is told where that is missing.
        command: Words after ``grader``.
        without: Files that are taken away.
        code: The text.
    """

    assignment: str
    target: str
    seen: bool
    title: str
    says: tuple[str, ...]
    never: tuple[str, ...]
    otherwise: str
    command: tuple[str, ...]
    without: tuple[str, ...]
    code: str

    @property
    def name(self) -> str:
        return f"{self.assignment} {self.target}: {self.title}"


def states(assignment: str) -> list[State]:
    """Return the states of an assignment."""
    text = (STATES / f"{assignment}.txt").read_text(encoding="utf-8")
    return [_state(assignment, part) for part in re.split(r"(?m)^(?=# %% )", text) if part.strip()]


def _state(assignment: str, text: str) -> State:
    head, *lines = text.splitlines(keepends=True)
    found = _HEAD.fullmatch(head.strip())
    assert found, head
    labels: dict[str, list[str]] = {}
    while lines and (label := _LABEL.fullmatch(lines[0].rstrip())):
        labels.setdefault(label[1], []).append(label[2])
        lines.pop(0)
    target = found[2]
    whole = target in ("top", "files")
    command = labels.get("run", ["check" if whole else f"check {target.partition('.')[0]}"])[0]
    otherwise = labels.get("else", ["symptom"])[0]
    assert otherwise in VERDICTS[1:3], text
    says, never, without = (tuple(labels.get(name, ())) for name in ("says", "never", "without"))
    return State(
        assignment, target, found[1] == "seen", found[3], says, never, otherwise,
        tuple(command.split()), without, "".join(lines).strip("\n") + "\n",
    )  # fmt: skip


def right_answers(assignment: str) -> str:
    """Return the text of the solution, as a student would have it."""
    text = (ROOT / f"reference/{assignment}/{assignment}.py").read_text(encoding="utf-8")
    return _MARKERS.sub("", _HIDDEN.sub("", text))


def replaced(text: str, target: str, code: str) -> str:
    """Return a text with another body of a function, or another definition of it."""
    body, node = ast.parse(text).body, None
    for name in target.split("."):
        node = next(each for each in body if isinstance(each, _DEFINITIONS) and each.name == name)
        body = node.body
    assert isinstance(node, _DEFINITIONS)
    lines = text.splitlines(keepends=True)
    if code.startswith(("def ", "class ", "@")):
        return "".join([*lines[: node.lineno - 1], code, *lines[node.end_lineno :]])
    indent = " " * body[0].col_offset
    made = [f"{indent}{line}" if line.strip() else line for line in code.splitlines(keepends=True)]
    first = body[1] if ast.get_docstring(node) is not None and len(body) > 1 else body[0]
    return "".join([*lines[: first.lineno - 1], *made, *lines[node.end_lineno :]])


def put(state: State, folder: Path) -> None:
    """Write a state into a copy of the starter."""
    shutil.copytree(ROOT / "starter" / state.assignment, folder)
    file = folder / f"{state.assignment}.py"
    right = right_answers(state.assignment)
    if state.target == "files":
        for name, content in _files(state.code):
            _write(folder / name, content.replace("%RIGHT%\n", right))
    elif state.target == "top":
        first = re.search(r"(?m)^(?:class|def) ", right)
        assert first
        file.write_text(f"{right[: first.start()]}{state.code}\n\n{right[first.start() :]}")
    else:
        file.write_text(replaced(right, state.target, state.code), encoding="utf-8")
    for name in state.without:
        (folder / name).unlink()


def _files(code: str) -> Iterator[tuple[str, str]]:
    _, *parts = re.split(_FILE, code)
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        yield name, content.lstrip("\n")


def _write(path: Path, content: str) -> None:
    if path.suffix == ".ipynb":
        cells = [nbformat.v4.new_code_cell(text.strip("\n")) for text in content.split(_CELL)]
        content = nbformat.writes(nbformat.v4.new_notebook(cells=cells))
    path.write_text(content, encoding="utf-8")


def told(state: State, language: str) -> str:
    """Return what a student reads."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place = Path(folder) / state.assignment
        put(state, place)
        stack.callback(os.chdir, Path.cwd())
        # The command leaves a handler of its own behind.
        stack.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        os.chdir(place)
        stack.enter_context(patch.dict(os.environ, {VARIABLE: language, "COLUMNS": "80"}))
        stack.enter_context(patch.object(warm_sandbox, "_open", lambda _: toy_starter.lent()))
        stack.enter_context(patch.object(sys, "argv", ["grader", *state.command]))
        output = io.StringIO()
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        with contextlib.suppress(SystemExit):
            cli.main()
        return output.getvalue()


def verdict(state: State, text: str) -> str:
    """Return what a student is told, as one of ``VERDICTS``."""
    flat = _flat(text)
    if any(_flat(part) in flat for part in state.never):
        return "false"
    named = bool(state.says) and all(_flat(part) in flat for part in state.says)
    return "named" if named else state.otherwise


def _flat(text: str) -> str:
    """Return a text without blanks: lines are wrapped anywhere."""
    return "".join(text.split())


_MARK = re.compile(r"(?m)^ *[✓◐✗–…] \S+")
_SENTENCE = re.compile(r"(?:[A-Za-z]+,? ){4,}[a-z]+\.")


def untranslated(state: State, english: str, korean: str) -> list[str]:
    """Return what is otherwise in Korean than it may be: marks, and sentences left in English."""
    faults = []
    if _MARK.findall(english) != _MARK.findall(korean):
        faults.append("other marks")
    own = _flat(state.code)
    sentences = (found[0] for found in _SENTENCE.finditer(" ".join(korean.split())))
    return [*faults, *(text for text in sentences if _flat(text) not in own)]


def table(results: Sequence[tuple[State, str]]) -> Iterator[str]:
    """Yield lines of a table: a row for each assignment, and their sum."""
    yield f"| | states | seen | {' | '.join(VERDICTS)} |"
    yield "|---|" + "---|" * (len(VERDICTS) + 2)
    groups = dict.fromkeys(state.assignment for state, _ in results)
    for group in [*groups, "all"]:
        rows = [row for row in results if group in (row[0].assignment, "all")]
        counts = Counter(found for _, found in rows)
        seen = sum(state.seen for state, _ in rows)
        cells = [len(rows), seen, *(counts[name] for name in VERDICTS)]
        yield f"| {group} | {' | '.join(map(str, cells))} |"


def main() -> None:
    """Check the states, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted(path.stem for path in STATES.glob("*.txt"))
    parser.add_argument("assignments", nargs="*", default=known)
    parser.add_argument("--language", default="en")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("-k", default="")
    options = parser.parse_args()
    results = []
    for state in (state for name in options.assignments or known for state in states(name)):
        if options.k not in state.name:
            continue
        english = told(state, "en")
        found = verdict(state, english)
        results.append((state, found))
        if found != "named":
            print(f"{found:8} {state.name}", flush=True)
            if options.show:
                print(f"  wanted: {' … '.join(state.says)}\n{english}", flush=True)
        if options.language != "en":
            korean = told(state, options.language)
            for fault in untranslated(state, english, korean):
                print(f"language {state.name}: {fault}", flush=True)
    print(*table(results), sep="\n")


if __name__ == "__main__":
    main()
