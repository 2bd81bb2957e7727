"""A small assembler for the classic BPF programs that seccomp runs.

A program is a list of instructions and labels; jumps name labels, and offsets are worked out here.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
JUMP_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

_INSTRUCTION = struct.Struct("=HBBI")
_FARTHEST = 255


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; an empty target falls through to the next."""

    code: int
    value: int
    then: str = ""
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A place to jump to: the instruction that follows."""

    name: str


Line = Union[Instruction, Label]


def assemble(lines: Sequence[Line]) -> bytes:
    """Return the program's bytes, eight an instruction.

    Raises:
        ValueError: A jump goes backwards, too far, or to no label.
    """
    places: dict[str, int] = {}
    program: list[Instruction] = []
    for line in lines:
        if isinstance(line, Label):
            places[line.name] = len(program)
        else:
            program.append(line)
    return b"".join(_encode(item, index, places) for index, item in enumerate(program))


def _encode(item: Instruction, index: int, places: dict[str, int]) -> bytes:
    offsets = []
    for target in (item.then, item.otherwise):
        offset = places[target] - index - 1 if target in places else 0
        if (target and target not in places) or not 0 <= offset <= _FARTHEST:
            raise ValueError(f"instruction {index} cannot jump to {target!r} ({offset} away)")
        offsets.append(offset)
    return _INSTRUCTION.pack(item.code, *offsets, item.value)
