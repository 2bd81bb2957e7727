"""Small programs as course code writes them, run on virtual devices and, where there are, on real.

A program returns plain values and tensors, or raises. What it draws at random it does not return:
a real GPU draws other numbers.
"""

from __future__ import annotations

from gpu.programs import (  # noqa: F401 each adds its own
    contexts,
    cuda,
    documents,
    factories,
    files,
    mixed,
    modules,
    moving,
    reading,
    training,
)
from gpu.programs.base import PROGRAMS, Program

__all__ = ["PROGRAMS", "Program"]
