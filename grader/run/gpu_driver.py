"""What the NVIDIA driver says: which GPUs it lists, why none, and what to do about its errors.

GPUs are listed by its files in ``/proc`` and by its tool.

``nvidia-smi`` runs in a process of its own, because a driver that hangs must not hang the host. It
may take its time: where no program keeps the driver's adapters started, its first call starts them.

A GPU that is divided (MIG) stands for its parts. A program can use one part alone, and names it as
it would a whole GPU.

Errors come as torch's sentences (``c10/cuda/CUDAFunctions.cpp``) and the CUDA runtime's, which
torch passes on. They are compared in lower case, in parts that stay the same in all releases.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.host.processes import Gpu
from grader.sandbox.walls import cuda

_SECONDS = 60.0
"""Without persistence mode a first call starts the adapters: 1 to 3 s a GPU, and more."""

_NAMELESS = "?"
"""In the UUID that the driver's file gives before an adapter has started."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the driver's tool answered.

    Attributes:
        output: What it printed; empty where it did not end well.
        silent: Why nobody answered; empty where somebody did.
        failed: What it said where it did not end well.
    """

    output: str = ""
    silent: str = ""
    failed: str = ""


Tool = Callable[..., Asked]
"""Asks the driver's tool, given its arguments."""


def ask_tool(*arguments: str) -> Asked:
    """Run ``nvidia-smi``."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return Asked(silent="nvidia-smi was not found")
    try:
        done = subprocess.run(  # noqa: S603  a fixed program, no shell
            [program, *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Asked(silent=f"nvidia-smi did not answer within {_SECONDS:g} s")
    if done.returncode == 0:
        return Asked(done.stdout)
    return Asked(failed=(done.stdout + done.stderr).strip()[:300] or f"status {done.returncode}")


def list_gpus(
    folder: Path = Path("/proc/driver/nvidia/gpus"), tool: Tool = ask_tool
) -> tuple[Gpu, ...]:
    """Return the devices that the driver offers, by number; one that has no name is left out."""
    gpus = []
    names: Mapping[str, str] | None = None
    for path in folder.glob("*/information"):
        text = path.read_text(encoding="utf-8", errors="replace")
        uuid = re.search(r"^GPU UUID:\s*(\S+)", text, re.MULTILINE)
        minor = re.search(r"^Device Minor:\s*(\d+)", text, re.MULTILINE)
        if not uuid or not minor or re.search(r"^GPU Excluded:\s*Yes", text, re.MULTILINE):
            continue
        name = uuid[1]
        if _NAMELESS in name:
            # All cards have this same name until their adapters start, which the tool does.
            names = _names(tool) if names is None else names
            name = names.get(_place(path.parent.name), "")
        if name:
            gpus.append(Gpu(name, int(minor[1])))
    return tuple(sorted(gpus, key=lambda gpu: gpu.minor))


def _names(tool: Tool) -> dict[str, str]:
    """Return place on the bus → UUID."""
    lines = tool("--query-gpu=pci.bus_id,uuid", "--format=csv,noheader").output.splitlines()
    pairs = (line.split(",") for line in lines if line.count(",") == 1)
    return {_place(place): uuid.strip() for place, uuid in pairs}


def _place(text: str) -> str:
    """Return a place on the bus in one spelling: the tool has more zeros, and capitals."""
    domain, _, rest = text.strip().lower().partition(":")
    return f"{domain.lstrip('0')}:{rest}"


def parts_of(gpus: Sequence[Gpu], listing: str) -> tuple[Gpu, ...]:
    """Return GPUs, and in the place of a divided one its parts.

    Args:
        gpus: Whole ones.
        listing: What ``nvidia-smi -L`` prints.
    """
    parts: dict[str, list[str]] = {}
    board = ""
    for line in listing.splitlines():
        name = re.search(r"\(UUID:\s*([^)\s]+)\)", line)
        if name and line.startswith("GPU "):
            board = name[1]
        elif name and line.strip().startswith("MIG "):
            parts.setdefault(board, []).append(name[1])
    return tuple(
        part
        for gpu in gpus
        for part in (
            [Gpu(name, gpu.minor, gpu.uuid) for name in parts[gpu.uuid]]
            if gpu.uuid in parts
            else [gpu]
        )
    )


def why_none(root: Path = Path("/"), tool: Tool = ask_tool) -> str:
    """Return why ``visible_gpus`` is empty, for a person.

    Args:
        root: Under which ``proc`` and ``dev`` are.
        tool: Asks the driver's tool.
    """
    folder = root / "proc/driver/nvidia/gpus"
    if listed := list_gpus(folder, tool):
        nodes = [cuda.node(gpu.minor) for gpu in listed]
        if not any((root / node[1:]).exists() for node in nodes):
            return f"the driver lists GPUs, but {nodes[0]} is not there: give it to the container"
        return "CUDA_VISIBLE_DEVICES names none of the GPUs that the driver lists"
    if any(folder.glob("*/information")):
        return (
            "the driver lists a GPU and does not know its name, for its adapter has not started: "
            "nvidia-smi starts it; where that fails, dmesg says why (RmInitAdapter)"
        )
    if (root / "dev/dxg").exists():
        return (
            "this is WSL 2, which hands programs /dev/dxg in the place of the GPU's own nodes. "
            "torchgrade does not support that: use Linux itself on a machine with a GPU"
        )
    if cuda.covered(root / "proc/self/mountinfo"):
        return (
            "this container's runtime has mounted over /proc/driver/nvidia and shows no GPU there: "
            "start the container with all of its GPU options (Docker: --gpus all)"
        )
    if "UUID:" in tool("-L").output:
        return (
            "nvidia-smi lists a GPU, but /proc/driver/nvidia/gpus does not, which says which node "
            "is whose: what runs the grader (a container, a virtual machine) hides that folder"
        )
    return "no NVIDIA driver offers one"


_OLD_DRIVER = (
    "the driver is older than this torch needs: update the driver, or install a torch built for an "
    "older CUDA (nvidia-smi names the newest that the driver knows). In a checkout `make gpu-env` "
    "takes the one that fits, into .venv-gpu"
)
_NO_GPU = (
    "CUDA found no GPU that it may use: CUDA_VISIBLE_DEVICES may name none, or a card in MIG mode "
    "has no parts"
)
_ADVICE = (
    ("not compiled with cuda", "torch in this environment is a build without CUDA: install one "
     "that has it. In a checkout `make gpu-env` does, into .venv-gpu"),
    ("driver on your system is too old", _OLD_DRIVER),
    ("driver version is insufficient", _OLD_DRIVER),
    ("compiled with an unsupported toolchain", _OLD_DRIVER),
    ("found no nvidia driver", "the driver's library libcuda.so.1 was not found: put its folder on "
     "LD_LIBRARY_PATH, or run ldconfig; a container must be started with its GPU options"),
    ("os call failed or operation not supported on this os", "error 304: the driver's library was "
     "refused a file or a call. `nvidia-modprobe -u -c 0` makes missing nodes; in a container, its "
     "own rules may refuse"),
    ("system not yet initialized", "error 802: GPUs that NVSwitch joins need nvidia-fabricmanager, "
     "of the driver's own version: systemctl start nvidia-fabricmanager"),
    ("unsupported display driver / cuda driver combination", "error 803: libcuda is of another "
     "version than the driver that is loaded: restart the machine after an update of the driver; "
     "in a container, take its own libcuda off LD_LIBRARY_PATH"),
    ("forward compatibility was attempted on non supported hw", "error 804: a libcuda of the "
     "packages cuda-compat was found, and this card cannot use it: take its folder off "
     "LD_LIBRARY_PATH"),
    ("mps client failed to connect", "an MPS server has the card, and student processes cannot "
     "reach it: stop it (echo quit | nvidia-cuda-mps-control)"),
    ("busy or unavailable", "another process has the card for itself: as root, `nvidia-smi "
     "-c DEFAULT` ends the exclusive compute mode. A card in MIG mode needs parts (nvidia-smi -L "
     "lists them)"),
    ("no kernel image is available", "torch in this environment has no code for a card of this "
     "kind, which is too old or too new for it: install a torch build that names its compute "
     "capability (torch.cuda.get_arch_list()). In a checkout `make gpu-env TORCH_CUDA=12.6` has "
     "the one for cards before Turing"),
    ("out of memory", "other programs use its memory: nvidia-smi lists them"),
    ("no cuda gpus are available", _NO_GPU),
    ("no cuda-capable device is detected", _NO_GPU),
    ("cuda driver initialization failed", "the driver did not start: dmesg says why (NVRM, Xid)"),
    ("cuda unknown error", "the driver did not start; after the machine has slept, loading "
     "nvidia_uvm again helps, and restarting the machine does"),
)  # fmt: skip


def advice(problem: str) -> str:
    """Return what to do about an error of torch's; empty where its text is not known."""
    lower = problem.lower()
    return next((text for words, text in _ADVICE if words in lower), "")


def node_problems(gpu: Gpu) -> list[str]:
    """Return what is wrong with the nodes that every program on the GPU opens.

    One for tools may be missing: containers are often started without it, and CUDA does without.
    """
    problems = []
    for path in map(Path, (*cuda.SHARED, cuda.node(gpu.minor))):
        try:
            mode = path.stat().st_mode
        except OSError:
            if str(path) != cuda.TOOLS:
                problems.append(
                    f"{path} is not there: `nvidia-modprobe -u -c {gpu.minor}` makes it"
                )
            continue
        if mode & (stat.S_IROTH | stat.S_IWOTH) != stat.S_IROTH | stat.S_IWOTH:
            problems.append(
                f"{path} is closed to other users, as student processes are: the driver's option "
                "NVreg_DeviceFileMode=0666, or chmod 666, opens it"
            )
    return problems
