"""Stage and actor in one process, where nobody is kept out: a self-check without a sandbox."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from grader.guest.asked import Asked
from grader.stage.play import Body
from grader.wire.asks import Ask, Back, Did


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
        self._swap()
        try:
            return self._asked.do(ask)
        finally:
            self._swap()

    def _swap(self) -> None:
        ours, self._theirs = _state(), self._theirs
        torch.set_rng_state(self._theirs[0])
        random.setstate(self._theirs[1])
        np.random.set_state(self._theirs[2])
        self._theirs = ours


def _state() -> Any:
    return torch.get_rng_state(), random.getstate(), np.random.get_state()
