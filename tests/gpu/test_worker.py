"""A GPU worker on a real GPU: the sandbox shows it, and a whole grading comes to full points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpu.doctor import LEFT_OVER, used_memory
from grader.assignment.types import Limits
from grader.grading import Grader, Options
from grader.observation import Outcome
from grader.run.gpu_state import visible_gpus
from grader.run.gpus import prove_gpus
from grader.run.materials import load_materials
from grader.run.session import ProcessSession
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import ProcessSpec, Sandbox
from grader.wire.messages import Call, Load

Record = Callable[[str, object], None]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="the driver offers no GPU on this machine"),
]

ROOT = Path(__file__).parents[2]
MEMORY = 2**32
LIMITS = Limits(memory_mb=MEMORY // 2**20)
CLOSED = b"""
import os

def opened():
    found = []
    for name in NODES:
        try:
            os.close(os.open(name, os.O_RDWR))
            found.append(name)
        except OSError:
            pass
    return found
"""
IN_A_CHILD = b"""
import subprocess
import sys

def child():
    code = "import torch; print((torch.ones(8, 8, device='cuda') @ torch.ones(8, 8).cuda()).sum())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()[-500:]
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox("auto", gpus=visible_gpus()) as opened:
        yield opened


def answer(sandbox: Sandbox, source: bytes, entry: str, spec: ProcessSpec) -> object:
    session = ProcessSession(sandbox, Load({"x.py": source}, "x.py"))
    try:
        session.prepare(spec)
        assert session.failed_load is None, session.failed_load
        seen = session.call(Call(entry), 120.0)
    finally:
        session.close()
    assert seen.outcome is Outcome.COMPLETED, seen
    return seen.claims.value


def test_each_gpu_computes_in_the_sandbox(sandbox: Sandbox, record_property: Record) -> None:
    begun = time.monotonic()
    proof = prove_gpus(sandbox, visible_gpus(), LIMITS)
    record_property("isolation tier", sandbox.isolation.tier.value)
    each = (time.monotonic() - begun) / len(visible_gpus())
    record_property("probe of one GPU, from a fork to a product", f"{each:.2f} s")
    record_property("probe of one GPU, memory of the host", f"{proof.memory / 2**20:.0f} MiB")
    assert not proof.failed, proof.explanation(sandbox.isolation.tier.value)


def test_without_a_need_for_it_every_node_is_closed(sandbox: Sandbox) -> None:
    nodes = [str(path) for path in Path("/dev").glob("nvidia*") if not path.is_dir()]
    source = f"NODES = {nodes!r}\n".encode() + CLOSED
    assert answer(sandbox, source, "opened", ProcessSpec(memory=MEMORY)) == []


def test_a_process_that_a_student_process_starts_computes_too(sandbox: Sandbox) -> None:
    needs = ProcessSpec(memory=MEMORY, cuda=1, processes=4)
    if not sandbox.grants(needs):
        pytest.skip("this tier starts no processes")
    assert "512" in str(answer(sandbox, IN_A_CHILD, "child", needs))


def test_the_reference_has_full_points_on_the_gpu(
    sandbox: Sandbox, record_property: Record
) -> None:
    materials = load_materials(ROOT / "assignments" / "pytorch101" / "assignment.yml")
    grader = Grader(materials, sandbox, Options(1, "cuda", ("mm_on_gpu",), clock=True))
    grader.prepare()
    begun = time.monotonic()
    report = grader.grade(materials.reference_folder / "pytorch101.py", "reference")
    record_property("mm_on_gpu graded, speed included", f"{time.monotonic() - begun:.1f} s")
    question = next(each for each in report.questions if each.id == "mm_on_gpu")
    assert (question.score, question.pending) == (question.max_score, 0), question


def test_submissions_leave_nothing_on_the_card(sandbox: Sandbox) -> None:
    before = used_memory(visible_gpus())
    if not before:
        pytest.skip("the driver does not tell what of a card's memory is in use")
    materials = load_materials(ROOT / "assignments" / "pytorch101" / "assignment.yml")
    grader = Grader(materials, sandbox, Options(1, "cuda", ("mm_on_gpu",), clock=True))
    grader.prepare()
    for name in ("one", "two"):
        report = grader.grade(materials.reference_folder / "pytorch101.py", name)
        question = next(each for each in report.questions if each.id == "mm_on_gpu")
        assert question.pending == 0, question
    left = {card: used - before[card] for card, used in used_memory(visible_gpus()).items()}
    assert max(left.values()) <= LEFT_OVER, left
