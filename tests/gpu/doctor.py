"""``make gpu-doctor``: a new machine with a GPU, looked at in the order in which things fail.

Each step prints what it found and what that means. The first bad one ends it, with status 1. Run it
as the user who will grade.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Make starts this file as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu import builds
from grader.assignment.types import Limits
from grader.run.gpu_driver import advice, ask_tool, node_problems, why_none
from grader.run.gpu_state import ask, visible_gpus
from grader.run.gpus import prove_gpus
from grader.sandbox.host.open import closed_folder, open_sandbox
from grader.sandbox.host.processes import Gpu
from grader.sandbox.walls import cuda, landlock, view

_SLOW = 10.0
"""Seconds of a call of nvidia-smi beyond which nothing keeps the driver's adapter started."""

_OTHER_USER = 60600

LEFT_OVER = 50
"""MiB of a card's memory by which its use may differ before and after."""

_ERROR = re.compile(r"^[\w.]*(Error|Exception|Interrupt|Exit)\b")
"""The line of a traceback that says what was wrong. Torch has several lines more to its errors."""

_CALLS = ("openat", "memfd_create", "socket", "mknodat", "execve", "unshare", "mbind")
"""What strace notes: files, and what a filter of system calls may refuse."""

PRODUCT = """
import torch
print("torch", torch.__version__, "for CUDA", torch.version.cuda)
ones = torch.ones(512, 512, device="cuda")
print("product:", (ones @ ones).max().item())
"""
FORKED = """
import os, sys, torch
if sys.argv[1] == "backward":
    torch.nn.Linear(2, 2)(torch.zeros(1, 2)).sum().backward()
if os.fork() == 0:
    for name in ("CUDA_VISIBLE_DEVICES", "PYTORCH_NVML_BASED_CUDA_CHECK"):
        os.environ.pop(name, None)
    try:
        ones = torch.ones(512, 512, device="cuda", requires_grad=True)
        (ones @ ones).sum().backward()
        print("product:", (ones @ ones).max().item(), flush=True)
        os._exit(0)
    except BaseException as error:
        print(type(error).__name__, str(error)[:300], flush=True)
        os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@dataclass
class Found:
    """What a step found.

    Attributes:
        lines: For a person.
        bad: Why nothing further can be right, and what to do; empty where it can.
    """

    lines: list[str] = field(default_factory=list)
    bad: str = ""


def driver() -> Found:
    """Ask nvidia-smi twice, and which build of torch the driver's version takes.

    The second call is fast where something keeps the adapters started.
    """
    found = Found()
    for turn in ("first", "second"):
        begun = time.monotonic()
        said = ask_tool("--query-gpu=uuid,name,driver_version,persistence_mode", "--format=csv")
        took = time.monotonic() - begun
        if said.failed:
            found.bad = f"nvidia-smi failed: {said.failed}"
            return found
        if said.silent:
            if not visible_gpus():
                found.bad = f"{said.silent}, and {why_none()}: take a machine with a GPU"
                return found
            found.lines.append(f"{said.silent}: lowered clocks cannot be seen")
            return _fitting(found)
        found.lines.append(f"the {turn} call of nvidia-smi took {took:.1f} s")
    found.lines += said.output.strip().splitlines()
    if took > _SLOW:
        found.lines.append(
            "slow: nothing keeps the adapters started. As root, start nvidia-persistenced or call "
            "`nvidia-smi -pm 1`; else every pause costs this again"
        )
    return _fitting(found)


def _fitting(found: Found) -> Found:
    version = builds.driver_version()
    build = builds.choose(version)
    if not version:
        found.lines.append("the driver does not say its version: step 4 shows whether torch fits")
    elif isinstance(build, str):
        found.bad = build
    else:
        found.lines.append(
            f"driver {version}: torch for CUDA {build.cuda} fits, for cards from {build.cards}; "
            "`make gpu-env` installs it into .venv-gpu"
        )
    return found


def listed() -> Found:
    """List the GPUs as the grader does, and what the driver says of each."""
    gpus = visible_gpus()
    if not gpus:
        return Found(bad=f"the grader sees no GPU: {why_none()}")
    found = Found()
    for gpu in gpus:
        state = ask(gpu.card)
        found.lines.append(f"{gpu.uuid} on {cuda.node(gpu.minor)}: {dict(state.facts)}")
        if state.errors:
            found.lines.append(f"{state.errors} old uncorrectable memory errors; new ones count")
        problems = [*filter(None, [state.problem]), *node_problems(gpu)]
        found.bad = found.bad or "; ".join(problems)
    return found


def walls() -> Found:
    """Look at what the sandbox takes of this kernel, and where the driver's library is."""
    covered = cuda.covered()
    found = Found([f"user {os.geteuid()}; Landlock's version: {landlock.abi() or 'none'}"])
    if covered:
        found.lines.append(
            "the container's runtime has mounted over /proc/driver/nvidia: tier full takes root "
            "with CAP_SYS_ADMIN and CAP_NET_ADMIN, else the tier is restricted"
        )
    folders = cuda.library_folders(os.environ.get("LD_LIBRARY_PATH", ""))
    found.lines.append(f"folders of libcuda.so.1 that the loader does not know: {folders or '-'}")
    if not landlock.abi():
        found.bad = (
            "no Landlock: the grader shows no GPU in a sandbox without it. Take a kernel from 5.13 "
            "on, with landlock in /sys/kernel/security/lsm"
        )
    return found


def torch_alone() -> Found:
    """Compute a product with torch, in an ordinary process."""
    return _ran([sys.executable, "-c", PRODUCT])


def after_a_fork() -> Found:
    """Compute in a fork of a process that imported torch with the GPU hidden, as the sandbox does.

    The second parent has run a backward pass before. Torch counts the devices then, once, and finds
    none; that fork is expected to fail and says nothing of this machine.
    """
    hidden = {**os.environ, **cuda.HIDDEN, "OMP_NUM_THREADS": "1"}
    found = _ran([sys.executable, "-c", FORKED, "import"], hidden)
    if not found.bad:
        after = _ran([sys.executable, "-c", FORKED, "backward"], hidden)
        found.lines.append(f"after a backward pass in the parent: {after.lines[-1:]} (no finding)")
    return found


def another_user() -> Found:
    """Compute as another user without new privileges, as student processes are. Root only."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return Found(["left out: it takes root and setpriv"])
    if closed := closed_folder():
        return Found([f"left out: other users may not enter {closed}, where the interpreter is"])
    user = str(_OTHER_USER)
    become = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"]
    found = _ran([*become, sys.executable, "-c", PRODUCT], {**os.environ, "HOME": "/tmp"})
    if found.bad:
        found.bad += "; as this user it worked: look at who may open the nodes and the interpreter"
    return found


def opened() -> Found:
    """Note what the driver opens that the sandbox does not show: step 8 may end with error 304."""
    if not shutil.which("strace"):
        return Found(["left out: there is no strace"])
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        trace = ["strace", "-f", "-e", f"trace={','.join(_CALLS)}", "-o", str(log)]
        subprocess.run([*trace, sys.executable, "-c", PRODUCT], capture_output=True, check=False)
        text = log.read_text(errors="replace") if log.exists() else ""
    if not text:
        return Found(["left out: strace noted nothing here"])
    calls = [line for line in text.splitlines() if " = -1 " not in line]
    opened = {line.split('"')[1] for line in calls if "openat(" in line and line.count('"') >= 2}
    shown = (*cuda.READABLE, *cuda.nodes(gpu.minor for gpu in visible_gpus()))
    unknown = sorted(path for path in opened if _outside(path, shown))
    others = sorted({name for name in _CALLS[1:] for line in calls if f" {name}(" in line})
    return Found(
        [
            "opened, and not shown to student processes (where step 8 fails with error 304, try "
            f"these in grader/sandbox/walls/cuda.py): {', '.join(unknown[:60]) or 'nothing'}",
            f"calls beside opening files: {', '.join(others) or 'none'}",
        ]
    )


def _outside(path: str, shown: Sequence[str]) -> bool:
    """Tell whether a path of the machine's own is in no folder that student processes are shown."""
    if not path.startswith(("/dev/", "/proc/", "/sys/", "/run/", "/tmp/")):
        return False
    # Every process has these of its own.
    if re.match(r"/proc/(self|\d+)/|/proc/(cpuinfo|meminfo|stat)$", path):
        return False
    known = (*shown, *(f"/dev/{name}" for name in view.DEVICES), "/dev/shm")
    return not any(f"{path}/".startswith(f"{place}/") for place in known)


def sandboxed() -> Found:
    """Compute in the sandbox on each GPU; nothing of that may be left on the card afterwards."""
    gpus = visible_gpus()
    before = used_memory(gpus)
    begun = time.monotonic()
    with open_sandbox("auto", gpus=gpus) as box:
        tier = box.isolation.tier.value
        proof = prove_gpus(box, gpus, Limits(memory_mb=1024))
    took = time.monotonic() - begun
    names = ", ".join(gpu.uuid for gpu in gpus)
    if proof.failed:
        return Found([f"tier {tier}, {took:.1f} s"], proof.explanation(tier))
    found = Found(
        [
            f"tier {tier}: right on {names} in {took:.1f} s",
            f"the driver takes {proof.memory / 2**20:.0f} MiB of the machine's memory in a student "
            f"process; each is allowed {proof.gpu_memory / 2**20:.0f} MiB for it",
        ]
    )
    after = used_memory(gpus)
    left = [card for card, used in after.items() if used > before.get(card, used) + LEFT_OVER]
    for card in left:
        found.bad = (
            f"{card} had {before[card]} MiB in use before and has {after[card]} MiB now, with all "
            "student processes ended: nvidia-smi lists who holds it"
        )
    return found


def used_memory(gpus: Sequence[Gpu]) -> dict[str, int]:
    """Return card → MiB of its memory that are in use, where the driver tells."""
    told = {gpu.card: str(ask(gpu.card).facts.get("memory.used", "")) for gpu in gpus}
    return {card: int(used) for card, used in told.items() if used.isdigit()}


def _ran(command: list[str], environment: dict[str, str] | None = None) -> Found:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return Found(bad="no answer within 300 s: dmesg may say why (NVRM, Xid)")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    found = Found(lines[-4:])
    if done.returncode or "product: 512.0" not in done.stdout:
        errors = [line for line in lines if _ERROR.match(line)]
        last = (errors or lines or [f"status {done.returncode}"])[-1]
        found.bad = "; ".join(filter(None, (last, advice("\n".join(lines)))))
    return found


STEPS: tuple[tuple[str, Callable[[], Found]], ...] = (
    ("The driver answers", driver),
    ("The grader sees the GPUs, and student processes may open them", listed),
    ("The kernel has what the sandbox takes", walls),
    ("Torch computes on the GPU", torch_alone),
    ("Torch computes there in a fork, as the sandbox has it", after_a_fork),
    ("Another user computes there", another_user),
    ("What the driver opens", opened),
    ("A student process computes there, in the sandbox", sandboxed),
)


def main(steps: Sequence[tuple[str, Callable[[], Found]]] = STEPS) -> int:
    """Take the steps, to the first bad one; return the exit status."""
    for number, (title, step) in enumerate(steps, 1):
        print(f"{number}. {title}", flush=True)  # noqa: T201  for whoever called make
        found = step()
        for line in found.lines:
            print(f"   {line}")  # noqa: T201
        if found.bad:
            print(f"   Stopped here: {found.bad}", flush=True)  # noqa: T201
            return 1
    print("All is well. Next: make gpu")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
