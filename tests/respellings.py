"""Rewrites of single operations and loops: other spellings of the same value."""

from __future__ import annotations

import ast

from rewrites import (
    Replace,
    Rewrite,
    Site,
    as_lambda,
    blocks,
    code,
    everywhere,
    if_else_swapped,
    other_import,
)

_LISTS = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr, ast.Constant, ast.Slice)


def _number_like(node: ast.expr) -> bool:
    """Whether ``+`` on it cannot mean joining lists or texts."""
    if isinstance(node, ast.Subscript):
        return not any(isinstance(each, ast.Slice) for each in ast.walk(node.slice))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    return not isinstance(node, _LISTS)


def commuted(site: Site) -> bool:
    """``b + a`` for ``a + b``, ``b * a`` for ``a * b``."""

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Mult)):
            return None
        if not (_number_like(node.left) and _number_like(node.right)):
            return None
        # What gives a name its value must come before what reads it.
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
            return None
        return ast.BinOp(node.right, node.op, node.left)

    return everywhere(site, other)


def compared_backwards(site: Site) -> bool:
    """``b < a`` for ``a > b``."""
    turned = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq}

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Compare) or type(node.ops[0]) not in turned or node.ops[1:]:
            return None
        return ast.Compare(node.comparators[0], [turned[type(node.ops[0])]()], [node.left])

    return everywhere(site, other)


def squared(site: Site) -> bool:
    """``t * t`` for ``t ** 2``."""

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow):
            return None
        if not isinstance(node.right, ast.Constant) or node.right.value != 2:
            return None
        if isinstance(node.left, ast.Name):
            return ast.BinOp(node.left, ast.Mult(), node.left)
        return code("(square_ := LEFT) * square_", LEFT=node.left)

    return not _in_comprehension(site, ast.Pow) and everywhere(site, other)


def _in_comprehension(site: Site, kind: type) -> bool:
    return any(
        isinstance(inner, kind)
        for node in ast.walk(site.function) if isinstance(node, (ast.GeneratorExp, ast.ListComp))
        for inner in ast.walk(node)
    )  # fmt: skip


TENSORS_OWN = frozenset({
    "clone", "argmin", "argmax", "mm", "bmm", "matmul", "mv", "softmax", "square", "sqrt", "exp",
    "log", "transpose", "reshape", "flatten", "index_add", "masked_fill", "unsqueeze", "squeeze",
    "topk", "bincount", "abs", "clamp", "sum", "t", "detach",
})  # fmt: skip
"""Methods that are functions of torch, too."""
_MODULES = ("math", "np", "random", "F", "os", "nn")


def called(node: ast.AST) -> tuple[str, list[ast.expr], bool]:
    """Return the name and the arguments of ``torch.f(x)`` or ``x.f()``, and whether it is a method.

    Nothing is returned for what is neither.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "", [], False
    value = node.func.value
    if ast.unparse(value).endswith(".Tensor") or any(isinstance(a, ast.Starred) for a in node.args):
        return "", [], False
    name = value.id if isinstance(value, ast.Name) else ""
    if name in ("torch", "th"):
        return node.func.attr, node.args, False
    if name in _MODULES:
        return "", [], False
    return node.func.attr, [value, *node.args], True


def method_or_function(site: Site) -> bool:
    """``torch.sum(x, dim=0)`` for ``x.sum(dim=0)``, and back."""

    def other(node: ast.AST) -> ast.AST | None:
        name, given, is_method = called(node)
        if name not in TENSORS_OWN or not given or isinstance(given[0], ast.Starred):
            return None
        if any(keyword.arg == "out" for keyword in node.keywords):
            return None
        if not is_method:
            return ast.Call(ast.Attribute(given[0], name, ast.Load()), given[1:], node.keywords)
        if name in ("reshape", "transpose", "flatten") and len(given) > 3:
            return None
        if name == "reshape":
            if isinstance(given[-1], (ast.Attribute, ast.Call, ast.List, ast.Name)):
                return None  # It may be a whole shape.
            shape = ast.Tuple(given[1:], ast.Load())
            return code("torch.reshape(X, SHAPE)", X=given[0], SHAPE=shape)
        function = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
        return ast.Call(function, given, node.keywords)

    return everywhere(site, other)


def dim_by_place(site: Site) -> bool:
    """``x.sum(0)`` for ``x.sum(dim=0)``, and back."""

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        named = node.func.attr in ("sum", "argmin", "argmax", "softmax", "mean", "max", "unsqueeze")
        if not named or node.args or not node.keywords or node.keywords[0].arg != "dim":
            return None
        return ast.Call(node.func, [node.keywords[0].value], node.keywords[1:])

    return everywhere(site, other)


def matmul_spelt(site: Site) -> bool:
    """``@``, ``torch.matmul`` and the method for one another; ``mm`` and ``bmm`` as ``@``."""
    ways = ["A @ B", "torch.matmul(A, B)", "A.matmul(B)"]
    way = site.dice.choice(ways)

    def other(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return code(ways[1] if way == ways[0] else way, A=node.left, B=node.right)
        name, given, _ = called(node)
        if name not in ("mm", "bmm", "mv", "matmul") or node.keywords or len(given) != 2:
            return None
        return code(way, A=given[0], B=given[1])

    return everywhere(site, other)


def einsum(site: Site) -> bool:
    """``torch.einsum`` for ``mm`` and ``bmm``."""
    letters = {"mm": "ij,jk->ik", "bmm": "bij,bjk->bik"}

    def other(node: ast.AST) -> ast.AST | None:
        name, given, _ = called(node)
        if name not in letters or node.keywords:
            return None
        rule = ast.Constant(letters[name])
        return code("torch.einsum(RULE, A, B)", RULE=rule, A=given[0], B=given[1])

    return not site.ops_ruled and everywhere(site, other)


def view_or_reshape(site: Site) -> bool:
    """``reshape`` for ``view``; ``unsqueeze`` or an index of None for a column."""
    column = site.dice.choice(["X.unsqueeze(1)", "X[:, None]", "X.reshape(-1, 1)"])

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        if node.func.attr == "view":
            if isinstance(node.func.value, ast.Name) and ast.unparse(node).endswith(".view(-1, 1)"):
                return code(column, X=node.func.value)
            return ast.Call(ast.Attribute(node.func.value, "reshape", ast.Load()), node.args, [])
        return None

    return not site.views and everywhere(site, other)


def size_spelt(site: Site) -> bool:
    """``x.size(0)`` for ``x.shape[0]``."""

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            return None
        if node.value.attr != "shape" or not isinstance(node.slice, ast.Constant):
            return None
        return code("X.size(I)", X=node.value.value, I=node.slice)

    return everywhere(site, other)


def no_augmented(site: Site) -> bool:
    """``total = total + x`` for ``total += x`` where the total began as a number."""
    numbers = {
        target.id
        for node in ast.walk(site.function) if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant) and isinstance(node.value.value, (int, float))
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
            return None
        if node.target.id not in numbers:
            return None
        read = ast.Name(node.target.id, ast.Load())
        return ast.Assign([node.target], ast.BinOp(read, node.op, node.value))

    return everywhere(site, other)


def difference_spelt(site: Site) -> bool:
    """``a + (-b)`` for ``a - b``."""

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            return None
        return ast.BinOp(node.left, ast.Add(), ast.UnaryOp(ast.USub(), node.right))

    return everywhere(site, other)


def constant_named(site: Site) -> bool:
    """A number of a formula under a name."""
    for node in ast.walk(site.function):
        if isinstance(node, ast.BinOp):
            for side in ("left", "right"):
                number = getattr(node, side)
                if isinstance(number, ast.Constant) and type(number.value) in (int, float):
                    site.body.insert(0, ast.parse(f"factor_ = {number.value!r}").body[0])
                    setattr(node, side, ast.Name("factor_", ast.Load()))
                    return True
    return False


def _names_one(statement: ast.stmt) -> bool:
    """Whether a statement gives a value to one name."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    return isinstance(statement.targets[0], ast.Name)


def paired(site: Site) -> bool:
    """``a, b = f(x), g(x)`` for two assignments in a row."""
    for block in blocks(site):
        for place in range(len(block) - 1):
            first, second = block[place], block[place + 1]
            if not (_names_one(first) and _names_one(second)):
                continue
            name = first.targets[0].id
            if name in {node.id for node in ast.walk(second) if isinstance(node, ast.Name)}:
                continue
            # The second target changes after both sides are known.
            targets = ast.Tuple([first.targets[0], second.targets[0]], ast.Store())
            values = ast.Tuple([first.value, second.value], ast.Load())
            block[place : place + 2] = [ast.Assign([targets], values)]
            return True
    return False


def explicit_for(site: Site) -> bool:
    """A ``for`` with ``append`` for a list comprehension that is assigned."""
    if site.loops_ruled:
        return False
    return comprehension_unrolled(site)


def _put(name: ast.Name, old: ast.AST, statement: ast.stmt) -> None:
    Replace(lambda node: name if node is old else None).visit(statement)


def comprehension_unrolled(site: Site) -> bool:
    """The same, whatever the rules say."""
    for block in blocks(site):
        for place, statement in enumerate(block):
            if not isinstance(statement, (ast.Assign, ast.Return)):
                continue
            lists = [node for node in ast.walk(statement) if isinstance(node, ast.ListComp)]
            if len(lists) != 1 or len(lists[0].generators) != 1 or lists[0].generators[0].ifs:
                continue
            loop = lists[0].generators[0]
            append = ast.Expr(code("collected_.append(E)", E=lists[0].elt))
            _put(ast.Name("collected_", ast.Load()), lists[0], statement)
            start = ast.Assign([ast.Name("collected_", ast.Store())], ast.List([], ast.Load()))
            block[place:place] = [start, ast.For(loop.target, loop.iter, [append], [])]
            return True
    return False


def while_for(site: Site) -> bool:
    """``while i < n`` for ``for i in range(n)``."""
    for block in blocks(site):
        for place, loop in enumerate(block):
            if end := _counts_to(loop):
                name = loop.target.id
                test = ast.parse(f"{name} < {end}", mode="eval").body
                turn = ast.While(test, [*loop.body, *ast.parse(f"{name} += 1").body], [])
                block[place : place + 1] = [*ast.parse(f"{name} = 0").body, turn]
                return True
    return False


def _counts_to(loop: ast.stmt) -> str:
    """Return n where a statement is ``for i in range(n)`` that no jump leaves; else nothing."""
    if not isinstance(loop, ast.For) or loop.orelse or not isinstance(loop.target, ast.Name):
        return ""
    jumps = (ast.Continue, ast.Break, ast.Return)
    if loop.target.id == "_" or any(isinstance(node, jumps) for node in ast.walk(loop)):
        return ""
    ranges = ast.unparse(loop.iter).startswith("range(") and len(loop.iter.args) == 1
    return ast.unparse(loop.iter.args[0]) if ranges else ""


RESPELLINGS: dict[str, Rewrite] = {
    function.__name__: function
    for function in (
        as_lambda, other_import, if_else_swapped, commuted, compared_backwards, squared,
        method_or_function, dim_by_place, matmul_spelt, einsum, view_or_reshape, size_spelt,
        no_augmented, difference_spelt, constant_named, paired, explicit_for, while_for,
    )
}  # fmt: skip
