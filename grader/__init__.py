"""Grade PyTorch assignments: run submissions in a sandboxed process and judge them outside it."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """Register ``%check`` with IPython; what ``%load_ext grader`` calls."""
    # By name: everything imports this package, and must not import the notebook part with it.
    importlib.import_module("grader.integrations.notebook").load(shell)
