"""How this program starts Python again: the same interpreter, packages, and one thread a library.

A process that student code is to run in takes nothing from the environment. A package that was
found by ``PYTHONPATH``, in a user's own folder or in the current one would then be missing, or be
another copy. So the program that it runs first looks for the packages that it needs where the host
has found them.
"""

from __future__ import annotations

import importlib.util
import os
import os.path
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

PACKAGES = ("grader", "torch", "numpy")
"""What every student process imports; what else is installed lies beside these."""

_FIND = """\
import os.path, sys
from importlib.util import find_spec
sys.path[:] = [path for path in sys.path if path]
for name, folder in {folders!r}.items():
    spec = find_spec(name)
    if spec is None:
        sys.path.append(folder)
    elif os.path.dirname(os.path.dirname(os.path.abspath(spec.origin or ""))) != folder:
        sys.path.insert(0, folder)
"""
_RUN = "import runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)\n"


@lru_cache(maxsize=1)
def package_folders() -> dict[str, str]:
    """Return package → the folder that holds it, of those that are here. None is imported."""
    specs = {name: importlib.util.find_spec(name) for name in PACKAGES}
    return {
        name: os.path.dirname(os.path.dirname(os.path.abspath(spec.origin)))  # noqa: PTH100, PTH120
        for name, spec in specs.items()
        if spec is not None and spec.origin and spec.submodule_search_locations
    }


def beside_packages(program: str) -> str:
    """Return a program that finds packages where this process does, then does what it did.

    Args:
        program: For ``python -c``, in isolated mode or with ``-s`` and a clean environment.
    """
    return _FIND.format(folders=package_folders()) + program


def running(module: str) -> str:
    """Return a program that runs a module as ``python -m`` would, and finds packages."""
    return beside_packages(_RUN.format(module=module))


ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""What goes into the environment; a library reads it when it is loaded."""


PLAIN_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
}
"""Has torch use few of the processor's instructions.

Sums are then taken in another order: results differ in their last bits, as on another processor.
"""


def processor_settings() -> dict[str, str]:
    """Return what this process was told of the processor's instructions, for those it starts."""
    return {name: os.environ[name] for name in PLAIN_PROCESSOR if name in os.environ}


@contextmanager
def plain_processor() -> Iterator[None]:
    """Have the processes that are started meanwhile compute as another processor would."""
    former = processor_settings()
    os.environ.update(PLAIN_PROCESSOR)
    try:
        yield
    finally:
        for name in PLAIN_PROCESSOR:
            os.environ.pop(name)
        os.environ.update(former)


def keep_to_one_thread() -> None:
    """Have one thread a library in this process, unless whoever started it said otherwise.

    Only for processes that are the grader's own: in a student's notebook, torch would notice.
    """
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)
