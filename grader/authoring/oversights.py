"""What an assignment draws or says, and no check looks at; seen without running a submission.

``unjudged_dtypes`` reads the inputs of a plan, ``unchecked_rules`` the docstrings of the reference,
``odd_stand_ins`` the scenarios. Each says nothing where it cannot be sure: a scenario may enforce
any rule, and a stand-in may be made in ways that no text shows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.assignment.find import SCENARIO
from grader.assignment.types import Question
from grader.checks.base import Check
from grader.run.materials import Materials
from grader.run.plan import PlannedQuestion
from grader.wire.tree import tensors

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def compares_numbers(check: Check) -> bool:
    """Tell whether a check compares numbers with the reference's."""
    return type(check).margin is not Check.margin


def judges_values(check: Check) -> bool:
    """Tell whether a check judges what was returned, and not its form or how it was made."""
    return compares_numbers(check) or check.kind == "figure"


def unjudged_dtypes(plan: Iterable[PlannedQuestion]) -> Iterator[tuple[str, str]]:
    """Yield each question with a dtype that its cases draw and no check of values looks at."""
    for planned in plan:
        question = planned.question
        rules = [rule for rule in question.checks if rule.points and judges_values(rule)]
        drawn: dict[str, dict[str, None]] = {}
        judged: set[str] = set()
        for case in planned.cases:
            looked_at = any(rule.judges(case.case.id) for rule in rules)
            values = [*case.inputs.args, *case.kwargs.values()]
            for dtype in {tensor.dtype for tensor in tensors(values)}:
                drawn.setdefault(dtype, {})[case.case.id] = None
                judged |= {dtype} if looked_at else set()
        for dtype, cases in drawn.items() if rules else ():
            if dtype not in judged:
                yield (
                    question.id,
                    (
                        f"no check with points compares values in {dtype}, which only "
                        f"{', '.join(cases)} draws: numbers of that dtype may be anything; give "
                        "the case to a check of values, with a tolerance for that dtype"
                    ),
                )


_LOOPS = ("loops",)
_OPERATIONS = ("forbidden_ops", "allowed_ops", "max_calls")
_HINTS = re.compile(r"^(?:Hints?|Notes?|Examples?):\n(?:[ ]+\S.*\n?|\n)+", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=\S)")
_NO_LOOP = re.compile(
    r"\b(?:no|without(?: an?| any)?)(?: explicit| python)? loops?\b|반복문 없이|반복문을 쓰지",
    re.IGNORECASE,
)
# A hint, not a rule.
_NEEDLESS = re.compile(r"\bneeds? no\b|\b(?:needed|necessary|required)\b", re.IGNORECASE)
_A_LOOP = re.compile(
    r"\b(?:write|use) (?:an?|one|two|three)(?: explicit| single| python| nested)? loops?\b",
    re.IGNORECASE,
)
_BARRED = re.compile(
    r"\b(?:not allowed|(?:is|are) (?:forbidden|prohibited)|without autograd)\b|허용되지 않",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\bhalf of (?:the|its|a function's) points\b|점수의 절반",
    re.IGNORECASE,
)
FORM = ("dtype", "shape", "type", "unmodified")
"""Kinds of checks that judge the form of a result, or what became of arguments."""
_SLACK = 1e-6
_MOST_NAMES = 3
"""Names that lead to one another on the way to a text."""


def unchecked_rules(materials: Materials) -> Iterator[tuple[str, str]]:
    """Yield each question whose docstring has a rule that none of its checks is for."""
    trees = {name: ast.parse(data) for name, data in materials.reference.items()
             if name.endswith(".py")}  # fmt: skip
    for question in materials.assignment.coded:
        # What a scenario returns may be the rule's price; nobody can tell that from outside.
        if any(case.scenario for case in question.cases):
            continue
        tree = trees[materials.assignment.file_of(question)]
        asked = [node for node in tree.body if getattr(node, "name", None) in question.names]
        # Methods speak for their class.
        parts = [part for node in asked for part in ast.walk(node)]
        texts = [ast.get_docstring(part) for part in parts if isinstance(part, _DOCUMENTED)]
        text = "\n\n".join(filter(None, texts))
        for sentence in _SENTENCE.split(" ".join(_HINTS.sub("", text).split())):
            for missing in _missing(sentence, question):
                yield question.id, f"its docstring says “{_short(sentence)}”, and {missing}"


def _missing(sentence: str, question: Question) -> Iterator[str]:
    """Yield the kinds of checks that a sentence promises and the question lacks."""
    modes = {getattr(rule, "mode", "") for rule in question.checks if rule.kind in _LOOPS}
    kinds = {rule.kind for rule in question.checks}
    if _NO_LOOP.search(sentence) and not _NEEDLESS.search(sentence) and "none" not in modes:
        yield "no check looks for loops; add one of kind loops, mode: none"
    if _A_LOOP.search(sentence) and not modes - {"none"}:
        yield "no check looks for that loop; add one of kind loops, mode: required or exactly"
    if _BARRED.search(sentence):
        wanted = _OPERATIONS if "`" in sentence or "loop" not in sentence else _LOOPS
        if not kinds.intersection(wanted):
            yield f"no check is for that; add one of kind {wanted[0]}"
    if _HALF.search(sentence) and _price(question) < question.points / 2 - _SLACK:
        yield (
            f"its rules, with what requires them, are worth {_price(question):g} of "
            f"{question.points:g} points; mend the points or the sentence"
        )


def _price(question: Question) -> float:
    """Return what is lost by whoever breaks all rules, or what the dearest check alone is worth."""
    lost = {
        each.id for each in question.checks if not judges_values(each) and each.kind not in FORM
    }
    before = -1
    while len(lost) > before:
        before = len(lost)
        lost |= {each.id for each in question.checks if lost.intersection(each.requires or ())}
    alone = max(each.points for each in question.checks)
    return max(alone, sum(each.points for each in question.checks if each.id in lost))


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 80 else f"{sentence[:79].rstrip()}…"


@dataclass(frozen=True, slots=True)
class _StandIn:
    """A function of a scenario that answers in the place of a submission's.

    Attributes:
        name: Of the submission's function.
        body: The function, or lambda, that answers.
        line: Where it is set.
    """

    name: str
    body: Function | ast.Lambda
    line: int


def odd_stand_ins(materials: Materials) -> Iterator[tuple[str, str]]:
    """Yield the stand-ins that a right call of the handout's function does not fit."""
    if not materials.scenario:
        return
    asked = {
        node.name: node.args
        for name, data in materials.reference.items()
        if name.endswith(".py")
        for node in ast.parse(data).body
        if isinstance(node, Function)
    }
    for stand_in in _stand_ins(ast.parse(materials.scenario)):
        wanted = asked.get(stand_in.name)
        if wanted is None or _fits(stand_in.body.args, wanted):
            continue
        mine, theirs = ast.unparse(stand_in.body.args), _bare(wanted)
        text = f"the stand-in for {stand_in.name} takes ({mine}), and the handout's ({theirs})"
        where = f"{materials.folder / SCENARIO}:{stand_in.line}"
        yield where, f"{text}: some right call fails there; give it these names and defaults"


def _fits(found: ast.arguments, wanted: ast.arguments) -> bool:
    """Tell whether every call that one function takes can be made of another."""
    mine, theirs = _defaults(found), _defaults(wanted)
    by_place = [each.arg for each in (*found.posonlyargs, *found.args)]
    places = [each.arg for each in (*wanted.posonlyargs, *wanted.args)]
    named = mine.keys() - {each.arg for each in found.posonlyargs}
    in_order = by_place[: len(places)] == places[: len(by_place)]
    all_places = len(by_place) >= len(places) or found.vararg is not None
    all_names = found.kwarg is not None or {*theirs} <= named
    # One that takes anything by place, and anything by name, need not name them.
    loose = found.vararg is not None and found.kwarg is not None
    optional = all(mine[name] for name in mine if name not in theirs or theirs[name])
    return (in_order or loose) and all_places and all_names and optional


def _defaults(arguments: ast.arguments) -> Mapping[str, bool]:
    """Return name → whether it may be left out."""
    by_place = [*arguments.posonlyargs, *arguments.args]
    first = len(by_place) - len(arguments.defaults)
    found = {each.arg: place >= first for place, each in enumerate(by_place)}
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {each.arg: default is not None for each, default in by_name}


def _bare(arguments: ast.arguments) -> str:
    return re.sub(r": [^,=]+(\[[^=]*\])?(?=,|=| =|$)", "", ast.unparse(arguments))


def _stand_ins(tree: ast.Module) -> Iterator[_StandIn]:
    """Yield what ``actor.set_attr(actor.module, name, callback(body, …))`` sets, as far as seen."""
    for function in tree.body:
        if not isinstance(function, Function):
            continue
        bodies = {node.name: node for node in tree.body if isinstance(node, Function)}
        bodies |= {node.name: node for node in ast.walk(function) if isinstance(node, Function)}
        for call in ast.walk(function):
            body = _answers(call, bodies)
            if isinstance(call, ast.Call) and body is not None:
                for name in _texts(call.args[1], function, tree):
                    yield _StandIn(name, body, call.lineno)


def _answers(call: ast.AST, bodies: Mapping[str, Function]) -> Function | ast.Lambda | None:
    """Return the body of the callback that a call puts into the submission's module."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr="set_attr"),
            args=[
                ast.Attribute(attr="module"),
                _,
                ast.Call(func=ast.Name(id="callback"), args=[body, *_]),
            ],
        ):
            if isinstance(body, ast.Lambda):
                return body
            return bodies.get(body.id) if isinstance(body, ast.Name) else None
    return None


def _texts(node: ast.expr, function: Function, tree: ast.Module, depth: int = 0) -> list[str]:
    """Return the texts that an expression may be: itself, or what a loop goes over."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, (ast.Tuple, ast.List)):
        return [text for item in node.elts for text in _texts(item, function, tree, depth)]
    # A name that stands for itself would lead round in circles.
    if not isinstance(node, ast.Name) or depth == _MOST_NAMES:
        return []
    loops = (part for part in ast.walk(function) if isinstance(part, ast.For))
    over = [loop.iter for loop in loops if _is(loop.target, node.id)]
    constants = (each for each in tree.body if isinstance(each, ast.Assign))
    over += [each.value for each in constants if any(_is(one, node.id) for one in each.targets)]
    return [text for value in over for text in _texts(value, function, tree, depth + 1)]


def _is(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name
