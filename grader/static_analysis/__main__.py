"""``python -I -m grader.static_analysis``: analyses hand-ins until the line is closed."""

from __future__ import annotations

from grader.static_analysis.analyse import analyse
from grader.static_analysis.facts import SourceFacts
from grader.static_analysis.packed import pack
from grader.static_analysis.serve import serve

serve(
    lambda data: pack(analyse(data)),
    too_much=pack(SourceFacts(unreadable="the analysis says too much")),
)
