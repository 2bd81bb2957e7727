"""Whether student processes can use this machine's GPUs: shown before anything is graded.

A driver that lists a GPU proves nothing. Each start therefore has a probe guest, behind the same
walls as every guest, compute a product on each GPU. Where that fails, the probe is repeated with
one wall left out at a time, so that the message can name the wall in the way. Only the host's own
program ever runs in these.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.assignment.types import Limits
from grader.errors import InfrastructureError
from grader.run.device_program import PROGRAM
from grader.run.device_worker import compute_product, overwrite_memory
from grader.run.leases import Leases
from grader.run.session import Session
from grader.sandbox.host.fork_server import ForkServerSandbox
from grader.sandbox.host.guests import Gpu, GuestNeeds, Sandbox
from grader.sandbox.host.open import without_wall
from grader.sandbox.walls import cuda
from grader.sandbox.walls.plan import Wall

_PATIENCE = 600.0
"""Seconds to wait for a GPU that another run is timing on."""

_SUSPECTS = (Wall.LANDLOCK, Wall.SECCOMP, Wall.LIMITS, Wall.VIEW, Wall.SCRATCH, Wall.IPC)
"""Walls that the driver's library may run into, the likeliest first. The others (other users, no
capabilities, no network) are like those of any ordinary program on a GPU."""

_ADVICE = (
    ("not compiled with CUDA", "torch in this environment is a build without CUDA: install one "
     "that has it"),
    ("driver version is insufficient", "the driver is older than this torch needs: update the "
     "driver, or install a torch built for an older CUDA"),
    ("found no NVIDIA driver", "the driver's library libcuda.so.1 was not found: put its folder on "
     "LD_LIBRARY_PATH, or run ldconfig"),
    ("out of memory", "other programs use its memory: nvidia-smi lists them"),
)  # fmt: skip

_GO_ON = (
    "To go on without the GPU: --device virtual grades on virtual GPUs, and only measured speed "
    "stays pending.\n"
    "To go on without the sandbox: --isolation none. Student code then has your own rights: it can "
    "read the reference and change any file of yours. Its points are no official score; `grader "
    "merge` takes them only with --accept-unwalled, and marks them."
)


@dataclass(frozen=True, slots=True)
class GpuProof:
    """What was shown.

    Attributes:
        proved: For the report: attempt → what a probe guest met.
        failed: Name of a GPU → why it cannot be used.
    """

    proved: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    def told(self, tier: str) -> str:
        """Return what an instructor has to know of the failures, and how to go on.

        Args:
            tier: Of the sandbox.
        """
        lines = "\n".join(f"  {name}: {reason}" for name, reason in self.failed.items())
        where = "" if tier == "none" else f" in the sandbox (tier {tier})"
        go_on = _GO_ON.splitlines()[0] if tier == "none" else _GO_ON
        return f"student code cannot use the GPU{where}:\n{lines}\n{go_on}"


ProveGpus = Callable[[Sandbox, Sequence[Gpu], Limits], GpuProof]


def prove_gpus(
    sandbox: Sandbox, gpus: Sequence[Gpu], limits: Limits, leases: Leases | None = None
) -> GpuProof:
    """Have a probe guest compute a product on each GPU.

    Args:
        sandbox: Starts the guests.
        gpus: Of this machine.
        limits: Of the guests.
        leases: Keep the probe from a GPU that another run is timing on.
    """
    proved, failed = {}, {}
    leases = leases or Leases()
    for gpu in gpus:
        with leases.hold(gpu.uuid, _PATIENCE) as held:
            problem = _problem(sandbox, gpu, limits) if held else "another run is timing on it"
        if problem:
            failed[gpu.uuid] = problem
        else:
            proved[f"product on {gpu.uuid}"] = "right"
    return GpuProof(proved, failed)


def scrub_gpus(sandbox: Sandbox, gpus: Sequence[Gpu], limits: Limits) -> None:
    """Overwrite the memory of GPUs: the reference's answers may still be there.

    Raises:
        InfrastructureError: It could not be overwritten; no submission may run there.
    """
    for gpu in gpus:
        needs = GuestNeeds(cuda=1, gpus=(gpu,))
        overwrite_memory(Session(sandbox, PROGRAM), limits, needs)


def _problem(sandbox: Sandbox, gpu: Gpu, limits: Limits) -> str:
    """Return why guests cannot use a GPU, or an empty string."""
    if not sandbox.grants(GuestNeeds(cuda=1)):
        return "this kernel has no Landlock, which keeps it from guests that may not use it"
    problem = _product(sandbox, gpu, limits)
    if not problem:
        return ""
    advice = [text for words, text in _ADVICE if words in problem]
    if isinstance(sandbox, ForkServerSandbox) and not advice:
        advice = _node_problems(gpu) or [_wall_in_the_way(sandbox, gpu, limits)]
    return "; ".join((problem, *filter(None, advice)))


def _product(sandbox: Sandbox, gpu: Gpu, limits: Limits) -> str:
    session = Session(sandbox, PROGRAM)
    try:
        answer, _ = compute_product(session, limits, GuestNeeds(cuda=1, gpus=(gpu,)))
    except InfrastructureError as error:
        return str(error)
    finally:
        session.close()
    return answer if isinstance(answer, str) else ""


def _node_problems(gpu: Gpu) -> list[str]:
    """Return what is wrong with the nodes that every program on the GPU opens."""
    found = []
    for path in map(Path, (*cuda.SHARED, cuda.node(gpu.minor))):
        try:
            mode = path.stat().st_mode
        except OSError:
            found.append(f"{path} is not there: `nvidia-modprobe -u -c 0` makes it")
            continue
        if mode & (stat.S_IROTH | stat.S_IWOTH) != stat.S_IROTH | stat.S_IWOTH:
            found.append(
                f"{path} is closed to other users, as guests are: the driver's option "
                "NVreg_DeviceFileMode=0666, or chmod 666, opens it"
            )
    return found


def _wall_in_the_way(sandbox: ForkServerSandbox, gpu: Gpu, limits: Limits) -> str:
    for wall in _SUSPECTS:
        if not sandbox.plan.has(wall):
            continue
        with without_wall(sandbox, wall) as probing:
            if not _product(probing, gpu, limits):
                return f"the wall “{wall.value}” is in the way: without it, the product is right"
    return "no single wall is in the way"
