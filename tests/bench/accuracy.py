"""How often is the grader wrong? Grades honest and dishonest variants; writes docs/accuracy.md.

    make accuracy                                   (again, until it says that all is done)
    python tests/bench/accuracy.py --seconds 480 --workers 2
    python tests/bench/accuracy.py --only knn --questions predict_labels
    python tests/bench/accuracy.py --seconds 0      (tables alone)

Every verdict is kept in build/accuracy, so that a run can be ended and gone on with. What was wrong
lies in its folder findings, a file each. Each variant is also compared with the reference outside
of the grader (``probes``), and judged by two other graders: what a course's notebook does on one
sample input, and a test file for gradescope-utils.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import peer_cases
import torch
from accuracy_tables import Row, tables, write

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import probes  # noqa: E402  tests/ is no package
from priced import NoMistakes  # noqa: E402
from variants import (  # noqa: E402
    BY_LOOPS,
    HABIT,
    HONEST_GROUP,
    IDLE_LOOP,
    IN_FLOAT32,
    LABELLED,
    LOOP,
    MUTANT,
    RIGHT_GROUPS,
    SLIP,
    WAY,
    Variant,
    reference_of,
    right_submissions,
    variants,
)

from grader.assignment.types import Question  # noqa: E402
from grader.grading import Grader, Options  # noqa: E402
from grader.report.model import Report  # noqa: E402
from grader.run.materials import Materials, load_materials  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402

ASSIGNMENTS = (
    "pytorch101", "tensors", "knn", "minibatch", "parallel", "linear_classifier", "attention",
)  # fmt: skip
SEED = 2020
EACH = {
    HONEST_GROUP: 12, MUTANT: 8, LABELLED: 6, LOOP: 20,
    HABIT: 6, SLIP: 4, IN_FLOAT32: 2, WAY: 13, IDLE_LOOP: 7,
}  # fmt: skip
"""Variants of a question in each group, at most."""
MAKERS = (
    "disguises", "habits", "idioms", "probes", "respellings", "rewrites", "shortcuts", "variants",
)  # fmt: skip
"""Modules that make variants, and say what they do."""
SLOW, SHARE = ("minibatch", "parallel"), 2
"""Assignments whose questions take seconds, and what part of the variants they get."""
SEEDS = range(100, 106)
"""Of the inputs that tell whether a variant does what the reference does."""
SAMPLE, TESTED = 0, (1, 2, 3)
"""Seeds of a notebook's sample input and of a test file's fixed inputs."""
CLOSE = 1e-5
"""Relative error that a notebook of the course accepts."""
PATIENCE = 10
"""Seconds until a variant that does not come back counts as another function; ten times as long if
it sleeps."""
TEXTS = frozenset({"title", "message", "hint"})
KEPT = ROOT / "build/accuracy"

NOT_COMPARED: Row = {"differs": None, "notebook": None, "tests": None}
HANGS: Row = {"differs": ["values"], "notebook": False, "tests": False}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3000, help="of work, before the tables")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", default=ASSIGNMENTS, help="assignments to go on with")
    parser.add_argument("--questions", nargs="*", help="questions to go on with; writes no page")
    asked = parser.parse_args()
    (KEPT / "findings").mkdir(parents=True, exist_ok=True)
    print(f"seed {SEED}, {dict(EACH)} of a question", flush=True)
    until = time.time() + asked.seconds
    if asked.seconds:
        context = multiprocessing.get_context("spawn")
        with context.Pool(asked.workers, maxtasksperchild=30) as pool:
            wanted = [
                w for w in _left(asked.only) if not asked.questions or w[1] in asked.questions
            ]
            for said in pool.imap_unordered(_question, [(*work, until) for work in wanted]):
                print(said, flush=True)
    left = _left(ASSIGNMENTS)
    known = {row["id"]: row for row in _rows() if row["of"] == _state(*_asked(row))}
    rows = list(known.values())
    text = "\n".join([*_about(rows, len(left)), *tables(rows, ASSIGNMENTS)])
    print(text)
    print(f"{len(left)} questions are left; run it again" if left else "all is done")
    if not asked.questions:
        write(text)


def _about(rows: list[Row], left: int) -> Iterator[str]:
    """Yield what was graded: how many variants, of what, and what was left out."""
    known = Counter(_asked(row) for row in rows if row["counts"])
    aside = Counter(row["group"] for row in rows if not row["counts"])
    asked = [(n, q.id) for n in ASSIGNMENTS for q in _materials(n).assignment.questions]
    middle = sorted(known[each] for each in asked)[len(asked) // 2]
    least = min(asked, key=lambda each: known[each])
    most = ", ".join(f"{count} of group *{group}*" for group, count in EACH.items())
    yield (
        f"{known.total():,} variants of {len(known)} questions, of {len(asked)}, seed {SEED}. "
        f"Of a question there are at most {most}; one half of that for {' and '.join(SLOW)}. "
        f"Half of the questions have {middle} or more; "
        f"`{least[1]}` of `{least[0]}` has the fewest, {known[least]}. "
        f"Left out: {aside[MUTANT] + aside[SLIP] + aside[IN_FLOAT32]} mistakes that no comparison "
        f"tells from the reference, {sum(aside[group] for group in (*RIGHT_GROUPS, *BY_LOOPS))} "
        f"others that changed a result. Questions not done: {left} of {len(asked)}.\n"
    )
    versions = [f"`{name}` {_materials(name).assignment.version}" for name in ASSIGNMENTS]
    yield f"Versions: {', '.join(versions)}."


def _left(assignments: Iterable[str]) -> list[tuple[str, str]]:
    """Return the questions that are not done: those that take longest first."""
    asked = [(n, q.id) for n in assignments for q in _materials(n).assignment.questions]
    left = [each for each in asked if not _is_done(*each)]
    return sorted(left, key=lambda each: each[0] not in SLOW)


def _is_done(name: str, question_id: str) -> bool:
    file = KEPT / f"{name}.{question_id}.done"
    return file.exists() and file.read_text() == f"{_state(name, question_id)} {_made_by()}"


@cache
def _made_by() -> str:
    """Return a digest of what makes variants: others are to be graded where it changes."""
    texts = [(ROOT / f"tests/{name}.py").read_bytes() for name in MAKERS]
    return hashlib.sha256(b"\0".join([repr(EACH).encode(), *texts])).hexdigest()[:16]


@cache
def _state(name: str, question_id: str) -> str:
    """Return a digest of what a question's verdicts rest on; those of another one are old."""
    question = _question_of(name, question_id).model_dump(mode="json", exclude_defaults=True)
    support = sorted((ROOT / "assignments" / name).glob("*.py"))
    asked = json.dumps(_without_texts(question), sort_keys=True).encode()
    parts = (asked, *(file.read_bytes() for file in support))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _without_texts(tree: Any) -> Any:
    """Leave out titles and hints: no verdict rests on them."""
    if isinstance(tree, dict):
        return {key: _without_texts(item) for key, item in tree.items() if key not in TEXTS}
    return [_without_texts(item) for item in tree] if isinstance(tree, list) else tree


def _asked(row: Row) -> tuple[str, str]:
    return row["assignment"], row["question"]


def _question_of(name: str, question_id: str) -> Question:
    return next(q for q in _materials(name).assignment.questions if q.id == question_id)


def _question(work: tuple[str, str, float]) -> str:
    """Grade the variants of a question that were not graded yet, until time is up; say how many."""
    name, question_id, until = work
    torch.set_num_threads(1)
    began = time.time()
    if began > until:
        return f"{name} {question_id}: not begun"
    try:
        count = _go_through(name, question_id, until)
    except Exception:  # noqa: BLE001  the other questions go on, and this one counts as left
        return f"{name} {question_id}: {traceback.format_exc()}"
    return f"{name} {question_id}: {count} variants in {time.time() - began:.0f} s"


def _go_through(name: str, question_id: str, until: float) -> int:
    question, state = _question_of(name, question_id), _state(name, question_id)
    file = KEPT / f"{name}.{question_id}.jsonl"
    have = {row["id"] for row in _rows(file) if row["of"] == state}
    each = {group: most // (SHARE if name in SLOW else 1) for group, most in EACH.items()}
    made = list(variants(name, question, SEED, each))
    left = [variant for variant in made if variant.id not in have]
    count = 0
    for count, row in enumerate(_graded_each(left, question, until), 1):  # noqa: B007
        with file.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
    if time.time() > until:
        return count
    # Rows of variants that an earlier version of the rewrites made go.
    now = {variant.id for variant in made}
    rows = [row for row in _rows(file) if row["id"] in now and row["of"] == state]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (KEPT / f"{name}.{question_id}.done").write_text(f"{state} {_made_by()}")
    return count


def _graded_each(left: list[Variant], question: Question, until: float) -> Iterator[Row]:
    """Yield what is kept of each variant; the reference runs once for all of them."""
    if not left:
        return
    name, materials = left[0].assignment, _materials(left[0].assignment)
    if probe := probes.probe_of(name, question.id):
        # What torch imports at its first call is paid here, once, and not in each child.
        right = Variant(name, question.id, HONEST_GROUP, (), "reference", reference_of(name))
        _beside(right, probe)
    grader = Grader(materials, _sandbox(), Options(SEED, "auto", (question.id,), clock=True))
    grader.prepare()
    # What an author says of a mistake changes no point, and takes student processes of its own.
    grader.mistakes = NoMistakes()
    full = _graded(grader, materials, question.id, reference_of(name))
    # Where the reference earns nothing on this machine, nothing could be refused.
    for variant in left if full["score"] else ():
        if time.time() > until:
            return
        yield _row(variant, question, grader, full)


def _row(variant: Variant, question: Question, grader: Grader, full: Row) -> Row:
    """Return all that is kept of a variant."""
    compared = _compared(variant)
    row = {"id": variant.id, "assignment": variant.assignment, "question": variant.question,
           "group": variant.group, "kinds": variant.kinds, "base": variant.base,
           "of": _state(variant.assignment, question.id),
           **_decided(variant, question, compared), **compared}  # fmt: skip
    if row["counts"]:
        found = _graded(grader, grader.materials, variant.question, variant.source)
        row |= found | {"said": _said(found, full)}
        _keep_finding(row, variant, full)
    return row


@cache
def _materials(name: str) -> Materials:
    return load_materials(ROOT / "assignments" / name / "assignment.yml")


@cache
def _sandbox() -> Any:
    return open_sandbox("auto")


def _graded(grader: Grader, materials: Materials, question_id: str, source: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / materials.assignment.module).write_text(source, encoding="utf-8")
        report: Report = grader.grade(Path(folder), "variant")
    (question,) = (each for each in report.questions if each.id == question_id)
    codes = {check.id: check.code.value for check in question.checks
             if check.code.value != "ok" and check.max_score}  # fmt: skip
    return {"score": question.score, "pending": question.pending, "codes": codes}


def _said(found: Row, full: Row) -> str:
    """Return what became of a variant, beside the reference on the same machine."""
    if found["score"] >= full["score"]:
        return "accepted"
    if found["score"] + found["pending"] >= full["score"] + full["pending"]:
        return "review"
    return "refused"


def _decided(variant: Variant, question: Question, compared: Row) -> Row:
    """Return whether a variant counts: is it surely what its group says?"""
    kinds = {check.kind for check in question.checks}
    asked = {"values", *(("dtype",) * ("dtype" in kinds)), *(("args",) * ("unmodified" in kinds))}
    differs = compared["differs"]
    if variant.group in RIGHT_GROUPS:
        return {"counts": not differs}
    if variant.group in BY_LOOPS:
        return {"counts": differs == []}
    return {"counts": variant.group == LABELLED or bool(asked.intersection(differs or ()))}


def _keep_finding(row: Row, variant: Variant, full: Row) -> None:
    right = variant.group in RIGHT_GROUPS
    if row["said"] == "review" or (row["said"] == "accepted") != right:
        group = variant.group.replace(" ", "_")
        name = f"{row['said']}.{group}.{variant.assignment}.{variant.question}"
        about = f"# {row}\n# reference: {full}\n"
        path = KEPT / "findings" / f"{name}.{variant.id}.py"
        path.write_text(about + variant.source)


def _compared(variant: Variant) -> Row:
    """Return how a variant differs from the reference, and what the other graders say of it.

    In a process of its own: a mistake may hang, or end its process.
    """
    probe = probes.probe_of(variant.assignment, variant.question)
    if probe is None:
        return NOT_COMPARED
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        # On processor time: on a busy machine a right variant may take long.
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        signal.alarm(10 * PATIENCE)
        row = HANGS
        with suppress(BaseException), open(os.devnull, "w") as nothing:  # noqa: PTH123
            sys.stdout = nothing
            row = _beside(variant, probe)
        os.write(write, json.dumps(row).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else HANGS


def _beside(variant: Variant, probe: probes.Probe) -> Row:
    folder = ROOT / "assignments" / variant.assignment
    sys.path.insert(0, str(folder))
    right = probes.load(reference_of(variant.assignment), folder, "reference")
    if variant.base in (known := right_submissions(variant.assignment)):
        try:
            base = probes.load(known[variant.base][0], folder)
        except (ImportError, NameError):
            return NOT_COMPARED  # Right all the same: the grader imports what can be imported.
        if _differs(probe, base, right):
            # Right all the same: it needs a GPU, or the probe asks more than the assignment does.
            return NOT_COMPARED
    mine = probes.load(variant.source, folder)
    return {
        "differs": _differs(probe, mine, right),
        "notebook": _notebook(probe, mine, right),
        "tests": all(_tested(probe, mine, right, seed) for seed in TESTED),
    }


def _differs(probe: probes.Probe, mine: ModuleType, right: ModuleType) -> list[str]:
    return sorted({
        what for seed in SEEDS for what in probes.differences(
            probes.run(probe, mine, seed), probes.run(probe, right, seed)
        )
    })  # fmt: skip


def _notebook(probe: probes.Probe, mine: ModuleType, right: ModuleType) -> bool:
    """Compare on one sample input, as cells of the course do: by relative error."""
    one, other = (probes.run(probe, module, SAMPLE) for module in (mine, right))
    if isinstance(other, dict) and isinstance(one, dict):
        one, other = one.get("result"), other.get("result")
    return _alike(one, other)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        with suppress(RuntimeError, IndexError):
            a, b = one.double(), other.double()
            top, size = (a - b).abs(), (a.abs() + b.abs()).clamp(min=1e-10)
            return not top.numel() or float(top.max() / size.max()) < CLOSE
        return False
    with suppress(Exception):
        return bool(one == other or abs(one - other) < CLOSE * max(abs(one), abs(other)))
    return False


def _tested(probe: probes.Probe, mine: ModuleType, right: ModuleType, seed: int) -> bool:
    """Compare on a fixed input, as a file of tests does: values, shape, dtype, and inputs after."""

    def call(module: ModuleType) -> Callable[[], Any]:
        return lambda: probes.run(probe, module, seed)

    try:
        peer_cases.compare(call(mine), call(right), [])
    except Exception:  # noqa: BLE001  whatever it is, the test is red
        one, other = call(mine)(), call(right)()
        return type(one) is type(other) and isinstance(one, str) and one == other
    return True


def _rows(*files: Path) -> list[Row]:
    known = [file for file in files or sorted(KEPT.glob("*.jsonl")) if file.exists()]
    return [json.loads(line) for file in known for line in file.read_text().splitlines()]


if __name__ == "__main__":
    main()
