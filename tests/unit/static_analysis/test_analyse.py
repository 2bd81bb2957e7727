"""What the text of a file says, function by function."""

from __future__ import annotations

import textwrap

import pytest

from grader.static_analysis.analyse import analyse
from grader.static_analysis.facts import EntryFacts, Role, Written, pack, unpack


def facts(text: str, entry: str = "f") -> EntryFacts:
    found = analyse(textwrap.dedent(text).encode())
    assert not found.unreadable
    assert unpack(pack(found)) == found
    return found.entries[entry]


def loops(text: str, entry: str = "f") -> list[tuple[str, int, int]]:
    return [(item.kind, item.place.line, item.depth) for item in facts(text, entry).loops]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("for i in x: pass", "for"),
        ("while x: pass", "while"),
        ("return [i for i in x]", "list comprehension"),
        ("return {i for i in x}", "set comprehension"),
        ("return {i: i for i in x}", "dict comprehension"),
        ("return sum(i for i in x)", "generator expression"),
        ("return list(map(abs, x))", "map"),
        ("return pool.map(abs, x)", "map"),
        ("g = map; return list(g(abs, x))", "map"),
        ("return sorted(x, key=abs)", "sorted(key=)"),
        ("return list(iter(x.pop, 0))", "iter(callable, …)"),
        ("import re; return re.sub('.', x, x)", "re.sub"),
        ("from functools import reduce as r; return r(x, x)", "functools.reduce"),
        ("import itertools as it; return it.accumulate(x)", "itertools.accumulate"),
        ("import torch; return torch.vmap(x, chunk_size=1)(x)", "vmap(chunk_size=)"),
        ("return x.apply_(abs)", "apply_"),
        ("import numpy as np; return np.vectorize(abs)(x)", "vectorize"),
        ("return f(x[1:])", "recursion"),
        ("return __import__('re').sub('.', lambda m: x, x)", "re.sub"),
        ("import importlib; return importlib.import_module('re').sub('.', x, x)", "re.sub"),
        ("import re; return re.compile('.').sub(lambda m: x, x)", "re.sub"),
        ("exec('for i in range(3): pass')", "for"),
        ("exec('fo' + 'r i in x: pass')", "for"),
        ("eval(' '.join(['[i', 'for', 'i in x]']))", "list comprehension"),
    ],
)
def test_every_kind_of_loop_is_named_with_its_line(body: str, kind: str) -> None:
    found = loops(f"def f(x):\n    {body}\n")
    assert (kind, 2, 1) in found


@pytest.mark.parametrize(
    "body",
    [
        "return x.permute(tuple(d for d in range(x.dim())))",
        "return [n for n in x.shape]",
        "return tuple(x.size(d) for d in range(x.ndim) if d != 1)",
        "return [n * 2 for d, n in enumerate(x.shape) if d]",
        "return x.view([1 for _ in range(x.dim() - 1)])",
        "rank = len(x.shape); return x.permute([rank - 1 - d for d in range(rank)])",
        "shape = x.shape; n = len(shape); return tuple(shape[i] for i in range(n))",
        "s = list(x.size()); return [size for size in s[1:]]",
    ],
)
def test_a_comprehension_that_only_builds_dims_is_exempt(body: str) -> None:
    found = facts(f"def f(x):\n    {body}\n")
    assert found.loops == ()
    assert found.depth == 0
    assert Role.EXEMPT in {item.role for item in found.constructs}


@pytest.mark.parametrize(
    "body",
    [
        "return [x[i] for i in range(x.shape[0])]",
        "return [i for i in range(len(x))]",
        "return [g(d) for d in range(x.dim())]",
        "return [x.sum(d) for d in range(x.dim())]",
        "return [x[d] for d in range(x.dim())]",
        "rank = len(x.shape); rank = len(x); return [i for i in range(rank)]",
        "rank = x.shape[0]; return [i for i in range(rank)]",
        "shape = x; return [i for i in shape]",
        "rows, columns = x.shape; return [i for i in range(rows)]",
        "return [d for d in range(x.dim()) for _ in range(x.size(0))]",
        "return [y for n in x.shape]",
    ],
)
def test_a_comprehension_that_does_more_is_a_loop(body: str) -> None:
    assert loops(f"def f(x):\n    {body}\n")


COUNTS = """
def count(shape, so_far=1):
    return so_far if not shape else count(shape[1:], so_far * shape[0])
def count_from(shape, place):
    if place == len(shape):
        return 1
    return shape[place] * count_from(shape, place + 1)
def size_of(sizes):
    n = 1
    for size in sizes:
        n *= size
    return n
def work(shape, x):
    return x.sum() if not shape else work(shape[1:], x.sum(0))
def data(x):
    return 0 if not x else x[0] + data(x[1:])
def twice(x):
    return 0 if not len(x) else x[0] + twice(x[1:])
"""


@pytest.mark.parametrize(
    "body",
    [
        "D = 1\n    for s in x.shape[1:]: D *= s\n    return x.reshape(len(x), D)",
        "D, sizes = 1, []\n    for d in reversed(range(x.dim())):\n"
        "        sizes.insert(0, D)\n        D = D * x.size(d)",
        "D = 1\n    for d in range(1, x.ndim):\n        if x.shape[d] == 1: continue\n"
        "        D *= int(x.shape[d])",
        "shape, D = x.shape, 1\n    for i, s in enumerate(shape):\n        D = D * s if i else D",
        "N, rest = x.shape[0], x.shape[1:]\n    D = N // N\n    for s in rest: D *= s",
        "D = 1\n    for i in range(1, len(x.shape)): D *= x.shape[i]\n    i, D = x, D",
        "D = 1\n    for s in x.shape: D *= s\n    s = x",
        "d = D = 1\n    while d < x.dim():\n        D *= x.size(d)\n        d += 1",
        "N, *rest = x.shape; D = 1\n    for s in rest: D *= s",
        "strides = [1] * x.dim()\n    for d in range(x.dim() - 1): strides[d] = x.stride(d)",
        "n = 0\n    for a in x.shape:\n        for b in x.shape: n += a * b",
        "from functools import reduce; return reduce(lambda a, b: a * b, x.shape[1:], 1)",
        "import functools, operator; return functools.reduce(operator.mul, x.shape[1:])",
        "return list(map(int, x.shape))",
        "def rec(s): return 1 if not s else s[0] * rec(s[1:])\n    return rec(x.shape[1:])",
        "return count(x.shape[1:])",
        "return count(tuple(x.size()))",
        "return count_from(x.shape, 1)",
        "return size_of(x.shape[1:])",
    ],
)
def test_what_makes_only_numbers_of_dims_is_exempt(body: str) -> None:
    found = facts(f"{COUNTS}\ndef f(x, y):\n    {body}\n")
    assert found.loops == ()
    assert found.depth == 0
    assert Role.EXEMPT in {item.role for item in found.constructs}


@pytest.mark.parametrize(
    "body",
    [
        "for d in range(x.dim()): x = x.flip(d)",
        "D = x\n    for s in x.shape: D *= s",
        "while x.dim() > 1: x = x.sum(-1)",
        "D = 1\n    for s in x.shape: D *= y",
        "for d in range(x.dim()): y[d] = x[d] @ y[d]",
        "for d in range(x.dim()): y.append(x[d])",
        "D = 1\n    for s in x.shape: D *= (x + y).shape[0]",
        "D = 1\n    for d in range(x.dim()):\n        for s in (x[d] @ y[d]).shape: D *= s",
        "return [x.sum(d) for d in range(x.dim())]",
        "return [(x[d] @ y[d]).dim() for d in range(x.dim())]",
        "from functools import reduce; return reduce(lambda a, d: a.sum(0), x.shape, x)",
        "return list(map(x.sum, range(x.dim())))",
        "int = x.sum\n    for d in range(x.dim()): n = int(d)",
        "return work(x.shape, x)",
        "def rec(s): return x.sum() if not s else rec(s[1:]) + x\n    return rec(x.shape)",
        "for t in (x, y): t.sum()",
        "return [t.sum() for t in [x, y]]",
    ],
)
def test_what_does_more_over_dims_is_a_loop_over_dims(body: str) -> None:
    found = facts(f"{COUNTS}\ndef f(x, y):\n    {body}\n")
    assert found.depth
    assert any(item.over_dims for item in found.loops)


DECORATED = """
import inspect

def around(function):
    signature = inspect.signature(function)
    def inner(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        {body}
        return function(*args, **kwargs)
    return inner

@around
def f(x, y):
    return x @ y
"""


@pytest.mark.parametrize(
    "body",
    [
        "log([getattr(each, 'shape', each) for each in args])",
        "for name, value in bound.arguments.items(): check(name, value)",
        "for value in bound.arguments.values(): check(value)",
        "for kind, value in zip(signature.parameters.values(), args): check(kind, value)",
        "for value in (*args, *kwargs.values()): check(value)",
        "for i, value in enumerate(args): check(i, value)",
        "for name in function.__annotations__: check(name)",
    ],
)
def test_a_loop_over_arguments_is_none_over_data(body: str) -> None:
    found = facts(DECORATED.format(body=body))
    assert found.loops
    assert all(item.over_dims for item in found.loops)


@pytest.mark.parametrize(
    "body",
    [
        "for value in args[0]: check(value)",
        "for row in zip(*args): check(row)",
        "args = args[0]\n        for row in args: check(row)",
        "for row in (*args[0], *args): check(row)",
        "for weight in function.parameters(): check(weight)",
        "for a in args:\n            for row in a: check(row)",
        "inner(*args[0])\n        for row in args: check(row)",
    ],
)
def test_a_loop_over_what_an_argument_holds_is_one_over_data(body: str) -> None:
    found = facts(DECORATED.format(body=body))
    assert [item for item in found.loops if not item.over_dims]


@pytest.mark.parametrize(
    "body",
    [
        "for s in x.shape[:1]:\n        for i in range(s): y[i] = x[i]",
        "for n in x.shape:\n        for i in range(n): pass",
        "for i in range(x.shape[0]): pass",
        "for i in range(x.size(0)): pass",
        "for s, row in zip(x.shape, x): pass",
        "for _ in range(2): pass",
        "for row in (*x, y): pass",
        "n = 3\n    for _ in range(n): pass",
        "for i in list(x.shape) * 100: pass",
        "while x.dim(): pass",
        "i = 0\n    while i < x.shape[0]: i += 1",
        "i, n = 0, len(x)\n    while i < n: i += 1",
        "return data(x.shape) + data(x)",
        "return twice(x)",
        "def rec(s): return 1 if not s else s[0] * rec(s[1:])\n    return rec(x)",
        "def rec(s): return 1 if not s else s[0] * rec(y[1:])\n    return rec(x.shape)",
        "run = size_of; return run(x)",
    ],
)
def test_what_goes_through_sizes_or_data_is_a_loop(body: str) -> None:
    found = facts(f"{COUNTS}\ndef f(x, y):\n    {body}\n")
    assert [item for item in found.loops if not item.over_dims]


@pytest.mark.parametrize(
    "body",
    [
        "return x\n    for i in x: pass",
        "if False:\n        [i for i in x]\n    return x",
        "while False: pass\n    return x",
        "return sum(x) + max(x)",
        "return list(zip(x, x))",
        "return sorted(x)",
    ],
)
def test_what_never_runs_and_what_is_no_loop_is_none(body: str) -> None:
    assert loops(f"def f(x):\n    {body}\n") == []


def test_helpers_aliases_classes_and_decorators_are_followed() -> None:
    text = """
        import functools
        def helper(x): return [i for i in x]
        def unused(x):
            for i in x: pass
        alias = helper
        bound = functools.partial(alias, 1)
        table = {"a": bound}
        def by_table(x): return table["a"]()
        class C:
            def run(self, x):
                while x: pass
        def by_class(x): return C().run(x)
        def wrap(g):
            def inner(x):
                for i in x: g(i)
            return inner
        @wrap
        def by_decorator(x): return x
        def by_lambda(x, run=lambda x: helper(x)): return run(x)
        def clean(x): return x
    """
    assert loops(text, "by_table") == [("list comprehension", 3, 1)]
    assert loops(text, "by_class") == [("while", 12, 1)]
    assert loops(text, "by_decorator") == [("for", 16, 1)]
    assert loops(text, "by_lambda") == [("list comprehension", 3, 1)]
    assert loops(text, "clean") == []
    assert loops(text, "C.run") == [("while", 12, 1)]


def test_a_parameter_hides_a_function_of_the_same_name() -> None:
    text = """
        def helper(x): return [i for i in x]
        def f(helper): return helper + 1
    """
    assert loops(text) == []


def test_the_last_definition_counts_unless_it_depends() -> None:
    text = """
        def f(x): return [i for i in x]
        def f(x): return x
        def g(x): return x
        if f:
            def g(x): return [i for i in x]
    """
    assert loops(text, "f") == []
    assert loops(text, "g") == [("list comprehension", 6, 1)]


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ("for i in x:\n        for j in x: pass", 2),
        ("for i in x: pass\n    for j in x: pass", 1),
        ("return [i for i in x for j in x]", 2),
        ("return [[j for j in x] for i in x]", 2),
        ("for i in x: g(i)", 2),
        ("import itertools\n    for i, j in itertools.product(x, x): pass", 2),
        ("import itertools\n    for i in itertools.product(x, repeat=3): pass", 3),
        ("return list(map(g, x))", 2),
        ("g(x)", 1),
        ("return x", 0),
    ],
)
def test_depth_counts_loops_inside_one_another(body: str, depth: int) -> None:
    assert facts(f"def g(x):\n    for i in x: pass\n\n\ndef f(x):\n    {body}\n").depth == depth


NESTED = """
def f(x):
    def walk(part):
        if len(part) > 1:
            walk(part[1:])
    walk(x)
"""


def test_a_nested_function_that_calls_itself_is_a_loop_at_that_call() -> None:
    assert loops(NESTED) == [("recursion", 5, 1)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The name means something else there: a parameter, a local, what a lambda is given.
        ("def walk(part)", "def walk(part, walk)"),
        ("        if len(part) > 1:\n", "        walk = len\n        if len(part) > 1:\n"),
        ("            walk(part[1:])", "            return lambda walk: walk(part[1:])"),
        ("            walk(part[1:])", "            part.walk(part[1:])"),
        # A method's name is its class's.
        ("    def walk(part):\n        if len(part) > 1:\n            walk(part[1:])",
         "    walk = len\n    class Part:\n        def walk(self, part):\n            walk(part)"),
    ],
)  # fmt: skip
def test_another_of_that_name_is_no_recursion(old: str, new: str) -> None:
    assert old in NESTED
    assert loops(NESTED.replace(old, new)) == []


def test_mutual_recursion_is_a_loop_and_ends() -> None:
    text = "def f(x): return g(x)\ndef g(x): return f(x)\n"
    assert [kind for kind, _, _ in loops(text)] == ["recursion"]


def test_names_are_resolved_through_imports() -> None:
    text = """
        import torch as t
        import torch.nn.functional as F
        from torch import mm as multiply
        def f(x):
            multiply(x, x)
            t.std(x)
            F.normalize(x)
            x.mean()
            return x @ x ** 2
    """
    names = {mention.name for mention in facts(text).mentions}
    assert {"torch.mm", "torch.std", "torch.nn.functional.normalize", ".mean", "@", "**"} <= names


def test_indexings_and_slice_assignments_are_counted() -> None:
    found = facts("def f(x):\n    x[0], x[1] = x[2], 3\n    x[1:] += x[0][1]\n    return x\n")
    assert (found.indexings, found.slice_assignments) == (3, 3)


@pytest.mark.parametrize(
    "body",
    [
        "exec(x)", "eval(x)", "getattr(x, x)()", "globals()[x]()", "import ctypes; ctypes.CDLL(x)",
        "import sys; sys.settrace(None)", "import marshal; marshal.loads(x)",
    ],
)  # fmt: skip
def test_what_hides_from_a_reader_is_named(body: str) -> None:
    assert next(item.place.line for item in facts(f"def f(x):\n    {body}\n").opaque) == 2


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("def f(x):\n    pass", Written(1, stub=True, returns=False)),
        ("def f(x):\n    'Text.'\n    raise NotImplementedError('f')",
         Written(1, stub=True, returns=False)),
        ("def f(x):\n    a, b = None, None\n    return a, b", Written(1, stub=True)),
        ("def f(x):\n    return None", Written(1, stub=True)),
        ("def f(x):\n    return x", Written(1, stub=True)),
        ("def f(x):\n    y = 0\n    return y", Written(1, stub=True)),
        ("def f(x):\n    x[0] = 0", Written(1, returns=False)),
        ("def f(x):\n    x[:2, 1], y = 0, None\n    return x", Written(1)),
        ("def f(x):\n    x.data = None\n    return x", Written(1, stub=True)),
        ("def f(x):\n    y = {}\n    y['a'] = None\n    return y", Written(1, stub=True)),
        ("def f(x):\n    print(x)", Written(1, returns=False)),
        ("def f(x):\n    def g():\n        return x\n    g()", Written(1, returns=False)),
        ("def f(x):\n    y = 2 * x\n    raise NotImplementedError", Written(1, returns=False)),
        ("def f(x):\n    return 2 * x\n\ndef f(x):\n    pass",
         Written(4, stub=True, returns=False, hides=True)),
        ("def f(x):\n    pass\n\ndef f(x):\n    pass", Written(4, stub=True, returns=False)),
        ("def f(x):\n    pass\n\ndef f(x):\n    return 2 * x", Written(4)),
        ("def f(x, k=None):\n    if k is None:\n        k = [1, 3]\n    raise NotImplementedError",
         Written(1, stub=True, returns=False)),
        ("def f(x):\n    import h5py\n    raise NotImplementedError",
         Written(1, stub=True, returns=False)),
        ("class f:\n    def g(self):\n        raise NotImplementedError",
         Written(1, stub=True, whole=False)),
        ("class f:\n    def g(self):\n        return 2\n    def h(self):\n        pass",
         Written(1, stub=True, whole=False)),
        ("class f:\n    def g(self):\n        y = 2", Written(1, stub=True, whole=False)),
        ("class f:\n    def g(self):\n        super().g()\n        raise NotImplementedError",
         Written(1, stub=True, whole=False)),
        ("class f:\n    def g(self):\n        y = abs(2)", Written(1, whole=False)),
        ("f = abs", None),
    ],
)  # fmt: skip
def test_whether_a_function_is_written(text: str, written: Written | None) -> None:
    assert facts(text).written == written


def test_what_is_not_python_is_unreadable() -> None:
    for data in (b"def f(:", b"\x00", b"# coding: nonsense\nx = 1", b"(" * 5000):
        found = analyse(data)
        assert found.unreadable
        assert found.entries == {}


def test_encodings_and_new_syntax_are_read() -> None:
    latin = "# coding: latin-1\n# é\ndef f(x):\n    for i in x: pass\n".encode("latin-1")
    assert analyse(latin).entries["f"].depth == 1
    assert analyse(b"\xef\xbb\xbfdef f(x):\r\n    return x\r\n").entries["f"].depth == 0
    assert loops("def f(x):\n    match x:\n        case [a]:\n            for i in a: pass\n")
    assert loops("async def f(x):\n    async for i in x: pass\n")
    assert loops("def f(x):\n    while (n := x): pass\n")
