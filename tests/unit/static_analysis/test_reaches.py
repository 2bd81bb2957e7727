"""Code that reaches for the interpreter's internals, and honest code that looks like it."""

from __future__ import annotations

import ast

import pytest
from labels import SUBMISSIONS, submissions_of

from grader.static_analysis.analyse import analyse
from grader.static_analysis.reach import reach


def names(text: str) -> list[str]:
    return [mention.name for mention in reach(ast.parse(text))]


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.modules['x']",
        "from sys import modules",
        "import sys as s\ns._getframe()",
        "import torch\ntorch.sys.modules",
        "import torch\ngetattr(torch, 'sy' + name)",
        "import sys\ngetattr(sys, 'modules')",
        "import sys\ngetattr(sys, 'mod' 'ules')",
        "import gc\ngc.get_objects()",
        "import ctypes",
        "from grader.actor import server",
        "import grader.actor.server as x",
        "import importlib\nimportlib.import_module('a')",
        "__import__('sys')",
        "exec(text)",
        "exec('import sys; sys.modules')",
        "eval('().__class__.__base__')",
        "def f(): pass\nf.__globals__",
        "().__class__.__base__",
        "g = (x for x in y)\ng.gi_frame.f_back",
        "import torch\ntorch.Tensor.is_contiguous = lambda self: True",
        "import torch\nTensor = torch.Tensor\nTensor.cpu = None",
        "import torch.nn.functional as F\nF.relu = None",
        "import torch\nsetattr(torch, 'bmm', None)",
        "import torch\ndel torch.bmm",
        "import torch\nwith open('x') as torch.bmm: pass",
        "import torch\nfor torch.bmm in (): pass",
        "import builtins\nbuiltins.len = None",
        "from functools import reduce\nreduce(getattr, names, x)",
        "import operator\noperator.attrgetter(path)(x)",
        "globals()['x']",
        "vars(x)['y']",
        "x.__dict__['y']",
        "import torch\nclass T(torch.Tensor):\n    def __torch_function__(self): pass",
        "import torch\ntorch._C._disabled_torch_function_impl",
        "from torch.utils._python_dispatch import TorchDispatchMode",
        "def f():\n    import sys\n    return sys.modules",
        "import inspect\ninspect.currentframe()",
        "from torch import builtins as b\nb.exec('x')",
        "from torch import importlib as i",
        "import collections\ncollections._sys.modules",
        "__builtins__['exec']",
        "import torch\ntorch._dynamo.config",
        "__loader__.load_module('x')",
        "print.__self__",
        "object.__setattr__(x, 'y', None)",
        "import torch\ntorch.bmm.__self__",
        "def put(m, f):\n    m.bmm = f\nimport torch\nput(torch, None)",
        "def put(m, f):\n    m.cpu = f\nimport torch\nput(f=None, m=torch.Tensor)",
        "def put(*a):\n    a[0].cpu = None\nimport torch\nput(torch.Tensor)",
        "put = lambda m: setattr(m, 'cpu', None)\nimport torch\nput(torch.Tensor)",
        "import torch\nfor m in (torch.Tensor,):\n    m.cpu = None",
        "import torch\n[torch.Tensor][0].cpu = None",
        "import torch\na = {}\na['t'] = torch.Tensor\na['t'].cpu = None",
        "import torch\nclass N:\n def f(self):\n  self.t = torch.Tensor\n  self.t.cpu = 1",
        "import torch\ndef get():\n    return torch.Tensor\nget().cpu = None",
        "import torch\ndef put(m):\n    m.cpu = None\nlist(map(put, [torch.Tensor]))",
        "type(x).cpu = None",
        "x.__class__.cpu = None",
        "import torch\nif (t := torch.Tensor):\n    t.cpu = None",
        "import jinja2",
        "from sympy import sympify",
        "import timeit\ntimeit.timeit(text)",
        "import timeit\ntimeit.timeit('import sys; sys.modules')",
        "import timeit\ndef f(s):\n    timeit.timeit(s)\ns = 'x'",
        "import pickle\npickle.loads(b'cos\\nsystem')",
        "import torch\ntorch.load(p, weights_only=False)\nopen(p, 'w').write('x')",
        "import numpy as np\nnp.load(p, allow_pickle=True)",
        "import typing\ntyping.get_type_hints(f)",
        "import functools\nfunctools.update_wrapper(a, b)",
        "import string\nstring.Formatter().get_field('0.x', (f,), {})",
        "import argparse\nargparse.ArgumentParser().parse_args([], namespace=x)",
    ],
)
def test_reaches(text: str) -> None:
    assert names(text)


@pytest.mark.parametrize(
    "text",
    [
        "import gc\ngc.collect()",
        "import torch\nlist(torch.nn.Linear(2, 2).modules())",
        "import torch\nnn = torch.nn\nclass N(nn.Module):\n    def f(self):\n        self.a = 1",
        "model.fc = head",
        "class N:\n    def f(self, name, layer):\n        setattr(self, name, layer)",
        "class N:\n    def f(self, other):\n        self.__dict__.update(other)",
        "import torch\ngetattr(torch, 'bmm')(x, y)",
        "import torch\ntorch.backends.cuda.matmul.allow_tf32 = False",
        "import torch\ntorch.manual_seed(0)",
        "import sys\nprint(1, file=sys.stderr)\nsys.path.append('.')",
        "import os\nos.environ['A'] = 'b'",
        "import timeit\ntimeit.repeat('f()', globals=globals())",
        "names = {**globals(), 'x': 1}",
        "type(x).__name__",
        "exec('x = 1')",
        "import sys\nsys.stdout = None",
        "x = {}\nx['modules'] = 1",
        "from torch.optim.lr_scheduler import _LRScheduler",
        "import os\nos._exit(0)",
        "import torch\nclass N(torch.nn.Module):\n def f(self):\n  super().__setattr__('a', 1)",
        "import torch\ndef f(c):\n    m = c(2, 2)\n    m.weight = None\nf(torch.nn.Linear)",
        "import torch\nisinstance(x, torch.Tensor)\nx.grad = None",
        "import torch\ndef f(m, d):\n    m.to(d).fc = None\nf(model, torch.float32)",
        "import torch\ntorch.load(path, weights_only=False)",
        "import pickle\npickle.load(file, encoding='latin1')",
        "import timeit\nsetup = 'x = 1'\ntimeit.timeit('f(x)', setup)",
        "import timeit\ntimeit.timeit(lambda: f(x))",
    ],
)
def test_does_not_reach(text: str) -> None:
    assert names(text) == []


def test_first_line_is_told() -> None:
    (mention,) = reach(ast.parse("import torch\n\n\ntorch.bmm = None\n"))
    assert (mention.name, mention.place.line) == ("torch.bmm", 4)


def test_of_200_honest_submissions_less_than_one_reaches() -> None:
    honest = [
        submission
        for assignment in sorted(path.name for path in SUBMISSIONS.iterdir())
        for submission in submissions_of(assignment, "accepted", "wrong")
    ]
    beside = {"import digits", "import resnet"}
    touched = [
        submission.name for submission in honest
        if {mention.name for mention in analyse(submission.data).reach} - beside
    ]  # fmt: skip
    assert 200 * len(touched) < len(honest), touched
