"""What would change if a class were judged anew, as plain values for JSON."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from typing import Any

from grader.batch.changes import Total
from grader.batch.course import policy_now
from grader.batch.ledger import read_remembered
from grader.batch.rerun import RerunResult
from grader.batch.review_queue import overtaken
from grader.report.model import CheckResult
from grader.report.summary import amount
from grader.text import inert

_NAME = 80


def what_if(out: Path, again: RerunResult) -> dict[str, Any]:
    """Return what would change.

    Args:
        out: ``--out`` of the batch.
        again: What judging it came to; nothing was written.

    Returns:
        ``totals``: who has another total or grade, whoever loses most first. ``checks``: which
        verdicts change into which, and how often. ``said``: what is to be read beside that.
        ``commands``: what makes it so.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        AssignmentError: The course's file is broken.
    """
    then, now = read_remembered(out), policy_now(out)
    other_policy = now is not None and now != then
    moved = Counter(
        (f"{change.question}.{change.check}", _outcome(change.before), _outcome(change.after))
        for change in again.changes
    )
    others = [each for each in again.totals if each.before != each.after or _regraded(each)]
    said = overtaken(out, again.reports)
    if other_policy:
        said.append(f"Lateness: {then or 'nothing'} then; {now} in the course's file now.")
    said += [f"{inert(name, _NAME)}: {why}" for name, why in again.untouched.items()]
    commands = [f"grader rejudge {quote(str(out))}"] if again.changes else []
    if other_policy:
        commands.append("grader batch … --resume")
    return {
        "everybody": len(again.totals),
        "totals": [
            {
                "name": each.submission,
                "shown": inert(each.submission, _NAME),
                "before": each.before,
                "after": each.after,
                "difference": each.difference,
                "finals": each.finals,
            }
            for each in sorted(others, key=lambda each: (each.difference, each.submission))
        ],
        "checks": [
            {"check": check, "before": before, "after": after, "count": count}
            for (check, before, after), count in moved.most_common()
        ],
        "said": said,
        "commands": commands,
    }


def _regraded(total: Total) -> bool:
    before, after = total.finals
    return before != after


def _outcome(check: CheckResult | None) -> str:
    if check is None:
        return "–"
    pending = f" +{amount(check.pending)}?" if check.pending else ""
    return f"{amount(check.score)}/{amount(check.max_score)}{pending} {check.code.value}"
