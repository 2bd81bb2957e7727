"""Weight of the pages of a class, and how long until one can search it.

    python tests/bench/pages.py [--hand-ins N] [--reports DIR] [--keep DIR]

Reports are mixed from those in DIR, the --out of a batch: each question of a hand-in is taken from
another report, so a class of any size is as varied as the one it was made from. Chromium opens the
page from the disk; without Chromium and its driver only weights are measured.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from grader.batch.discover import ClassSubmission, Student
from grader.batch.grades import Grade
from grader.batch.merge import read_folder
from grader.batch.pages import Look, write_class
from grader.report.build import report_status
from grader.report.model import Report, SubmissionInfo

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip
_READY = """
const [entry] = performance.getEntriesByType("navigation");
const start = performance.now();
const search = document.getElementById("search");
search.value = "team-0001";
search.dispatchEvent(new Event("input"));
document.body.offsetHeight;
const shown = document.querySelectorAll("#class tbody tr:not([hidden])").length;
return [entry.domInteractive, entry.loadEventEnd, performance.now() - start, shown,
        document.getElementsByTagName("*").length];
"""


def mixed(reports: Sequence[Report], count: int, seed: int = 0) -> list[Grade]:
    """Return a class, each question of a hand-in from a report of its own choosing."""
    draw = random.Random(seed)
    pools = list(zip(*(report.questions for report in reports), strict=True))
    return [_grade(reports[0], [draw.choice(pool) for pool in pools], n + 1) for n in range(count)]


def _grade(like: Report, questions: list[Any], number: int) -> Grade:
    name = f"team-{number:04d}"
    report = like.model_copy(
        update={
            "submission": SubmissionInfo(id=name, digest=name),
            "questions": tuple(questions),
            "status": report_status(questions),
            **{
                key: round(sum(getattr(each, key) for each in questions), 4)
                for key in ("score", "max_score", "pending")
            },
        }
    )
    people = (Student(f"Member of {name}", f"{name}@example.org", str(20_000_000 + number)),)
    return Grade(ClassSubmission(name, Path(name), people), report)


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*_FLAGS, "--window-size=1280,900"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()


def _opened(index: Path, times: int = 5) -> None:
    with browser() as driver:
        found = []
        for _ in range(times):
            driver.get(index.resolve().as_uri())
            found.append(driver.execute_script(_READY))
    names = ("DOM interactive", "loaded", "a search")
    for place, name in enumerate(names):
        print(f"{name}: {statistics.median(each[place] for each in found):.0f} ms (of {times})")
    print(f"elements: {found[0][4]}, found by the search: {found[0][3]}")


def _processor() -> float:
    """Return the seconds of this process and of those it started: a large class has several."""
    return sum(os.times()[:4])


def measure(reports: Sequence[Report], count: int, out: Path) -> None:
    """Write the pages of a class and print what they weigh and take."""
    grades = mixed(reports, count)
    start = _processor()
    index = write_class(grades, out, Look())
    print(f"{count} submissions written in {_processor() - start:.1f} s of processor time")
    questions = sum(path.stat().st_size for path in out.glob("questions/*.html"))
    print(f"pages of questions: {questions / 1e6:.2f} MB in all")
    staff = sorted(path.stat().st_size for path in out.glob("*/report.html"))
    print(f"class page: {index.stat().st_size / 1e6:.2f} MB")
    print(f"a staff page: {staff[len(staff) // 2] / 1e3:.0f} kB, at most {staff[-1] / 1e3:.0f} kB")
    if Path("/usr/bin/chromedriver").exists():
        _opened(index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand-ins", type=int, default=1000)
    parser.add_argument("--reports", type=Path, default=Path("build/grades"))
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    reports = list(read_folder(chosen.reports).values())
    if chosen.keep:
        measure(reports, chosen.hand_ins, chosen.keep)
        return
    with tempfile.TemporaryDirectory() as scratch:
        measure(reports, chosen.hand_ins, Path(scratch))


if __name__ == "__main__":
    main()
