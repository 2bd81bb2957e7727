"""One thread for each numerical library, in guests and in the command.

Judging is many small products. For one of them a pool of threads spins, on all cores, for longer
than the product takes: with the pool, a batch took half as much processor time again.
"""

from __future__ import annotations

import os

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""What goes into the environment; a library reads it when it is loaded."""


def keep_to_one_thread() -> None:
    """Have one thread a library in this process, unless whoever started it said otherwise.

    Only for processes that are the grader's own: in a student's notebook, torch would notice.
    """
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)
