"""``grader new``: an assignment of one question that grades and lints as it is."""

from __future__ import annotations

import keyword
from pathlib import Path

from grader.errors import UsageError
from grader.store.files import write_atomic

_ASSIGNMENT = """\
# yaml-language-server: $schema=../../build/assignment.schema.json
schema: torchgrade/assignment/v1
id: {id}
version: "1"
title: {title}
hand_in: [{id}.py]

questions:
  - id: double
    title: Twice the values
    points: 3
    cases:
      - id: example # shown to students
        args: {{x: {{tensor: [[1, 2], [3, -4]], dtype: float32}}}}
      - id: drawn # sizes and numbers anew with each seed
        dims: {{M: [3, 9], N: [10, 20]}}
        args: {{x: {{randn: [M, N]}}}}
        repeats: 2
        visibility: hidden
    checks:
      - {{id: values, kind: close, points: 2, rtol: 1.0e-5, atol: 1.0e-6}}
      - {{id: unmodified, kind: unmodified, points: 1, requires: [values]}}
"""
_HANDOUT = """\
# {title}

What this is about, and what it is good for.

## double

Twice the values of a tensor, in a new one:

```python
import torch

{id}.double(torch.tensor([1.0, -2.0]))
```
"""
_REFERENCE = '''\
"""{title}. Hand in this file; keep the names and the order of the parameters."""

from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Return twice the values of a tensor.

    Args:
        x: Any shape; stays as it was.

    Returns:
        The shape and dtype of ``x``.
    """
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION
'''
_WRONG = {
    "not_doubled": (
        "Returns what it was given.",
        "{status: failed, checks: {values: wrong_value}}",
        "return x",
    ),
    "in_place": (
        "Doubles the argument itself.",
        "{status: partial, checks: {unmodified: input_modified}}",
        "return x.mul_(2)",
    ),
}


def new_assignment(name: str, root: Path) -> list[Path]:
    """Write the files of an assignment, and return their paths.

    Args:
        name: Its id, which is a module's name too.
        root: Folder that holds, or is to hold, ``assignments/``.

    Raises:
        UsageError: The id is none, or there is something of that name already.
    """
    if not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
        raise UsageError(
            f"“{name}” cannot be an id: the file handed in is called <id>.py and is imported, so "
            "write a lower-case letter, then letters, digits and _"
        )
    blanks = {"id": name, "title": name.replace("_", " ").capitalize()}
    files = {
        f"assignments/{name}/assignment.yml": _ASSIGNMENT.format(**blanks),
        f"assignments/{name}/handout.md": _HANDOUT.format(**blanks),
        f"reference/{name}/{name}.py": _REFERENCE.format(**blanks),
        **{
            f"tests/submissions/{name}/wrong/{mistake}.py": _wrong(*content)
            for mistake, content in _WRONG.items()
        },
    }
    there = [path for path in files if (root / path).exists()]
    if there:
        raise UsageError(f"{root / there[0]} is there already; choose another id")
    for path, text in files.items():
        write_atomic(root / path, text.encode())
    return [root / path for path in files]


def _wrong(about: str, label: str, statement: str) -> str:
    return (
        f"# {about}\n# expect:\n#   questions:\n#     double: {label}\n\n\n"
        f"def double(x):\n    {statement}\n"
    )
