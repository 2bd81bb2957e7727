"""What the process's counters see, and what they leave alone."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from grader.student_process import probes as lines_module
from grader.student_process.operations import function_name
from grader.student_process.probes import Counting
from grader.student_process.server import warm_probes

TEXT = """
import threading
import torch

def one(x, y):
    return torch.bmm(x, y)

def each(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)])

def prints(x, y):
    text = f"{x} {x.sum()}"
    return torch.bmm(x, y)

def reverses_index(x, y):
    return x[reversed(torch.arange(len(x)))]

def flips_index(x, y):
    index = torch.arange(len(x))
    return x[index.flip(0)], x[torch.flip(index, (0,))], x[index.flipud()]

def reverses(x, y):
    return reversed(x)

def reverses_a_copy(x, y):
    return reversed(x.clone())

def flips_a_row(x, y):
    return (x[0, 0] + 1).flip(0)

def flips_by_name(x, y):
    return torch.flip(input=x, dims=(0,))

def is_sparse(x, y):
    at = torch.arange(1000).repeat(2, 1)
    coo = torch.sparse_coo_tensor(at, torch.ones(1000), (1000, 1000))
    csr = torch.sparse_csr_tensor(torch.arange(1001), at[0], torch.ones(1000), (1000, 1000))
    dense = torch.ones(1000, 1)
    return coo @ dense, csr @ dense, coo.coalesce().sum(1), csr.to_sparse_csc(), coo * 2

def is_dense_in_the_end(x, y):
    coo = torch.sparse_coo_tensor(torch.arange(9).repeat(2, 1), torch.ones(9), (1000, 1000))
    return coo.to_dense()

def runs_text(x, y):
    exec("for i in range(len(x)):\\n    pass", {"x": x})

def in_thread(x, y):
    def run():
        for i in range(len(x)):
            pass
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

def product_in_thread(x, y):
    thread = threading.Thread(target=torch.bmm, args=(x, y))
    thread.start()
    thread.join()

def endless(x, y):
    while True:
        pass

def raises(x, y):
    raise KeyError

class Odd(torch.Tensor):
    def is_sparse(self):
        raise ValueError
    untyped_storage = dim = is_sparse

def counts_after_a_failure(x, y):
    try:
        x[0].as_subclass(Odd).flip(0)
    except ValueError:
        pass
    for i in range(100):
        pass

def fails_below(x, y):
    try:
        torch.bmm(x, y[:, :1])
    except RuntimeError:
        pass
    for i in range(100):
        pass

def leaves(x, y):
    return x.sum().item(), x.tolist(), x.numpy()

def with_decoys(x, y):
    z = x @ y
    out = torch.zeros_like(z)
    for i in range(len(x)):
        x[i] @ y[i]
        out[i] = z[i]
    return out

def by_numbers(x, y):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = (x[i] @ y[i]).sum().item()
    return out
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("own") / "own.py"
    path.write_text(TEXT)
    made = ModuleType("own")
    made.__file__ = str(path)
    exec(compile(TEXT, str(path), "exec"), vars(made))
    warm_probes()
    return made


def count(module: ModuleType, name: str, size: int = 3) -> dict[Any, Any]:
    result, x, y = None, torch.randn(size, 2, 5), torch.randn(size, 5, 4)
    with Counting({str(module.__file__): ""}, [x, y]) as counting:
        result = getattr(module, name)(x, y)
    return counting.report(result)


def test_one_product_is_one_call_one_operation_and_its_work(module: ModuleType) -> None:
    told = count(module, "one")
    assert told["calls"] == {"bmm": 1}
    assert told["ops"] == {"bmm": 1}
    assert told["under"] == {"bmm": ["bmm"]}
    assert (told["greatest"], told["bare"]) == (3 * 2 * 4 * 4, 0)
    assert told["lines"] == [5, 6]
    assert count(module, "one", 12)["events"] == told["events"]


def test_a_loop_shows_in_lines_calls_and_operations(module: ModuleType) -> None:
    small, large = count(module, "each", 3), count(module, "each", 12)
    assert large["events"] >= small["events"] + 9
    assert large["ops"]["mm"] == 12
    assert large["calls"]["matmul"] == 12


def test_printing_is_no_work_of_the_function(module: ModuleType) -> None:
    told = count(module, "prints")
    assert set(told["ops"]) == {"sum", "bmm"}


def test_reversing_an_index_is_no_flip_but_reversing_an_argument_is(module: ModuleType) -> None:
    assert "flip" not in count(module, "reverses_index")["ops"]
    assert "flip" not in count(module, "flips_index")["ops"]
    for name in ("reverses", "reverses_a_copy", "flips_a_row", "flips_by_name"):
        assert count(module, name)["ops"]["flip"] == 1


def test_of_a_sparse_tensor_counts_what_it_holds(module: ModuleType) -> None:
    told = count(module, "is_sparse")
    assert told["greatest"] == 2 * 1000 * 8  # the index that it was made from
    assert sum(told["descended"].values()) < 100_000
    assert count(module, "is_dense_in_the_end")["greatest"] == 4 * 1000 * 1000


@pytest.mark.parametrize("name", ["runs_text", "in_thread"])
def test_lines_of_run_text_and_of_threads_are_counted(module: ModuleType, name: str) -> None:
    assert count(module, name, 40)["events"] >= count(module, name, 3)["events"] + 37


def test_what_a_thread_asks_of_torch_is_counted_while_it_is_watched(module: ModuleType) -> None:
    told = count(module, "product_in_thread")
    assert (told["calls"], told["ops"], told["bare"]) == ({"bmm": 1}, {"bmm": 1}, 0)
    assert threading.Thread._bootstrap_inner.__name__ == "_bootstrap_inner"  # type: ignore[attr-defined]


def test_a_call_that_runs_too_many_lines_is_ended(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "MAX_EVENTS", 500)
    told = count(module, "endless")
    assert told["capped"]
    assert told["events"] > 500


def test_what_the_function_raises_is_raised_and_all_is_put_back(module: ModuleType) -> None:
    before = sys.gettrace()
    with pytest.raises(KeyError):
        count(module, "raises")
    assert sys.gettrace() is before
    assert torch.zeros(1).add(1).item() == 1


@pytest.mark.parametrize("name", ["counts_after_a_failure", "fails_below"])
def test_lines_are_counted_after_a_call_that_failed(module: ModuleType, name: str) -> None:
    assert count(module, name)["events"] > 200


def test_ways_out_of_torch_are_told(module: ModuleType) -> None:
    assert {"item", "tolist", "numpy"} <= set(count(module, "leaves")["escapes"])


def test_functions_go_by_their_own_names() -> None:
    assert function_name(torch.mm) == "mm"
    assert function_name(torch.Tensor.T.__get__) == "T"
    assert function_name(torch.ops.aten.bmm.default) == "bmm"


def test_a_file_elsewhere_is_not_counted(module: ModuleType) -> None:
    x = torch.randn(3, 2, 2)
    with Counting({str(Path("elsewhere.py")): ""}, [x]) as counting:
        module.each(x, x)
    assert counting.report()["events"] == 0


def test_work_is_told_that_the_result_descends_from(module: ModuleType) -> None:
    assert count(module, "one")["descended"] == {"bmm 120": 120}
    each = count(module, "each")["descended"]
    assert each["mm 40"] == 3 * 40
    decoys = count(module, "with_decoys")
    assert decoys["ops"]["mm"] == 3
    assert {name: work for name, work in decoys["descended"].items() if "mm" in name} == {
        "bmm 120": 120
    }
    numbers = count(module, "by_numbers")
    assert not any("mm" in name for name in numbers["descended"])
    assert numbers["left"]["mm 40"] == 3 * 40


def test_memory_that_is_used_again_belongs_to_whoever_used_it_last() -> None:
    with Counting({}, []) as counting:
        gone = torch.ones(64, 64) @ torch.ones(64, 64)
        del gone
        made = torch.ones(64, 64) * 2
    told = counting.report(made)
    assert "mm 262144" not in told["descended"]
    assert "mul 4096" in told["descended"]
