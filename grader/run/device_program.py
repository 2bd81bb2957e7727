"""What the host itself runs on a device: sent into guests as source, as it imports no torch.

``wire`` and ``transfer`` are the parties that carry bytes and compute nothing; ``probe`` is a
product whose result is known, the only proof that a device works: a driver that lists it proves
nothing; ``scrub`` overwrites what a hand-in may have left in the device's memory.
"""

from __future__ import annotations

from grader.run.program import Program

PROBE_SIZE = 512
PROBE_ANSWER = float(PROBE_SIZE)
"""Every entry of a product of two square matrices of ones."""

_SOURCE = b"""
import torch


def wire(outputs, *inputs):
    return [torch.zeros(shape, dtype=dtype) for shape, dtype in outputs]


def transfer(outputs, *inputs):
    for value in inputs:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, torch.Tensor):
                item.cuda()
    made = [torch.zeros(shape, dtype=dtype, device="cuda") for shape, dtype in outputs]
    return [item.cpu() for item in made]


def probe(size):
    ones = torch.ones(size, size, device="cuda")
    product = ones @ ones
    return {
        "least": product.min().item(),
        "greatest": product.max().item(),
        "tf32": bool(torch.backends.cuda.matmul.allow_tf32),
        "threads": torch.get_num_threads(),
    }


def scrub():
    kept, part = [], torch.cuda.mem_get_info()[0]
    while part >= 2**21:
        try:
            kept.append(torch.zeros(part, dtype=torch.uint8, device="cuda"))
        except torch.cuda.OutOfMemoryError:
            part //= 2
    torch.cuda.synchronize()
    return sum(item.numel() for item in kept)
"""

PROGRAM = Program({"device.py": _SOURCE}, "device.py")
"""All of it, as what a guest loads."""
