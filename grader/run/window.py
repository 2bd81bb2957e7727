"""Requests that a guest gets together: it need not wait for the host between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from grader.wire.frames import Connection, Deadline, FrameSize, pack
from grader.wire.messages import Call, to_frame
from grader.wire.values import Buffer

Sized = tuple[Call, Union[FrameSize, None]]
"""A call, and the size of the reference's answer to it where that is known."""

_MOST = 1 << 16
"""Bytes of requests that may lie unanswered. A socket holds more than that, so that the host is
never kept from reading answers by a guest that reads no requests."""


class Window:
    """Sends calls in their order, as many ahead of the answers as fit into a socket.

    Args:
        calls: Each with its token.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = list(calls)
        self._sizes: list[int] = []
        self._answered = 0
        self._packed: list[Buffer] | None = None

    @property
    def asked(self) -> bool:
        """Whether a call that was sent has no answer yet."""
        return len(self._sizes) > self._answered

    def send(self, connection: Connection, deadline: Deadline) -> None:
        """Send the next call if it is not sent yet, and all that fit behind it.

        Raises:
            Closed: The guest is gone.
            DeadlineExceeded: It does not read.
        """
        together: list[Buffer] = []
        while len(self._sizes) < len(self._calls):
            buffers = self._packed or pack(to_frame(self._calls[len(self._sizes)]))
            size = sum(map(len, buffers))
            if self.asked and sum(self._sizes[self._answered :]) + size > _MOST:
                self._packed = buffers
                break
            self._packed = None
            self._sizes.append(size)
            together += buffers
        if together:
            connection.write(together, deadline)

    def answered(self) -> str:
        """Take note of an answer to the next call; return the token that it has to have."""
        self._answered += 1
        return self._calls[self._answered - 1].token
