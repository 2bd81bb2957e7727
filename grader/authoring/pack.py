"""``grader pack``: an assignment with its grader, in the form that a platform runs.

* Gradescope: a zip with ``setup.sh`` and ``run_autograder`` on top, this program and the
  assignment below; the isolation tier is *restricted*, the most that a container there gives.
* Classroom 50: a repository with an autograde script for one submission, and a workflow that grades
  a class (``grader.authoring.workflow``).

Both hold the reference. Gradescope shows students nothing of the zip; a repository must be private.

The program packs itself: the very version that was tried here is what grades there.
"""

from __future__ import annotations

import importlib.metadata
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import grader
from grader.authoring.workflow import workflow_files
from grader.errors import UsageError
from grader.run.materials import Materials
from grader.store.atomic import write_atomic

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_DISTRIBUTION = "torchgrade"
# Written into what is made, one a platform; a line each that an instructor may want to change.
_SETUP = """\
#!/usr/bin/env bash
# Installs torchgrade into an environment of its own. Runs once, when the autograder is built.
# Needs a container with at least 2 CPUs and 3 GB: torch does not fit into the smallest.
set -euo pipefail
cd "${AUTOGRADER:-/autograder}/source"
command -v python3 > /dev/null || { apt-get update; apt-get install -y python3; }
python3 -m venv .venv 2> /dev/null \\
    || { apt-get update; apt-get install -y python3-venv; python3 -m venv .venv; }
.venv/bin/python -m pip install --no-cache-dir ./torchgrade
"""
_RUN = """\
#!/usr/bin/env bash
# Grades /autograder/submission and leaves results/results.json.
set -euo pipefail
root="${{AUTOGRADER:-/autograder}}"
grader="${{GRADER:-$root/source/.venv/bin/grader}}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cd "$root/source"
# 1 means that the grader itself failed in places. What it wrote then holds no score, so that
# Gradescope shows a failed autograder and nobody a zero.
"$grader" grade {id} "$root/submission" --out "$out" --isolation {isolation} || [ $? -eq 1 ]
cp "$out/results.json" "$root/results/results.json"
"""
_AUTOGRADE = """\
#!/usr/bin/env bash
# autograde.sh HAND_IN: grades a checkout; leaves result.json and release-body.md in the folder that
# it is called in. The names of classroom, assignment and commit come from the job's environment.
# Ends with 1 if the grader itself failed: the job is then run again, and nobody has a zero.
set -euo pipefail
hand_in="$(cd "${{1:?the folder that was handed in}}" && pwd)"
results="$PWD"
grader="${{GRADER:-grader}}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cd "$(dirname "$0")"
"$grader" grade {id} "$hand_in" --out "$out" --isolation {isolation}
"$grader" export classroom50 "$out" --out "$results"
"""


def gradescope_zip(materials: Materials, isolation: str = "restricted") -> bytes:
    """Return the autograder's zip; the same input gives the same bytes.

    Args:
        materials: The assignment.
        isolation: Tier that is insisted on there.
    """
    blanks = {"id": materials.assignment.id, "isolation": isolation}
    files = {"setup.sh": _SETUP.encode(), "run_autograder": _RUN.format(**blanks).encode()}
    files |= _program("torchgrade/") | _assignment(materials)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name in ("setup.sh", "run_autograder") else 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def classroom50_files(materials: Materials, isolation: str = "auto") -> dict[str, bytes]:
    """Return path → content of a repository that grades; it must not be the students'."""
    blanks = {"id": materials.assignment.id, "isolation": isolation}
    return {
        **workflow_files(materials.assignment.id, isolation),
        "autograde.sh": _AUTOGRADE.format(**blanks).encode(),
        **_program("torchgrade/"),
        **_assignment(materials),
    }


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write what was packed; scripts may be run.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    for name, content in files.items():
        write_atomic(folder / name, content)
        if name.endswith(".sh"):
            (folder / name).chmod(0o755)


def _assignment(materials: Materials) -> dict[str, bytes]:
    """Return the assignment's and the reference's own files, caches left out."""
    files = {}
    for folder in (materials.folder, materials.reference_folder):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
                files[path.relative_to(materials.root).as_posix()] = path.read_bytes()
    return files


def _program(prefix: str) -> dict[str, bytes]:
    """Return this program as a project that pip installs."""
    home = Path(grader.__file__).parent
    files = {
        f"{prefix}grader/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return {f"{prefix}pyproject.toml": _project().encode(), **files}


def _project() -> str:
    try:
        needs = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise UsageError(
            f"{_DISTRIBUTION} is not installed, only lying there; install it with pip to pack it"
        ) from error
    plain = "".join(f'  "{need}",\n' for need in needs if "extra ==" not in need)
    return (
        '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "{_DISTRIBUTION}"\nversion = "{grader.__version__}"\n'
        f'requires-python = ">=3.10"\ndependencies = [\n{plain}]\n\n'
        '[project.scripts]\ngrader = "grader.command:main"\n\n'
        '[tool.setuptools.packages.find]\ninclude = ["grader*"]\n\n'
        '[tool.setuptools.package-data]\ngrader = ["**/*"]\n'
    )
