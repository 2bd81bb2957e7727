"""Which small changes of a student's function are tried, and in which order."""

from __future__ import annotations

import pytest

from grader.static_analysis.mends import MOST, Raised, definition_of, mends_of


def changes(body: str, raised: Raised | None = None) -> list[str]:
    """Return the changed texts of a function of ``x`` and ``y``, each without its first line."""
    defined = definition_of(f"def f(x, y):\n    {body}\n", "f")
    assert defined is not None
    return [each.text.partition("\n")[2].strip() for each in mends_of(defined, raised)]


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("return torch.full((x, y), 1)", "return torch.full((y, x), 1)"),
        ("return x - y", "return x + y"),
        ("return x.sum()", "return x.sum(dim=1)"),
        ("return x.sum(dim=1)", "return x.sum(dim=1, keepdim=True)"),
        ("return x.max(dim=1)", "return x.max(dim=1).values"),
        ("return x.square()", "return x.sqrt()"),
        ("return x + x", "return x + y"),
        ("return x.T", "return x.mT"),
        ("return x.to('cuda:0')", "return x.to('cuda:1')"),
        ("return x", "return x.mT"),
        ("return x.t()", "return x.mT"),
        ("x + y", "return x + y"),
        ("z = x + y", "z = x + y\n    return z"),
        ("return x[:, 1:]", "return x[:, :]"),
        ("return torch.sort(x)", "return torch.sort(x, stable=True)"),
        ("return x + y", "x = x.flatten(1)\n    y = y.flatten(1)\n    return x + y"),
        ("return x + y", "y = y.T\n    return x + y"),
        ("return x.argmin()", "return y[x.argmin()]"),
        ("return torch.zeros(3, dtype=y.dtype) + x.argmin()",
         "return torch.zeros(3, dtype=y.dtype) + y[x.argmin()]"),
        ("return g(x)", "return y(x)"),
        ("return x - 1", "return x - y * 1"),
        ("x -= 1", "x -= y * 1"),
        ("return x[i]", "return x[:, i]"),
        ("return x[:, i]", "return x[i]"),
        ("return x[:, y]", "return x[range(len(y)), y]"),
        ("return x[:, y]", "return x[range(len(y)), y, None]"),
        ("for i in y:\n        x -= i\n        g(x * x)",
         "for i in y:\n        x_new = x - i\n        g(x_new * x_new)"),
        ("x[i] += 1\n    x[j] -= 1", "x[:, i] += 1\n    x[:, j] -= 1"),
        ("a = x.sum(dim=1)\n    return a + y.mean(dim=1)",
         "a = x.sum(dim=0)\n    return a + y.mean(dim=0)"),
        ("x.append(y)", "x.append(y.item())"),
        ("return x", "return x.item()"),
        ("for i in y:\n        x += i\n        return x",
         "for i in y:\n        x += i\n    return x"),
        ("for i in y:\n        x += i\n    x *= 2", "for i in y:\n        x += i\n        x *= 2"),
        ("a = g(x)\n    b = g(y)\n    return a", "a = g(y)\n    b = g(x)\n    return a"),
    ],
)  # fmt: skip
def test_what_was_meant_is_among_the_changes(slip: str, meant: str) -> None:
    assert meant in changes(slip)


@pytest.mark.parametrize(
    ("slip", "says", "meant"),
    [
        ("return x.mean()", "'list' object has no attribute 'mean'",
         "return torch.tensor(x).mean()"),
        ("return g(x, y)", "argument 'input' must be Tensor, not list",
         "return g(torch.cat(x), y)"),
        ("return torch.mm(x, y)", "mat2 must be a matrix", "return torch.matmul(x, y)"),
        ("z = g(10)\n    z[y] = 1", "index 12 is out of bounds for dimension 0 with size 10",
         "z = g(1000)\n    z[y] = 1"),
        ("z = [0] * 10\n    z[y] = 1", "list index out of range", "z = [0] * 1000\n    z[y] = 1"),
        ("z = g(x.max())\n    z[x] = 1", "index 4 is out of bounds for dimension 1 with size 4",
         "z = g(x.max() + 1)\n    z[x] = 1"),
    ],
)  # fmt: skip
def test_what_an_exception_asks_for_is_tried(slip: str, says: str, meant: str) -> None:
    last = slip.count("\n") + 2
    tried = changes(slip, Raised(last, says))

    assert meant in tried[:12]
    assert meant not in changes(slip, Raised(last, "something else"))


def test_a_keyword_that_an_exception_names_is_dropped_first() -> None:
    raised = Raised(2, "g() got an unexpected keyword argument 'b'")

    assert changes("return g(x, a=1, b=2)", raised)[0] == "return g(x, a=1)"


def test_what_others_raise_of_a_result_has_no_line() -> None:
    raised = Raised(0, "'list' object has no attribute 'flatten'")

    assert "z = torch.cat(g(x))\n    return h(z, y)" in changes(
        "z = g(x)\n    return h(z, y)", raised
    )


def test_statements_in_the_wrong_order_are_swapped() -> None:
    assert "x += y\n    z = x\n    return z" in changes("z = x\n    x += y\n    return z")


def test_each_change_is_another_text() -> None:
    found = changes("z = (x + y).mean(dim=0)\n    return z - x * y")
    assert len(found) == len(set(found)) > 20


def test_no_more_are_tried_of_a_long_function_and_those_near_an_exception_come_first() -> None:
    lines = "\n    ".join(f"v{n} = x.sum(dim=0) * y + {n}" for n in range(40))
    source = f"def f(x, y):\n    {lines}\n    return v7\n"
    defined = definition_of(source, "f")
    assert defined is not None
    found = mends_of(defined, Raised(21, "shapes do not fit"))
    assert len(found) == MOST
    assert {each.line for each in found[:10]} == {21}


def test_only_an_argument_that_is_never_read_is_looked_into() -> None:
    assert not [text for text in changes("return x.argmin() + y") if "y[x" in text]


@pytest.mark.parametrize(
    ("body", "says", "meant"),
    [
        ("return x + y", "The size of tensor a (3) must match", "return x.unsqueeze(1) + y"),
        ("return x @ y", "mat1 and mat2 shapes cannot be multiplied", "return x.flatten(1) @ y"),
        ("return x @ y", "expected m1 and m2 to have the same dtype", "return x @ y.to(x.dtype)"),
        ("return x - (x > y)", "Subtraction, the `-` operator, with a bool tensor is not supported",
         "return x - (x > y).to(x.dtype)"),
        ("return torch.rand(2, x)", "rand() received an invalid combination of arguments",
         "return torch.rand(2, (x,))"),
        ("return x.view(-1)", "view size is not compatible", "return x.contiguous().view(-1)"),
        ("return torch.zeros(2, max(x))[:, y]", "index 4 is out of bounds for axis 1 with size 4",
         "return torch.zeros(2, max(x) + 1)[:, y]"),
        ("return x in y", "The size of tensor a (3) must match",
         "return any((x is each for each in y))"),
        ("return x not in y", "The size of tensor a (3) must match",
         "return not any((x is each for each in y))"),
    ],
)  # fmt: skip
def test_what_an_exception_asks_for_comes_first(body: str, says: str, meant: str) -> None:
    assert meant in changes(body, Raised(2, says))[:10]


@pytest.mark.parametrize(
    ("made", "meant"),
    [
        ("w = w\n        b = 0", "self.w = w\n        b = 0"),
        ("self.w = w", "super().__init__()\n        self.w = w"),
    ],
)
def test_a_constructor_keeps_what_is_read_and_calls_the_one_above(made: str, meant: str) -> None:
    source = (
        f"class Net(Module):\n    def __init__(self, w):\n        {made}\n\n"
        "    def forward(self, x):\n        return x @ self.w\n"
    )
    defined = definition_of(source, "Net")
    assert defined is not None
    assert any(meant in each.text for each in mends_of(defined)[:5])


@pytest.mark.parametrize("signature", ["", "self"])
def test_a_function_without_an_argument_takes_no_dtype_of_one(signature: str) -> None:
    source = f"def f({signature}):\n    return 1 - (A > B)\n"
    defined = definition_of(source, "f")
    assert defined is not None
    texts = [each.text for each in mends_of(defined, Raised(2, "a bool tensor is not supported"))]
    assert any("(A > B).float()" in text for text in texts)
    assert not any("dtype" in text for text in texts)


def test_a_class_in_a_function_calls_the_constructor_above() -> None:
    lines = ("class Net(Module):", "    def __init__(self):", "        self.w = x", "return Net()")
    meant = "super().__init__()\n            self.w = x"
    assert any(meant in text for text in changes("\n    ".join(lines)))


def test_a_change_is_where_the_student_sees_it() -> None:
    source = """\
class Net(Module):
    def __init__(self, w):
        n = 2
        w = w + n

    def forward(self, x):
        return x * self.w
"""
    defined = definition_of(source, "Net")
    assert defined is not None
    found = {each.kind: (each.line, each.start_of) for each in mends_of(defined)}
    assert found["added self"] == (4, "")
    assert found["added constructor"][1] == "__init__"
    assert found["prepared argument"][1] == "forward"


def test_an_exception_says_what_may_be_missing_in_its_line() -> None:
    told = Raised(2, "Can't call numpy() on Tensor that requires grad.")
    assert changes("return x.numpy()", told)[0] == "return x.numpy().detach()"
    assert "return x.detach().numpy()" in changes("return x.numpy()", told)
    assert "return x.detach().numpy()" not in changes("return x.numpy()")
    told = Raised(2, "Expected all tensors to be on the same device, but got mat2 on cpu")
    assert "return x @ y.cuda()" in changes("return x @ y", told)


def test_a_change_of_a_method_keeps_the_class_and_the_file_around_it() -> None:
    methods = "def f(self, x):\n        return self.a(x)\n\n    def g(self):\n        return self.b"
    source = f"import torch\n\n\n@wrapped\nclass Net:\n    {methods}\n\n\nAFTER = 1\n"
    defined = definition_of(source, "Net")
    assert defined is not None
    texts = [defined.replaced(source, each.text) for each in mends_of(defined)]
    meant = next(text for text in texts if "return self.b(x)" in text)
    assert meant.startswith("import torch\n\n\n@wrapped\nclass Net:")
    assert meant.endswith("AFTER = 1\n")
    assert meant.count("@wrapped") == 1


@pytest.mark.parametrize("source", ["def g(x):\n    return x\n", "def f(x:\n", "f = 1\n", "\0"])
def test_without_such_a_function_nothing_is_tried(source: str) -> None:
    assert definition_of(source, "f") is None


def test_of_two_definitions_the_later_one_counts() -> None:
    defined = definition_of("def f(x):\n    pass\n\n\ndef f(x):\n    return 1\n", "f")
    assert defined is not None
    assert (defined.first, defined.last) == (5, 6)


@pytest.mark.parametrize(
    "body",
    [
        "k = 0x" + "f" * 5000 + "\n    return x - y",  # Python reads it, and does not write it
        "z = f\"{'a\u00a0'}\"\n    return x - y",
        "return " + "+".join(["x"] * 900),
        "return x + " + "-" * 900 + "y",
        "z = '" + "a" * 30_000 + "'\n    return x - y",
        "\n    ".join(f"v{n} = x + {n} * y" for n in range(900)) + "\n    return v1",
    ],
)
def test_what_cannot_be_written_anew_is_left_as_it_is(body: str) -> None:
    defined = definition_of(f"def f(x, y):\n    {body}\n", "f")
    if defined is not None:
        assert isinstance(mends_of(defined), list)


def test_lines_are_counted_as_python_counts_them() -> None:
    source = "# a\x0cb\x1cc\u2028d\n\n\ndef f(x, y):\n    return x - y\n"
    defined = definition_of(source, "f")
    assert defined is not None
    assert defined.replaced(source, "NEW") == "# a\x0cb\x1cc\u2028d\n\n\nNEW\n"


def test_a_name_is_not_exchanged_for_a_guess() -> None:
    body = "c_1 = x + y\n    c_2 = x - y\n    c_3 = x * y\n    return c_1"
    assert not any(text.endswith(("return c_2", "return c_3")) for text in changes(body))
    # An argument that was never used may well be the one that was meant.
    assert "return y" in changes("return x")
