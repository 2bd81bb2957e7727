"""The desk's pages and answers, and the server that gives them out."""

from __future__ import annotations

import asyncio
import html
import json
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial, wraps
from http import HTTPStatus
from importlib.resources import files
from threading import Event
from types import FrameType
from typing import Annotated
from urllib.parse import quote

import uvicorn
from jinja2 import Environment, StrictUndefined
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp

from grader.batch.comments import CommentRequest
from grader.batch.decisions import rubric_of
from grader.batch.export import TABLES, ExportOptions
from grader.batch.ledger import grades_of
from grader.batch.pages import labels_of, look_of, submitted
from grader.batch.review_queue import DecisionRequest
from grader.desk.graded_class import ChangedError, GradedClass, Item
from grader.desk.guard import Guard, Keys
from grader.desk.rehearsal import Rehearsal
from grader.desk.views import (
    Rows,
    changes_table,
    class_view,
    comments_view,
    default_why,
    document_of,
    file_view,
    finish_view,
    item_view,
    queue_view,
    student_view,
)
from grader.errors import GraderError, UsageError
from grader.report.gradebook import GRADEBOOK_FILE
from grader.report.html.submission_page import (
    SubmissionFiles,
    read_pictures,
    staff_page,
    student_page,
)
from grader.report.view import ReleaseStage

PAGES = {
    "": "class", "queue": "queue", "student": "student", "whatif": "whatif", "finish": "finish",
}  # fmt: skip
_STYLES, _SCRIPT = "text/css", "text/javascript"
_ASSETS = {
    "page.css": _STYLES, "desk.css": _STYLES, "desk.js": _SCRIPT,
    "lines.js": _SCRIPT, **{f"{page}.js": _SCRIPT for page in PAGES.values()},
}  # fmt: skip
_BETWEEN_EVENTS = 0.5
_BEATS = 30
"""Events are this many looks apart at most, so that a browser that has gone is noticed."""


class DecisionBody(BaseModel):
    """What a page sends to decide; ``items`` are numbers of the rubric, from 0."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: str
    points: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    items: tuple[int, ...] = ()
    why: str = ""
    same: bool = False


class UndoBody(BaseModel):
    """What a page sends to take a decision back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: str
    same: bool = False


class CommentBody(BaseModel):
    """What a page sends to comment on a line; without a text the comment there is deleted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    sha256: str
    line: int
    text: str
    state: str


class Desk:
    """The answers to a browser.

    Args:
        graded: The class.
        keys: Who may come in.
        cookie: Name of the cookie.
    """

    def __init__(self, graded: GradedClass, keys: Keys, cookie: str) -> None:
        self._graded = graded
        self.ended = Event()
        self._kept: tuple[int, bytes] = (-1, b"")
        self._rows: Rows = {}
        self._rehearsal = Rehearsal(graded.out)
        page = _asset("page.html").decode()
        environment = Environment(autoescape=True, undefined=StrictUndefined)
        self._page = environment.from_string(page)
        self.app: ASGIApp = Guard(self._routes(), keys, cookie)

    def _routes(self) -> Starlette:
        gets: dict[str, Answer] = {
            "/class.json": self._class,
            "/queue.json": self._queue,
            "/items/{id}": self._item,
            "/items/{id}/file": self._file,
            "/items/{id}/document": self._document,
            "/students/{name}": self._student,
            "/students/{name}/files": self._files,
            "/report/{who}/{name}": self._report,
            "/whatif.json": self._what_if,
            "/finish.json": self._finish,
            "/export/{kind}.csv": self._export,
            "/assets/{name}": self._given_asset,
        }
        posts: dict[str, Answer] = {
            "/items/{id}/open": self._opened,
            "/items/{id}/decide": self._decide,
            "/items/{id}/undo": self._undo,
            "/items/{id}/comment": self._comment,
            "/students/{name}/comment": self._comment,
            "/students/{name}/{place}/decide": self._decide,
            "/students/{name}/{place}/undo": self._undo,
            "/write": self._write,
            "/whatif": self._rehearse,
        }
        pages = [Route(f"/{path}", partial(self._shell, name)) for path, name in PAGES.items()]
        return Starlette(
            routes=[
                *pages,
                Route("/student/{name}", partial(self._shell, "student")),
                Route("/events", self._events),
                *(Route(path, _told(answer)) for path, answer in gets.items()),
                *(Route(path, _told(answer), methods=["POST"]) for path, answer in posts.items()),
            ]
        )

    async def _shell(self, page: str, request: Request) -> Response:
        return HTMLResponse(
            self._page.render(
                page=page,
                who=request.scope["who"],
                csrf=request.scope["csrf"],
                assignment=self._graded.now.setup.assignment,
            )
        )

    async def _events(self, _: Request) -> Response:
        return StreamingResponse(self._told_changes(), media_type="text/event-stream")

    async def _told_changes(self) -> AsyncIterator[str]:
        last, beats = -1, 0
        while not self.ended.is_set():
            beats += 1
            if self._graded.version != last or beats >= _BEATS:
                last, beats = self._graded.version, 0
                yield f"data: {last}\n\n"
            await asyncio.sleep(_BETWEEN_EVENTS)

    def _class(self, *_: object) -> Response:
        version = self._graded.version
        kept = self._kept
        if kept[0] != version:
            # A thousand rows: made once for all who look.
            made = json.dumps(class_view(self._graded.now, self._rows), ensure_ascii=False).encode()
            kept = self._kept = (version, made)
        return Response(kept[1], media_type="application/json")

    def _queue(self, request: Request, _: bytes) -> Response:
        return JSONResponse(queue_view(self._graded, request.scope["who"]))

    def _item(self, request: Request, _: bytes) -> Response:
        return JSONResponse(self._view(request, self._found(request)))

    def _file(self, request: Request, _: bytes) -> Response:
        item = self._found(request)
        return JSONResponse(file_view(self._graded.now.everybody[item.name]))

    def _document(self, request: Request, _: bytes) -> Response:
        item = self._found(request)
        data = document_of(self._graded.now.everybody[item.name], item)
        if data is None:
            return PlainTextResponse("It is no longer there as it was handed in.", 404)
        return _download(data, f"{item.question}-{item.id[:6]}-{item.check.params['file']}")

    def _student(self, request: Request, _: bytes) -> Response:
        return JSONResponse(student_view(self._graded, self._name(request)))

    def _files(self, request: Request, _: bytes) -> Response:
        return JSONResponse(file_view(self._graded.now.everybody[self._name(request)]))

    def _report(self, request: Request, _: bytes) -> Response:
        """Return a submission's page as the static one is, under its own policy."""
        now, name = self._graded.now, self._name(request)
        done, setup = now.everybody[name], now.setup
        labels = labels_of(setup.language)
        look = look_of(labels, setup.file)
        (grade,) = grades_of([done], setup.late)
        shown = SubmissionFiles(
            submitted(done.report, done.submission.path),
            read_pictures(self._graded.out / name, done.report),
            look.asked,
            grade.late,
        )
        if request.path_params["who"] == "staff":
            page = staff_page(done.report, labels, shown)
        else:
            release = ReleaseStage(setup.released or ReleaseStage.NOW)
            page = student_page(done.report, labels, shown, release)
        return HTMLResponse(page, headers={"Content-Security-Policy": _policy_of(page)})

    def _finish(self, *_: object) -> Response:
        return JSONResponse(finish_view(self._graded, self._graded.out / GRADEBOOK_FILE))

    def _what_if(self, *_: object) -> Response:
        return JSONResponse(self._rehearsal.view())

    def _rehearse(self, *_: object) -> Response:
        # It reads the journal, which a decision of a moment ago still holds.
        self._write()
        self._rehearsal.start()
        return JSONResponse({})

    def close(self) -> None:
        """End what is under way."""
        self._rehearsal.close()

    def _export(self, request: Request, _: bytes) -> Response:
        kind = request.path_params["kind"]
        out = self._graded.out
        if kind == "changes":
            return _download(changes_table(self._graded.now).encode(), "changes.csv")
        # Files are made from the journal, which a decision of a moment ago still holds.
        self._write()
        if kind == "gradebook":
            return _download((out / GRADEBOOK_FILE).read_bytes(), GRADEBOOK_FILE)
        if kind != "nbgrader":
            return PlainTextResponse("There is no such file.", 404)
        policy = self._graded.now.setup.late
        due = policy.due.isoformat(" ") if policy else ""
        table = TABLES[kind].make(self._graded.now.grades, ExportOptions(out, due=due))
        return _download(table.text.encode(), f"{kind}.csv")

    def _given_asset(self, request: Request, _: bytes) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            return PlainTextResponse("There is no such file.", 404)
        return Response(_asset(name), media_type=_ASSETS[name])

    def _opened(self, request: Request, _: bytes) -> Response:
        item = self._found(request)
        self._graded.open(item.id, request.scope["who"])
        return JSONResponse({"by": self._graded.opened_by(item.id, request.scope["who"])})

    def _decide(self, request: Request, body: bytes) -> Response:
        asked = DecisionBody.model_validate_json(body)
        item = self._found(request)
        outcome = self._graded.decide(
            item, self._wish(item, asked), request.scope["who"], asked.state
        )
        saved = [name for name, _ in outcome.made]
        return JSONResponse({"saved": len(saved), "kept": len(outcome.kept), **self._state(item)})

    def _undo(self, request: Request, body: bytes) -> Response:
        asked = UndoBody.model_validate_json(body)
        item = self._found(request)
        self._graded.undo(item, asked.state, asked.same)
        return JSONResponse(self._state(item))

    def _comment(self, request: Request, body: bytes) -> Response:
        asked = CommentBody.model_validate_json(body)
        about = (asked.file, asked.line, asked.text, asked.sha256)
        if "id" in request.path_params:
            item = self._found(request)
            name, wanted = item.name, CommentRequest(*about, item.question, item.check.id)
        else:
            name, wanted = self._name(request), CommentRequest(*about)
        self._graded.comment(name, wanted, request.scope["who"], asked.state)
        return JSONResponse({"comments": comments_view(self._graded.now.everybody[name])})

    def _state(self, item: Item) -> dict[str, str]:
        return {"state": self._graded.now.state(item)}

    def _write(self, *_: object) -> Response:
        if not self._graded.write_files():
            raise UsageError("a batch is at work; its files are written when it has ended")
        return JSONResponse({})

    def _wish(self, item: Item, asked: DecisionBody) -> DecisionRequest:
        if asked.same and item.read:
            raise UsageError("each student's own work is read by itself")
        if asked.items:
            names = [part.name for part in rubric_of(item.check)]
            if not all(0 <= number < len(names) for number in asked.items):
                raise UsageError("there is no such item in the rubric")
            chosen = tuple(names[number] for number in asked.items)
            return DecisionRequest(item.name, item.place, 0.0, asked.why, asked.same, chosen)
        if asked.points is None:
            raise UsageError("give points, or an item of the rubric")
        why = asked.why.strip() or default_why(self._graded.now, item)
        return DecisionRequest(item.name, item.place, asked.points, why, asked.same)

    def _view(self, request: Request, item: Item) -> Mapping[str, object]:
        names = "place" in request.path_params or request.query_params.get("names") == "1"
        return item_view(self._graded, item, request.scope["who"], names)

    def _found(self, request: Request) -> Item:
        if "place" in request.path_params:
            found = self._graded.now.item_at(self._name(request), request.path_params["place"])
        else:
            found = self._graded.now.items.get(request.path_params["id"])
        if found is None:
            raise _AbsentError("this is not in the class any more")
        return found

    def _name(self, request: Request) -> str:
        name = str(request.path_params["name"])
        if name not in self._graded.now.everybody:
            raise _AbsentError("there is no such submission in the class")
        return name


class _AbsentError(GraderError):
    """Nothing of that name is in the class."""

    exit_status = 2


Answer = Callable[[Request, bytes], Response]


def _told(answer: Answer) -> Callable[[Request], object]:
    """Return an endpoint that turns errors for a person into answers that a page shows."""

    @wraps(answer)
    async def endpoint(request: Request) -> Response:
        body = await request.body()
        try:
            return await run_in_threadpool(answer, request, body)
        except _AbsentError as error:
            return _error(str(error), HTTPStatus.NOT_FOUND)
        except ChangedError as error:
            return _error(str(error), HTTPStatus.CONFLICT)
        except ValidationError as error:
            return _error(str(error.errors()[0]["msg"]), HTTPStatus.BAD_REQUEST)
        except GraderError as error:
            return _error(str(error), HTTPStatus.UNPROCESSABLE_ENTITY)

    return endpoint


def _error(why: str, status: HTTPStatus) -> Response:
    return JSONResponse({"error": why}, status)


def _download(data: bytes, name: str) -> Response:
    return Response(
        data,
        media_type="application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"},
    )


def _asset(name: str) -> bytes:
    # The look is that of the static pages.
    folder = (
        ("grader.report.html", "templates") if name == "page.css" else ("grader.desk", "assets")
    )
    return (files(folder[0]) / folder[1] / name).read_bytes()


_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def _policy_of(page: str) -> str:
    """Return the policy that a page brings, of which each script's digest is a part."""
    found = _META.search(page)
    assert found is not None, "a page without a policy"
    # Such a policy counts from a header alone.
    return f"{html.unescape(found[1])}; frame-ancestors 'self'"


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Open streams of events end now; the server would wait for them.
        self._desk.ended.set()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._desk.close()
        await super().shutdown(sockets)


def bound(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone.

    Args:
        port: 0 for any that is free.

    Raises:
        UsageError: Another program has the port.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        found.close()
        raise UsageError(
            f"--port {port}: cannot be had ({getattr(error, 'strerror', error)}); another desk may "
            "have it. Name another one, or leave --port out"
        ) from error
    # Before the browser is opened: what it asks early waits here.
    found.listen(100)
    return found


def server_of(graded: GradedClass, keys: Keys, port: int) -> uvicorn.Server:
    """Return a server of the desk; ``run(sockets=[…])`` serves until Ctrl-C or SIGTERM."""
    desk = Desk(graded, keys, f"desk_{port}")
    config = uvicorn.Config(
        desk.app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return _Server(config, desk)


def links_of(keys: Keys, port: int) -> dict[str, str]:
    """Return name → link."""
    return {name: f"http://127.0.0.1:{port}/enter/{token}" for name, token in keys.links.items()}
