"""Who gets an answer from the desk, and what each answer carries."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from grader.desk.guard import CSRF_HEADER, POLICY, Keys
from grader.desk.server import Desk, bound
from grader.errors import UsageError

HOME = "http://127.0.0.1:8000"
PATHS = ["/", "/queue", "/class.json", "/queue.json", "/events", "/assets/desk.js", "/nothing"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_answered_without_the_link(desk: Desk, path: str) -> None:
    answer = TestClient(desk.app, base_url=HOME).get(path)
    assert (answer.status_code, "toy" in answer.text) == (403, False)


def test_a_wrong_link_gives_no_cookie(desk: Desk) -> None:
    client = TestClient(desk.app, base_url=HOME)
    assert client.get("/enter/" + "x" * 32).status_code == 403
    assert not client.cookies


def test_the_cookie_is_strict_and_not_for_scripts(desk: Desk, keys: Keys) -> None:
    answer = TestClient(desk.app, base_url=HOME).get("/enter/" + keys.links["ta1"])
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""]
)
def test_another_host_name_is_refused(ta1: TestClient, host: str) -> None:
    assert ta1.get("/class.json").status_code == 200
    assert ta1.get("/class.json", headers={"Host": host}).status_code == 403


def test_a_tunnel_may_end_at_another_port(ta1: TestClient) -> None:
    assert ta1.get("/class.json", headers={"Host": "localhost:9999"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {CSRF_HEADER: ""},
        {CSRF_HEADER: "0" * 64},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_a_write_needs_the_desks_own_page(ta1: TestClient, headers: dict[str, str]) -> None:
    assert ta1.post("/write").status_code == 200
    assert ta1.post("/write", headers=headers).status_code == 403


def test_ones_own_key_does_not_write_as_another(ta1: TestClient, keys: Keys) -> None:
    others = {CSRF_HEADER: keys.csrf(keys.links["ta2"])}
    assert ta1.post("/write", headers=others).status_code == 403


def test_a_long_body_is_refused_before_it_is_read(ta1: TestClient) -> None:
    assert ta1.post("/write", content=b"x" * 65_000).status_code == 413
    assert ta1.post("/write", content=iter([b"x"])).status_code == 413


@pytest.mark.parametrize("path", ["/", "/queue", "/class.json", "/export/changes.csv"])
def test_each_answer_has_the_policy(ta1: TestClient, path: str) -> None:
    headers = ta1.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_a_port_that_is_taken_is_named() -> None:
    with bound(0) as held:
        port = held.getsockname()[1]
        assert held.getsockname()[0] == "127.0.0.1"
        with pytest.raises(UsageError, match=f"--port {port}: cannot be had"):
            bound(port)
