"""Several processes that run one script, a rank each: what ``torchrun`` does, on virtual GPUs.

``python -m grader.vgpu --nproc 4 script.py`` starts them itself. Under ``torchrun … -m grader.vgpu
script.py`` they are torchrun's; whichever of them ends last says what all of them did.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch.distributed

FOLDER = "TORCHGRADE_VGPU_FOLDER"
"""Names the folder of accounts to a rank that this module has started."""


def launch(ranks: int, arguments: Sequence[str], folder: Path) -> int:
    """Run ``python -m grader.vgpu ARGUMENTS`` once for each rank; return the exit status.

    Args:
        ranks: How many.
        arguments: The same for all of them.
        folder: Where they leave what they did.

    The first that fails ends the others, as torchrun has it.
    """
    meeting = Meeting()
    shared = {
        **os.environ, **meeting.environment(ranks), FOLDER: str(folder), "GROUP_RANK": "0",
        "LOCAL_WORLD_SIZE": str(ranks),
    }  # fmt: skip
    shared.setdefault("OMP_NUM_THREADS", "1")
    command = [sys.executable, "-m", "grader.vgpu", *arguments]
    started = [
        subprocess.Popen(  # noqa: S603  this very command
            command, env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        )
        for rank in range(ranks)
    ]
    try:
        return _wait(started)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def _wait(started: Sequence[subprocess.Popen[bytes]]) -> int:
    while True:
        ended = [process.poll() for process in started]
        failed = next((status for status in ended if status), 0)
        if failed or None not in ended:
            return 128 - failed if failed < 0 else failed
        time.sleep(0.02)


class Meeting:
    """Where ranks find each other: a store in the process that starts them, as torchrun's agent's.

    The system chooses the port while the store opens it, so no other program can take it between;
    and the store is there until the last rank has ended, whichever that is.
    """

    def __init__(self) -> None:
        make: Any = torch.distributed.TCPStore  # type: ignore[attr-defined]
        self._store = make("127.0.0.1", 0, is_master=True, wait_for_workers=False)

    def environment(self, ranks: int) -> dict[str, str]:
        """Return what tells so many ranks about it; each needs its ``RANK`` beside."""
        return {
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self._store.port),
            "WORLD_SIZE": str(ranks), "TORCHELASTIC_USE_AGENT_STORE": "True",
            "TORCHELASTIC_RESTART_COUNT": "0",
        }  # fmt: skip


def torchruns_folder() -> Path | None:
    """Return the folder that the ranks of one torchrun share, made where need be; else None."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    told = (os.environ["TORCHELASTIC_RUN_ID"], os.environ.get("MASTER_PORT", ""), os.getppid())
    folder = Path(tempfile.gettempdir()) / f"torchgrade-{os.getuid()}-{'-'.join(map(str, told))}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def is_last(folder: Path) -> bool:
    """Say that this rank has ended; return whether it was the last of this machine's.

    The last one is told once: making a folder can succeed only once.
    """
    (folder / f"{os.environ['LOCAL_RANK']}.ended").touch()
    if len(list(folder.glob("*.ended"))) < int(os.environ["LOCAL_WORLD_SIZE"]):
        return False
    with contextlib.suppress(FileExistsError):
        (folder / "told").mkdir()
        return True
    return False
