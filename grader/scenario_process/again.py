"""Runs the log of one call again: the program of a process that holds no submission.

What a log comes to on inputs that it has not seen shows what the call did, and what it did not
need. ``grader.run.proving`` draws these inputs and compares; nothing here knows what is right.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from grader.student_process.operations import FunctionCalls, Operations
from grader.vgpu.recording.calls import played, size_of
from grader.vgpu.recording.descriptors import MalformedError, UnsafeError
from grader.vgpu.recording.evidence import Work, evidence_of
from grader.vgpu.recording.player import UnlistedError, UnrepeatableError
from grader.vgpu.recording.program import Program, read_program


def play(log: Any, draws: list[list[torch.Tensor]], linked: bool = False) -> dict[str, Any]:
    """Run a log on inputs drawn otherwise, once for each set of them.

    Args:
        log: What ``CallLog.as_values`` returned, by way of a process that may be hostile.
        draws: Sets of inputs: the tensors of the call's arguments, in order.
        linked: Numbers that left torch and came back are what they are now, not what they were.

    Returns:
        ``{"why": "", "entries": …, "references": …, "unnamed": …, "ops": […],
        "greatest": …, "outputs": [{…}, …]}`` and what ``evidence_of`` finds; or
        ``why`` alone.
    """
    try:
        if log["why"]:
            raise UnlistedError(str(log["why"]))
        return _played(read_program(log, linked=linked), log["constants"], draws)
    except (UnlistedError, UnrepeatableError, MalformedError, UnsafeError) as error:
        return {"why": f"{error}"[:200]}
    except (LookupError, TypeError, AttributeError) as error:
        return {"why": f"no log: {type(error).__name__}"}


@cache
def _is_composite(operation: Any) -> bool:
    """Tell whether torch makes an operation of others, which are to be seen, too."""
    key = "CompositeImplicitAutograd"
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operation.name(), key))


def _played(
    program: Program, constants: torch.Tensor, draws: list[list[torch.Tensor]]
) -> dict[str, Any]:
    # What is done to sizes alone, to an index that is reversed say, is no use of an operation.
    calls = FunctionCalls(())
    on_drawn, apart = (Operations(calls) for _ in range(2))
    named: set[str] = set()
    works: list[list[Work]] = []

    def call(operation: Any, args: Any, kwargs: Any, on_inputs: bool) -> Any:
        into = on_drawn if on_inputs else apart
        if on_inputs:
            named.add(operation.overloadpacket.__name__)
        before = len(calls.log)
        result = called(into, operation, args, kwargs)
        works.append([(name, work) for name, work, *_ in calls.log[before:]])
        return result

    def called(into: Operations, operation: Any, args: Any, kwargs: Any) -> Any:
        if _is_composite(operation):
            with into:
                return operation(*args, **kwargs)
        result = operation(*args, **kwargs)
        into.note(operation, args, kwargs, result)
        return result

    outputs, unnamed, changed = [], 0, set[int]()
    for inputs in draws:
        works.clear()
        player = played(program, constants, inputs, call)
        outputs.append(player.outputs)
        unnamed = max(unnamed, player.unnamed)
        changed |= player.changed()
    # Under its full name where it ran; a name that is none of these stood for others.
    ran = {name.split(".", 1)[0] for name in on_drawn.ops}
    return {
        "why": "", **size_of(program), "unnamed": unnamed, "outputs": outputs,
        "greatest": max(on_drawn.greatest, apart.greatest),
        "ops": sorted({*on_drawn.ops, *(named - ran)}),
        "changed": sorted(changed),
        **evidence_of(program, works),
    }  # fmt: skip
