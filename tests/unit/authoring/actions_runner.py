"""A runner of GitHub Actions, as far as the packed workflow goes.

``run:`` steps are executed as they are written, in a folder laid out as a runner has it. The four
actions that the workflow uses are played: a checkout copies the repository, artifacts are folders.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2]
_PYTHON = """\
#!/usr/bin/env bash
# Where pip would install and venv would build, what is installed here already stands in.
case "$1 $2" in
    "-m pip") echo "$@" >> {log}; exit 0 ;;
    "-m venv") mkdir -p "$3/bin"; cp {tools}/* "$3/bin/"; exit 0 ;;
esac
exec {python} "$@"
"""
_NOT_IN_ARTIFACTS = re.compile(r'[":<>|*?\r\n]')
"""Characters of names that upload-artifact refuses, and with them the whole artifact."""

_GRADER = '#!/usr/bin/env bash\nexec {command} "$@"\n'


@dataclass
class Result:
    """What became of a job.

    Attributes:
        failed: Names of steps that failed.
        ran: Names of steps that ran.
        output: What all of them printed.
        summary: What is on the job's page.
    """

    failed: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    output: str = ""
    summary: str = ""


class Runner:
    """A machine.

    Args:
        home: Its folder.
        repository: What a checkout gives.
        artifacts: Where artifacts of the workflow's run are.
        server: Of repositories, as a URL.
        double: Play a machine with a GPU.
    """

    def __init__(
        self, home: Path, repository: Path, artifacts: Path, server: str, double: bool = False
    ) -> None:
        self.workspace, self._temp = home / "work", home / "temp"
        self._tools, self._repository, self._artifacts = home / "tools", repository, artifacts
        for folder in (self.workspace, self._temp, self._tools):
            folder.mkdir(parents=True)
        self.pip = home / "pip.log"
        command = str(Path(sys.executable).with_name("grader"))
        if double:
            command = f"{sys.executable} {TESTS / 'gpu_double.py'} {home / 'leases'}"
        blanks = {"log": self.pip, "tools": self._tools, "python": sys.executable}
        self._tool("python", _PYTHON.format(**blanks))
        self._tool("grader", _GRADER.format(command=command))
        self._environment = {
            "PATH": f"{self._tools}:{os.environ['PATH']}",
            "HOME": str(home),
            "PYTHONPATH": str(TESTS),
            "GITHUB_SERVER_URL": server,
            "RUNNER_TEMP": str(self._temp),
        }

    def run(self, job: Mapping[str, Any], values: Mapping[str, str]) -> Result:
        """Run a job.

        Args:
            job: From the workflow.
            values: Expression → value.
        """
        result = Result()
        for number, step in enumerate(job["steps"]):
            name = step.get("name", step.get("uses"))
            if result.failed and "if" not in step:
                continue
            result.ran.append(name)
            if "uses" in step:
                self._use(step["uses"].split("@")[0], step.get("with", {}))
            elif not self._script(number, step, values, result):
                result.failed.append(name)
        return result

    def _tool(self, name: str, text: str) -> None:
        (self._tools / name).write_text(text)
        (self._tools / name).chmod(0o755)

    def _script(
        self, number: int, step: Mapping[str, Any], values: Mapping[str, str], result: Result
    ) -> bool:
        script, summary, path = (self._temp / f"{number}.{end}" for end in ("sh", "md", "path"))
        script.write_text(step["run"])
        summary.touch()
        path.touch()
        assert "${{" not in step["run"], "an expression in a script is run as code"
        own = {
            key: re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: values[found[1]], value)
            for key, value in step.get("env", {}).items()
        }
        files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_PATH": str(path)}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={**self._environment, **own, **files},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        for line in path.read_text().split():
            self._environment["PATH"] = f"{line}:{self._environment['PATH']}"
        result.output += done.stdout
        result.summary += summary.read_text()
        return done.returncode == 0

    def _use(self, action: str, given: Mapping[str, Any]) -> None:
        if action == "actions/checkout":
            shutil.copytree(self._repository, self.workspace, dirs_exist_ok=True)
        elif action == "actions/upload-artifact":
            for name in given["path"].split():
                there, here = self._artifacts / given["name"] / name, self.workspace / name
                there.parent.mkdir(parents=True, exist_ok=True)
                for path in [here, *here.rglob("[!.]*")]:
                    relative = str(path.relative_to(self.workspace))
                    assert not _NOT_IN_ARTIFACTS.search(relative), f"no artifact takes {relative}"
                if here.is_dir():
                    # Hidden files stay behind, and links are followed.
                    shutil.copytree(here, there, ignore=shutil.ignore_patterns(".*"))
                elif here.exists():
                    shutil.copy(here, there)
        elif action == "actions/download-artifact":
            shutil.copytree(self._artifacts / given["name"], self.workspace, dirs_exist_ok=True)
        else:
            assert action == "actions/setup-python", action
