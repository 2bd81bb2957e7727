"""Install torch's CPU build before everything else, where this machine has no GPU to use another.

``python .ci/light_torch.py CONSTRAINTS`` runs pip of the interpreter that runs it. On Linux pip's
usual index gives a build with CUDA, which is some fifteen times as large. Where there is a GPU, it
only says so. It always ends with 0: where torch's own index cannot be reached, or has no such
version, what follows takes the usual build.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import urllib.request
from http.client import HTTPException
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "gpu"))
from builds import driver_version

INDEX = "https://download.pytorch.org/whl/cpu"
"""As in ``grader/authoring/platform_dry_run.py``, which cannot be imported yet."""

FETCHES = "No GPU here: fetching torch {torch} for CPUs (about 200 MB) from torch's own index."
CUDA = "A GPU is here: torch {torch} for it (about 3 GB) comes from the usual index."
NO_ANSWER = "torch's own index cannot be read ({why})"
NOT_FROM_IT = "torch's own index answers, but pip took no torch {torch} from it ({why})"
USUAL = (
    "{found}: pip's usual index serves, whose build for Linux takes about 3 GB where it is one "
    "for GPUs."
)


def pinned(constraints: Path) -> str:
    """Return the version of torch that the constraints name; empty where they name none."""
    found = re.search(r"^torch==(\S+)", constraints.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def not_had(torch: str, index: str, said: str) -> str:
    """Say why pip, which ``said`` this, has nothing from an index.

    What pip says is the same for an index without such a build and for one that does not answer.
    """
    try:
        urllib.request.urlopen(f"{index}/torch/", timeout=10).close()  # noqa: S310  a constant
    except (OSError, HTTPException) as error:
        return NO_ANSWER.format(why=getattr(error, "reason", error))
    errors = re.findall(r"^ERROR: (.+)", said, re.MULTILINE)
    return NOT_FROM_IT.format(torch=torch, why=errors[-1] if errors else "for no reason it gives")


def main(constraints: Path, index: str = INDEX) -> None:
    """Install it, in one short try."""
    torch = pinned(constraints)
    if importlib.util.find_spec("torch") or not torch:
        return
    if not sys.platform.startswith("linux"):
        return
    if driver_version():
        print(CUDA.format(torch=torch), flush=True)
        return
    print(FETCHES.format(torch=torch), flush=True)
    done = subprocess.run(  # noqa: S603  the index and the version are constants
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--retries", "0", "--timeout", "10", "--no-deps", "--index-url", index,
            f"torch=={torch}",
        ],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )  # fmt: skip
    if done.returncode:
        print(USUAL.format(found=not_had(torch, index, done.stderr)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
