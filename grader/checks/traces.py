"""What a student process says that its devices did, checked for form. Claims, all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.wire.values import Value

CPU = "cpu"
_BEYOND = 2**63


@dataclass(frozen=True, slots=True)
class KernelWork:
    """Kernels of one operation on one device.

    Attributes:
        op: ATen name.
        flops: Multiplications and additions of all of them together.
        bytes: Read and written by all of them together.
    """

    op: str
    device: str
    count: int
    flops: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Route:
    """Copies from one device to another; ``parameters`` of them were of a model's parameters."""

    source: str
    target: str
    count: int
    bytes: int
    parameters: int


@dataclass(frozen=True, slots=True)
class DeviceTrace:
    """What happened on the devices during a call, or a part of it.

    Attributes:
        devices: Those that there were, ``cuda:0`` first.
        peaks: Device → most bytes that were live at once.
        dropped: FLOPs of kernels that the call's result does not descend from; ``work`` is without.
    """

    devices: tuple[str, ...]
    work: tuple[KernelWork, ...]
    routes: tuple[Route, ...]
    peaks: Mapping[str, int]
    dropped: int = 0

    def flops(self) -> dict[str, int]:
        """Return device → FLOPs, devices without any included."""
        total = dict.fromkeys((*self.devices, CPU), 0)
        for item in self.work:
            total[item.device] = total.get(item.device, 0) + item.flops
        return total


def is_on(device: str, wanted: str | None) -> bool:
    """Tell whether a device is the wanted one: ``cuda`` is any GPU, None any device."""
    return wanted in (None, device, device.split(":", maxsplit=1)[0])


def read_trace(value: Value) -> DeviceTrace | None:
    """Return the trace that a value describes, or None if it has another form."""
    try:
        fields = mapping(value)
        memory = {text(name): mapping(item) for name, item in mapping(fields["memory"]).items()}
        return DeviceTrace(
            tuple(text(name) for name in items(fields["devices"])),
            tuple(_work(mapping(row)) for row in items(fields["kernels"])),
            tuple(_route(mapping(row)) for row in items(fields["transfers"])),
            {name: natural(item["peak"]) for name, item in memory.items()},
            natural(fields.get("dropped", 0)),
        )
    except (KeyError, TypeError):
        return None


def _work(row: Mapping[Value, Value]) -> KernelWork:
    counts = (natural(row[name]) for name in ("count", "flops", "bytes"))
    return KernelWork(text(row["op"]), text(row["device"]), *counts)


def _route(row: Mapping[Value, Value]) -> Route:
    counts = (natural(row[name]) for name in ("count", "bytes", "parameters"))
    return Route(text(row["source"]), text(row["target"]), *counts)


def natural(value: Value) -> int:
    """Return an int that is at least 0 and fits into 64 bits, as all that is counted does.

    Raises:
        TypeError: It is none. Arithmetic with longer ones fails where a float is due.
    """
    # type(), not isinstance(): True must not count as 1.
    if type(value) is not int or not 0 <= value < _BEYOND:
        raise TypeError(type(value))
    return value


def text(value: Value) -> str:
    """Return text that is short enough for a message.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, str) or len(value) > 200:
        raise TypeError(value)
    return value


def items(value: Value) -> Iterable[Value]:
    """Return the items of a list or tuple.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, (list, tuple)):
        raise TypeError(value)
    return value


def mapping(value: Value) -> dict[Value, Value]:
    """Return a dict.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, dict):
        raise TypeError(value)
    return value
