"""Which build of torch fits the driver of this machine: asked before gigabytes are downloaded.

``python tests/gpu/builds.py [CUDA]`` prints what pip is to install, and ends with 1 and a sentence
where nothing fits. Standard library only: nothing is installed when it is asked.

Sources: NVIDIA's table of minor-version compatibility (CUDA 13 runs on drivers from 580 on, CUDA 12
from 525 on); torch's support matrix of release 2.13 (which builds there are, for which cards).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Build(NamedTuple):
    """A build of torch.

    Attributes:
        cuda: The version of CUDA that it has.
        driver: The oldest driver that it runs on, by the first number of its version.
        cards: Those that it has kernels for.
        torch: Its exact version. With ``===``: ``==`` would take a build for CPUs as well.
        index: Where it is, if not where pip looks.
    """

    cuda: str
    driver: int
    cards: str
    torch: str
    index: str = ""

    @property
    def pip(self) -> str:
        """What pip is to install, and where it finds it.

        Torch's own index is one more, and not the only one: it has few versions of what torch
        requires, and none of those that the constraints pin.
        """
        where = f"--extra-index-url {self.index} " if self.index else ""
        return f"{where}torch==={self.torch}"


BUILDS = (
    Build("13.0", 580, "Turing (T4) to Blackwell", "2.13.0"),
    Build(
        "12.6", 525, "Maxwell to Hopper", "2.13.0+cu126", "https://download.pytorch.org/whl/cu126"
    ),
)
"""The newest first. Both are the same torch."""

VERSIONS = (Path("/proc/driver/nvidia/version"), Path("/sys/module/nvidia/version"))
"""Where the loaded driver says which it is: at once, where its tool may take a minute."""

NO_DRIVER = (
    "No NVIDIA driver is loaded on this machine: none of /proc/driver/nvidia/version, "
    "/sys/module/nvidia/version and nvidia-smi names one. Nothing was installed or run."
)
TOO_OLD = (
    "The NVIDIA driver is {driver}; torch {torch} for CUDA {cuda} needs {least} or newer. "
    "{instead}. Nothing was installed or run."
)
WSL = (
    "This is WSL 2, which has /dev/dxg in the place of a GPU's own nodes; torchgrade does not "
    "support that. Nothing was installed or run."
)
UNKNOWN = "There is no build for CUDA {cuda}; TORCH_CUDA= takes {known}."
_TOOL = ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
_TOOL_SECONDS = 60


def driver_version(files: Iterable[Path] = VERSIONS) -> str:
    """Return the version of the loaded driver, or an empty string."""
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if found := re.search(r"\b\d{3,}\.\d+(\.\d+)?\b", text):
            return found[0]
    try:
        done = subprocess.run(
            _TOOL, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"^\d{3,}\.\d+\S*", done.stdout, re.MULTILINE)
    return found[0] if found else ""


def fits(build: Build, driver: str) -> bool:
    """Tell whether a build runs on a driver."""
    return int(driver.split(".", maxsplit=1)[0]) >= build.driver


def choose(driver: str, cuda: str = "") -> Build | str:
    """Return the build to install, or why there is none.

    Args:
        driver: Version of the loaded driver; empty where there is none.
        cuda: The build that was asked for; empty for the newest that fits.
    """
    named = [build for build in BUILDS if cuda in ("", build.cuda)]
    if not named:
        return UNKNOWN.format(cuda=cuda, known=" or ".join(build.cuda for build in BUILDS))
    if not driver:
        return NO_DRIVER
    for build in named:
        if fits(build, driver):
            return build
    return too_old(driver, named[-1])


def has_kernels(capability: tuple[int, int], compiled: Iterable[str]) -> bool:
    """Tell whether a build has kernels for a card.

    Args:
        capability: Of the card, such as 7 and 5.
        compiled: What the build was compiled for: ``sm_75`` runs on cards of the same first number
            and at least that second one, ``compute_75`` on all from there on.
    """
    for kind, digits in (name.split("_") for name in compiled):
        # Letters, as in sm_90a, mean that card alone.
        if digits.isdigit():
            found = int(digits[:-1]), int(digits[-1])
            if found <= capability and (kind == "compute" or found[0] == capability[0]):
                return True
    return False


def too_old(driver: str, build: Build) -> str:
    """Return that a driver is too old for a build, and what to do."""
    other = next((each for each in BUILDS if fits(each, driver)), None)
    instead = "Update the driver"
    if other is not None:
        instead += f", or run `make gpu TORCH_CUDA={other.cuda}`: for cards from {other.cards}"
    return TOO_OLD.format(
        driver=driver, torch=build.torch, cuda=build.cuda, least=build.driver, instead=instead
    )


def main(cuda: str = "", wsl: Path = Path("/dev/dxg")) -> int:
    """Print what pip is to install; return the exit status."""
    chosen = WSL if wsl.exists() else choose(driver_version(), cuda)
    if isinstance(chosen, str):
        print(chosen, file=sys.stderr)  # noqa: T201  for whoever called make
        return 1
    print(chosen.pip)  # noqa: T201  for make
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
