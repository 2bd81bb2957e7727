"""``make gpu``: everything that needs a GPU, and the figures that it took, in one file.

Tests leave figures with pytest's ``record_property``: a name, and a value with its unit.
"""

from __future__ import annotations

import datetime as dt
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]
# Make starts this file as a program.
sys.path.insert(0, str(TESTS))

from gpu.builds import BUILDS, driver_version, fits, has_kernels, too_old  # noqa: E402

NO_GPU = "make gpu: the grader sees no GPU: {why}. Nothing was run."
NO_CUDA = (
    "make gpu: torch {version} in this environment is a build without CUDA. `make gpu` makes an "
    "environment of its own, .venv-gpu, with one that has it: remove that folder and run it again. "
    "Nothing was run."
)
NO_KERNELS = (
    "make gpu: torch {version} has no kernels for {card} (compute capability {capability}); it has "
    "them for {compiled}. `make gpu TORCH_CUDA={other}` takes the build for other cards. Nothing "
    "was run."
)
NOT_FOUND = (
    "make gpu: torch {version} finds no GPU with driver {driver}. `make gpu-doctor` looks for the "
    "reason, step by step. Nothing was run."
)
NOTHING_RAN = "make gpu: no test ran; see the reasons above."


@dataclass
class Figures:
    """What the tests met; a plugin of pytest.

    Attributes:
        tests: Test → outcome, seconds, and why it was skipped.
        figures: Name → value with its unit, in the order in which they were taken.
    """

    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test, or its set-up where that skipped or failed."""
        if report.when != "call" and report.passed:
            return
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        found = {"outcome": report.outcome, "seconds": round(report.duration, 3), "why": reason}
        self.tests[report.nodeid] = found
        self.figures |= {name: str(value) for name, value in report.user_properties}

    @property
    def passed(self) -> int:
        """Number of tests that passed."""
        return sum(test["outcome"] == "passed" for test in self.tests.values())


def unready() -> str:
    """Return why nothing can be run here, or an empty string."""
    from grader.run.gpu_driver import why_none  # noqa: PLC0415
    from grader.run.gpu_state import visible_gpus  # noqa: PLC0415

    if not visible_gpus():
        return NO_GPU.format(why=why_none())
    import torch  # noqa: PLC0415  not where there is no GPU at all

    version, cuda, driver = torch.__version__, torch.version.cuda, driver_version()
    if cuda is None:
        return NO_CUDA.format(version=version)
    build = next((each for each in BUILDS if each.cuda == cuda), None)
    if build is not None and driver and not fits(build, driver):
        return too_old(driver, build)
    if not torch.cuda.is_available():
        return NOT_FOUND.format(version=version, driver=driver or "of an unknown version")
    compiled = torch.cuda.get_arch_list()
    for number in range(torch.cuda.device_count()):
        capability = torch.cuda.get_device_capability(number)
        if not has_kernels(capability, compiled):
            return NO_KERNELS.format(
                version=version,
                card=torch.cuda.get_device_name(number),
                capability=".".join(map(str, capability)),
                compiled=", ".join(compiled),
                other=" or ".join(each.cuda for each in BUILDS if each.cuda != cuda),
            )
    return ""


def machine() -> dict[str, str]:
    """Return what the figures were taken on."""
    import torch  # noqa: PLC0415

    from grader.run.gpu_state import ask, visible_gpus  # noqa: PLC0415

    found = {
        "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    for number, gpu in enumerate(visible_gpus()):
        facts = ask(gpu.card).facts
        told = (str(facts[name]) for name in ("name", "driver_version") if name in facts)
        found[f"gpu {number}"] = ", driver ".join(told) or gpu.uuid
    return found


def page(where: Mapping[str, str], found: Figures) -> str:
    """Return what was found as Markdown, for the docs."""
    lines = ["# What `make gpu` found", "", "| machine | |", "| --- | --- |"]
    lines += [f"| {name} | {value} |" for name, value in where.items()]
    lines += ["", "| figure | |", "| --- | --- |"]
    lines += [f"| {name} | {value} |" for name, value in found.figures.items()]
    lines += ["", f"{found.passed} of {len(found.tests)} tests passed.", ""]
    lines += [
        f"- {test['outcome']}: `{name}` {test['why']}".rstrip()
        for name, test in found.tests.items()
        if test["outcome"] != "passed"
    ]
    return "\n".join(lines).rstrip() + "\n"


def main(out: Path, arguments: Sequence[str] = (str(TESTS),)) -> int:
    """Run the tests, write ``gpu-figures.json`` and ``.md`` into a folder, return the exit status.

    Args:
        out: The folder; made if absent.
        arguments: For pytest: what to run.
    """
    if problem := unready():
        print(problem, file=sys.stderr)  # noqa: T201  for whoever called make
        return 1
    found = Figures()
    status = int(pytest.main(["-m", "gpu", *arguments], plugins=[found]))
    where = machine()
    out.mkdir(parents=True, exist_ok=True)
    document = {"machine": where, "figures": found.figures, "tests": found.tests}
    path = out / "gpu-figures.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(where, found), encoding="utf-8")
    print(f"Written: {path} and {path.with_suffix('.md').name}")  # noqa: T201
    if not found.passed:
        print(NOTHING_RAN, file=sys.stderr)  # noqa: T201
        return status or 1
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
