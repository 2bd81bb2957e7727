"""Honest and dishonest variants of right and wrong submissions; see ``rewrites`` and ``probes``."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random

from disguises import DISGUISES, disguised
from habits import HABITS
from idioms import HONEST
from labels import ROOT, read_label, submissions_of
from respellings import comprehension_unrolled
from rewrites import LAYOUT, Site
from shortcuts import FLOAT32, IDLE, SLIPS, SMALL, WAYS, idle, spoilt

from grader.assignment.types import Question
from grader.authoring.mutants import mistakes

HONEST_GROUP, MUTANT, LABELLED, LOOP = "honest", "mutant", "labelled wrong", "disguised loop"
HABIT, SLIP, IN_FLOAT32, WAY, IDLE_LOOP = (
    "honest, habit", "slip", "float32", "another disguised loop", "idle loop",
)  # fmt: skip
RIGHT_GROUPS = (HONEST_GROUP, HABIT)
LATER = (HABIT, SLIP, IN_FLOAT32, WAY, IDLE_LOOP)
"""Groups of families that were added later; they have a table of their own."""
BY_LOOPS = (LOOP, WAY, IDLE_LOOP)
"""Groups that return what is right, and are wrong by how."""
ALL = {**HONEST, **HABITS}
OPS_RULES = frozenset({"forbidden_ops", "allowed_ops", "max_calls"})
WHOLE = [(0, 10**9)]
"""Lines that may be mutated: all."""
MUTATED = 6
"""Right submissions of a question that get mistakes, at most."""
TRIES = 8
"""How often to try for each variant that is wanted, before there are no more."""

LOOPS = {
    "challenge_mean_tensors": """
def challenge_mean_tensors(xs, ls):
    means = torch.zeros(len(xs))
    for i in range(len(xs)):
        means[i] = (xs[i].double().sum() / ls[i]).float()
    return means
""",
    "attend": """
def attend(query, key, value, mask=None):
    result = torch.zeros(query.shape[0], query.shape[1], value.shape[2], dtype=query.dtype)
    for b in range(query.shape[0]):
        products = query[b] @ key[b].t() / math.sqrt(query.shape[2])
        if mask is not None:
            products = products.masked_fill(~mask[b], -math.inf)
        result[b] = products.softmax(dim=1) @ value[b]
    return result
""",
}
"""Right values by a loop, for questions whose reference file has none to be timed."""


@dataclass(frozen=True)
class Variant:
    """A submission for one question.

    Attributes:
        group: Whether and in which way it is right or wrong.
        kinds: Names of its rewrites, and of its mistake.
        base: The submission that it was made from.
        source: The whole module.
    """

    assignment: str
    question: str
    group: str
    kinds: tuple[str, ...]
    base: str
    source: str = field(repr=False)

    @property
    def id(self) -> str:
        text = "\0".join((self.assignment, self.question, self.group, self.source))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def reference_of(assignment: str) -> str:
    """Return the text of the reference."""
    file = ROOT / "reference" / assignment / f"{assignment}.py"
    return file.read_text(encoding="utf-8")


@cache
def right_submissions(assignment: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Return the reference and the accepted submissions: text, and questions without full marks."""
    found = {"reference": (reference_of(assignment), frozenset[str]())}
    for submission in submissions_of(assignment, "accepted"):
        text = submission.data.decode("utf-8", errors="replace")
        if submission.path.suffix == ".py" and _parsed(text):
            label = read_label(submission)
            not_full = {name for name, each in label.questions.items()
                        if each.status not in (None, "passed") or each.checks}  # fmt: skip
            found[submission.name] = text, frozenset(not_full)
    return found


@cache
def wrong_submissions(assignment: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Return the labelled wrong submissions: text, and the questions that lose points."""
    found = {}
    for submission in submissions_of(assignment, "wrong"):
        text = submission.data.decode("utf-8", errors="replace")
        if submission.path.suffix == ".py" and _parsed(text):
            label = read_label(submission)
            lost = {name for name, each in label.questions.items()
                    if each.status in ("failed", "partial")}  # fmt: skip
            found[submission.name] = text, frozenset(lost)
    return found


def _tree(text: str) -> ast.Module:
    return ast.parse(text.lstrip("\ufeff"))


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.lstrip("\ufeff"))
    except SyntaxError:
        return None


def variants(
    assignment: str, question: Question, seed: int, each: Mapping[str, int]
) -> Iterator[Variant]:
    """Yield the variants for a question, no two alike.

    Args:
        assignment: Its id.
        question: Of the assignment.
        seed: Of all that is chosen.
        each: How many of each group, at most.
    """
    seen: set[str] = set()
    for group, maker in MAKERS.items():
        dice = Random(f"{seed} {assignment} {question.id} {group}")
        for base, kinds, source in maker(assignment, question, dice, each.get(group, 0)):
            if source not in seen and _compiles(source):
                seen.add(source)
                yield Variant(assignment, question.id, group, kinds, base, source)


Made = tuple[str, tuple[str, ...], str]
Maker = Callable[[str, Question, Random, int], Iterator[Made]]


def _honest(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    bases = _right_bases(assignment, question)
    return _rewritten(bases, question, (dice, each), tuple(HONEST))


def _habits(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    """Yield each of the later families once, of one right submission after the other."""
    bases = _right_bases(assignment, question)
    kinds = dice.sample(list(HABITS), len(HABITS))
    made = 0
    for kind in kinds if each else ():
        for name, text in dice.sample(bases, min(len(bases), TRIES)):
            done, source = rewritten(text, question, dice, [kind], 1)
            if done:
                made += 1
                yield name, done, source
                break
        if made == each:
            return


def _right_bases(assignment: str, question: Question) -> list[tuple[str, str]]:
    return [
        (name, text) for name, (text, no) in right_submissions(assignment).items()
        if question.id not in no and _block(_tree(text), question)
    ]  # fmt: skip


def _spoilt(texts: Mapping[str, str]) -> Maker:
    """Return what puts texts around a right function; a class is left alone."""

    def make(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
        bases = [
            (name, text) for name, text in _right_bases(assignment, question)
            if isinstance(_block(_tree(text), question), ast.FunctionDef)
        ]  # fmt: skip
        for kind in dice.sample(list(texts), min(each, len(texts))) if bases else ():
            name, text = dice.choice(bases)
            module = _tree(text)
            spoilt(module, _block(module, question), texts[kind])
            yield name, (kind,), ast.unparse(ast.fix_missing_locations(module))

    return make


def _idle(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    for way in IDLE.get(question.id, ())[:each]:
        module = _tree(reference_of(assignment))
        idle(module, _block(module, question), way)
        yield "reference", (way,), ast.unparse(ast.fix_missing_locations(module))


def _labelled(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    bases = [
        (name, text) for name, (text, lost) in wrong_submissions(assignment).items()
        if question.id in lost and _block(_tree(text), question)
    ]  # fmt: skip
    return _rewritten(bases, question, (dice, each), tuple(sorted(LAYOUT)))


def _rewritten(
    bases: list[tuple[str, str]],
    question: Question,
    wanted: tuple[Random, int],
    kinds: Iterable[str],
) -> Iterator[Made]:
    dice, each = wanted
    found: set[str] = set()
    for _ in range(each * TRIES if bases else 0):
        name, text = dice.choice(bases)
        done, source = rewritten(text, question, dice, list(kinds), dice.choice((1, 2, 2, 3)))
        if done and source not in found:
            found.add(source)
            yield name, done, source
        if len(found) == each:
            return


def _mutants(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    """Yield mistakes in right submissions, every second one rewritten as well."""
    rights = right_submissions(assignment)
    known = _right_bases(assignment, question)
    found: list[tuple[str, str, str]] = []
    for name, text in dice.sample(known, min(MUTATED, len(known))):
        # Its docstring and its defaults are left alone, as for `grader lint --mutants`.
        block = _without_docstring(_block(_tree(text), question))
        found += [(name, kind, mutated) for mutated, kind in mistakes(block, WHOLE).items()]
    for number, (name, kind, mutated) in enumerate(dice.sample(found, min(each, len(found)))):
        module = _tree(rights[name][0])
        module.body[module.body.index(_block(module, question))] = ast.parse(mutated).body[0]
        more, source = (), ast.unparse(module)
        if number % 2:
            more, source = rewritten(source, question, dice, sorted(LAYOUT), 1)
        yield name, (kind, *more), source


def _loop_of(assignment: str, question: Question) -> ast.FunctionDef | None:
    """Return a loop that is right, under the question's name, if the question allows none."""
    module, text = ast.parse(reference_of(assignment)), LOOPS.get(question.id, "")
    if not any(check.kind == "loops" for check in question.checks):
        return None
    if text:
        return ast.parse(text).body[0]
    if question.timed is None or _block(module, question) is None:
        return None
    (node,) = (n for n in module.body
               if isinstance(n, ast.FunctionDef) and n.name == question.timed.loop)  # fmt: skip
    node.name = question.names[0]
    return node


def _loops(ways: Mapping[str, str], each_more: tuple[int, ...]) -> Maker:
    def make(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
        loop = _loop_of(assignment, question)
        if loop is None:
            return
        for way, more in [(way, more) for more in each_more for way in ways][:each]:
            tree, function = ast.parse(reference_of(assignment)), copy.deepcopy(loop)
            tree.body[tree.body.index(_block(tree, question))] = function
            site = Site(tree, function, dice)
            if not any(isinstance(node, ast.For) for node in function.body):
                comprehension_unrolled(site)
            if disguised(function, ways[way]):
                kinds: tuple[str, ...] = ()
                source = ast.unparse(ast.fix_missing_locations(tree))
                if more:
                    kinds, source = rewritten(source, question, dice, sorted(LAYOUT), more)
                yield question.timed.loop if question.timed else "loop", (way, *kinds), source

    return make


def _other_ways(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    """Yield the later disguises, and a loop for small inputs alone."""
    loop = _loop_of(assignment, question)
    if loop is not None:
        module = ast.parse(reference_of(assignment))
        function = _block(module, question)
        loop.name = "_loop"
        module.body.insert(module.body.index(function), loop)
        spoilt(module, function, SMALL.replace("LOOP", "_loop"))
        yield "reference", ("small alone",), ast.unparse(ast.fix_missing_locations(module))
    yield from _loops(WAYS, (0,))(assignment, question, dice, each - 1)


MAKERS: dict[str, Maker] = {
    HONEST_GROUP: _honest, MUTANT: _mutants, LABELLED: _labelled,
    LOOP: _loops(DISGUISES, (0, 1, 2)),
    HABIT: _habits, SLIP: _spoilt(SLIPS), IN_FLOAT32: _spoilt(FLOAT32), WAY: _other_ways,
    IDLE_LOOP: _idle,
}  # fmt: skip


def rewritten(
    text: str, question: Question, dice: Random, kinds: list[str], most: int
) -> tuple[tuple[str, ...], str]:
    """Return the names of the rewrites that found something to change, and the module's text."""
    module = _tree(text)
    done: list[str] = []
    order = dice.sample(kinds, len(kinds))
    # What touches an operation fits few functions, so it is mostly tried first.
    for kind in sorted(order, key=LAYOUT.__contains__) if dice.random() < 0.7 else order:
        if len(done) == most:
            break
        sites = list(_sites(module, question, dice))
        if sites and ALL[kind](dice.choice(sites)):
            done.append(kind)
    return tuple(done), ast.unparse(ast.fix_missing_locations(module))


def _sites(module: ast.Module, question: Question, dice: Random) -> Iterator[Site]:
    block = _block(module, question)
    ops = any(check.kind in OPS_RULES for check in question.checks)
    loops = question.timed is not None or any(check.kind == "loops" for check in question.checks)
    functions = [block] if isinstance(block, ast.FunctionDef) else getattr(block, "body", [])
    for function in functions:
        if isinstance(function, ast.FunctionDef) and _without_docstring(function).body:
            owner = block if isinstance(block, ast.ClassDef) else None
            yield Site(
                module, function, dice, owner, ops, loops, views=question.id == "flatten_views"
            )


def _block(module: ast.Module, question: Question) -> ast.FunctionDef | ast.ClassDef | None:
    wanted = {question.id, *question.names}
    kinds = (ast.FunctionDef, ast.ClassDef)
    found = [node for node in module.body if isinstance(node, kinds) and node.name in wanted]
    return found[-1] if found else None


def _without_docstring(
    block: ast.FunctionDef | ast.ClassDef,
) -> ast.FunctionDef | ast.ClassDef:
    first = block.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        block.body = block.body[1:] or [ast.Pass()]
    return block


def _compiles(source: str) -> bool:
    try:
        compile(source, "variant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
