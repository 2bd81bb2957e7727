"""A timeline as lines of text: for each device a bar, a character for each stretch of time."""

from __future__ import annotations

from collections.abc import Iterator

from grader.checks.timelines import Timing

SIGNS = {"forward": "█", "backward": "▒", "copy": "→", "": "·"}
"""What a device did for most of a stretch; nothing, last."""
_COLUMNS = 56


def bars_of(timing: Timing) -> Iterator[tuple[str, str]]:
    """Yield device and bar, the devices in order; none where the timeline has no length."""
    step = timing.elapsed / _COLUMNS
    if step <= 0:
        return
    for device in timing.busy:
        rows = [row for row in timing.rows if row[0] == device]
        yield device, "".join(_sign(rows, step * n, step) for n in range(_COLUMNS))


def _sign(rows: list[tuple[str, float, float, str]], start: float, step: float) -> str:
    spent = dict.fromkeys(SIGNS, 0.0)
    for _, first, last, sort in rows:
        if sort in spent:
            spent[sort] += max(0.0, min(last, start + step) - max(first, start))
    spent[""] = step - sum(spent.values())
    return SIGNS[max(spent, key=lambda sort: spent[sort])]
