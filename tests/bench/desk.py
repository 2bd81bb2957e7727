"""How fast the desk answers in a class of a thousand while a batch is at work.

The class has reports of `pytorch101` (--report, any report.json), each with checks that wait for a
person. A process holds the journal, as a batch does, and records one submission a second; beside
it a real `grader batch -j 1` of copies of the reference takes the processor. One client asks for
pages of all kinds in turns, 20 times a second, each time on the clock whether the last answer came
quickly or not: what waits counts.

    python tests/bench/desk.py --report graded/NAME/report.json [--size 1000] [--seconds 60]
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from desk_class import question, settings, submission  # noqa: E402

from grader.batch.graded import GradedSubmission  # noqa: E402
from grader.batch.ledger import begin, record  # noqa: E402
from grader.report.model import QuestionResult, Report, read_report  # noqa: E402
from grader.store.journal import JOURNAL_FILE, open_journal  # noqa: E402

RATE = 20


def done(root: Path, number: int, model: Report) -> GradedSubmission:
    """Return a submission with a real report's questions and two that wait for a person."""
    name = f"team-{number:04d}"
    made = submission(root, name)
    waiting = made.report.questions
    points = question("all", *(each.model_dump() for each in (*model.questions, *waiting)))
    questions = tuple(
        QuestionResult.model_validate(each.model_dump()) for each in (*model.questions, *waiting)
    )
    report = made.report.model_copy(
        update={
            "questions": questions,
            **{key: points[key] for key in ("score", "pending", "max_score")},
        }
    )
    return replace(made.with_run(report), observations=b"x" * 20_000)


def write_on(root: Path, model: Report, first: int, ended: object) -> None:
    """Hold the journal and record one submission a second, as a batch at work."""
    with open_journal(root / "out" / JOURNAL_FILE) as journal:
        number = first
        while not ended.wait(1.0):  # type: ignore[attr-defined]
            record(journal, done(root, number, model))
            number += 1


def copies(folder: Path) -> None:
    """Write a class that keeps a batch busy for longer than this takes."""
    folder.mkdir()
    for number in range(400):
        text = (ROOT / "reference/pytorch101/pytorch101.py").read_text()
        (folder / f"s{number}.py").write_text(f"{text}\n# {number}\n")


def ask(client: http.client.HTTPConnection, path: str, cookie: str) -> bytes:
    """Return the body of an answer."""
    client.request("GET", path, headers={"Cookie": cookie})
    answer = client.getresponse()
    body = answer.read()
    assert answer.status == 200, (path, answer.status, body[:200])
    return body


def measure(link: str, seconds: float) -> dict[str, list[float]]:
    """Return kind of page → times in seconds from when it was due to be asked for."""
    port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/enter/(\S+)", link).groups()  # type: ignore[union-attr]
    cookie = f"desk_{port}={token}"
    client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    items = json.loads(ask(client, "/queue.json", cookie))["items"]
    rows = json.loads(ask(client, "/class.json", cookie))["rows"]
    took: dict[str, list[float]] = defaultdict(list)
    begun = time.monotonic()
    for turn in range(int(seconds * RATE)):
        name, item = rows[turn % len(rows)]["name"], items[turn % len(items)]["id"]
        kinds = {
            "class": "/class.json", "queue": "/queue.json", "item": f"/items/{item}",
            "student": f"/students/{name}", "report": f"/report/student/{name}", "page": "/queue",
        }  # fmt: skip
        kind = list(kinds)[turn % len(kinds)]
        due = begun + turn / RATE
        time.sleep(max(0.0, due - time.monotonic()))
        ask(client, kinds[kind], cookie)
        took[kind].append(time.monotonic() - due)
    return took


def main() -> None:
    """Measure, and print a line for each kind of page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="desk-"))
    model = read_report(options.report)
    (root / "out").mkdir()
    with begin(root / "out", settings(root, options.size + 200)) as journal:
        for number in range(options.size):
            record(journal, done(root, number, model))
    copies(root / "class2")
    words = [sys.executable, "-m", "grader", "batch", str(ROOT / "assignments/pytorch101")]
    words += [str(root / "class2"), "--out", str(root / "out2"), "-j", "1"]
    ended = multiprocessing.Event()
    writer = multiprocessing.Process(target=write_on, args=(root, model, options.size, ended))
    batch = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writer.start()
    desk = subprocess.Popen(
        [sys.executable, "-um", "grader", "desk", str(root / "out"), "--no-browser"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        begun = time.monotonic()
        assert desk.stdout is not None
        link = desk.stdout.readline().split(": ")[1].strip()
        print(f"link after {time.monotonic() - begun:.1f} s")
        took = measure(link, options.seconds)
        assert batch.poll() is None, "the batch ended before the measurement"
    finally:
        ended.set()
        for process in (desk, batch):
            process.terminate()
            process.wait()
        writer.join()
        shutil.rmtree(root, ignore_errors=True)
    every = [each for found in took.values() for each in found]
    for kind, found in {**took, "all": every}.items():
        print(
            f"{kind:8} {len(found):5}  median {median(found):.3f} s  "
            f"p95 {quantiles(found, n=20)[-1]:.3f} s  most {max(found):.3f} s"
        )


if __name__ == "__main__":
    main()
