"""A runner of GitHub Actions, as far as the packed workflow goes.

``run:`` steps are executed as they are written, in a folder laid out as a runner has it. The four
actions that the workflow uses are played: a checkout copies the repository, artifacts are folders.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
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

_GH = """\
#!/usr/bin/env bash
# Artifacts of an earlier run, as GitHub lists and gives them; each needs the job's token.
set -eu
: "${GH_TOKEN:?}"
case "$*" in
    "api repos/staff/grading/actions/artifacts?per_page=100")
        form='{"name": "%s", "created_at": "%s", "expired": false, "workflow_run": {"id": 71}}'
        comma=
        printf '{"artifacts": ['
        for path in "$EARLIER"/*/; do
            [ -d "$path" ] || continue
            printf "$comma$form" "$(basename "$path")" "$(date -ur "$path" +%FT%T.%NZ)"
            comma=,
        done
        echo ']}' ;;
    "run download 71 --repo staff/grading --name "*" --dir earlier")
        cp -r "$EARLIER/$7" earlier ;;
    *) echo "gh $*: not played" >&2; exit 1 ;;
esac
"""
_CONDITION = re.compile(r"\$\{\{ always\(\)(?: && (steps\.\w+\.outcome) != 'skipped')? \}\}")

_GRADER = '#!/usr/bin/env bash\nexec {command} "$@"\n'


def _wanted(condition: str | None, outcomes: Mapping[str, str], failed: bool) -> bool:
    """Tell whether a step runs, as far as the workflow's conditions go."""
    if condition is None:
        return not failed
    found = _CONDITION.fullmatch(condition)
    assert found, condition
    return found[1] is None or outcomes[found[1]] != "skipped"


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

    Attributes:
        cut: A file and a text: as soon as it holds that, the running step reaches its limit.
        earlier: Artifacts of an earlier run; those modified last are the newest.
        commit: Of the repository.
    """

    def __init__(
        self, home: Path, repository: Path, artifacts: Path, server: str, double: bool = False
    ) -> None:
        self.cut: tuple[str, bytes] | None = None
        self.earlier, self.commit = home / "none", "5eed"
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
        self._tool("gh", _GH)
        self._environment = {
            "PATH": f"{self._tools}:{os.environ['PATH']}",
            "HOME": str(home),
            "PYTHONPATH": str(TESTS),
            "GITHUB_SERVER_URL": server,
            "GITHUB_REPOSITORY": "staff/grading",
            "RUNNER_TEMP": str(self._temp),
        }

    def run(self, job: Mapping[str, Any], values: Mapping[str, str]) -> Result:
        """Run a job.

        Args:
            job: From the workflow.
            values: Expression → value.
        """
        result, outcomes = Result(), dict(values)
        for number, step in enumerate(job["steps"]):
            name = step.get("name", step.get("uses"))
            outcome = f"steps.{step.get('id')}.outcome"
            outcomes[outcome] = "skipped"
            if not _wanted(step.get("if"), outcomes, bool(result.failed)):
                continue
            result.ran.append(name)
            outcomes[outcome] = "success"
            if "uses" in step:
                self._use(step["uses"].split("@")[0], step.get("with", {}))
            elif not self._script(number, step, outcomes, result):
                result.failed.append(name)
                outcomes[outcome] = "failure"
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
        files = {
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_PATH": str(path),
            "GITHUB_SHA": self.commit,
            "EARLIER": str(self.earlier),
        }
        with (self._temp / f"{number}.txt").open("w+") as output:
            process = subprocess.Popen(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
                cwd=self.workspace,
                env={**self._environment, **own, **files},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            while process.poll() is None:
                if self.cut and self._holds(*self.cut):
                    # As a runner does at a step's limit: to the script, not to what it started.
                    process.send_signal(signal.SIGINT)
                    self.cut = None
                time.sleep(0.02)
            output.seek(0)
            result.output += output.read()
        for line in path.read_text().split():
            self._environment["PATH"] = f"{line}:{self._environment['PATH']}"
        result.summary += summary.read_text()
        return process.returncode == 0

    def _holds(self, name: str, text: bytes) -> bool:
        path = self.workspace / name
        return path.exists() and text in path.read_bytes()

    def _use(self, action: str, given: Mapping[str, Any]) -> None:
        if action == "actions/checkout":
            shutil.copytree(self._repository, self.workspace, dirs_exist_ok=True)
        elif action == "actions/upload-artifact":
            # Their folders stay in the artifact, as there are several.
            assert len(given["path"].split()) > 1
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
