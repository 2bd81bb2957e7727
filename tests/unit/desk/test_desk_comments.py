"""Comments on lines, written on the desk: saved at once, never silently over somebody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from desk_class import submission
from starlette.testclient import TestClient

from grader.batch.comments import CommentRequest
from grader.batch.ledger import graded_so_far, record
from grader.batch.review_queue import ReviewQueue
from grader.desk.graded_class import GradedClass
from grader.desk.guard import CSRF_HEADER
from grader.report.model import read_report
from grader.store.journal import JOURNAL_FILE, open_journal, watched

MARKUP = "<img src=x onerror=alert(1)> & \u202e"


def first_of(client: TestClient, name: str, question: str = "double") -> str:
    items = client.get("/queue.json").json()["items"]
    ours = (each["id"] for each in items if each["question"] == question)
    return next(own for own in ours if client.get(f"/items/{own}?names=1").json()["name"] == name)


def on_line(client: TestClient, where: str, line: int, text: str, **other: object) -> Any:
    """Comment as a page does that has just been loaded."""
    seen = client.get(where).json()
    source = seen.get("source") or client.get(f"{where}/files").json()[0]["source"]
    states = {each["line"]: each["state"] for each in seen["comments"]}
    body = {**source, "line": line, "text": text, "state": states.get(line, ""), **other}
    return client.post(f"{where}/comment", json=body)


def in_journal(out: Path) -> list[tuple[str, str, int, str, str]]:
    with watched(out / JOURNAL_FILE) as (journal, _):
        return [
            (done.name, each.file, each.line, each.text, each.who)
            for done in graded_so_far(journal)
            for each in done.comments
        ]


def test_a_comment_at_an_item_is_in_the_journal_when_it_is_said_to_be(
    ta1: TestClient, out: Path
) -> None:
    item = first_of(ta1, "bob")
    answer = on_line(ta1, f"/items/{item}", 3, " Multiply the whole tensor. ")
    (said,) = answer.json()["comments"]
    assert (said["place"], said["excerpt"]) == ("toy.py, line 3", "    for each in x:")
    assert (said["text"], said["who"]) == ("Multiply the whole tensor.", "ta1")
    assert in_journal(out) == [("bob", "toy.py", 3, "Multiply the whole tensor.", "ta1")]
    assert ta1.get(f"/items/{item}").json()["comments"] == [said]
    assert ta1.get("/students/bob").json()["comments"] == [said]
    assert ta1.get("/students/ann").json()["comments"] == []


def test_a_comment_changes_no_points_and_decides_nothing(ta1: TestClient) -> None:
    item, before = first_of(ta1, "bob"), ta1.get("/class.json").json()["rows"]
    state = ta1.get(f"/items/{item}").json()["state"]
    assert on_line(ta1, f"/items/{item}", 3, "A loop.").status_code == 200
    assert ta1.get("/class.json").json()["rows"] == before
    assert ta1.get(f"/items/{item}").json()["state"] == state


def test_a_comment_is_changed_and_deleted(ta1: TestClient, ta2: TestClient, out: Path) -> None:
    on_line(ta1, "/students/bob", 3, "A loop.")
    (said,) = on_line(ta2, "/students/bob", 3, "A slow loop.").json()["comments"]
    assert (said["text"], said["who"]) == ("A slow loop.", "ta2")
    assert on_line(ta1, "/students/bob", 3, " ").json()["comments"] == []
    assert in_journal(out) == []
    assert read_report(out / "bob/report.json").comments == ()


def test_of_two_comments_on_a_line_the_second_is_asked_about(
    ta1: TestClient, ta2: TestClient, out: Path
) -> None:
    assert on_line(ta1, "/students/bob", 3, "Mine.").status_code == 200
    assert on_line(ta2, "/students/bob", 3, "No, mine.", state="").status_code == 409
    assert on_line(ta2, "/students/bob", 4, "Another line.").status_code == 200
    assert [text for *_, text, _ in in_journal(out)] == ["Mine.", "Another line."]
    stale = ta2.get("/students/bob").json()["comments"][0]["state"]
    on_line(ta1, "/students/bob", 3, "")
    assert on_line(ta2, "/students/bob", 3, "Yours.", state=stale).status_code == 409


@pytest.mark.parametrize(
    "what",
    [
        {"line": 0}, {"line": 10}, {"file": "other.py"}, {"sha256": "0" * 64}, {"text": " "},
        {"text": "x" * 501}, {"line": "three"}, {"more": 1},
    ],
)  # fmt: skip
def test_an_impossible_comment_is_refused_with_a_sentence(
    ta1: TestClient, out: Path, what: dict[str, object]
) -> None:
    assert on_line(ta1, "/students/bob", 9, "The last line.").status_code == 200
    wanted: dict[str, Any] = {"line": 8, "text": "One.", **what}
    refused = on_line(ta1, "/students/bob", **wanted)
    assert refused.status_code in (400, 409, 422)
    assert refused.json()["error"]
    assert len(in_journal(out)) == 1


@pytest.mark.parametrize("headers", [{CSRF_HEADER: ""}, {"Origin": "http://evil.example"}])
def test_a_comment_needs_the_desks_own_page(
    ta1: TestClient, out: Path, headers: dict[str, str]
) -> None:
    source = ta1.get("/students/bob/files").json()[0]["source"]
    body = {**source, "line": 3, "text": "Mine.", "state": ""}
    for where in ("/students/bob", f"/items/{first_of(ta1, 'bob')}"):
        assert ta1.post(f"{where}/comment", json=body, headers=headers).status_code == 403
    assert in_journal(out) == []


def test_the_student_and_staff_read_it_on_their_pages(ta1: TestClient) -> None:
    on_line(ta1, f"/items/{first_of(ta1, 'bob')}", 3, MARKUP)
    pages = {who: ta1.get(f"/report/{who}/bob").text for who in ("student", "staff")}
    for page in pages.values():
        assert "&lt;img src=x onerror=alert(1)&gt; &amp; \\u202e" in page
        assert MARKUP[:20] not in page
        assert "toy.py, line 3" in page
        assert "<code>    for each in x:</code>" in page
    assert ["ta1, 20" in page for page in pages.values()] == [False, True]


def test_a_comment_stands_when_the_file_is_another_one(
    ta1: TestClient, graded: GradedClass, out: Path, tmp_path: Path
) -> None:
    on_line(ta1, f"/items/{first_of(ta1, 'bob')}", 3, "A loop.")
    graded.write_files()
    with open_journal(out / JOURNAL_FILE) as journal:
        record(journal, submission(tmp_path, "bob", "otherwise"))
    graded.refresh()
    (said,) = ta1.get("/students/bob").json()["comments"]
    assert said["place"] == "toy.py, line 3 (of an earlier version of the file)"
    # A new comment on the line of that number is another comment.
    assert len(on_line(ta1, "/students/bob", 3, "Again.", state="").json()["comments"]) == 2
    old = {key: said[key] for key in ("file", "sha256", "line", "state")}
    kept = ta1.post("/students/bob/comment", json={**old, "text": "A loop, as before."}).json()
    assert [each["text"] for each in kept["comments"]] == ["Again.", "A loop, as before."]
    assert kept["comments"][1]["excerpt"] == "    for each in x:"
    last = {**old, "state": kept["comments"][1]["state"], "text": ""}
    assert len(ta1.post("/students/bob/comment", json=last).json()["comments"]) == 1


def test_a_file_that_was_taken_away_takes_no_comment_and_keeps_those_it_has(
    ta1: TestClient, tmp_path: Path, out: Path
) -> None:
    item, (file,) = first_of(ta1, "bob"), ta1.get("/students/bob/files").json()
    on_line(ta1, "/students/bob", 3, "A loop.")
    (tmp_path / "class/bob/toy.py").unlink()
    seen = ta1.get(f"/items/{item}").json()
    assert (seen["source"], ta1.get("/students/bob/files").json()) == (None, [])
    body = {**file["source"], "line": 4, "text": "No.", "state": ""}
    assert ta1.post("/students/bob/comment", json=body).status_code == 422
    changed = {**body, "line": 3, "text": "A slow loop.", "state": seen["comments"][0]["state"]}
    assert ta1.post("/students/bob/comment", json=changed).status_code == 200
    assert [text for *_, text, _ in in_journal(out)] == ["A slow loop."]


def test_reports_have_comments_when_the_desk_ends_or_was_killed(out: Path, tmp_path: Path) -> None:
    with ReviewQueue(out) as killed:
        killed.comment(killed.submission("bob"), CommentRequest("toy.py", 3, "A loop."), "ta1")
    assert read_report(out / "bob/report.json").comments == ()
    with GradedClass(out):
        pass
    (said,) = read_report(out / "bob/report.json").comments
    assert (said.question, said.check, said.earlier) == ("double", "", False)


def test_a_comment_while_a_batch_is_at_work_is_left_for_its_journal(
    ta1: TestClient, graded: GradedClass, out: Path
) -> None:
    with open_journal(out / JOURNAL_FILE) as journal:
        (said,) = on_line(ta1, "/students/bob", 3, "A loop.").json()["comments"]
        assert in_journal(out) == [("bob", "toy.py", 3, "A loop.", "ta1")]
        graded.refresh()
        assert ta1.get("/students/bob").json()["comments"] == [said]
        assert journal.commented() == {}
        assert journal.take_up() == {"bob"}
        assert list(journal.commented()) == ["bob"]
