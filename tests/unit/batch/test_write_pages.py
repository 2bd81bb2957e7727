"""Pages of a batch are written beside its reports, and lead to each other."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from grader.batch import pages
from grader.batch.discover import ClassSubmission, Student
from grader.batch.grades import Grade
from grader.batch.pages import Look, labels_of, look_of, write_class
from grader.cli.app import app
from grader.errors import UsageError
from grader.report.html.render import Labels
from grader.report.messages.language import VARIABLE
from grader.report.model import FileInfo, Report, read_report, write_report
from grader.report.view import ReleaseStage

GOLDEN = Path(__file__).parents[2] / "golden"
SOURCE = "".join(f"line_{number} = {number}\n" for number in range(1, 20))


@pytest.fixture
def report() -> Report:
    return read_report(GOLDEN / "toy.report.json")


def of_class(report: Report, tmp_path: Path, *names: str) -> list[Grade]:
    """Return grades of hand-ins whose files are in ``tmp_path/class``."""
    grades = []
    for name in names:
        path = tmp_path / "class" / name / "toy.py"
        path.parent.mkdir(parents=True)
        path.write_text(SOURCE)
        digest = sha256(SOURCE.encode()).hexdigest()
        submission = report.submission.model_copy(
            update={"id": name, "files": (FileInfo(path="toy.py", sha256=digest),)}
        )
        grades.append(
            Grade(
                ClassSubmission(name, path.parent, (Student(f"{name} Someone"),)),
                report.model_copy(update={"submission": submission}),
            )
        )
    return grades


def test_every_link_leads_to_a_file(report: Report, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grades = of_class(report, tmp_path, "a", "b #1?", "c%20")
    index = write_class(grades, out, Look())
    beside = ("gradebook.csv", "similarity/index.html")
    assert not any(f'href="{file}"' in index.read_text() for file in beside)
    for file in beside:
        (out / file).parent.mkdir(exist_ok=True)
        (out / file).touch()
    write_class(grades, out, Look())
    assert all(f'href="{file}"' in index.read_text() for file in beside)
    pages = sorted(out.rglob("*.html"))
    assert len(pages) == 8 + len(report.questions)
    assert index in pages
    for page in pages:
        for link in re.findall(r'href="([^"#][^"]*)"', page.read_text()):
            if link != "data:,":
                file, _, place = link.partition("#")
                target = page.parent / unquote(file)
                assert target.is_file(), (page, link)
                assert not place or f'id="{place}"' in target.read_text(), (page, link)


def test_lines_come_from_what_was_graded(report: Report, tmp_path: Path) -> None:
    grades, out = of_class(report, tmp_path, "a", "b"), tmp_path / "out"
    (tmp_path / "class" / "b" / "toy.py").write_text("changed = 1\n")
    write_class(grades, out, Look())
    assert "line_12 = 12" in (out / "a" / "report.html").read_text()
    assert "changed = 1" not in (out / "b" / "report.html").read_text()


def test_a_large_class_gets_the_same_pages_from_several_processes(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grades, steps = of_class(report, tmp_path, "a", "b", "c"), []
    one, several = tmp_path / "one", tmp_path / "several"
    write_class(grades, one, Look())

    monkeypatch.setattr(pages, "_FEW", 2)
    write_class(grades, several, Look(), lambda: steps.append(1))

    assert len(steps) == 3
    for path in one.rglob("*.html"):
        assert (several / path.relative_to(one)).read_bytes() == path.read_bytes()


def test_a_page_that_cannot_be_written_is_told_from_another_process_too(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_FEW", 1)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/b").write_text("in the way")
    with pytest.raises(UsageError, match="out/b"):
        write_class(of_class(report, tmp_path, "a", "b"), tmp_path / "out", Look())


def test_students_pages_can_be_put_apart(report: Report, tmp_path: Path) -> None:
    out, apart = tmp_path / "out", tmp_path / "hand back"
    grades = of_class(report, tmp_path, "a", "b")
    write_class(grades, out, Look(release=ReleaseStage.PUBLISHED, students=apart))
    assert sorted(path.name for path in apart.iterdir()) == ["a.html", "b.html"]
    assert (apart / "a.html").read_bytes() == (out / "a" / "student.html").read_bytes()
    assert "b Someone" not in (apart / "a.html").read_text()
    assert "a Someone" in (out / "index.html").read_text()


def test_what_was_asked_comes_from_the_starter(tmp_path: Path) -> None:
    starter = tmp_path / "starter" / "toy"
    starter.mkdir(parents=True)
    (starter / "toy.py").write_text('def f():\n    """Do it."""\n')
    look = look_of(Labels(), str(tmp_path / "assignments" / "toy" / "assignment.yml"))
    assert look.asked == {"f": "Do it."}


def test_one_report_has_two_pages(report: Report, tmp_path: Path) -> None:
    write_report(report, tmp_path)
    result = CliRunner().invoke(app, ["report", str(tmp_path), "--lang", "ko"])
    assert result.exit_code == 0, result.output
    for name in ("report.html", "student.html"):
        assert 'lang="ko"' in (tmp_path / name).read_text()
    assert not (tmp_path / "index.html").exists()


def test_reports_without_a_journal_have_pages_too(report: Report, tmp_path: Path) -> None:
    for name in ("a", "b"):
        submission = report.submission.model_copy(update={"id": name})
        write_report(report.model_copy(update={"submission": submission}), tmp_path / name)
    result = CliRunner().invoke(app, ["report", str(tmp_path), "--released", "after_published"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "index.html").is_file()
    assert "secret" not in (tmp_path / "a" / "student.html").read_text()


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "holds neither" in str(result.exception)


@pytest.mark.parametrize(("locale", "language"), [("ko", "ko"), ("en", "en")])
def test_pages_speak_as_the_machine_does(
    locale: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, locale)
    assert labels_of().language == language
    assert labels_of("ko").language == "ko"
