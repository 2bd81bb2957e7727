"""Names of torch functions that the probes treat apart. Data only."""

from __future__ import annotations

QUIET = frozenset({"__repr__", "__str__", "__format__"})
"""Printing a tensor looks at it element by element; that is no work of the function."""

ESCAPES = frozenset({
    "numpy", "tolist", "item", "data_ptr", "__dlpack__", "__array__", "untyped_storage", "storage",
    "_typed_storage", "__cuda_array_interface__", "__reduce_ex__", "__int__", "__float__",
    "__index__", "__bool__", "__complex__", "share_memory_", "const_data_ptr",
})  # fmt: skip
"""Ways for elements to leave torch."""

IDLE = frozenset({
    "empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "resize_",
    "lift_fresh", "detach", "alias", "set_",
})  # fmt: skip
"""Operations that compute nothing."""
