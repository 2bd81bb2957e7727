"""Input, expected and returned values of a public case, as lines for a terminal.

Small tensors are written out side by side, wrong numbers marked. Of large ones the lines tell
dtype, shape and the first difference. Expected numbers come from the public cases alone, and only
where these hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
from rich.cells import cell_len

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import Check
from grader.checks.compare_trees import Leaf, NoItemError, describe, item_of, leaves
from grader.checks.judge import judge_case
from grader.observation import Observation, Outcome
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, QuestionResult
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.selfcheck.pictures import heat_of
from grader.selfcheck.public import has_numbers
from grader.selfcheck.workplace import Workplace, line_as_written, place_words
from grader.selfcheck.written_stubs import (
    hidden_builtins,
    leaves_in_first_turn,
    parameters,
    parameters_in,
)
from grader.text import inert
from grader.verdict import Code, Message, Param, Status
from grader.wire.values import Tensor, Value

_COMPARED = frozenset({Code.WRONG_VALUE, Code.NOT_FINITE, Code.WRONG_SHAPE, Code.WRONG_TYPE})
_WIDTH = 72
_GAP = 3
_MOST_ROWS = 8
_MOST_NUMBERS = 64
_MOST_LINES = 20
"""Beyond them inputs are told by their form alone, the largest first."""
_MOST_ITEMS = 4
_MOST_TEXT = 200
_DIGITS = (6, 10, 17)
"""Digits of a number; more where a wrong one would look right otherwise."""
_WRONG = "*"
_SUBSCRIPT = re.compile(r"\[([^]]*)]")


@dataclass(frozen=True, slots=True)
class Place:
    """One case that a check found wrong."""

    planned: PlannedQuestion
    check: Check
    case: PlannedCase
    reference: Observation
    own: Observation


def value_lines(
    question: QuestionResult, place: Workplace, seen: Mapping[str, QuestionRun]
) -> dict[str, tuple[str, ...]]:
    """Return check → lines on the values of the case that decided it, where that was wrong."""
    stopped = [item for item in question.checks if item.code is Code.IMPORT_FAILED]
    if stopped:
        return {item.id: tuple(_own_line(item, place)) for item in stopped}
    planned = next((item for item in place.public.plan if item.question.id == question.id), None)
    if planned is None or question.id not in seen:
        return {}
    reference = place.public.reference[question.id]
    found = {}
    for result in question.checks:
        where = _wrong_case(result, planned, reference, seen[question.id])
        if where is not None and (lines := tuple(_lines(result, where, place))):
            found[result.id] = lines
    compared = (item.id for item in question.checks if item.id in found and item.code in _COMPARED)
    for first in [*compared][:1]:
        found[first] = (*found[first], *_left_at_once(planned, place))
    return found


def _left_at_once(planned: PlannedQuestion, place: Workplace) -> Iterator[str]:
    """Yield lines on loops that a ``return`` ends in their first turn."""
    for file, line in leaves_in_first_turn(place, planned.question):
        yield place_words(place).render(Message("leaves_loop", {"file": file, "line": line}))
        yield line_as_written(place, file, line)


def _wrong_case(
    result: CheckResult, planned: PlannedQuestion, reference: QuestionRun, own: QuestionRun
) -> Place | None:
    """Return the case that decided a check; of one that is drawn several times the wrong one."""
    if not result.status.wrong:
        return None
    check = next(item for item in planned.question.checks if item.id == result.id)
    for case in (item for item in planned.cases if item.case.id == result.case):
        pair = reference.observations[case.key], own.observations.get(case.key)
        if pair[1] is None:
            continue
        # Judged again: a result names its case, but not which of its draws was wrong.
        if judge_case(check, case.inputs, pair[0], pair[1]).status is Status.FAILED:
            return Place(planned, check, case, pair[0], pair[1])
    return None


def _lines(result: CheckResult, where: Place, place: Workplace) -> Iterator[str]:
    if result.code is Code.RAISED:
        yield from _own_line(result, place)
        yield from _given(where, place).lines()
    elif where.own.outcome is not Outcome.COMPLETED:
        yield from _given(where, place).lines()
    elif result.code is Code.INPUT_MODIFIED:
        yield from _changed(result, where, place)
    elif result.code in _COMPARED:
        yield from _compared(result, where, place)


def _own_line(result: CheckResult, place: Workplace) -> Iterator[str]:
    line = result.params.get("line")
    file = result.params.get("file")
    if file in place.public.assignment.asked and isinstance(line, int):
        text = line_as_written(place, str(file), line)
        if text:
            yield text
        if result.params.get("type") != "TypeError":
            return
        error = str(result.params.get("message", ""))
        for name, made_at in hidden_builtins(place, str(file), line, error):
            yield place_words(place).render(
                Message("hides_builtin", {"name": name, "file": str(file), "line": made_at})
            )
            yield line_as_written(place, str(file), made_at)


@dataclass(frozen=True, slots=True)
class _Block:
    """One value: its name, what it is, and its numbers, a row each; none for a large one."""

    name: str
    form: str
    rows: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return (self.name, self.form, *self.rows)

    @property
    def width(self) -> int:
        return max(map(cell_len, self.lines))


@dataclass(frozen=True, slots=True)
class _Marks:
    """How numbers are written: which of them are marked and what that means, how many digits."""

    marked: Array | None = None
    digits: int = _DIGITS[0]
    sign: str = "shown_wrong"


_PLAIN = _Marks()


@dataclass(slots=True)
class _Blocks:
    """Values of one case: short ones in a sentence, the others side by side.

    Attributes:
        short: Values that are no tensors.
        inputs: Tensors that went in; where there is too much of them, their form alone.
        results: Tensors that are right, and that were returned; always whole, always together.
        heading: What stands above them.
    """

    short: list[str] = field(default_factory=list)
    inputs: list[_Block] = field(default_factory=list)
    results: list[_Block] = field(default_factory=list)
    heading: str = ""

    def lines(self) -> Iterator[str]:
        inputs = list(self.inputs)
        while len(found := list(self._packed(inputs))) > _MOST_LINES and any(
            block.rows for block in inputs
        ):
            largest = max(inputs, key=lambda block: len(block.rows))
            inputs[inputs.index(largest)] = _Block(largest.name, largest.form)
        yield from found

    def _packed(self, inputs: Sequence[_Block]) -> Iterator[str]:
        if self.heading:
            yield self.heading
        if self.short:
            yield from _within(self.short)
        rows: list[list[_Block]] = [[]]
        for block in inputs:
            if rows[-1] and not _fit([*rows[-1], block]):
                rows.append([])
            rows[-1].append(block)
        # What is right and what was returned are compared: neither stands alone if both fit.
        if _fit([*rows[-1], *self.results]):
            rows[-1] += self.results
        elif _fit(self.results):
            rows.append(self.results)
        else:
            rows += [[block] for block in self.results]
        for row in filter(None, rows):
            yield from _beside(row)

    def add(self, name: str, value: Value) -> None:
        """Add what went in."""
        self._add(self.inputs, name, value, _PLAIN)

    def add_result(self, name: str, value: Value, how: _Marks | None = None) -> None:
        """Add what is right, or what came out."""
        self._add(self.results, name, value, how or _PLAIN)

    def _add(self, blocks: list[_Block], name: str, value: Value, how: _Marks) -> None:
        if isinstance(value, Tensor):
            if how.marked is not None and how.marked.any():
                name = f"{name} ({_say(how.sign, mark=_WRONG)})"
            blocks.append(_block(name, value, how.marked, how.digits))
        elif items := _with_tensors(value):
            for key, item in items[:_MOST_ITEMS]:
                self._add(blocks, f"{name}[{key!r}]", item, _Marks(digits=how.digits))
            if len(items) > _MOST_ITEMS:
                self.short.append(
                    _say("shown_items", name=name, count=len(items), shown=_MOST_ITEMS)
                )
        else:
            self.short.append(f"{name} = {_text(value)}")


def _with_tensors(value: Value) -> list[tuple[Any, Value]]:
    """Return the items of a list, tuple or dict that holds tensors; none of anything else."""
    if not isinstance(value, (tuple, list, dict)):
        return []
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    return items if any(isinstance(item, Tensor) for _, item in items) else []


def _fit(blocks: Sequence[_Block]) -> bool:
    return sum(block.width + _GAP for block in blocks) - _GAP <= _WIDTH


def _within(parts: Sequence[str]) -> Iterator[str]:
    """Yield parts with commas between them, as many in a line as fit."""
    line = ""
    for part in parts:
        if line and cell_len(line) + cell_len(part) + 2 > _WIDTH:
            yield f"{line},"
            line = ""
        line = f"{line}, {part}" if line else part
    yield line


def _beside(blocks: Sequence[_Block]) -> Iterator[str]:
    for row in zip_longest(*(block.lines for block in blocks), fillvalue=""):
        cells = (
            text + " " * (block.width - cell_len(text))
            for block, text in zip(blocks, row, strict=True)
        )
        yield (" " * _GAP).join(cells).rstrip()


def _given(where: Place, place: Workplace) -> _Blocks:
    blocks = _Blocks()
    if where.case.case.scenario is None:
        for position, value in enumerate(where.case.inputs.args):
            blocks.add(_argument(where, position, place), value)
        for name, value in where.case.kwargs.items():
            blocks.add(name, value)
        return blocks
    # A scenario calls the function as it likes; what it was given has the instructor's names.
    own = parameters_in(place.public.scenario.encode(), (where.case.case.scenario,))
    for position, value in enumerate(where.case.inputs.args):
        if name := _named(position, where.case.inputs.names, own):
            blocks.add(name, value)
    if blocks.short or blocks.inputs:
        blocks.heading = _say("shown_case")
    return blocks


def _argument(where: Place, position: int, place: Workplace) -> str:
    """Return the name of an argument: the case's, else that of the student's own function."""
    own = parameters(place, where.planned.question)
    name = _named(position, where.case.inputs.names, own)
    return name or _say("shown_argument", number=position + 1)


def _named(position: int, *known: Sequence[str]) -> str:
    """Return the first name that an argument has; empty where it has none."""
    names = (each[position] for each in known if position < len(each))
    return next(filter(str.isidentifier, names), "")


def _changed(result: CheckResult, where: Place, place: Workplace) -> Iterator[str]:
    after = where.own.claims.args_after or ()
    blocks = _Blocks()
    for position, (before, left) in enumerate(zip(where.case.inputs.args, after, strict=False)):
        name = _argument(where, position, place)
        if result.params.get("name") not in (name, position):
            continue
        blocks.add(name, before)
        unlike = _Marks(_unlike(before, left), sign="shown_changed")
        blocks.add_result(_say("shown_after", name=name), left, unlike)
    yield from blocks.lines()


def _unlike(before: Value, after: Value) -> Array | None:
    if not isinstance(before, Tensor) or not isinstance(after, Tensor):
        return None
    if before.shape != after.shape or before.dtype != after.dtype:
        return None
    unlike: Array = to_numpy(before) != to_numpy(after)
    return unlike


def _compared(result: CheckResult, where: Place, place: Workplace) -> Iterator[str]:
    """Yield the inputs, what is right, and what was returned."""
    leaf = _leaf(result, where)
    blocks = _given(where, place)
    known = _is_public(where, leaf)
    if leaf is None:
        right, returned = where.reference.claims.value, where.own.claims.value
        if where.case.case.scenario is None:
            _show_both(blocks, right, returned, known)
        else:
            # What a scenario gathered from several calls: no single value that was returned.
            blocks.short.append(f"{_say('shown_expected')}: {_form(right)}")
            blocks.short.append(f"{_say('shown_returned')} = {_text(returned)}")
        yield from blocks.lines()
        return
    heat = heat_of(where.check, result, where.case, (where.reference, where.own))
    wrong = heat.wrong if heat is not None else None
    digits = _digits(leaf.expected, leaf.actual, wrong) if known else _DIGITS[0]
    _show_both(blocks, leaf.expected, leaf.actual, known, _Marks(wrong, digits))
    yield from blocks.lines()
    yield from _first(leaf.expected, leaf.actual, wrong, known)


def _is_public(where: Place, leaf: Leaf | None) -> bool:
    """Return whether the right numbers of a part of the result are in the starter.

    Those that no public check looks at are zeros there; shown, they would be believed.
    """
    parts = (where.check.item or "", *_SUBSCRIPT.findall(leaf.where if leaf else ""))
    return has_numbers(where.planned, where.case, ".".join(filter(None, parts)))


def _leaf(result: CheckResult, where: Place) -> Leaf | None:
    """Return the part of the result that a check found wrong; None where there is no such part."""
    try:
        pair = _items(where)
    except NoItemError:
        return None
    wanted = "result" + str(result.params.get("where", "")).removeprefix(_prefix(where.check))
    found = leaves(pair[1].claims.value, pair[0].claims.value)
    return next(
        (leaf for leaf in found if leaf.where in (wanted, result.params.get("where"))), None
    )


def _show_both(
    blocks: _Blocks, right: Value, returned: Value, known: bool, how: _Marks = _PLAIN
) -> None:
    if known:
        blocks.add_result(_say("shown_expected"), right, _Marks(digits=how.digits))
    else:
        blocks.short.append(f"{_say('shown_expected')}: {_form(right)}")
    blocks.add_result(_say("shown_returned"), returned, how)


def _items(where: Place) -> tuple[Observation, Observation]:
    item = where.check.item
    if item is None:
        return where.reference, where.own
    return item_of(where.reference, item), item_of(where.own, item)


def _prefix(check: Check) -> str:
    if check.item is None:
        return "result"
    return f"result[{check.item}]" if check.item.isdecimal() else check.item


def _first(expected: Value, actual: Value, wrong: Array | None, known: bool) -> Iterator[str]:
    """Yield the first difference of tensors that are too large to be written out."""
    if wrong is None or not known or _small(actual) or not isinstance(expected, Tensor):
        return
    assert isinstance(actual, Tensor)
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    digits = _digits(expected, actual, wrong)
    right, found = (_number(to_numpy(each)[index], digits) for each in (expected, actual))
    yield _say("shown_first", place=list[Param](index), expected=right, actual=found)


def _digits(expected: Value, actual: Value, wrong: Array | None) -> int:
    """Return with how many digits the wrong numbers look wrong."""
    if wrong is None or not isinstance(expected, Tensor) or not isinstance(actual, Tensor):
        return _DIGITS[0]
    pairs = [array[wrong][:_MOST_NUMBERS] for array in (to_numpy(expected), to_numpy(actual))]
    for digits in _DIGITS:
        texts = zip(*([_number(x, digits) for x in each] for each in pairs), strict=True)
        if all(right != found for right, found in texts):
            return digits
    return _DIGITS[-1]


def _block(name: str, value: Tensor, marked: Array | None, digits: int) -> _Block:
    rows = _rows(to_numpy(value), marked, digits) if _small(value) else ()
    if rows and max(map(len, rows)) > _WIDTH:
        rows = ()
    return _Block(name, _form(value), rows)


def _small(value: Value) -> bool:
    if not isinstance(value, Tensor):
        return True
    shape = value.shape
    lines = int(np.prod(shape[:-1], dtype=np.int64)) if shape else 1
    numbers = int(np.prod(shape, dtype=np.int64))
    return 0 < numbers <= _MOST_NUMBERS and lines <= _MOST_ROWS and shape[-1:] <= (12,)


def _rows(array: Array, marked: Array | None, digits: int) -> tuple[str, ...]:
    flat = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    signs = np.zeros(flat.shape, bool) if marked is None else marked.reshape(flat.shape)
    cells = [
        [
            _number(x, digits) + (_WRONG if sign else " ")
            for x, sign in zip(row, sign_row, strict=True)
        ]
        for row, sign_row in zip(flat, signs, strict=True)
    ]
    if not signs.any():
        cells = [[cell[:-1] for cell in row] for row in cells]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return tuple(" ".join(cell.rjust(width) for cell in row).rstrip() for row in cells)


def _number(value: Any, digits: int) -> str:
    if np.iscomplexobj(value):
        return f"{complex(value):.{digits}g}"
    if isinstance(value, (np.floating, float)):
        return f"{float(value):.{digits}g}"
    return str(value)


def _form(value: Value) -> str:
    if not isinstance(value, Tensor):
        return describe(value)
    inside = ", ".join(map(str, value.shape))
    return f"{value.dtype} ({inside},)" if len(value.shape) == 1 else f"{value.dtype} ({inside})"


def _text(value: Value) -> str:
    """Return a value that is no tensor as Python writes it; one that holds tensors by its form."""
    if isinstance(value, (tuple, list, dict)):
        items = list(value.items() if isinstance(value, dict) else value)
        simple = all(isinstance(leaf.actual, _WRITTEN) for leaf in leaves(value, value))
        return (
            inert(repr(value), _MOST_TEXT) if simple and len(items) < _MOST_TEXT else _form(value)
        )
    return inert(repr(value), _MOST_TEXT) if isinstance(value, _WRITTEN) else _form(value)


_WRITTEN = (type(None), bool, int, float, str)


def _say(message: str, **params: Param) -> str:
    return current().render(Message(message, params))


_MOST_PRINTED = 5


def printed_lines(text: str) -> tuple[str, ...]:
    """Return the beginning of what functions printed, with a heading; nothing for no text."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ()
    shown = [f"│ {inert(line, _WIDTH)}" for line in lines[:_MOST_PRINTED]]
    left = len(lines) - len(shown)
    more = (f"│ {_say('shown_more', lines=left)}",) if left else ()
    return (_say("shown_printed"), *shown, *more)
