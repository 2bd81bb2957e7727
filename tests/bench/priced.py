"""What wrong answers earn beside a teaching assistant's price, and whether they are told truly.

    make priced                                     (again, until it says that all is done)
    python tests/bench/priced.py --seconds 480 --only knn         (leaves the page alone)
    python tests/bench/priced.py --set second --seconds 0        (tables alone, of the second set)
    python tests/bench/priced.py --seconds 0 --show unjudged      (or: harsher, softer, false, …)

The answers of `tests/priced` were written and priced before any of them was graded, those of
`tests/priced/second` and `third` by others than whoever wrote the grader. `SHA256SUMS` is of that
time; a file that has changed since is refused. What each answer earns and is told is kept in
`build/priced`, so that a run can be ended and gone on with. What other code graded counts no
longer.

Whether a sentence is true is judged by reading it beside the `truth` of its cell. `judged.txt`
keeps the judgement with a digest of the sentence: another sentence needs another judgement.

    named     it says what is wrong
    symptom   it says truly what is seen
    silent    it says nothing that helps
    false     something in it is not so
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accuracy_tables import Row, write
from states import right_answers

from grader.grading import Grader, Options
from grader.interpreter import keep_to_one_thread
from grader.run.materials import load_materials
from grader.sandbox.host.open import open_sandbox
from grader.verdict import PRICE

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = (
    "pytorch101", "tensors", "knn", "minibatch", "parallel", "linear_classifier", "attention",
)  # fmt: skip
SETS = ("first", "second", "third")
SEED = 2022
NEAR = 0.15
"""Difference, as a share of the maximum, up to which two prices count as alike."""
WORDS = ("named", "symptom", "silent", "false")
PAGE = ROOT / "docs/prices.md"
_LABEL = re.compile(r"# (taking|price|truth): (.+)")


@dataclass(slots=True)
class Place:
    """Where a set of answers is, and what becomes of it: the one that is asked for.

    Attributes:
        name: Of the set, one of ``SETS``.
        cells: Folder of the answers.
        kept: Folder of what was graded.
    """

    name: str = "first"
    cells: Path = ROOT / "tests/priced"
    kept: Path = ROOT / "build/priced/first"

    def take(self, name: str) -> None:
        """Be the place of a set."""
        self.name = name
        self.cells = ROOT / "tests/priced" / ("" if name == "first" else name)
        self.kept = ROOT / "build/priced" / name
        answers.cache_clear()

    @property
    def marks(self) -> tuple[str, str]:
        """What the page has around the tables."""
        return f"<!-- {self.name} prices: made by make priced -->", f"<!-- end of {self.name} -->"

    def assignments(self) -> tuple[str, ...]:
        """Return the assignments that have answers."""
        return tuple(name for name in ASSIGNMENTS if (self.cells / f"{name}.py").exists())


PLACE = Place()


@dataclass(frozen=True, slots=True)
class Answer:
    """A wrong answer to one question.

    Attributes:
        assignment: Id.
        name: Of the cell.
        question: Whose function or class it changes.
        price: Share of the question's points that a teaching assistant gives.
        truth: What is wrong with it.
        code: The functions, or a class with the methods, that are changed.
    """

    assignment: str
    name: str
    question: str
    price: float
    truth: str
    code: str

    @property
    def id(self) -> str:
        return f"{self.assignment}.{self.name}"

    def source(self) -> str:
        """Return the whole file: right but for this."""
        text = right_answers(self.assignment)
        for node in ast.parse(self.code).body:
            text = _put(text, self.code, node)
        return text


def _put(text: str, code: str, node: ast.stmt) -> str:
    """Return a text with one definition of a cell in place of its own."""
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    old = next(each for each in ast.parse(text).body if getattr(each, "name", "") == node.name)
    lines, own = text.splitlines(), code.splitlines()
    spans = [(old.lineno - 1, old.end_lineno, node)]
    if isinstance(node, ast.ClassDef) and isinstance(old, ast.ClassDef):
        methods = {each.name: each for each in old.body if isinstance(each, ast.FunctionDef)}
        new = [each for each in node.body if isinstance(each, ast.FunctionDef)]
        # One that the class does not have comes at its end.
        spans = [
            (met.lineno - 1, met.end_lineno, each)
            if (met := methods.get(each.name))
            else (old.end_lineno or 0, old.end_lineno, each)
            for each in new
        ]
    # From the end, so that line numbers stay what they are.
    for first, last, after in sorted(spans, key=lambda span: -span[0]):
        lines[first:last] = own[after.lineno - 1 : after.end_lineno]
    return "\n".join(lines) + "\n"


@cache
def answers(assignment: str) -> list[Answer]:
    """Return the wrong answers to an assignment.

    Raises:
        SystemExit: They are not those that were priced.
    """
    file = PLACE.cells / f"{assignment}.py"
    data = file.read_bytes()
    if f"{hashlib.sha256(data).hexdigest()}  {file.name}" not in _sums():
        sys.exit(f"{file} has changed since it was priced: put what is new into a file of its own")
    parts = re.split(r"(?m)^# %% ", data.decode())[1:]
    return [_answer(assignment, *part.split("\n", 1)) for part in parts]


def _sums() -> list[str]:
    return (PLACE.cells / "SHA256SUMS").read_text().splitlines()


def _answer(assignment: str, name: str, text: str) -> Answer:
    labels = dict(_LABEL.findall(text))
    target = getattr(ast.parse(text).body[0], "name", "")
    return Answer(assignment, name, target, float(labels["price"]), labels["truth"], text)


@cache
def _code(assignment: str) -> str:
    """Return a digest of all that a grade rests on."""
    folders = [ROOT / "grader", ROOT / "assignments" / assignment, ROOT / "reference" / assignment]
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())
    known = [file for file in files if file.suffix in {".py", ".yml", ".toml", ".json"}]
    return _digest("".join(file.read_text(encoding="utf-8") for file in known))


def sentence(row: Row) -> str:
    """Return a digest of what is told, without its numbers: other machines round otherwise."""
    return _digest(re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "#", row["said"]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _rows(assignment: str) -> dict[str, Row]:
    """Return what is known of an assignment's answers, by their ids."""
    file = PLACE.kept / f"{assignment}.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    rows = [json.loads(line) for line in lines]
    return {row["id"]: row for row in rows if row["of"] == _code(assignment)}


class NoMistakes:
    """Knows no mistakes, as with ``partial: false``: no prices and no sentences."""

    def explain(self, judged: Any, *_: Any) -> Any:
        """See ``KnownMistakes.explain``."""
        return judged

    def prices(self, *_: Any) -> Any:
        """See ``KnownMistakes.prices``."""
        return {}

    def made(self, *_: Any) -> Any:
        """See ``KnownMistakes.made``."""

    def fits(self, *_: Any) -> bool:
        """See ``KnownMistakes.fits``."""
        return True  # so that no slip is mended, either

    def in_case(self, *_: Any) -> Any:
        """See ``KnownMistakes.in_case``."""
        return []

    def paid(self, *_: Any) -> Any:
        """See ``KnownMistakes.paid``."""


def grade(assignment: str, until: float) -> None:
    """Grade the answers to an assignment that were not graded yet, until time is up."""
    known = _rows(assignment)
    left = [each for each in answers(assignment) if each.id not in known]
    if not left or time.time() > until:
        return
    materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
    asked = tuple(dict.fromkeys(each.question for each in left))
    with open_sandbox("auto") as sandbox:
        grader = Grader(materials, sandbox, Options(SEED, "virtual", asked))
        grader.prepare()
        unpriced = copy.copy(grader)
        unpriced.mistakes = NoMistakes()
        full: dict[str, float] = {}
        for each in left:
            if time.time() > until:
                return
            if each.question not in full:
                right = right_answers(assignment)
                full[each.question] = _graded(unpriced, each.question, right)["score"]
            row = _row(each, grader, unpriced, full[each.question])
            with (PLACE.kept / f"{assignment}.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")


def _row(answer: Answer, grader: Grader, unpriced: Grader, full: float) -> Row:
    found = _graded(grader, answer.question, answer.source())
    plain = _graded(unpriced, answer.question, answer.source()) if found["priced"] else found
    return {
        "id": answer.id,
        "of": _code(answer.assignment),
        "given": found["score"] / full,
        "waits": found["pending"] / full,
        "plain": plain["score"] / full,
        "checks": found["checks"],
        "said": found["said"],
    }


def _graded(grader: Grader, question_id: str, source: str) -> Row:
    """Return what a question earns, and what a student reads of it."""
    alone = grader.with_questions([question_id])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / grader.assignment.module).write_text(source, encoding="utf-8")
        report = alone.grade(Path(folder), "answer")
    (question,) = (each for each in report.questions if each.id == question_id)
    wrong = [check for check in question.checks if check.to_mend or check.code == "needs_review"]
    said = dict.fromkeys(f"{check.student_message}" for check in wrong if check.student_message)
    codes = {
        c.id: f"{c.code.value} {c.score:g}/{c.max_score:g}"
        for c in question.checks
        if c.code.value != "ok"
    }
    return {
        "score": question.score,
        "pending": question.pending,
        "checks": codes,
        "said": "\n".join(said),
        "priced": any(PRICE in check.params for check in question.checks),
    }


def judgements() -> dict[tuple[str, str], str]:
    """Return what was judged, by the answer's id and its sentence's digest."""
    file = PLACE.cells / "judged.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    parts = (line.split() for line in lines if line and not line.startswith("#"))
    return {(name, digest): word for name, digest, word in parts}


def word_of(row: Row, known: dict[tuple[str, str], str]) -> str:
    """Return what was judged of a sentence: one of ``WORDS``, or ``unjudged``."""
    return known.get((row["id"], sentence(row)), "unjudged")


def tables(names: Sequence[str] = ASSIGNMENTS) -> Iterator[str]:
    """Yield the lines of the tables on prices and on sentences."""
    rows = {name: _rows(name) for name in names}
    pairs = [
        (each, rows[name][each.id])
        for name in names
        for each in answers(name)
        if each.id in rows[name]
    ]
    left = sum(len(answers(name)) for name in names) - len(pairs)
    done = f"{left} are left: run it again" if left else "All is done"
    yield f"{len(pairs)} wrong answers, seed {SEED}. {done}.\n"
    yield from _prices(pairs, names)
    yield ""
    meant = [pair for pair in pairs if pair[0].id not in _not_as_meant()]
    if len(meant) < len(pairs):
        gaps = [abs(row["given"] - each.price) for each, row in meant]
        yield (
            f"{len(pairs) - len(meant)} of them, which count above, do not do what their author "
            f"meant (`tests/priced/not_as_meant.txt`). Without them the mean difference is "
            f"{_mean(gaps)}.\n"
        )
    yield from _sentences(pairs, names)


def _not_as_meant() -> set[str]:
    """Return the answers whose programs are found to be others than their `truth` says."""
    file = PLACE.cells / "not_as_meant.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


Pairs = list[tuple[Answer, Row]]


def _of(pairs: Pairs, name: str) -> Pairs:
    return [pair for pair in pairs if name in (pair[0].assignment, "all")]


def _prices(pairs: Pairs, names: Sequence[str]) -> Iterator[str]:
    yield (
        "| price | answers | mean difference | harsher | softer | within 15 % | 0 points | "
        "`partial: false` | all or nothing |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in (*names, "all"):
        mine = _of(pairs, name)
        if not mine:
            continue
        gaps = [row["given"] - each.price for each, row in mine]
        cells = [
            len(mine),
            _mean([abs(gap) for gap in gaps]),
            sum(gap < -NEAR - 1e-9 for gap in gaps),
            sum(gap > NEAR + 1e-9 for gap in gaps),
            sum(abs(gap) <= NEAR + 1e-9 for gap in gaps),
            sum(row["given"] == 0 for _, row in mine),
            _mean([abs(row["plain"] - each.price) for each, row in mine]),
            _mean([abs(float(row["given"] >= 1) - each.price) for each, row in mine]),
        ]
        yield f"| {name} | {' | '.join(map(str, cells))} |"


def _mean(numbers: Sequence[float]) -> str:
    return f"{sum(numbers) / len(numbers):.2f}"


def _sentences(pairs: Pairs, names: Sequence[str]) -> Iterator[str]:
    known = judgements()
    words = (*WORDS, "unjudged")
    yield f"| sentences | answers | {' | '.join(words)} |"
    yield "|---|" + "---|" * (len(words) + 1)
    for name in (*names, "all"):
        if mine := _of(pairs, name):
            counts = Counter(word_of(row, known) for _, row in mine)
            cells = [len(mine), *(counts[word] for word in words)]
            yield f"| {name} | {' | '.join(map(str, cells))} |"


def shown(what: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the answers of one sort, each with its sentence beside the truth."""
    known = judgements()
    for name in names:
        rows = _rows(name)
        for each in answers(name):
            if each.id not in rows:
                continue
            row = rows[each.id]
            gap, word = row["given"] - each.price, word_of(row, known)
            sort = "harsher" if gap < -NEAR else "softer" if gap > NEAR else "alike"
            if what in (sort, word, "all"):
                yield f"{each.id} {sentence(row)} {word}"
                shares = (f"{name} {row[name]:.2f}" for name in ("given", "waits", "plain"))
                yield f"  {', '.join(shares)}, price {each.price} {row['checks']}"
                yield f"  truth: {each.truth}"
                yield f"  said:  {row['said']}\n"


def main() -> None:
    """Grade what is left, and print the tables or the answers that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=540, help="of work, before the tables")
    parser.add_argument("--only", nargs="*", default=(), help="assignments")
    parser.add_argument("--show", help="harsher, softer, alike, all, or a judgement")
    parser.add_argument("--set", choices=SETS, default="first")
    asked = parser.parse_args()
    PLACE.take(asked.set)
    chosen = asked.only or PLACE.assignments()
    keep_to_one_thread()
    PLACE.kept.mkdir(parents=True, exist_ok=True)
    until = time.time() + asked.seconds
    for name in chosen:
        grade(name, until)
    if asked.show:
        print(*shown(asked.show, chosen), sep="\n")
        return
    text = "\n".join(tables(chosen))
    print(text)
    if not asked.only:
        write(text, PAGE, PLACE.marks)


if __name__ == "__main__":
    main()
