"""An optimiser does not import torch's compiler; whoever asks for the compiler gets it."""

from __future__ import annotations

import subprocess
import sys

STEPS = """
import sys
import torch
from grader.student_process.late_compiler import install_late_compiler

install_late_compiler()


def compiler():
    return [name for name in sys.modules if name.startswith("torch._dynamo.") or name == "sympy"]


net = torch.nn.Linear(2, 2)
for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop):
    optimiser = kind(net.parameters(), lr=0.1)
    optimiser.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimiser.step()
    optimiser.load_state_dict(optimiser.state_dict())
"""


def _run(program: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", STEPS + program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_optimisers_do_without_it() -> None:
    program = """
torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(2, 2))
print(compiler())
"""
    assert _run(program) == "[]"


def test_whoever_needs_it_has_it() -> None:
    program = """
import torch._dynamo.config
import torch._dynamo as dynamo

assert isinstance(dynamo.config.suppress_errors, bool), dynamo.config
assert dynamo is torch._dynamo is sys.modules["torch._dynamo"]
assert type(dynamo) is type(sys), type(dynamo)
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item())
"""
    assert _run(program) == "2.0"


def test_what_was_not_to_be_compiled_is_not_once_it_is_there() -> None:
    program = """
add = torch.optim.Optimizer.add_param_group.__wrapped__
assert add.__dynamo_disable is add
torch._dynamo.reset()
optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
print(add.__dynamo_disable is not add)
"""
    assert _run(program) == "True"
