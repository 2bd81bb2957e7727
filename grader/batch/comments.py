"""Comments that people write on lines of a submission; they change no points."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from grader.batch.graded import GradedSubmission
from grader.batch.pages import submitted
from grader.errors import UsageError, nearest
from grader.report.comments import MAX_COMMENT
from grader.report.excerpts import SourceText, function_in, texts
from grader.report.model import LineComment


@dataclass(frozen=True, slots=True)
class CommentRequest:
    """What a person wants to say of a line.

    Attributes:
        file: As the assignment names it.
        line: From 1.
        text: For the student; empty to take the comment away.
        sha256: Of the file as the person saw it; as it was graded where empty.
        question: Question with which it is released; that of the line's function where empty.
        check: Check with which it is released; empty for the question's first.
    """

    file: str
    line: int
    text: str
    sha256: str = ""
    question: str = ""
    check: str = ""


def comment_at(done: GradedSubmission, request: CommentRequest) -> LineComment | None:
    """Return the comment that stands at the line of a request."""
    wanted = (request.file, request.line, request.sha256 or _digests(done).get(request.file, ""))
    return next(
        (each for each in done.comments if (each.file, each.line, each.sha256) == wanted), None
    )


def comment_on(done: GradedSubmission, request: CommentRequest, who: str) -> LineComment:
    """Return a comment, new or changed.

    What is changed keeps its line and its question, also where the file is another one now.

    Args:
        done: The submission.
        request: What is said.
        who: Says it.

    Raises:
        UsageError: There is no such line in what was graded, or the text is missing or too long.
    """
    text = request.text.strip()
    if not text:
        raise UsageError("write a comment, which the student will read")
    if len(text) > MAX_COMMENT:
        raise UsageError(f"a comment has at most {MAX_COMMENT} characters")
    now = dt.datetime.now(dt.timezone.utc)
    if earlier := comment_at(done, request):
        return earlier.model_copy(update={"text": text, "who": who, "at": now})
    source = _source(done, request)
    if not 1 <= request.line <= len(source.lines):
        raise UsageError(f"{source.path} has lines 1 to {len(source.lines)}, not {request.line}")
    cell = source.cells.cell_of(request.line) if source.cells else None
    return LineComment(
        file=source.path,
        sha256=_digests(done)[source.path],
        line=request.line,
        notebook=source.notebook if cell else "",
        cell=cell[0] if cell else 0,
        line_in_cell=cell[1] if cell else 0,
        excerpt=source.lines[request.line - 1].rstrip(),
        text=text,
        who=who,
        at=now,
        question=request.question or _question_at(done, source, request.line),
        check=request.check,
    )


def _digests(done: GradedSubmission) -> dict[str, str]:
    return {file.path: file.sha256 for file in done.report.submission.files}


def _source(done: GradedSubmission, request: CommentRequest) -> SourceText:
    digests = _digests(done)
    if request.file not in digests:
        known = ", ".join(digests) or "nothing that could be read"
        raise UsageError(
            f"{done.name}: no file “{request.file}”{nearest(request.file, digests)}; graded was "
            f"{known}"
        )
    report = done.report
    found = texts(submitted(report, done.submission.path), report.submission.files)
    for source in found:
        if source.path == request.file and request.sha256 in ("", digests[source.path]):
            return source
    raise UsageError(f"{request.file} is no longer there as it was graded")


def _question_at(done: GradedSubmission, source: SourceText, line: int) -> str:
    for question in done.report.questions:
        found = function_in(source.lines, question.id)
        if found and found[0] <= line <= found[1]:
            return question.id
    return ""
