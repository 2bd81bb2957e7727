"""Loops out of sight: what runs a loop's turns without a ``for`` that the eye finds."""

from __future__ import annotations

import ast

from rewrites import code

_DRIVERS = {
    "map": "list(map(step_, turns_))",
    "comprehension": "[step_(turn) for turn in turns_]",
    "set comprehension": "{step_(turn) is None for turn in turns_}",
    "dict comprehension": "{number: step_(turn) for number, turn in enumerate(turns_)}",
    "generator": "__import__('collections').deque((step_(t) for t in turns_), maxlen=0)",
    "any": "any(map(step_, turns_))",
    "filter": "list(filter(step_, turns_))",
    "sorted": "sorted(turns_, key=lambda turn: step_(turn) or 0)",
    "max": "max(range(len(turns_)), key=lambda place: step_(turns_[place]) or 0)",
    "reduce": "__import__('functools').reduce(lambda _, turn: step_(turn), turns_, None)",
    "starmap": "list(__import__('itertools').starmap(lambda *turn: step_(*turn), zip(turns_)))",
    "np.vectorize":
        "__import__('numpy').vectorize(lambda place: step_(turns_[place]) or 0, [float])"
        "(range(len(turns_)))",
    "np.fromiter": "__import__('numpy').fromiter((step_(t) or 0 for t in turns_), dtype=float)",
    "re.sub":
        "__import__('re').sub('.', lambda m: step_(turns_[m.start()]) or '', 'x' * len(turns_))",
    "sentinel": "list(iter(lambda: step_(turns_.pop(0)) if turns_ else 0, 0))",
    "exec": "exec('for turn in turns_:\\n    step_(turn)', {'turns_': turns_, 'step_': step_})",
    "threads":
        "list(__import__('concurrent.futures').futures.ThreadPoolExecutor(1).map(step_, turns_))",
    "apply_": "torch.arange(len(turns_)).apply_(lambda place: step_(turns_[place]) or 0)",
}  # fmt: skip
_RECURSION = """
def walk_(turns_):
    if len(turns_) > 1:
        walk_(turns_[:len(turns_) // 2])
        walk_(turns_[len(turns_) // 2:])
    elif turns_:
        step_(turns_[0])
walk_(turns_)
"""
_WHILE = "while turns_:\n    step_(turns_.pop(0))"
DISGUISES = {**_DRIVERS, "recursion": _RECURSION, "while": _WHILE}
"""Name → what runs ``step_`` once for each of the list ``turns_``."""


def disguised(function: ast.FunctionDef, text: str) -> bool:
    """Replace a function's last outermost ``for`` by a text of ``DISGUISES`` or of its kind."""
    places = [i for i, node in enumerate(function.body) if isinstance(node, ast.For)]
    jumps = (ast.Return, ast.Break, ast.Continue, ast.Yield)
    if not places:
        return False
    loop = function.body[places[-1]]
    if any(isinstance(node, jumps) for node in ast.walk(loop)):
        return False
    outside = {
        node.id for statement in function.body[: places[-1]] for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }  # fmt: skip
    inside = {
        node.id for node in ast.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }  # fmt: skip
    shared = sorted(outside & inside)
    body: list[ast.stmt] = [ast.Nonlocal(shared)] if shared else []
    body.append(ast.Assign([loop.target], ast.Name("turn_", ast.Load())))
    step = ast.parse("def step_(turn_):\n    pass").body[0]
    step.body = [*body, *loop.body]
    turns = ast.Assign([ast.Name("turns_", ast.Store())], code("list(E)", E=loop.iter))
    function.body[places[-1] : places[-1] + 1] = [step, turns, *ast.parse(text).body]
    return True
