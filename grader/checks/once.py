"""One exception that several checks of a question met is told in full once, and referred to after.

Checks of one question look at different cases, so the line at fault raises for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.checks.base import Check
from grader.verdict import Code, Message, Param, Verdict, Visibility

_SAME = ("type", "message", "file", "line")


def told_once(checks: Sequence[Check], verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Return the verdicts; an exception that an earlier one tells in full is named there.

    Of what not every student may see, nothing is referred to, and nothing refers elsewhere.

    Args:
        checks: Of one question, in order.
        verdicts: By the check's id.
    """
    first: dict[tuple[Param, ...], str] = {}
    told = dict(verdicts)
    for check in checks:
        verdict = told[check.id]
        message = verdict.message
        if check.visibility not in (None, Visibility.VISIBLE) or verdict.hidden:
            continue
        if verdict.code is not Code.RAISED or message is None:
            continue
        earlier = first.setdefault(tuple(message.params.get(name) for name in _SAME), check.id)
        if earlier != check.id:
            known = message.params
            again = Message("raised_again", {**known, "type": known.get("type"), "first": earlier})
            told[check.id] = replace(verdict, message=again)
    return told
