"""What a guest must be given to work on a GPU, beyond what every guest has. Pure.

Put together from what other projects met (nolabs-ai/nono #673 and #1001, NVIDIA/OpenShell #710
and #1486); **never tried on a GPU by this one**, and given to no guest until it was:
``grader.sandbox.open.SHOW_GPUS``.

Defends against: another GPU than the one that was leased; devices that drive a display; writing to
anybody's threads but one's own.
Does not defend against: flaws of the driver, to which a guest now talks; memory of the host that
the driver pins on a guest's behalf, which no watch counts; what an earlier process left in the
card's memory, which is overwritten between hand-ins instead (``grader.run.device_program``).
"""

from __future__ import annotations

from collections.abc import Iterable

SHARED = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
"""Nodes that every program on any GPU opens, for reading, writing and device calls. From driver 570
on the last one too; without it CUDA's initialisation fails with error 304."""

READABLE = (
    "/proc/driver/nvidia",
    "/proc/driver/nvidia-uvm",
    "/sys/bus/pci/devices",
    "/sys/devices",
    "/sys/module/nvidia",
)
"""What the driver's library looks up: its own parameters, and where the device is."""

OWN_THREADS = "/proc/self/task"
"""Written to: drivers from 570 on name their threads. Opened in the guest itself, so that it is the
guest's own threads and nobody else's."""

UNLIMITED = frozenset({"AS"})
"""Limits that cannot be set: the library reserves address space by the terabyte. What memory is
really touched is still watched, from outside."""


def node(minor: int) -> str:
    """Return the node of the GPU of a number."""
    return f"/dev/nvidia{minor}"


def nodes(minors: Iterable[int]) -> tuple[str, ...]:
    """Return the nodes that a guest may open; none if it gets no GPU."""
    own = tuple(node(minor) for minor in minors)
    return (*SHARED, *own) if own else ()
