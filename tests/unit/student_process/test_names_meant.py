"""How the student process describes an exception: the name that was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.student_process.module import describe

CLASS = """
class Net:
    {body}
    def masked_fill(self): ...
    _hidden = 1
"""


def message_of(code: str, body: str = "") -> str:
    with pytest.raises(BaseException) as raised:  # noqa: PT011  whatever the code raises
        exec(CLASS.format(body=body) + code, {})
    return describe(raised.value, Path("/nowhere")).message


@pytest.mark.parametrize(
    ("code", "nearest"),
    [
        ("Net().mask_fill()", "masked_fill"),
        ("xrange(3)", "range"),
        ("weights = 1\nweight + 1", "weights"),
        ("def f(total):\n    return totl\nf(3)", "total"),
        ("Net().hidden", None),
        ("Net().dropout", None),
        ("plt", None),
        ("PipelineParallelResNet50 = 1\nModelParallelResNet50", None),
        ("raise AttributeError('mask_fill')", None),
        ("raise NameError('xrange')", None),
        ("f()\ndef f(): ...", None),
    ],
)
def test_the_name_that_was_probably_meant_is_suggested(code: str, nearest: str | None) -> None:
    suggested = message_of(code).partition("Did you mean: ")[2]
    assert suggested == ("" if nearest is None else f"'{nearest}'?")


@pytest.mark.parametrize(
    "body",
    [
        "def __dir__(self): raise SystemExit",
        "def __dir__(self): return [1, 'x' * 10**6]",
        "def __getattr__(self, name):\n        raise AttributeError(name=3, obj=self)",
    ],
)
def test_an_object_that_is_in_the_way_costs_the_suggestion_alone(body: str) -> None:
    assert "Did you mean" not in message_of("Net().mask_fill()", body)
    assert "no text" not in message_of("Net().mask_fill()", body)
