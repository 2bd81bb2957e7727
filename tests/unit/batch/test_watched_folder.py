"""A watched folder: what arrives is graded, each state of it once, and the batch goes on later."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from in_process import Here
from test_batch_commands import book

from grader.batch import class_run as batch
from grader.batch import watch as watching
from grader.batch.discover import ClassSubmission, Student
from grader.batch.status import read_standing
from grader.batch.watch import Arrivals
from grader.errors import UsageError
from grader.store.journal import Journal, JournalEntry

RIGHT = """\
def double(x):
    return x * 2


def negate(x):
    return -x
"""
HAND_INS = {
    "bob": RIGHT.replace("x * 2", "x * 2.0001"),
    "cem": RIGHT.replace("x * 2", "x.mul_(2)"),
}
WATCH = ("batch", "tiny", "drop", "--out", "out", "--seed", 7, "--clock", "off", "--watch")
Step = Callable[[Path], object]


@pytest.fixture
def watch(course: Path, command: Any, monkeypatch: Any, capsys: Any) -> Callable[..., list[str]]:
    """Run the command; do the next step at each pause, and end it at the last."""
    (course / "drop").mkdir()

    def run(
        *steps: Step,
        sent: signal.Signals = signal.SIGTERM,
        status: int = 0,
        waited: list[float] | None = None,
    ) -> list[str]:
        left = [*steps, lambda _: None, lambda _: None]

        def pause(seconds: float) -> None:
            if waited is not None:
                waited.append(seconds)
            if not left:
                os.kill(os.getpid(), sent)
            else:
                left.pop(0)(course / "drop")

        monkeypatch.setattr(watching.time, "sleep", pause)
        capsys.readouterr()
        assert command(*WATCH) == status
        lines: list[str] = capsys.readouterr().out.splitlines()
        return [line for line in lines if " of 6 points" in line or "atching" in line
                or line.startswith(("Left alone", "Waiting", "Stopped"))]  # fmt: skip

    return run


def puts(name: str, text: str) -> Step:
    return lambda drop: (drop / name).write_text(text)


def nothing(_: Path) -> None:
    pass


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_each_that_arrives_is_graded_and_the_next_start_goes_on(
    watch: Any, course: Path, command: Any, capsys: Any, sent: signal.Signals
) -> None:
    first = watch(puts("ann.py", RIGHT), nothing, nothing, puts("bob.py", HAND_INS["bob"]),
                  puts("cem.py", HAND_INS["cem"]), sent=sent)  # fmt: skip
    assert first == [
        "Watching drop. Ctrl-C or SIGTERM ends it; what is graded is kept.",
        "ann: 6 of 6 points",
        "bob: 6 of 6 points",
        "cem: 5 of 6 points",
        "No longer watching drop. The same command goes on.",
    ]
    assert book(course) == {"ann": "6", "bob": "6", "cem": "5"}
    assert (course / "out/index.html").is_file()
    # What was taken away keeps its grade; only what is new is graded, and what has changed.
    (course / "drop/ann.py").unlink()
    changed = HAND_INS["cem"].replace("-x", "x")
    second = watch(nothing, puts("dua.py", RIGHT), puts("cem.py", changed), sent=sent)
    assert second[1:-1] == ["dua: 6 of 6 points", "cem: 3 of 6 points"]
    assert book(course) == {"ann": "6", "bob": "6", "cem": "3", "dua": "6"}
    assert command("status", "out") == 0
    assert capsys.readouterr().out.splitlines() == [
        "tiny: 4 of 4 graded. Nobody watches drop: run the same `grader batch` to go on."
    ]


def test_a_folder_that_takes_long_to_look_at_is_looked_at_less_often(
    watch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(watching, "monotonic", lambda: float(next(clock)))
    waited: list[float] = []
    watch(nothing, nothing, waited=waited)
    # A look took three of these seconds each time.
    assert set(waited) == {60.0}


def test_status_while_it_watches(watch: Any, course: Path) -> None:
    seen: list[str] = []

    def look(_: Path) -> None:
        seen.extend(read_standing(course / "out").sentences(Path("out")))

    watch(puts("ann.py", RIGHT), nothing, look)
    assert seen == ["tiny: 1 of 1 graded. drop is watched."]


def test_one_that_is_interrupted_is_graded_by_the_next_start(watch: Any, course: Path) -> None:
    Here.most = 1
    arrive = (puts("ann.py", RIGHT), puts("bob.py", HAND_INS["bob"]))
    assert watch(*arrive, nothing)[-2:] == [
        "No longer watching drop. The same command goes on.",
        "Stopped early: 1 of 2 graded.",
    ]
    Here.most = 99
    assert watch()[1:-1] == ["bob: 6 of 6 points"]
    assert book(course) == {"ann": "6", "bob": "6"}


def test_trouble_in_the_folder_is_told_once_and_does_not_end_it(watch: Any) -> None:
    lines = watch(puts("notes.txt", "x"), nothing, nothing, puts("ann.py", RIGHT))
    assert [line.partition(":")[0] for line in lines] == [
        "Watching drop. Ctrl-C or SIGTERM ends it; what is graded is kept.",
        "Waiting",
        "Left alone, by its ending no submission",
        "ann",
        "No longer watching drop. The same command goes on.",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--engine", "ray"), "--watch grades on this machine"), ((), "cannot be watched")],
)
def test_what_cannot_be_watched(command: Any, capsys: Any, options: tuple[str], said: str) -> None:
    assert command(*WATCH, *options) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path, tmp_path / "out", ())
    (tmp_path / "mina").mkdir()
    assert [arrivals.look() for _ in range(2)] == [[], []]
    with (tmp_path / "mina/tiny.py").open("w") as file:
        for _ in range(3):
            file.write(RIGHT)
            file.flush()
            assert arrivals.look() == []
    assert [each.name for each in arrivals.look()] == ["mina"]
    assert arrivals.look() == []
    (tmp_path / "mina/tiny.py").write_text("")
    assert [[each.name for each in arrivals.look()] for _ in range(3)] == [[], ["mina"], []]


def test_names_stay_whatever_comes_later(tmp_path: Path) -> None:
    def named(arrivals: Arrivals) -> list[str]:
        arrivals.look()
        return [each.name for each in arrivals.look()]

    (tmp_path / "mina.py").write_text(RIGHT)
    arrivals = Arrivals(tmp_path, tmp_path / "out", ())
    assert named(arrivals) == ["mina"]
    (tmp_path / "mina.zip").write_bytes(b"PK")
    assert named(arrivals) == ["mina.zip"]
    graded = [ClassSubmission("mina", tmp_path / "mina.py")]
    assert named(Arrivals(tmp_path, tmp_path / "out", graded)) == ["mina", "mina.zip"]


def test_a_stray_file_does_not_make_strangers_of_a_platforms_students(tmp_path: Path) -> None:
    (tmp_path / "mina_12345678.zip").write_bytes(b"PK")
    arrivals = Arrivals(tmp_path, tmp_path / "out", ())
    arrivals.look()
    (mina,) = arrivals.look()
    assert mina.students == (Student("mina", id="12345678"),)
    (tmp_path / "joon.py").write_text(RIGHT)
    for looking in (arrivals, Arrivals(tmp_path, tmp_path / "out", [mina])):
        looking.look()
        with pytest.raises(UsageError, match="holds something beside the files"):
            looking.look()
    (tmp_path / "joon.py").rename(tmp_path / "joon_87654321.zip")
    arrivals.look()
    assert [each.name for each in arrivals.look()] == ["joon"]


class Cost:
    """How often the gradebook was written, and how many entries of the journal were read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.written = self.read = 0
        write, entries = batch.write_grades, Journal.entries

        def counted_write(*args: Any) -> Path:
            self.written += 1
            return write(*args)

        def counted_read(*args: Any) -> Iterator[JournalEntry]:
            for entry in entries(*args):
                self.read += 1
                yield entry

        monkeypatch.setattr(batch, "write_grades", counted_write)
        monkeypatch.setattr(Journal, "entries", counted_read)
        monkeypatch.setattr(batch, "monotonic", lambda: self.now)


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Cost:
    return Cost(monkeypatch)


def test_many_arrivals_cost_one_gradebook_and_no_look_at_the_others(
    watch: Any, course: Path, cost: Cost
) -> None:
    read: list[int] = []
    at_once: tuple[Step, ...] = (
        lambda drop: [puts(f"first{n}.py", RIGHT)(drop) for n in range(8)], nothing,
    )  # fmt: skip
    later = [puts(f"later{n}.py", RIGHT) for n in range(5)]
    watch(*at_once, *later, lambda _: read.append(cost.read))
    # One when the first of them was graded, one at the end: the clock stands still.
    assert cost.written == 2
    # The first gradebook held one submission; nobody who arrived had been graded before.
    assert read == [1]
    assert len(book(course)) == 13


def test_the_gradebook_keeps_up_as_time_goes_by(watch: Any, course: Path, cost: Cost) -> None:
    seen: list[int] = []

    def pause(_: Path) -> None:
        cost.now += 10
        seen.append(len(book(course)) if (course / "out/gradebook.csv").is_file() else 0)

    watch(puts("ann.py", RIGHT), pause, puts("bob.py", RIGHT), pause, pause, pause)
    assert seen == [0, 1, 2, 2]


def test_a_gradebook_that_was_not_written_before_a_kill_is_written_at_the_next_start(
    watch: Any, course: Path
) -> None:
    watch(puts("ann.py", RIGHT), nothing)
    (course / "out/gradebook.csv").unlink()
    seen: list[dict[str, str]] = []
    watch(lambda _: seen.append(book(course)))
    assert seen == [{"ann": "6"}]
