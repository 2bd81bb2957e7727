"""Where a grading ran, for its report."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from grader import __version__
from grader.report.model import Environment, IsolationInfo
from grader.sandbox.host.guests import Isolation


def environment(
    isolation: Isolation,
    versions: Mapping[str, str],
    device: str,
    seed: int,
    gpus: Mapping[str, str],
) -> Environment:
    """Return what a report says about the place of its run.

    Args:
        isolation: The walls, and what they proved.
        versions: What the guests said of their torch and Python.
        device: GPUs that were used.
        seed: Of all drawn inputs.
        gpus: What a probe guest met on the GPUs.
    """
    return Environment(
        torch=versions.get("torch", "unknown"),
        python=versions.get("python", "unknown"),
        platform=platform.platform(),
        device=device,
        isolation=IsolationInfo(
            tier=isolation.tier,
            mechanisms=isolation.mechanisms,
            proved={**isolation.proved, **gpus},
        ),
        seed=seed,
        grader_version=__version__,
    )
