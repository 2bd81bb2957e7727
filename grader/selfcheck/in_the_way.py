"""What keeps a student's check from running, said in words that help."""

from __future__ import annotations

from grader.errors import UsageError
from grader.report.language import current
from grader.verdict import Message, Param


class InTheWay(UsageError):  # noqa: N818  it is no error of the grader's
    """Something in the student's folder, or on their machine, is not as it should be.

    Attributes:
        message: What, and what to do about it.
    """

    def __init__(self, message: str, **params: Param) -> None:
        self.message = Message(message, params)
        super().__init__(current().render(self.message))
