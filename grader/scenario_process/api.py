"""The calls of a scenario. Each becomes one request to the actor, by way of the host."""

from __future__ import annotations

import copy
import functools
import operator
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch

from grader.student_process.scenario_requests import unpickled
from grader.vgpu.recording.replayer import replay
from grader.vgpu.timeline.profiles import profile
from grader.wire.messages import MODULE, Fault

Card = tuple[str, float]
"""Name of a profile, and what its peak, its bandwidth and its links are multiplied by."""

REPLAYED = "grader.scenario_process.api"
"""Asks a reader for ``replayed``; no function of a scenario has a dot in its name."""


def drawn(values: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return other values of the same shapes, types and sizes, by NumPy's generator."""
    return {name: _like(value) for name, value in values.items()}


def _like(value: torch.Tensor) -> torch.Tensor:
    made = torch.from_numpy(np.random.standard_normal(tuple(value.shape)))
    size = value.std().item() if value.numel() > 1 else 1.0
    return (made * size).to(value.dtype)


def replayed(
    data: Any,
    new: dict[str, torch.Tensor],
    own: dict[str, torch.Tensor],
    gpus: int,
    card: Card | None,
) -> dict[str, Any]:
    """Run a log again; in a process that is for nothing else."""
    timed = None
    if card is not None:
        timed = profile(card[0])
        timed = timed.slowed(card[1], timed.peer * card[1])
    return replay(data if isinstance(data, dict) else {}, new, own, gpus, timed)


replayed.__name__ = REPLAYED
Read = Callable[..., Any]


def run_again(
    read: Read,
    data: Any,
    own: Mapping[str, torch.Tensor],
    said: Mapping[str, Any],
    settings: tuple[int, Card | None],
) -> dict[str, Any]:
    """Return what came of it; ``{"state": "real"}`` where the GPUs were real, and no log is.

    Args:
        read: Calls a function in a process of its own.
        data: The log, as the actor sent it.
        own: The values of its leaves.
        said: Outputs that the actor had on these, by name.
        settings: Number of devices, and the card for times.
    """
    if data is None:
        return {"state": "real"}
    # Copies: the case's own arguments go to the actor by reference.
    copies = {name: value.clone() for name, value in own.items()}
    # Drawn only now, after the log is here: the submission cannot have known these values.
    answer: dict[str, Any] = read(replayed, data, drawn(own), copies, *settings)
    if answer["own"] is not None:
        answer["own"] = all(_close(answer["own"].get(name), value) for name, value in said.items())
    return answer


def _close(value: Any, said: Any) -> bool:
    if not (isinstance(value, torch.Tensor) and isinstance(said, torch.Tensor)):
        return False
    # Coarse: it tells whether the log belongs to these outputs. Whether they are right is judged on
    # new values.
    return value.shape == said.shape and torch.allclose(value, said, rtol=1e-3, atol=1e-4)


if TYPE_CHECKING:
    from grader.scenario_process.play import Play

NOW: list[Play] = []
"""The case that is being played; empty between two."""

_NOT_A_VALUE = "a handle stands for an object in the actor; ask the actor about it"


class Handle:
    """An object that stays in the actor."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(_NOT_A_VALUE)

    # What every object has: a comparison that is always false would be a check that never fails.
    __bool__ = __eq__ = __ne__ = __hash__ = _refuse


class RemoteError(Exception):
    """Something raised in the actor.

    Attributes:
        type: Name of a built-in exception.
        text: What it says.
        fault: All that the actor reported, for the report.
    """

    def __init__(self, kind: str, fault: Fault) -> None:
        super().__init__(f"{kind}: {fault.message}")
        self.type, self.text, self.fault = kind, fault.message, fault


class OverError(BaseException):
    """The case is over, whatever the scenario does: no ``except`` of its own is for this.

    The submission says that it is not written yet. Or a request whose result nobody waited for
    raised, and the scenario is at another line by now.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class WrongFileError(Exception):
    """A file that a function wrote is not what was asked for; raised by a scenario.

    Args:
        en: What is wrong with it, a sentence that the student reads.
        ko: The same in Korean.
    """

    def __init__(self, *, en: str, ko: str) -> None:
        super().__init__(f"{en}\n{ko}")


class UnreadError(Exception):
    """A function that ``read`` called raised."""

    def __init__(self, kind: str, fault: Fault) -> None:
        super().__init__(f"{kind}: {fault.message}")
        self.type, self.text, self.fault = kind, fault.message, fault


class Callback:
    """An argument that stands for a function of the stage's."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def when_unpickled(self) -> Unpickled:
        """Return what calls this function, without arguments, in whoever unpickles it.

        What the function returns is then in its place.
        """
        return Unpickled(self.number)


class Unpickled:
    """Goes into a file that no submission should trust."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> Any:
        return unpickled, (self._number,)


_MAKERS: tuple[Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]], ...] = (
    lambda value: (copy.copy, (value,)),
    lambda value: (copy.deepcopy, (value,)),
    lambda value: (functools.reduce, (operator.add, [value])),
    lambda value: (operator.getitem, ([value], 0)),
    lambda value: (max, ([value],)),
    lambda value: (min, ([value],)),
    lambda value: (next, (iter([value]),)),
)
"""Calls of Python's own that come to the value that they are given. None is a method: what it
belongs to would be in the file, such as the state of the stage's random numbers."""


class MadeByCode:
    """Goes into a file that no submission should trust, and is found there as a value.

    Whoever runs what the file calls has the value, and nothing that tells it from one that was
    saved. So to refuse the file takes a look at what it would call.

    Args:
        value: What comes of it; of a type that can be pickled.
    """

    def __init__(self, value: Any) -> None:
        self._call = random.choice(_MAKERS)(value)  # noqa: S311  seeded for the case

    def __reduce__(self) -> Any:
        return self._call


class Actor:
    """The submission, in another process."""

    module = Handle(MODULE)

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function or class of the submission; return the value."""
        return _play().ask("call", name, args=args, kwargs=kwargs)

    def keep(self, name: str, /, *args: Any, **kwargs: Any) -> Handle:
        """Call a function or class of the submission; the result stays in the actor."""
        return _play().keep("call", name, args=args, kwargs=kwargs)

    def method(self, h: Handle, name: str, /, *args: Any, keep: bool = False, **kwargs: Any) -> Any:
        """Call a method of a kept object."""
        return _play().either(keep, "method", name, target=h, args=args, kwargs=kwargs)

    def item(self, h: Handle, i: Any, keep: bool = False) -> Any:
        """Return ``h[i]``."""
        return _play().either(keep, "item", target=h, args=(i,))

    def attr(self, h: Handle, name: str, keep: bool = False) -> Any:
        """Return ``h.name``."""
        return _play().either(keep, "attr", name, target=h)

    def set_attr(self, h: Handle, name: str, value: Any) -> None:
        """Set ``h.name``; that of the module is undone when the case ends."""
        _play().later("set_attr", name, target=h, args=(value,))

    def collect(self, h: Handle, most: int) -> list[Any]:
        """Iterate over a kept object.

        Raises:
            RemoteError: More than ``most`` items came.
        """
        return _play().ask("collect", target=h, most=most)  # type: ignore[no-any-return]

    def put(self, value: Any) -> Handle:
        """Keep a value in the actor."""
        return _play().keep("put", args=(value,))

    def value(self, h: Any) -> Any:
        """Return what a handle, or an argument of the case, is in the actor now."""
        return _play().ask("value", args=(h,))

    def drop(self, h: Handle) -> None:
        """Forget a kept object."""
        _play().later("drop", target=h)


actor = Actor()


def given(function: str, /, *args: Any, keep: bool = False, **kwargs: Any) -> Any:
    """Call a function of ``given.py`` in the actor. Nothing that it says may score by itself."""
    return _play().either(keep, "given", function, args=args, kwargs=kwargs)


def callback(function: Callable[..., Any], most: int, gather: int = 1) -> Callback:
    """Return an argument that the submission calls and whose body runs here.

    Args:
        function: The body. It gets values and returns values, and leaves the actor alone.
        most: Calls that are answered; further ones raise in the actor.
        gather: Calls wait until so many processes have called.
    """
    return _play().callback(function, most, gather)


def caller() -> int:
    """Return the process that called, in a callback's body; the kernel says so."""
    return _play().caller


def folder(write: bool = False) -> Path:
    """Return a new folder that stage and actor share.

    Args:
        write: What the actor changes in it comes back here.
    """
    return _play().folder(write)


def read(function: Callable[..., Any], /, *args: Any) -> Any:
    """Call a function of ``scenario.py`` in a process of its own, to parse what the actor wrote."""
    return _play().read(function, args)


def repeat(
    log: Any,
    leaves: Mapping[str, torch.Tensor],
    outputs: Mapping[str, Any],
    gpus: int,
    card: tuple[str, float] | None = None,
) -> dict[str, Any]:
    """Run a log of the actor's again, on values that are drawn now.

    See ``grader.vgpu.recording.replayer``.

    Args:
        log: What ``given.py`` returned of it.
        leaves: The values that the actor had, by the names that ``given.py`` gave them.
        outputs: What it returned, by the names that the log has for them.
        gpus: Number of devices.
        card: For times: a profile's name, and what its peak, its bandwidth and its link to another
            GPU are multiplied by.
    """
    return run_again(read, log, leaves, outputs, (gpus, card))


def repeated(
    answer: Mapping[str, Any],
    leaves: Mapping[str, torch.Tensor],
    outputs: Mapping[str, Any],
    gpus: int,
    *parts: str,
    card: tuple[str, float] | None = None,
) -> dict[str, Any]:
    """Put what comes of running the log again in the place of what the actor says of its GPUs.

    Args:
        answer: Of a function of ``given.py``. ``log``: what it wrote down; ``claims``: what it saw
            of GPUs that are real, by the names below.
        leaves: See ``repeat``.
        outputs: See ``repeat``.
        gpus: See ``repeat``.
        parts: Names of the parts that are looked at.
        card: See ``repeat``.

    Returns:
        The rest of the answer; ``again``, which ``repeat`` returns; a report for each part, with a
        card another one of its times (``<part>_time``); and the ``placement``. Where there is
        nothing to tell of, the checks leave that to a person.
    """
    rest = {name: item for name, item in answer.items() if name not in ("log", "claims")}
    again = repeat(answer["log"], leaves, outputs, gpus, card)
    if again["state"] == "real":
        return {**rest, "again": again, **answer["claims"]}
    values, times, placed = again.pop("parts"), again.pop("times"), again.pop("placement")
    on_devices = {name: values.get(name, _UNREPEATED) for name in parts}
    in_time = {f"{name}_time": times.get(name, _UNREPEATED) for name in parts} if card else {}
    return {**rest, "again": again, **on_devices, **in_time, "placement": placed or _UNREPEATED}


_UNREPEATED = {"unrepeated": True}


def _play() -> Play:
    if not NOW:
        raise RuntimeError("scenario.py uses the actor outside of a case")
    return NOW[0]


def number_of(h: Any) -> int:
    """Return the number behind a handle."""
    if type(h) is not Handle:
        raise TypeError(f"a {type(h).__name__} where a handle belongs")
    return h._number
