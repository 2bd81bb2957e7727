"""What a student process must be given to work on a GPU, beyond what every student process has.

Put together from what other projects met on real drivers; this one **has not tried it on a GPU**.
Each start therefore has a probe process compute a product there (``grader.run.gpus``).

* Drivers from 570 on write the names of their threads (nolabs-ai/nono #673, NVIDIA/OpenShell #1486)
  and open ``nvidia-uvm-tools`` (nono #652); refused, CUDA's initialisation fails with error 304.
* They also make memory files with ``memfd_create`` (OpenShell #1696): error 304 again.
* A process that the student process starts names its own threads (nono #924), so that one rule for
  the student process's own folder in ``/proc`` is not enough.

Defends against: another GPU than those that were granted; devices that drive a display; writing to
anybody's threads but its own processes'.
Does not defend against: flaws of the driver, to which a student process now talks; memory of the
host that the driver pins on a student process's behalf, and what is written to memory files, which
no watch counts; what an earlier process left in the card's memory, which is overwritten between
timed submissions (``grader.run.gpu_worker``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

TOOLS = "/dev/nvidia-uvm-tools"
SHARED = ("/dev/nvidiactl", "/dev/nvidia-uvm", TOOLS)
"""Nodes that every program on any GPU opens, for reading, writing and device calls."""

READABLE = (
    "/proc/devices",
    "/proc/driver/nvidia",
    "/proc/driver/nvidia-uvm",
    "/proc/sys/vm/mmap_min_addr",
    "/sys/bus/pci/devices",
    "/sys/devices",
    "/sys/module/nvidia",
)
"""What the driver's library looks up: its own parameters, and where the device is."""

OWN_THREADS = "/proc/self/task"
"""Opened in the student process itself, so that it means its own threads and nobody else's."""

UNLIMITED = frozenset({"AS"})
"""Limits that cannot be set: the library reserves address space by the terabyte. What memory is
really touched is still watched, from outside."""

HIDDEN = {"CUDA_VISIBLE_DEVICES": "", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
"""In the environment of the fork-server, and of student processes without a GPU. With both, torch
counts no device and does not ask the driver. Had the fork-server asked, no fork of it could use a
GPU."""

MEMORY = 8 * 2**30
"""Host memory that the driver and its libraries may take in a process until the probe has measured
it, in bytes."""

THREADS = 32
"""Threads that the driver's libraries start on their own, beyond what the submission may start."""

CAPABILITIES = Path("/proc/driver/nvidia/capabilities")
"""Where the driver says which nodes the parts of a divided GPU (MIG) have."""

LIBRARY = "libcuda.so.1"
_USUAL = ("/usr/local/nvidia/lib64", "/run/opengl-driver/lib")
"""Where GKE and NixOS have the driver's library, beside the folders that the loader knows."""

_KNOWN = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
_ALTERNATIVES = Path("/etc/alternatives")
"""A loader that finds a link to here in a folder it knows cannot follow it in a sandbox, which has
no such folder."""

MOUNTS = Path("/proc/self/mountinfo")


def node(minor: int) -> str:
    """Return the node of the GPU of a number."""
    return f"/dev/nvidia{minor}"


def nodes(minors: Iterable[int]) -> tuple[str, ...]:
    """Return the nodes that a student process may open; none if it gets no GPU."""
    numbers = tuple(minors)
    own = [node(minor) for minor in numbers]
    parts = [path for minor in numbers for path in part_nodes(minor)]
    return (*SHARED, *own, *parts) if own else ()


def part_nodes(minor: int, capabilities: Path = CAPABILITIES) -> tuple[str, ...]:
    """Return the nodes of the parts that a GPU is divided into; none if it is whole."""
    nodes = []
    for path in sorted((capabilities / f"gpu{minor}" / "mig").rglob("access")):
        number = re.search(r"^DeviceFileMinor:\s*(\d+)", path.read_text(), re.MULTILINE)
        if number:
            nodes.append(f"/dev/nvidia-caps/nvidia-cap{number[1]}")
    return tuple(nodes)


def library_folders(
    search: str = "",
    usual: Iterable[str] = _USUAL,
    known: Iterable[str] = _KNOWN,
    alternatives: Path = _ALTERNATIVES,
) -> tuple[str, ...]:
    """Return folders that hold the driver's library and that the loader does not know by itself.

    Args:
        search: ``LD_LIBRARY_PATH`` of whoever grades.
        usual: Further places to look.
        known: Folders that the loader knows.
        alternatives: Folder of links that is in no student process's view.
    """
    folders: dict[str, None] = {}
    # A relative folder would mean the scratch in a student process, where a submission may write.
    for folder in (*filter(os.path.isabs, search.split(os.pathsep)), *usual):
        library = Path(folder) / LIBRARY
        if library.is_file():
            # A link may lead to where its neighbours are, too.
            folders |= dict.fromkeys((str(Path(folder)), str(library.resolve().parent)))
    for folder in known:
        library = Path(folder) / LIBRARY
        # Debian's packages link by way of this folder.
        if library.is_symlink() and alternatives in library.readlink().parents:
            folders |= dict.fromkeys([str(library.resolve().parent)] if library.is_file() else [])
    return tuple(folders)


def covered(mounts: Path = MOUNTS) -> bool:
    """Tell whether something is mounted over the driver's folder in ``/proc``.

    Runtimes of containers with a GPU do that. The kernel then lets no user namespace mount a
    ``/proc`` of its own, for that would show what is covered.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    # Fifth is the place; proc(5).
    places = (line.split()[4] for line in lines if len(line.split()) > 4)
    return any(f"{place}/".startswith("/proc/driver/nvidia/") for place in places)
