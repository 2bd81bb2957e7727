"""How many points of the references rest on claims, assignment by assignment.

Grades each reference with the default options, on virtual GPUs where it asks for any. Points of a
bonus are left out. Facts that require a claim are named, too: whoever forges it has them.

    python tests/bench/claims.py [attention knn …] [--checks]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.interpreter import keep_to_one_thread

keep_to_one_thread()  # as the command does, before numpy is loaded

from grader.authoring.lint import claims_in, held_by_claims  # noqa: E402  after the line above
from grader.grading import Grader, Options  # noqa: E402
from grader.report.model import Report  # noqa: E402
from grader.run.materials import Materials, load_materials  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402
from grader.sandbox.host.processes import Sandbox  # noqa: E402

ROOT = Path(__file__).parents[2]


def graded(materials: Materials, sandbox: Sandbox) -> Report:
    """Return the report on the reference of an assignment."""
    grader = Grader(materials, sandbox, Options(1, device="virtual", clock=True))
    grader.prepare()
    return grader.grade(materials.reference_folder, "reference")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--checks", action="store_true", help="name each check that is a claim")
    options = parser.parse_args()
    known = sorted(path.parent.name for path in (ROOT / "assignments").glob("*/assignment.yml"))
    with open_sandbox("auto") as sandbox:
        for name in options.assignments or known:
            materials = load_materials(ROOT / "assignments" / name / "assignment.yml")
            report = graded(materials, sandbox)
            claims, total = claims_in(report)
            held = held_by_claims(report, materials.assignment)
            points, more = (
                sum(check.max_score for check in found.values()) for found in (claims, held)
            )
            print(f"{name}: {points:g} of {total:g}, and {more:g} that require one", flush=True)
            for where, check in (claims | held).items() if options.checks else ():
                beside = "" if where in claims else ", requires one"
                print(f"  {check.max_score:g} {where} ({check.kind}{beside})")


if __name__ == "__main__":
    main()
