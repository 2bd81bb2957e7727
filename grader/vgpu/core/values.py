"""Plain values: what records, reports and logs consist of when they leave a process."""

from __future__ import annotations

from typing import Union

Value = Union[
    None, bool, int, float, str, bytes, "tuple[Value, ...]", "list[Value]", "dict[Value, Value]"
]
