"""``docs/vgpu-support.md`` says what the tests show, no more: its lists are made from them."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from gpu.programs import PROGRAMS
from gpu_scripts.runner import scripts
from test_refused import REFUSALS

from grader.vgpu.patches.cuda import _REFUSED

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "vgpu-support.md"


def table_of_programs() -> str:
    by_feature: dict[str, list[str]] = defaultdict(list)
    for program in PROGRAMS:
        by_feature[program.feature].append(f"`{program.name}`")
    rows = [f"| {feature} | {', '.join(names)} |" for feature, names in sorted(by_feature.items())]
    return "\n".join(["| What | Shown by |", "|---|---|", *rows])


def refusals() -> str:
    names = [*REFUSALS, *(f"torch.cuda.{name}" for name in _REFUSED)]
    return "\n".join(f"- `{name}`" for name in sorted(names))


def table_of_scripts() -> str:
    rows = []
    for each in scripts():
        refused = each.said.get("refused")
        outcome = f"refused: `{refused}`" if refused else "works"
        if "raises" in each.said:
            outcome = f"torch's error: “{each.said['raises']}”"
        rows.append(f"| `{each.path.stem}` | {each.title.rstrip('.')} | {outcome} |")
    return "\n".join(["| Script | Kind | Comes to |", "|---|---|---|", *rows])


PARTS = {"programs": table_of_programs, "refused": refusals, "scripts": table_of_scripts}


@pytest.mark.parametrize("part", PARTS)
def test_the_page_lists_what_the_tests_do(part: str, request: pytest.FixtureRequest) -> None:
    """After a change, ``make golden`` writes the list again."""
    page = PAGE.read_text(encoding="utf-8")
    bounds = re.compile(rf"(<!-- {part}: made from the tests -->\n).*?(<!-- end -->)", re.S)
    assert len(bounds.findall(page)) == 1
    made = bounds.sub(lambda found: f"{found[1]}{PARTS[part]()}\n{found[2]}", page)
    if request.config.getoption("--golden"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made


def test_the_files_that_the_page_names_are_there() -> None:
    names = re.findall(r"`((?:tests|grader)/[\w/.]+)`", PAGE.read_text(encoding="utf-8"))
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []
