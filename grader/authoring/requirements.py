"""Which packages a packed autograder installs, in exactly the versions that were tried here.

The versions are those that are installed where ``grader pack`` runs, with everything that they need
in turn, and so is the Python they go with: the very set that graded the reference a moment ago. A
list that the program carries along would be older than that, and may not be what was tried.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from grader.assignment.types import Question
from grader.errors import UsageError

DISTRIBUTION = "torchgrade"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's own index of builds for the CPU. What the usual one gives brings gigabytes of CUDA."""
_TORCH = "torch"
# Modules that come with a package of another name, and not with the one they are found in.
_FROM = {"torch.utils.tensorboard": "tensorboard"}
# What pip sees on the platform, whatever this machine is.
_THERE = {
    "extra": "",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_system": "Linux",
    "sys_platform": "linux",
}


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a packed autograder installs.

    Attributes:
        python: Version of Python that all of it goes with, such as ``3.11``.
        torch: Version of torch, without the mark of its build.
        program: Requirements of this program.
        extras: Packages that questions declare beyond those.
        pins: ``name==version`` of each of these, and of all that they need.
    """

    python: str
    torch: str
    program: tuple[str, ...]
    extras: tuple[str, ...]
    pins: tuple[str, ...]

    @property
    def packages(self) -> tuple[str, ...]:
        """What pip is to install from the pack's folder, after torch."""
        return (f"./{DISTRIBUTION}", *self.extras)


def required_by(questions: Iterable[Question]) -> Requirements:
    """Return what has to be installed to grade some questions.

    Args:
        questions: Those that can be graded on the platform.

    Raises:
        UsageError: This program is not installed, or a package that a question with points needs
            is not.
    """
    program = [str(need) for need in _needs(DISTRIBUTION)]
    wanted: dict[str, str] = {}
    for question in questions:
        for module in question.needs.packages:
            name = _distribution_of(module)
            if _installed(name):
                wanted[name] = module
            else:
                _refuse_absent(question, module, name)
    pins = _pins([*(need.name for need in _needs(DISTRIBUTION)), *wanted])
    direct = {canonicalize_name(need.name) for need in _needs(DISTRIBUTION)}
    return Requirements(
        python=".".join(platform.python_version_tuple()[:2]),
        torch=pins[_TORCH],
        program=tuple(program),
        extras=tuple(sorted(set(wanted) - direct)),
        pins=tuple(f"{name}=={version}" for name, version in sorted(pins.items())),
    )


def _refuse_absent(question: Question, module: str, name: str) -> None:
    if question.points:
        raise UsageError(
            f"{question.id} needs the module {module}, which is not installed here, so the "
            f"version to pack is not known and the reference cannot be tried: pip install {name}, "
            "and pack again"
        )


def _distribution_of(module: str) -> str:
    """Return the name under which a module is installed; its own where nobody knows."""
    if module in _FROM:
        return _FROM[module]
    top = module.partition(".")[0]
    known = importlib.metadata.packages_distributions().get(top, [top])
    return canonicalize_name(known[0])


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _needs(name: str) -> Iterator[Requirement]:
    """Yield what a package needs on the platform, without its optional extras.

    Raises:
        UsageError: It is this program, and is not installed.
    """
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError as error:
        if name != DISTRIBUTION:
            return
        raise UsageError(
            f"{DISTRIBUTION} is not installed, only lying there; install it with pip to pack it"
        ) from error
    for line in lines:
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate(_THERE):
            need.marker = None
            yield need


def _pins(names: Iterable[str]) -> dict[str, str]:
    """Return package → version for these and all that they need, where it is installed here."""
    pins: dict[str, str] = {}
    ahead = [canonicalize_name(name) for name in names]
    while ahead:
        name = ahead.pop()
        if name not in pins and _installed(name):
            # 2.13.0+cpu is 2.13.0 to every index.
            pins[name] = Version(importlib.metadata.version(name)).public
            ahead += [canonicalize_name(need.name) for need in _needs(name)]
    return pins
