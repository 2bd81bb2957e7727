"""Which questions this machine can grade, with what, and why it cannot the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.assignment.types import Question
from grader.run.devices import DeviceChoice, resolve
from grader.run.packages import lacking
from grader.run.verdicts import Verdicts, for_all
from grader.sandbox.host.guests import GuestNeeds, Sandbox


def sort_out(
    questions: Sequence[Question],
    device: DeviceChoice,
    gpus: int,
    sandbox: Sandbox,
    missing: Mapping[str, str],
) -> tuple[dict[str, GuestNeeds], dict[str, Verdicts]]:
    """Return question → what its guests need, and question → why it is not graded here.

    Args:
        questions: That were asked for.
        device: Choice of whoever grades.
        gpus: Real GPUs to be had.
        sandbox: Grants needs, or does not.
        missing: Packages that guests cannot import → why.
    """
    gradable: dict[str, GuestNeeds] = {}
    not_here: dict[str, Verdicts] = {}
    for question in questions:
        resolved = lacking(question, missing) or resolve(question, device, gpus, sandbox.grants)
        if isinstance(resolved, GuestNeeds):
            gradable[question.id] = resolved
        else:
            not_here[question.id] = for_all(question, resolved)
    return gradable, not_here
