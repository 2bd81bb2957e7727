"""Stage and actor in one process, where nobody is kept out: a self-check without a sandbox."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from grader.actor.asked import Asked
from grader.stage.play import Body
from grader.wire.messages import Ask, Back, Did
from grader.wire.shared import Calls


class LocalLine:
    """Leads to an actor in the same process.

    Each of the two has random numbers of its own, as if they were apart.

    Args:
        asked: The actor.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._theirs = _state()

    def ask(self, ask: Ask, body: Body) -> Did:
        """See ``Line.ask``."""

        def called(back: Back) -> Did:
            self._swap()
            try:
                return body(replace(back, caller=os.getpid()))
            finally:
                self._swap()

        self._asked.line = called
        # Before anything else: the first request of a case seeds the actor's random numbers.
        self._swap()
        try:
            with _Others(self._asked, ask, body) if ask.gathers else nullcontext():
                return self._asked.do(ask)
        finally:
            self._swap()

    def _swap(self) -> None:
        ours, self._theirs = _state(), self._theirs
        torch.set_rng_state(self._theirs[0])
        random.setstate(self._theirs[1])
        np.random.set_state(self._theirs[2])
        self._theirs = ours


class _Others:
    """Answers the processes that a submission starts, while it works on a request.

    Args:
        asked: The actor.
        ask: The request.
        body: Answers calls.
    """

    def __init__(self, asked: Asked, ask: Ask, body: Body) -> None:
        asked.begin(ask.case)
        self._calls = Calls(asked.listen() if hasattr(socket, "AF_UNIX") else None)
        self._calls.gather(ask.gathers)
        self._body = body
        self._stop, self._tell = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        os.write(self._tell, b"x")
        self._thread.join()
        self._calls.close()
        os.close(self._stop)
        os.close(self._tell)

    def _serve(self) -> None:
        while self._calls.wait(self._stop, time.monotonic() + 3600):
            released = self._calls.released()
            if not released:
                return
            for call in released:
                call.answer(self._body(call.back))


def _state() -> Any:
    return torch.get_rng_state(), random.getstate(), np.random.get_state()
