"""A class of 30 as a course has it, its pages, and the pictures of them that docs show.

    python tests/bench/screenshots.py [--grades DIR] [--out docs/images]

A submission is the reference with a labelled wrong function in the place of some of its own, drawn
at random, more often towards the end of the assignment; whoever gave up has the starter's functions
from there on. One file does not parse, one never ends, one is a notebook, two are the same; three
are right in a way that a person has to look at. `grader batch` grades them with its defaults, and
`grader desk` shows the first that waits. With --grades the --out of an earlier run serves.
Needs Chromium and its driver, and the extra “desk”.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from pages import browser
from PIL import Image

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
sys.path[:0] = [str(TESTS)]

from labels import submissions_of  # noqa: E402

REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
STARTER = ROOT / "starter/pytorch101/pytorch101.py"
SHOWCASE = TESTS / "submissions/pytorch101/showcase"
WAITS = "lists_alone"
"""Accepted, once a person has looked: no log shows work in Python."""
LINK = re.compile(r"http://127\.0\.0\.1:\d+/enter/\S+")
SIZE = 30
WIDE, PHONE = (1100, 1000), (390, 844)
COLOURS = 255
"""Of a picture's palette: half of the size, and nobody sees it."""
SEARCH = """
document.getElementById("search").value = "team-1";
document.getElementById("question").value = "18";
document.getElementById("search").dispatchEvent(new Event("input"));
document.getElementById("submissions").scrollIntoView();
"""
SHOTS = (
    # picture, page, size, colours, what to do first
    ("pages-class", "index.html", WIDE, "light", ""),
    ("pages-class-dark", "index.html", (1100, 640), "dark", SEARCH),
    ("pages-class-phone", "index.html", PHONE, "dark", ""),
    ("pages-question", "questions/challenge_mean_tensors.html", (1100, 760), "light", ""),
    ("pages-student-phone", "team-12/student.html", PHONE, "light", ""),
)


def functions(text: str) -> dict[str, str]:
    """Return the top-level functions of a module, by name; none where it does not parse."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # wrong on purpose
        return {}
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def wrong_ones() -> dict[str, list[str]]:
    """Return question → wrong functions."""
    found: dict[str, list[str]] = {}
    for each in submissions_of("pytorch101", "wrong"):
        for name, text in functions(each.data.decode()).items():
            found.setdefault(name, []).append(text)
    return found


def submission(draw: random.Random) -> str:
    """Return one student's file: mostly right, some functions wrong, the last perhaps unwritten."""
    stubs = functions(STARTER.read_text())
    asked = [name for name in functions(REFERENCE.read_text()) if name in wrong_ones()]
    care, end = draw.choice((0.03, 0.1, 0.25)), len(asked)
    if draw.random() < 0.2:
        end = draw.randrange(len(asked) // 2, len(asked))
    parts = [REFERENCE.read_text()]
    for place, name in enumerate(asked):
        if place >= end:
            parts.append(stubs[name])
        elif draw.random() < care * (0.4 + 1.2 * place / len(asked)):
            # Most of a class make the same mistake.
            wrong = wrong_ones()[name]
            parts.append(wrong[min(int(draw.expovariate(0.7)), len(wrong) - 1)])
    return "\n\n\n".join(parts) + "\n"


def make_class(folder: Path) -> None:
    """Write the submissions; the same ones each time."""
    draw = random.Random(22)
    folder.mkdir(parents=True)
    for number in range(1, SIZE + 1):
        target = folder / f"team-{number:02d}"
        target.mkdir()
        (target / "pytorch101.py").write_text(f"# {number}\n" + submission(draw))
    (folder / "team-04/pytorch101.py").write_text("def create_sample_tensor(:\n    return 1\n")
    shutil.copy(SHOWCASE / "endless_loop.py", folder / "team-11/pytorch101.py")
    (folder / "team-19/pytorch101.py").unlink()
    shutil.copy(SHOWCASE / "notebook.ipynb", folder / "team-19/pytorch101.ipynb")
    shutil.copy(folder / "team-07/pytorch101.py", folder / "team-26/pytorch101.py")
    (by_lists,) = (
        each.data.decode()
        for each in submissions_of("pytorch101", "accepted")
        if each.name == WAITS
    )
    for team in ("team-05", "team-15", "team-27"):
        with (folder / team / "pytorch101.py").open("a") as file:
            file.write(f"\n\n{by_lists}")


def grade(folder: Path) -> Path:
    """Grade the class, kept in a folder; return where the reports are."""
    shutil.rmtree(folder, ignore_errors=True)
    make_class(folder / "class")
    out = folder / "grades"
    command = [
        sys.executable,
        "-m",
        "grader",
        "batch",
        "pytorch101",
        folder / "class",
        "--out",
        out,
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return out


def show(driver: Any, page: str, size: tuple[int, int], colours: str, first: str) -> None:
    """Show a page at a size, in light or dark."""
    width, height = size
    for name, value in (
        ("setScrollbarsHidden", {"hidden": True}),
        ("setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": colours}]}),
        ("setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1,
                                      "mobile": width < 600}),
    ):  # fmt: skip
        driver.execute_cdp_cmd(f"Emulation.{name}", value)
    driver.get(page)
    if first:
        driver.execute_script(first)


@contextmanager
def desk(grades: Path) -> Iterator[str]:
    """Serve the class for grading by hand; yield the link of who grades."""
    words = [sys.executable, "-um", "grader", "desk", str(grades), "--no-browser", "--as", "ann"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield next(link[0] for line in process.stdout if (link := LINK.search(line)))
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grades", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images")
    chosen = parser.parse_args()
    grades = chosen.grades or grade(ROOT / "build/screenshots")
    with browser() as driver, desk(grades) as link:
        driver.get(link)
        pages = [(name, (grades / page).resolve().as_uri(), *how) for name, page, *how in SHOTS]
        home = link.partition("/enter/")[0]
        pages.append(("desk-item", f"{home}/queue", (1100, 660), "light", ""))
        for name, page, size, colours, first in pages:
            show(driver, page, size, colours, first)
            time.sleep(1)  # the desk asks for its item once the page is there
            picture = Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            picture.quantize(COLOURS).save(chosen.out / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
