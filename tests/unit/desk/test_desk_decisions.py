"""Points given on the desk: saved at once, never lost, never silently over somebody else's."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from desk_class import settings, submission
from starlette.testclient import TestClient

from grader.batch.ledger import begin, graded_so_far, read_grades, record
from grader.batch.review_queue import DecisionRequest, ReviewQueue
from grader.desk.graded_class import GradedClass
from grader.report.model import Report
from grader.store.journal import JOURNAL_FILE, open_journal, watched


def items(client: TestClient, question: str = "") -> list[dict[str, Any]]:
    found = client.get("/queue.json").json()["items"]
    return [each for each in found if question in ("", each["question"])]


def seen(client: TestClient, item: str) -> dict[str, Any]:
    return client.get(f"/items/{item}?names=1").json()


def decide(client: TestClient, item: str, **what: object) -> Any:
    state = what.pop("state", None) or seen(client, item)["state"]
    return client.post(f"/items/{item}/decide", json={"state": state, **what})


def in_journal(out: Path) -> dict[tuple[str, str], tuple[float, str, str]]:
    with watched(out / JOURNAL_FILE) as (journal, _):
        return {
            (done.name, each.place): (each.points, each.why, each.who)
            for done in graded_so_far(journal)
            for each in done.decisions
        }


def test_the_queue_has_each_check_that_waits_by_question(ta1: TestClient) -> None:
    assert [(each["question"], each["check"]) for each in items(ta1)] == [
        *[("double", "loops")] * 3, *[("why_it_diverges", "content")] * 3,
    ]  # fmt: skip


def test_an_item_shows_what_a_person_decides_on_and_no_name(ta1: TestClient) -> None:
    first = items(ta1, "double")[0]["id"]
    item = ta1.get(f"/items/{first}").json()
    assert item["name"] == ""
    assert [line for line in item["lines"] if line[2]] == [["3", "    for each in x:", True]]
    assert "4.1" in item["evidence"]
    assert item["reference"] == "def double(x):\n    return x * 2"
    assert item["waiting"] == 2
    assert seen(ta1, first)["name"] in ("ann", "bob", "cem")


def test_a_decision_is_in_the_journal_when_it_is_said_to_be(ta1: TestClient, out: Path) -> None:
    first = items(ta1, "double")[0]["id"]
    name = seen(ta1, first)["name"]
    assert decide(ta1, first, points=1.5, why="Half of it.").status_code == 200
    assert in_journal(out) == {(name, "double.loops"): (1.5, "Half of it.", "ta1")}
    item = seen(ta1, first)
    assert (item["decision"]["points"], item["decision"]["who"]) == (1.5, "ta1")
    assert [each["decided"] for each in items(ta1, "double")].count(True) == 1


def test_items_of_the_rubric_give_their_points(ta1: TestClient, out: Path) -> None:
    first = items(ta1, "why_it_diverges")[0]["id"]
    assert decide(ta1, first, items=[0, 1], why="Well.").status_code == 200
    ((points, why, _),) = in_journal(out).values()
    assert (points, why) == (1.5, "clear names (1); comments (0.5). Well.")


def test_points_without_a_reason_get_the_one_that_others_got(ta1: TestClient, out: Path) -> None:
    first, second, third = (each["id"] for each in items(ta1, "double"))
    decide(ta1, first, points=1)
    decide(ta1, second, points=1, why="It is a loop.")
    decide(ta1, second, points=1, why="It is a loop.")
    assert seen(ta1, third)["others"][0]["count"] == 1
    assert {why for _, why, _ in in_journal(out).values()} == {"Graded by hand.", "It is a loop."}


def test_the_same_finding_is_decided_for_all_at_once_and_undone(ta1: TestClient, out: Path) -> None:
    first = items(ta1, "double")[0]["id"]
    answer = decide(ta1, first, points=2, why="No loop.", same=True).json()
    assert answer["saved"] == 3
    assert len(in_journal(out)) == 3
    undone = ta1.post(f"/items/{first}/undo", json={"state": answer["state"], "same": True})
    assert undone.status_code == 200
    assert in_journal(out) == {}
    assert not any(each["decided"] for each in items(ta1))


def test_what_a_person_reads_is_each_students_own(ta1: TestClient, out: Path) -> None:
    first, second, _ = (each["id"] for each in items(ta1, "why_it_diverges"))
    assert decide(ta1, first, points=1, same=True).status_code == 422
    assert decide(ta1, first, points=1, why="You forgot the step.").status_code == 200
    item = seen(ta1, second)
    assert (item["waiting"], item["why"], item["evidence"]) == (0, "Graded by hand.", "")
    assert len(in_journal(out)) == 1


def test_a_doubt_on_a_claim_is_shared_by_copies_alone(
    ta1: TestClient, graded: GradedClass, out: Path, tmp_path: Path
) -> None:
    with open_journal(out / JOURNAL_FILE) as journal:
        for name in ("dua", "eli"):
            done = submission(tmp_path, name)
            text = done.report.model_dump_json().replace('"basis":"fact"', '"basis":"claim"')
            claimed = Report.model_validate_json(text.replace("A loop in line 3.", "Doubted."))
            record(journal, done.with_run(claimed))
    graded.refresh()
    doubts = [
        each for each in items(ta1, "double") if seen(ta1, each["id"])["name"] in ("dua", "eli")
    ]
    assert [seen(ta1, each["id"])["waiting"] for each in doubts] == [0, 0]


def test_a_file_that_is_no_text_is_offered_for_saving_alone(
    ta1: TestClient, graded: GradedClass, out: Path, tmp_path: Path
) -> None:
    done = submission(tmp_path, "dua")
    (tmp_path / "class/dua/plot.html").write_text("<script>alert(1)</script>")
    text = done.report.model_dump_json().replace(
        '"message_id":"by_hand"', '"message_id":"by_hand_file"'
    )
    text = text.replace(
        '"message_id":"by_hand_file","params":{}',
        '"message_id":"by_hand_file","params":{"file":"plot.html"}',
    )
    with open_journal(out / JOURNAL_FILE) as journal:
        record(journal, done.with_run(Report.model_validate_json(text)))
    graded.refresh()
    (item,) = (each["id"] for each in items(ta1) if seen(ta1, each["id"])["document"])
    answer = ta1.get(f"/items/{item}/document")
    assert answer.text == "<script>alert(1)</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    (tmp_path / "class/dua/plot.html").unlink()
    assert ta1.get(f"/items/{item}/document").status_code == 404


def test_an_item_whose_file_was_taken_away_can_be_decided_on(
    ta1: TestClient, out: Path, tmp_path: Path
) -> None:
    for file in (tmp_path / "class").rglob("toy.py"):
        file.unlink()

    item = items(ta1, "double")[0]["id"]
    assert seen(ta1, item)["lines"] == []
    assert ta1.get(f"/items/{item}/file").json() == []


def test_of_two_decisions_the_second_is_asked_about(
    ta1: TestClient, ta2: TestClient, out: Path
) -> None:
    first = items(ta1, "double")[0]["id"]
    before = seen(ta2, first)["state"]
    assert decide(ta1, first, points=1, why="Mine.").status_code == 200
    assert decide(ta2, first, points=2, why="No, mine.", state=before).status_code == 409
    assert [who for _, _, who in in_journal(out).values()] == ["ta1"]
    assert decide(ta2, first, points=2, why="No, mine.").status_code == 200
    assert [who for _, _, who in in_journal(out).values()] == ["ta2"]


def test_an_item_is_marked_as_open_by_another(ta1: TestClient, ta2: TestClient) -> None:
    first, second, _ = (each["id"] for each in items(ta1, "double"))
    ta1.post(f"/items/{first}/open", json={})
    assert {each["id"]: each["by"] for each in items(ta2)}[first] == "ta1"
    assert {each["by"] for each in items(ta1)} == {""}
    ta1.post(f"/items/{second}/open", json={})
    assert [each["by"] for each in items(ta2, "double")][:2] == ["", "ta1"]


@pytest.mark.parametrize(
    "what", [{"points": 3}, {"points": -1}, {}, {"items": [0]}, {"points": 1, "why": "x" * 501}]
)
def test_what_is_not_possible_is_said_and_not_saved(
    ta1: TestClient, out: Path, what: dict[str, object]
) -> None:
    answer = decide(ta1, items(ta1, "double")[0]["id"], **what)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]
    assert in_journal(out) == {}


def test_files_follow_when_the_desk_ends(ta1: TestClient, graded: GradedClass, out: Path) -> None:
    first = items(ta1, "double")[0]["id"]
    decide(ta1, first, points=2, why="No loop.")
    assert ta1.get("/finish.json").json()["agree"] == 2
    assert ta1.post("/write").status_code == 200
    finish = ta1.get("/finish.json").json()
    assert (finish["agree"], finish["total"], finish["decided"]) == (3, 3, 1)
    assert sorted(grade.report.score for grade in read_grades(out)) == [2, 2, 4]


def test_what_was_decided_before_a_kill_is_written_by_the_next_desk(out: Path) -> None:
    with ReviewQueue(out) as killed:
        killed.decide([DecisionRequest("ann", "double.loops", 2, "No loop.")], "ta1")
    assert "4,5.5" not in (out / "gradebook.csv").read_text()
    with GradedClass(out):
        pass
    assert "4,5.5" in (out / "gradebook.csv").read_text()


def test_a_batch_at_work_is_shown_and_keeps_its_journal(
    ta1: TestClient, graded: GradedClass, out: Path, tmp_path: Path
) -> None:
    with open_journal(out / JOURNAL_FILE) as journal:
        record(journal, submission(tmp_path, "dua"))
        graded.refresh()
        shown = ta1.get("/class.json").json()
        assert (shown["working"], [row["name"] for row in shown["rows"]][-1]) == (True, "dua")


def test_decisions_while_a_batch_is_at_work_are_left_for_its_journal(
    ta1: TestClient, ta2: TestClient, graded: GradedClass, out: Path
) -> None:
    first, second, *_ = (each["id"] for each in items(ta1))
    with open_journal(out / JOURNAL_FILE) as journal:
        for item, points in ((first, 1), (second, 2), (first, 0)):
            assert decide(ta1, item, points=points, why="Read.").status_code == 200
        assert ta1.post(f"/items/{second}/undo", json={"state": seen(ta1, second)["state"]})
        # They count at once, for everybody who looks.
        assert {points for points, *_ in in_journal(out).values()} == {0}
        graded.refresh()
        assert seen(ta2, first)["decision"]["points"] == 0
        assert seen(ta2, second)["decision"] is None
        state = seen(ta2, first)["state"]
        assert decide(ta2, first, points=2, state=state).status_code == 200
        assert decide(ta1, first, points=1, state=state).status_code == 409
        assert journal.decided() == {}
        assert journal.take_up() == {seen(ta1, each)["name"] for each in (first, second)}
        assert len(journal.decided()) == 1
        assert ta1.post("/write").status_code == 422
        assert decide(ta1, second, points=1).status_code == 200
    # What the batch had no time for, the next one that opens it takes up.
    assert sorted(points for points, *_ in in_journal(out).values()) == [1, 2]
    assert not list(out.glob("journal.decisions/*.json"))


def test_a_kill_between_taking_up_and_deleting_loses_no_later_decision(
    ta1: TestClient, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = items(ta1)[0]["id"]
    with open_journal(out / JOURNAL_FILE) as journal:
        assert decide(ta1, first, points=1).status_code == 200
        (left,) = out.glob("journal.decisions/*.json")
        content = left.read_bytes()
        journal.take_up()
        ((name, (text,)),) = journal.decided().items()
        later = text.replace('"points":1.0', '"points":2.0')
        assert later != text
        journal.say([("decided", name, "double.loops", later)])
        left.write_bytes(content)
        assert journal.take_up() == set()
        assert journal.decided() == {name: [later]}


def test_what_is_graded_again_meanwhile_is_asked_about(
    ta1: TestClient, graded: GradedClass, out: Path, tmp_path: Path
) -> None:
    first = next(each["id"] for each in items(ta1) if seen(ta1, each["id"])["name"] == "bob")
    state = seen(ta1, first)["state"]
    with open_journal(out / JOURNAL_FILE) as journal:
        record(journal, submission(tmp_path, "bob", "otherwise"))
    assert decide(ta1, first, points=1, state=state).status_code == 409


def test_a_regrade_is_a_decision_with_a_reason(ta1: TestClient, out: Path) -> None:
    (values, *_) = ta1.get("/students/ann").json()["checks"]
    assert (values["place"], values["score"]) == ("double.values", "2")
    path = "/students/ann/double.values"
    given = {"state": values["state"], "points": 1, "why": "=It fails for zeros."}
    assert ta1.post(f"{path}/decide", json=given).status_code == 200
    rows = list(csv.DictReader(io.StringIO(ta1.get("/export/changes.csv").text)))
    assert [
        (row["submission"], row["who"], row["points_before"], row["points_now"]) for row in rows
    ] == [("ann", "ta1", "2", "1")]
    assert rows[0]["why"] == "'=It fails for zeros."
    again = ta1.get("/students/ann").json()
    assert (again["score"], again["checks"][0]["decision"]["who"]) == ("1", "ta1")
    undo = {"state": again["checks"][0]["state"]}
    assert ta1.post(f"{path}/undo", json=undo).status_code == 200
    assert in_journal(out) == {}


def test_exports_hold_what_was_decided_a_moment_ago(ta1: TestClient) -> None:
    for each in items(ta1):
        decide(ta1, each["id"], points=1)
    gradebook = list(csv.DictReader(io.StringIO(ta1.get("/export/gradebook.csv").text)))
    assert [row["score"] for row in gradebook] == ["4", "4", "4", ""]
    table = list(csv.DictReader(io.StringIO(ta1.get("/export/nbgrader.csv").text)))
    assert [row["score"] for row in table] == ["4", "4", "4", "0"]


def test_reports_come_from_the_static_pages_renderer_under_their_own_policy(
    ta1: TestClient,
) -> None:
    for who, told in (("student", False), ("staff", True)):
        page = ta1.get(f"/report/{who}/ann")
        assert page.status_code == 200
        assert ("growth" in page.text) is told
        policy = page.headers["content-security-policy"]
        assert "script-src 'sha256-" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/students/nobody", "/report/staff/nobody", "/items/none"])
def test_who_is_not_there_is_said(ta1: TestClient, path: str) -> None:
    answer = ta1.get(path)
    assert (answer.status_code, "no" in answer.json()["error"]) == (404, True)


def test_a_class_begun_anew_is_another_class(
    graded: GradedClass, ta1: TestClient, tmp_path: Path
) -> None:
    with begin(tmp_path / "out", settings(tmp_path, 1)) as journal:
        record(journal, submission(tmp_path, "new"))
    graded.refresh()
    assert [row["name"] for row in ta1.get("/class.json").json()["rows"]] == ["new"]
