"""``python -I -m grader.source``: analyses hand-ins until the line is closed."""

from __future__ import annotations

from grader.source.analyse import analyse
from grader.source.facts import SourceFacts
from grader.source.packed import pack
from grader.source.serve import serve

serve(
    lambda data: pack(analyse(data)),
    too_much=pack(SourceFacts(unreadable="the analysis says too much")),
)
