"""Honest and dishonest variants of right and wrong submissions; see ``rewrites`` and ``probes``."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random

from disguises import DISGUISES, disguised
from idioms import HONEST
from labels import ROOT, read_label, submissions_of
from respellings import comprehension_unrolled
from rewrites import LAYOUT, Site

from grader.assignment.types import Question
from grader.authoring.mutants import mistakes

HONEST_GROUP, MUTANT, LABELLED, LOOP = "honest", "mutant", "labelled wrong", "disguised loop"
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
        group: ``honest``, or in which way it is wrong.
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
        for base, kinds, source in maker(assignment, question, dice, each[group]):
            if source not in seen and _compiles(source):
                seen.add(source)
                yield Variant(assignment, question.id, group, kinds, base, source)


Made = tuple[str, tuple[str, ...], str]


def _honest(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    bases = [
        (name, text) for name, (text, no) in right_submissions(assignment).items()
        if question.id not in no and _block(_tree(text), question)
    ]  # fmt: skip
    return _rewritten(bases, question, (dice, each), tuple(HONEST))


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
    known = [(name, text) for name, (text, no) in rights.items()
             if question.id not in no and _block(_tree(text), question)]  # fmt: skip
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


def _loops(assignment: str, question: Question, dice: Random, each: int) -> Iterator[Made]:
    text = reference_of(assignment)
    module = ast.parse(text)
    loop = LOOPS.get(question.id, "")
    if not loop and question.timed is not None:
        (node,) = (n for n in module.body
                   if isinstance(n, ast.FunctionDef) and n.name == question.timed.loop)  # fmt: skip
        node.name = question.names[0]
        loop = ast.unparse(node)
    block = _block(module, question)
    if not loop or block is None or not any(c.kind == "loops" for c in question.checks):
        return
    ways = [(way, more) for more in (0, 1, 2) for way in DISGUISES]
    for way, more in ways[:each]:
        tree = ast.parse(text)
        function = ast.parse(loop).body[0]
        tree.body[module.body.index(block)] = function
        site = Site(tree, function, dice)
        if not any(isinstance(node, ast.For) for node in function.body):
            comprehension_unrolled(site)
        if disguised(function, way):
            kinds: tuple[str, ...] = ()
            source = ast.unparse(ast.fix_missing_locations(tree))
            if more:
                kinds, source = rewritten(source, question, dice, sorted(LAYOUT), more)
            yield question.timed.loop if question.timed else "loop", (way, *kinds), source


MAKERS: dict[str, Callable[[str, Question, Random, int], Iterator[Made]]] = {
    HONEST_GROUP: _honest, MUTANT: _mutants, LABELLED: _labelled, LOOP: _loops,
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
        if sites and HONEST[kind](dice.choice(sites)):
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
