"""Runs public scripts on virtual GPUs, as they are, and says what came of each.

``python tests/vgpu/gpu_scripts/public.py [NAME …]`` fetches the scripts of ``public.yaml`` from
GitHub, each at its commit, and runs them in a folder of their own with tiny data in place of
downloads.
``--mirrors FOLDER`` takes them from git mirrors, ``FOLDER/OWNER+NAME/repo``, instead.
``--advice`` adds the lines of each script that the advice names. It prints

- works: it ended well; where ``compare`` is set it printed the CPU's losses and accuracies;
- runs on: nothing went wrong until the time was up;
- refused: by name, with what works instead;
- wrong: other numbers than the CPU's, or an error that a GPU would not have given;
- skipped: it could not be fetched, needs a module that is not here, or fails on the CPU alike.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from gpu_scripts.processes import Ran, run_together
from gpu_scripts.runner import REFUSED, last_error, on_host

LIST = Path(__file__).with_name("public.yaml")
_STAND_INS = Path(__file__).parent / "stand_ins"
_RAW = "https://raw.githubusercontent.com"
_PORTS = re.compile(rb"MASTER_PORT'?\"?\] *=|tcp://")
_ADVICE = re.compile(r"^! (.+, line \d+, .+)$", re.M)
_one_at_a_time = threading.Lock()
_MISSING = re.compile(r"No module named '([\w.]+)'")
_JUDGED = re.compile(
    r"(?i)(?:loss|acc\w*|error|perplexity)\b[^\d\n-]{0,30}(-?\d+\.\d+(?:e[-+]\d+)?)"
)


class FetchError(Exception):
    """A script that could not be fetched."""


@dataclass(frozen=True, slots=True)
class PublicScript:
    """A script of the list.

    Attributes:
        name: Of it here.
        repository: ``owner/name``.
        commit: Where it is read.
        path: In the repository.
        files: What it needs beside it, likewise.
        folders: That it expects beside it, empty.
        arguments: On its command line.
        gpus: Virtual GPUs.
        nproc: Ranks; 0 where it is one process, or starts them itself.
        compare: It prints what must be the same on the CPU.
        environment: Variables that it reads.
        raises: What it ends with on any device: a mistake of its own, or of an older torch.
    """

    name: str
    repository: str
    commit: str
    path: str
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    arguments: str = ""
    gpus: int = 1
    nproc: int = 0
    compare: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    raises: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a script, why, and what the advice says of its lines."""

    name: str
    word: str
    why: str = ""
    advice: tuple[str, ...] = ()


def public_scripts() -> list[PublicScript]:
    """Return the list."""
    told = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return [
        PublicScript(repository=each["repository"], commit=each["commit"], **_lists(script))
        for each in told
        for script in each["scripts"]
    ]


def _lists(script: dict[str, object]) -> dict[str, object]:
    forms = {"files": tuple, "folders": tuple, "environment": lambda value: tuple(value.items())}
    return {key: forms.get(key, lambda value: value)(value) for key, value in script.items()}


def fetch(script: PublicScript, folder: Path, mirrors: Path | None) -> Path:
    """Write a script, and what it needs, below a folder; return its path.

    Raises:
        FetchError: It cannot be had.
    """
    for path in (script.path, *script.files):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_read(script, path, mirrors))
    for name in script.folders:
        (folder / script.path).parent.joinpath(name).mkdir(parents=True)
    return folder / script.path


def _read(script: PublicScript, path: str, mirrors: Path | None) -> bytes:
    if mirrors is not None:
        below = mirrors / script.repository.replace("/", "+") / "repo"
        command = ["git", "-C", str(below), "show", f"{script.commit}:{path}"]
        shown = subprocess.run(command, capture_output=True, check=False)
        if shown.returncode:
            raise FetchError(f"{script.repository} is not in {mirrors.name} at that commit")
        return shown.stdout
    try:
        url = f"{_RAW}/{script.repository}/{script.commit}/{path.replace(' ', '%20')}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, OSError) as error:
        raise FetchError(f"could not be fetched: {error}") from error


def judge(script: PublicScript, mirrors: Path | None, wall: float) -> Outcome:
    """Fetch a script and run it; return what came of it."""
    with TemporaryDirectory() as name:
        try:
            path = fetch(script, Path(name).resolve(), mirrors)
        except FetchError as error:
            return Outcome(script.name, "skipped", str(error))
        # Scripts that name a port themselves cannot run side by side.
        port = _PORTS.search(path.read_bytes() + script.arguments.encode())
        with _one_at_a_time if port else contextlib.nullcontext():
            return _judged(script, path, wall)


def _judged(script: PublicScript, path: Path, wall: float) -> Outcome:
    options = ["-m", "grader.vgpu", "--gpus", str(script.gpus)]
    options += ["--nproc", str(script.nproc)] if script.nproc else []
    virtual = _run(options, script, path, wall)[0]
    outcome = _outcome(script, virtual, lambda: _run([], script, path, wall))
    return replace(outcome, advice=tuple(_ADVICE.findall(virtual.err)))


def _run(options: Sequence[str], script: PublicScript, path: Path, wall: float) -> list[Ran]:
    own = dict(script.environment)
    paths = [str(_STAND_INS), own.pop("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, *options, str(path), *script.arguments.split()]
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "MPLBACKEND": "agg", **own}
    if options:
        return run_together(command, [environment], path.parent, wall)
    command = ["env", *(f"{key}={value}" for key, value in environment.items()), *command]
    return on_host(command, script.nproc, folder=path.parent, wall=wall)


def _outcome(script: PublicScript, virtual: Ran, on_the_host: Callable[[], list[Ran]]) -> Outcome:
    told = virtual.err
    if "did not end by itself" in told and not re.search(r"^\w*Error", told, re.M):
        return Outcome(script.name, "runs on")
    if virtual.status and script.raises and script.raises in told:
        return Outcome(script.name, "skipped", f"fails on any device: {last_error(told)}")
    missing = _MISSING.search(told)
    if virtual.status and missing:
        return Outcome(script.name, "skipped", f"needs {missing[1]}")
    if virtual.status and REFUSED in told:
        return Outcome(script.name, "refused", last_error(told))
    if virtual.status == 0 and not script.compare:
        return Outcome(script.name, "works")
    host = on_the_host()
    if virtual.status:
        alike = last_error(told) in {last_error(each.err) for each in host}
        return Outcome(script.name, "skipped" if alike else "wrong", last_error(told))
    why = different(judged(virtual.out), judged("".join(each.out for each in host)))
    return Outcome(script.name, "wrong" if why else "works", why)


def judged(text: str) -> list[float]:
    """Return the losses, accuracies and errors that a script printed, in order of size."""
    return sorted(float(each) for each in _JUDGED.findall(text))


def different(found: list[float], expected: list[float]) -> str:
    """Return how numbers differ from the CPU's; empty where they do not."""
    if not expected or len(found) != len(expected):
        return f"printed {len(found)} numbers, on the CPU {len(expected)}"
    far = [
        pair for pair in zip(found, expected, strict=True)
        if not math.isclose(*pair, rel_tol=2e-3, abs_tol=2e-3)
    ]  # fmt: skip
    return f"printed {far[0][0]}, on the CPU {far[0][1]}" if far else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts and print the table; return 1 if one of them is wrong."""
    parser = argparse.ArgumentParser(description="Run public scripts on virtual GPUs.")
    parser.add_argument("names", nargs="*", help="of scripts in public.yaml; all of them")
    parser.add_argument("--mirrors", type=Path, help="folder of git mirrors, OWNER+NAME/repo")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each run (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (%(default)s)")
    parser.add_argument("--advice", action="store_true", help="print the lines that it names")
    parser.add_argument("--results", type=Path, help="JSON lines: adds to them, leaves out those")
    options = parser.parse_args(arguments)
    results = options.results
    told = [] if results is None or not results.exists() else results.read_text().splitlines()
    outcomes = [Outcome(**json.loads(line)) for line in told]
    known = {each.name for each in outcomes}
    chosen = [
        each for each in public_scripts()
        if each.name not in known and (not options.names or each.name in options.names)
    ]  # fmt: skip
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda each: judge(each, options.mirrors, options.seconds), chosen):
            outcomes.append(outcome)
            sys.stdout.write(f"{outcome.word:8} {outcome.name:34} {outcome.why[:150]}\n")
            sys.stdout.write(
                "".join(f"    ! {line}\n" for line in outcome.advice if options.advice)
            )
            sys.stdout.flush()
            if results is not None:
                with results.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
    counts = Counter(each.word for each in outcomes)
    sys.stdout.write(", ".join(f"{word} {number}" for word, number in counts.items()) + "\n")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
