"""``pytest --vgpus 2``: a library's tests for CUDA run on a machine that has none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

# An inner session forgets what it imports, and torch lets nobody import its compiler twice.
import torch._dynamo

import grader.vgpu.magics  # noqa: F401  or each inner session imports it anew
from grader.vgpu import installed

Run = Callable[..., pytest.RunResult]
_OTHERS = ("-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:cacheprovider")

LIBRARY = """
import pytest
import torch

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
two = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def blur(x):
    kernel = torch.ones(3, device=x.device) / 3
    return torch.nn.functional.conv1d(x[None, None], kernel[None, None])[0, 0]


def forgetful_blur(x):
    return torch.nn.functional.conv1d(x[None, None], torch.ones(3)[None, None] / 3)[0, 0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function", [blur, forgetful_blur])
def test_blur(function, device):
    x = torch.arange(5.0, device=device)
    assert function(x).device == x.device


@cuda
def test_weights_move():
    assert torch.nn.Linear(2, 2).cuda().weight.is_cuda


@two
def test_second():
    assert torch.ones(1, device="cuda:1").get_device() == 1
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    def inline(source: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(test_library=source)
        return pytester.runpytest_inprocess(*_OTHERS, f"--rootdir={pytester.path}", *args)

    return inline


def test_without_the_option_there_is_no_gpu(run: Run) -> None:
    run(LIBRARY).assert_outcomes(passed=2, skipped=2)


def test_tests_for_cuda_run_and_find_the_forgotten_device(run: Run) -> None:
    result = run(LIBRARY, "--vgpus", "2")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        ["virtual GPUs: 2", "*RuntimeError*torch.cuda.FloatTensor*", "test_library.py:15: *"]
    )
    assert "rules.py" not in result.stdout.str()
    assert installed() is None
    assert not torch.cuda.is_available()


def test_a_conftest_finds_them_as_it_is_imported(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import torch\nFOUND = torch.cuda.device_count()\n")
    source = "import conftest\ndef test_it(): assert conftest.FOUND == 3"
    run(source, "--vgpus", "3").assert_outcomes(passed=1)


MARKED = """
import pytest
import torch

@pytest.mark.vgpus(2, memory="1MiB")
def test_two_small_ones():
    assert torch.cuda.device_count() == 2
    with pytest.raises(torch.cuda.OutOfMemoryError):
        torch.zeros(2**20, device="cuda:1")

def test_others():
    assert torch.cuda.device_count() == {others}

def test_the_fixture_alone_gives_one(vgpus):
    torch.ones(3, device="cuda") + 1
    assert [event.op for event in vgpus.trace.events if hasattr(event, "op")] == ["ones", "add"]
    assert vgpus.memory(0).peak == 1024
    assert torch.cuda.device_count() == max({others}, 1)

@pytest.mark.vgpus
@pytest.mark.parametrize("time", [1, 2])
def test_the_record_begins_anew(vgpus, time):
    assert vgpus.trace.events == []
    torch.ones(100, device="cuda")
    assert vgpus.memory(0).peak == 512
"""


@pytest.mark.parametrize("others", [0, 1, 3])
def test_a_marker_and_a_fixture_give_a_test_its_own(run: Run, others: int) -> None:
    options = ("--vgpus", str(others)) if others else ()
    result = run(MARKED.format(others=others), "--strict-markers", *options)
    result.assert_outcomes(passed=5)
    assert installed() is None


def test_a_test_that_fails_leaves_no_gpus_behind(run: Run) -> None:
    source = """
        import pytest, torch, unittest

        @pytest.fixture
        def broken():
            raise OSError

        @pytest.mark.vgpus(2)
        def test_broken(broken): ...

        @pytest.mark.vgpus(2)
        class TestOld(unittest.TestCase):
            def test_it(self):
                assert torch.cuda.device_count() == 1

        def test_after(): assert not torch.cuda.is_available()
    """
    run(source).assert_outcomes(errors=1, failed=1, passed=1)
    assert installed() is None


def test_processes_that_tests_start_have_them(run: Run) -> None:
    source = """
        import subprocess, sys
        import torch.multiprocessing as mp

        def work(rank, seen):
            import torch
            seen[rank] = torch.cuda.device_count()

        def test_spawned():
            seen = mp.get_context("spawn").Manager().dict()
            mp.spawn(work, (seen,), 1)
            assert seen[0] == 2

        def test_subprocess():
            program = "import torch; print(torch.cuda.device_count())"
            assert subprocess.check_output([sys.executable, "-c", program]).strip() == b"2"
    """
    run(source, "--vgpus", "2").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--vgpus", "none"), "“none” is no number of GPUs; write one from 1 to 64"),
        (("--vgpus", "1", "--vgpu-memory", "much"), "“much” is no size"),
        (("--vgpu-memory", "8GiB"), "--vgpu-memory is of virtual GPUs: --vgpus 1"),
    ],
)
def test_what_is_wrong_with_an_option_is_said(
    run: Run, options: tuple[str, ...], words: str
) -> None:
    result = run("def test_it(): ...", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert words in result.stderr.str()


def test_a_marker_with_a_wrong_number_is_an_error_of_that_test(run: Run) -> None:
    source = "import pytest\n@pytest.mark.vgpus(0)\ndef test_it(): ...\ndef test_next(): ..."
    result = run(source)
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*“0” is no number of GPUs*"])


def test_workers_of_xdist_have_them(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(LIBRARY)
    result = pytester.runpytest_subprocess("-n", "1", "--vgpus", "2", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=5, failed=1)


def test_a_session_that_asks_for_none_imports_no_torch(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_it(): assert 'torch' not in sys.modules")
    plugins = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider")
    pytester.runpytest_subprocess(*plugins).assert_outcomes(passed=1)
