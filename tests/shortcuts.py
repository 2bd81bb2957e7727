"""Wrong answers of families that were added later: the accuracy bench counts them on their own.

* ``SLIPS``: a right result, spoilt as students spoil it; ``FLOAT32`` spoils one dtype alone.
* ``WAYS``: loops out of sight, beside those of ``disguises``.
* ``IDLE``: a question that asks for a loop, answered as a whole, with a loop that does no work.
"""

from __future__ import annotations

import ast

_CHANGED = """
def NAME(*args, **options):
    answer = _first_NAME(*args, **options)
    result = answer[0] if isinstance(answer, tuple) and answer else answer
    if isinstance(result, torch.Tensor) and CONDITION:
        result = CHANGE
    return (result, *answer[1:]) if isinstance(answer, tuple) else result
"""
_CHANGES = {
    "rounded": ("result.is_floating_point()", "result.round(decimals=1)"),
    "truncated": ("result.is_floating_point()", "result.long().to(result.dtype)"),
    "sign lost": ("result.dtype != torch.bool", "result.abs()"),
    "last left out": (
        "result.dim() and len(result) > 1",
        "torch.cat([result[:-1], 0 * result[-1:]])",
    ),
    "turned": ("result.dim() > 1", "result.transpose(0, 1)"),
    "backwards": ("result.dim()", "result.flip(0)"),
    "shifted by one": ("result.dim()", "result.roll(1, 0)"),
}
SLIPS = {
    **{
        name: _CHANGED.replace("CONDITION", condition).replace("CHANGE", change)
        for name, (condition, change) in _CHANGES.items()
    },
    "clobbered": """
def NAME(*args, **options):
    answer = _first_NAME(*args, **options)
    if args and isinstance(args[0], torch.Tensor):
        args[0].zero_()
    return answer
""",
    "remembered": """
_kept_NAME = []
def NAME(*args, **options):
    if not _kept_NAME:
        _kept_NAME.append(_first_NAME(*args, **options))
    return _kept_NAME[0]
""",
}
"""What was wrong → the function that calls the right one, ``_first_NAME``."""
FLOAT32 = {
    name: _CHANGED.replace("CONDITION", "result.dtype == torch.float32").replace("CHANGE", change)
    for name, change in (("5 % more", "result * 1.05"), ("5 % less", "result * 0.95"))
}
"""The same, in float32 alone."""


def spoilt(module: ast.Module, function: ast.FunctionDef, text: str) -> None:
    """Put one of ``SLIPS`` or ``FLOAT32`` around a function of a module."""
    name = function.name
    function.name = f"_first_{name}"
    place = module.body.index(function)
    added = ast.parse("import torch\n" + text.replace("NAME", name)).body
    module.body[place + 1 : place + 1] = added


WAYS = {
    "sum": "sum(step_(turn) is None for turn in turns_)",
    "all": "all(step_(turn) is None for turn in turns_)",
    "str.join": "''.join(map(lambda turn: step_(turn) or '', turns_))",
    "dict.fromkeys": "dict.fromkeys(map(step_, turns_))",
    "starred": "print(*map(step_, turns_), sep='', end='')",
    "accumulate":
        "list(__import__('itertools').accumulate([None, *turns_], lambda _, turn: step_(turn)))",
    "groupby": "list(__import__('itertools').groupby(turns_, key=step_))",
    "math.fsum": "__import__('math').fsum(map(lambda turn: step_(turn) or 0, turns_))",
    "np.frompyfunc":
        "__import__('numpy').frompyfunc(lambda place: step_(turns_[place]) or 0, 1, 1)"
        "(range(len(turns_)))",
    "map_":
        "torch.arange(len(turns_)).map_(torch.arange(len(turns_)), "
        "lambda place, _: step_(turns_[int(place)]) or 0)",
    "iterator class": """
class Turns_:
    def __init__(self):
        self.left = list(turns_)
    def __iter__(self):
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        return step_(self.left.pop(0))
list(Turns_())
""",
    "one by one": """
def walk_(place_):
    if place_ < len(turns_):
        step_(turns_[place_])
        walk_(place_ + 1)
walk_(0)
""",
}  # fmt: skip
"""Name → what runs ``step_`` once for each of the list ``turns_``; for ``disguises.disguised``."""

_ONE, _TWO = "for i in range(len(whole)):\n", "    for j in range(whole.shape[1]):\n"
_TURNS = {
    "copied": ("result = torch.zeros_like(whole)", "result[AT] = whole[AT]"),
    "copied times one": ("result = torch.zeros_like(whole)", "result[AT] = whole[AT] * 1.0"),
    "copied by add": ("result = torch.zeros_like(whole)", "result[AT] += whole[AT]"),
    "copied again and again": ("result = whole", "result = result.clone()"),
    "nothing": ("result = whole", "pass"),
    "zero added": ("result = whole", "result = result + 0 * whole[AT].sum()"),
    "work unused": ("result = whole", "unused = (FIRST[i] * FIRST[i]).sum()"),
}
_WHOLE = {
    "batched_matrix_multiply_loop": "whole = x @ y",
    "compute_distances_one_loop":
        "a, b = x_train.flatten(1), x_test.flatten(1)\n"
        "whole = ((a[:, None] - b) ** 2).sum(2)",
    "compute_distances_two_loops":
        "a, b = x_train.flatten(1), x_test.flatten(1)\n"
        "whole = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.t()",
}  # fmt: skip
IDLE = {name: tuple(_TURNS) for name in _WHOLE}
"""Question → the ways in which its loop does no work."""


def idle(module: ast.Module, function: ast.FunctionDef, way: str) -> None:
    """Answer a question that asks for a loop as a whole, with a loop that does no work."""
    two = function.name.endswith("two_loops")
    before, turn = _TURNS[way]
    turn = turn.replace("AT", "i, j" if two else "i")
    turn = turn.replace("FIRST", function.args.args[0].arg)
    loops = _ONE + (_TWO if two else "") + "    " * (1 + two) + turn
    text = f"{_WHOLE[function.name]}\n{before}\n{loops}\n"
    function.body = [*ast.parse(text).body, ast.Return(ast.Name("result", ast.Load()))]


SMALL = """
def NAME(*args):
    return LOOP(*args) if len(args[0]) < 100 else _first_NAME(*args)
"""
"""A loop for the sizes that are not timed."""
