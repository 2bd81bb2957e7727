"""A class on disk, and headless Chromium to look at it. Skipped, and said so, where there is none.

On Debian: ``apt-get install chromium chromium-driver``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import HOSTILE
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from grader.batch.discover import ClassSubmission, Student
from grader.batch.grades import Grade
from grader.batch.pages import Look, write_class
from grader.report.model import FileInfo, Report, ReportStatus, read_report
from grader.report.pictures.gantt import Gantt, GanttBar, draw_gantt
from grader.verdict import Status

TIMELINE = Gantt("Timeline", [GanttBar("cuda:0", 0.0, 1.0, "forward")], 1.0, 1.0, 1.0)
GOLDEN = Path(__file__).parents[1] / "golden"
FLAGS = (
    # The pages under test are our own; a container's root has no user namespace for the sandbox.
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--window-size=1280,900",
)  # fmt: skip
_BAD_IN_A_FILE_NAME = "/"


def _hostile(report: Report, text: str) -> Report:
    """Put a text wherever a hand-in may have a say."""
    questions = tuple(
        question.model_copy(
            update={
                "checks": tuple(
                    check.model_copy(
                        update={
                            "message": text, "student_message": text,
                            "evidence": {text: text}, "case": text,
                        }
                    )
                    for check in question.checks
                )
            }
        )
        for question in report.questions
    )  # fmt: skip
    submission = report.submission.model_copy(
        update={"files": (FileInfo(path=text, sha256="0" * 64),), "notes": (text,), "digest": text}
    )
    return report.model_copy(update={"questions": questions, "submission": submission})


def _grade(report: Report, name: str, who: str) -> Grade:
    submission = report.submission.model_copy(
        update={"id": name, "digest": report.submission.digest + name}
    )
    students = (Student(who, f"{who}@example.org", ""),)
    return Grade(
        ClassSubmission(name, Path("nowhere"), students),
        report.model_copy(update={"submission": submission}),
    )


@pytest.fixture(scope="session")
def class_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class: 20 with pending points, one broken, one full, and one for each hostile text."""
    out = tmp_path_factory.mktemp("class")
    report, broken = (read_report(GOLDEN / f"toy{kind}.report.json") for kind in ("", ".broken"))
    full = report.model_copy(
        update={
            "score": report.max_score,
            "pending": 0.0,
            "status": ReportStatus.GRADED,
            "questions": tuple(
                each.model_copy(
                    update={
                        "score": each.max_score, "pending": 0.0,
                        "status": Status.PASSED, "checks": (),
                    }
                )
                for each in report.questions
            ),
        }
    )  # fmt: skip
    grades = [_grade(report, f"team-{number:02d}", f"member {number}") for number in range(20)]
    grades += [_grade(broken, "team-broken", "unlucky"), _grade(full, "team-full", "Überfleißig")]
    for number, text in enumerate(HOSTILE):
        name = f"x{number:02d} {text}".replace(_BAD_IN_A_FILE_NAME, "")
        grades.append(_grade(_hostile(report, text), name, text))
        pictures = out / name / "pictures"
        pictures.mkdir(parents=True)
        (pictures / "multiply.values.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
            f"<script>document.title='ran';alert(1)</script><desc>{number}</desc></svg>"
        )
    (out / "team-01/pictures").mkdir(parents=True)
    (out / "team-01/pictures/multiply.values.svg").write_bytes(draw_gantt(TIMELINE))
    write_class(grades, out, Look(asked={"multiply": HOSTILE[0]}))
    return out


def chromium_driver() -> webdriver.Chrome:
    """Return headless Chromium that notes every request and every message of a console."""
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(paths):
        pytest.skip("no Chromium with its driver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(paths[0])
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(paths[1]))


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    """One browser for all tests."""
    driver = chromium_driver()
    yield driver
    driver.quit()


@pytest.fixture
def page(chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """The browser as new; afterwards there must be no request and nothing on the console."""
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    chromium.get("about:blank")
    # What an earlier page said as its server ended is none of this one's.
    for kind in ("performance", "browser"):
        chromium.get_log(kind)
    yield chromium
    assert chromium.get_log("browser") == []
    asked = [
        message["params"]["request"]["url"]
        for entry in chromium.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert asked, "no request was seen, not even that for the page itself"
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
