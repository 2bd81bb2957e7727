"""``grader pack``: an assignment with its grader, in the form that a platform runs.

* Gradescope: a zip with ``setup.sh`` and ``run_autograder`` on top, this program and the
  assignment below; the isolation tier is *restricted*, the most that a container there gives.
* Classroom 50: a repository with an autograde script for one submission, and a workflow that grades
  a class (``grader.authoring.workflow``).

Both hold the reference. Gradescope shows students nothing of the zip; a repository must be private.

The program packs itself: the very version that was tried here is what grades there.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grader
from grader.assignment.find import FILE_NAME
from grader.authoring.requirements import CPU_INDEX, DISTRIBUTION, Requirements
from grader.authoring.workflow import workflow_files
from grader.errors import UsageError
from grader.run.materials import Materials, load_materials
from grader.store.files import write_atomic

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
POINTS_FILE = "points.txt"
# Written into what is made, one a platform; a line each that an instructor may want to change.
_SETUP = """\
#!/usr/bin/env bash
# Installs torchgrade into an environment of its own. Runs once, when the autograder is built.
# Needs a container with at least 2 CPUs and 3 GB: torch does not fit into the smallest.
set -euo pipefail
# The versions in constraints.txt graded the reference under this Python.
python={python}
torch={torch}
# The CPU build. What the usual index gives brings gigabytes of CUDA along.
torch_index={index}
cd "${{AUTOGRADER:-/autograder}}/source"

if command -v "python$python" > /dev/null; then
    "python$python" -m venv .venv \\
        || {{
            apt-get update
            apt-get install -y "python$python-venv"
            "python$python" -m venv .venv
        }}
else
    echo "This image has no Python $python; uv fetches one."
    python3 -m venv .uv \\
        || {{ apt-get update; apt-get install -y python3-venv; python3 -m venv .uv; }}
    .uv/bin/python -m pip install --no-cache-dir uv
    # Here and not under /root: student processes have to read it.
    UV_PYTHON_INSTALL_DIR="$PWD/.python" .uv/bin/uv venv --seed --python "$python" .venv
fi
install() {{ .venv/bin/python -m pip install --no-cache-dir "$@"; }}
install --no-deps --index-url "$torch_index" "torch==$torch"
install --constraint constraints.txt {packages}
"""
_RUN = """\
#!/usr/bin/env bash
# Grades /autograder/submission and leaves results/results.json.
set -euo pipefail
root="${{AUTOGRADER:-/autograder}}"
grader="${{GRADER:-$root/source/.venv/bin/grader}}"
cd "$root/source"
# 1 means that the grader itself failed in places. What it wrote then holds no score, so that
# Gradescope shows a failed autograder and nobody a zero.
"$grader" on-gradescope {id} "$root" --isolation {isolation} || [ $? -eq 1 ]
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


@dataclass(frozen=True, slots=True)
class Pack:
    """What is packed.

    Attributes:
        materials: The assignment.
        requirements: What is installed there.
        tier: Isolation tier that is insisted on there.
        assignment: Content of the assignment's file there.
        points: Which points can be earned there, for the instructor to read.
    """

    materials: Materials
    requirements: Requirements
    tier: str
    assignment: bytes
    points: str

    @property
    def files(self) -> dict[str, bytes]:
        """What every platform gets: the program, the assignment, the versions, the points."""
        pins = "".join(f"{pin}\n" for pin in self.requirements.pins)
        file = self.materials.folder / FILE_NAME
        return {
            **_program("torchgrade/", self.requirements),
            **_assignment(self.materials),
            file.relative_to(self.materials.root).as_posix(): self.assignment,
            "constraints.txt": pins.encode(),
            POINTS_FILE: self.points.encode(),
        }


def gradescope_zip(pack: Pack) -> bytes:
    """Return the autograder's zip; the same input gives the same bytes."""
    needs = pack.requirements
    setup = _SETUP.format(
        python=needs.python, torch=needs.torch, index=CPU_INDEX, packages=" ".join(needs.packages)
    )
    run = _RUN.format(id=pack.materials.assignment.id, isolation=pack.tier)
    return zip_of({"setup.sh": setup.encode(), "run_autograder": run.encode(), **pack.files})


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files, by name; the scripts on top may be run."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name in ("setup.sh", "run_autograder") else 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def packed_materials(files: Mapping[str, bytes]) -> Materials:
    """Return the assignment that a pack holds.

    Args:
        files: Path → content of what was packed.

    Raises:
        UsageError: They are no pack.
        AssignmentError: The assignment in it is broken.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for path, content in files.items():
            if path.startswith(("assignments/", "reference/")) and ".." not in Path(path).parts:
                write_atomic(home / path, content)
        found = list(home.glob(f"assignments/*/{FILE_NAME}"))
        if len(found) != 1:
            raise UsageError(f"no pack of an assignment: it has no assignments/ID/{FILE_NAME}")
        return load_materials(found[0])


def classroom50_files(pack: Pack) -> dict[str, bytes]:
    """Return path → content of a repository that grades; it must not be the students'."""
    blanks = {"id": pack.materials.assignment.id, "isolation": pack.tier}
    return {
        **workflow_files(pack.materials.assignment.id, pack.tier, pack.requirements),
        "autograde.sh": _AUTOGRADE.format(**blanks).encode(),
        **pack.files,
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


def _program(prefix: str, needs: Requirements) -> dict[str, bytes]:
    """Return this program as a project that pip installs."""
    home = Path(grader.__file__).parent
    files = {
        f"{prefix}grader/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return {f"{prefix}pyproject.toml": _project(needs).encode(), **files}


def _project(needs: Requirements) -> str:
    plain = "".join(f'  "{need}",\n' for need in needs.program)
    return (
        '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "{DISTRIBUTION}"\nversion = "{grader.__version__}"\n'
        f'requires-python = ">=3.10"\ndependencies = [\n{plain}]\n\n'
        '[project.scripts]\ngrader = "grader.cli.command:main"\n\n'
        '[tool.setuptools.packages.find]\ninclude = ["grader*"]\n\n'
        '[tool.setuptools.package-data]\ngrader = ["**/*"]\n'
    )
