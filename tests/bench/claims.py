"""How many points of the references rest on claims, assignment by assignment.

Grades each reference with the default options, on virtual GPUs where it asks for any. Points of a
bonus are left out.

    python tests/bench/claims.py [attention knn …] [--checks]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from grader.interpreter import keep_to_one_thread

keep_to_one_thread()  # as the command does, before numpy is loaded

from grader.grading import Grader, Options  # noqa: E402  after the line above
from grader.report.model import CheckResult  # noqa: E402
from grader.run.materials import load_materials  # noqa: E402
from grader.sandbox.host.guests import Sandbox  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402
from grader.verdict import Basis  # noqa: E402

ROOT = Path(__file__).parents[2]


def checks_of(name: str, sandbox: Sandbox) -> Iterator[tuple[str, CheckResult]]:
    """Yield what the reference of an assignment got, question by question."""
    materials = load_materials(ROOT / "assignments" / name / "assignment.yml")
    grader = Grader(materials, sandbox, Options(1, device="virtual", clock=True))
    grader.prepare()
    for question in grader.grade(materials.reference_folder, "reference").questions:
        yield from ((question.id, check) for check in question.checks if not check.bonus)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--checks", action="store_true", help="name each check that is a claim")
    options = parser.parse_args()
    known = sorted(path.parent.name for path in (ROOT / "assignments").glob("*/assignment.yml"))
    with open_sandbox("auto") as sandbox:
        for name in options.assignments or known:
            checks = list(checks_of(name, sandbox))
            claims = [(question, check) for question, check in checks if check.basis is Basis.CLAIM]
            total = sum(check.max_score for _, check in checks)
            print(
                f"{name}: {sum(check.max_score for _, check in claims):g} of {total:g}", flush=True
            )
            for question, check in claims if options.checks else ():
                print(f"  {check.max_score:g} {question}.{check.id} ({check.kind})")


if __name__ == "__main__":
    main()
