"""Grades PyTorch assignments: hand-ins are observed in a confined process and judged outside it."""

from __future__ import annotations

__version__ = "0.1.0"
