"""Which walls hold where, as probed: ``python tests/bench/matrix.py`` (as root, on Linux).

Each environment is emulated in turn; in it, a probe process stands behind each mechanism's walls
and tries to break out. ``docs/security-figures.md`` sums the table up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from grader.errors import InfrastructureError
from grader.sandbox.host.open import probe, unsuited
from grader.sandbox.walls.plan import Mechanism, Wall

EMULATE = Path(__file__).resolve().parents[1] / "conformance" / "emulate.py"
ENVIRONMENTS = {
    "root": "root",
    "nobody": "unprivileged",
    "docker": "Docker default, root",
    "no-userns": "user namespaces forbidden",
    "no-landlock": "root, no Landlock",
    "nothing": "unprivileged, neither",
}


def probe_here() -> dict[str, object]:
    found: dict[str, object] = {}
    for mechanism in Mechanism:
        reason = unsuited(mechanism)
        try:
            found[mechanism.value] = reason or list(probe(mechanism).mechanisms)
        except InfrastructureError as error:
            found[mechanism.value] = str(error)
    return found


def probe_in(environment: str) -> dict[str, object]:
    command = [sys.executable, str(EMULATE), environment, sys.executable, __file__, "--here"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found: dict[str, object] = json.loads(outcome.stdout)
    return found


def cell(found: dict[str, object], mechanism: Mechanism, wall: Wall) -> str:
    held = found[mechanism.value]
    if isinstance(held, str):
        return "–"
    names = [str(name) for name in held if str(name).startswith(wall.value)]  # type: ignore[attr-defined]
    return "held" if names else "no"


def main() -> None:
    if "--here" in sys.argv:
        print(json.dumps(probe_here()))
        return
    found = {name: probe_in(name) for name in ENVIRONMENTS}
    print("| tier and mechanism | wall | " + " | ".join(ENVIRONMENTS.values()) + " |")
    print("|---|---|" + "---|" * len(ENVIRONMENTS))
    for mechanism in Mechanism:
        tier = "restricted" if mechanism is Mechanism.FLAT else "full"
        for wall in Wall:
            cells = [cell(found[name], mechanism, wall) for name in ENVIRONMENTS]
            if "held" in cells:
                print(f"| {tier}/{mechanism.value} | {wall.value} | {' | '.join(cells)} |")
    print()
    for name, title in ENVIRONMENTS.items():
        for mechanism in Mechanism:
            if isinstance(found[name][mechanism.value], str):
                print(f"- {title}, {mechanism.value}: {found[name][mechanism.value]}")


if __name__ == "__main__":
    main()
