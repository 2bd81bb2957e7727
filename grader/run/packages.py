"""Which packages a guest can import: asked of a guest, for its walls may hide what the host has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grader.assignment.types import Limits, Question
from grader.observation import Outcome
from grader.report.text import inert
from grader.run.observe import QuestionRun
from grader.run.program import Program
from grader.run.session import Session
from grader.sandbox.host.guests import GuestNeeds, Sandbox
from grader.verdict import Code, Message, Param, Verdict, deferred
from grader.wire.messages import Call

_FILE = "packages.py"
_SOURCE = b"""
import importlib


def load(name):
    importlib.import_module(name)
"""
_SECONDS = 60.0
_LIMITS = Limits(memory_mb=8192, processes=256)
"""Wide: some packages start threads as they are imported."""

_MAX_TEXT = 200


def missing_packages(sandbox: Sandbox, questions: Iterable[Question]) -> dict[str, str]:
    """Return the modules that questions need and guests cannot import → why.

    Args:
        sandbox: Starts the guest.
        questions: With their ``needs``.

    Raises:
        InfrastructureError: No guest can be started.
    """
    missing: dict[str, str] = {}
    session = Session(sandbox, Program({_FILE: _SOURCE}, _FILE))
    try:
        for name in sorted({name for item in questions for name in item.needs.packages}):
            session.prepare(_LIMITS, GuestNeeds())
            seen = session.failed_load or session.call(Call("load", (name,)), _SECONDS)
            if seen.outcome is not Outcome.COMPLETED:
                fault = seen.claims.fault
                why = f"{fault.type}: {fault.message}" if fault else seen.detail
                missing[name] = inert(why, _MAX_TEXT)
    finally:
        session.close()
    return missing


def lacking_at_import(run: QuestionRun, missing: Mapping[str, str]) -> Verdict | None:
    """Return the verdict on a hand-in whose import got stuck for the lack of a module, or None.

    An import that fails binds a placeholder; but where the file uses that while it is imported, as
    in an annotation, all that comes after it is lost, also what could do without the module.

    Args:
        run: Of any question.
        missing: Modules that some question needs and guests cannot import → why.
    """
    if run.entry is not None or run.loaded is None or run.loaded.fault is None:
        return None
    wanted = run.loaded.missing
    absent = [
        name for name in missing if any(f"{other}.".startswith(f"{name}.") for other in wanted)
    ]
    return _no_package(absent, missing[absent[0]]) if absent else None


def lacking(question: Question, missing: Mapping[str, str]) -> Verdict | None:
    """Return the verdict on a question that needs a module which guests cannot import, or None.

    Args:
        question: With its ``needs``.
        missing: Modules that cannot be imported → why.
    """
    absent = [name for name in question.needs.packages if name in missing]
    return _no_package(absent, missing[absent[0]]) if absent else None


def _no_package(names: list[str], why: str) -> Verdict:
    told: Mapping[str, Param] = {"packages": [*names], "detail": why}
    return deferred(Code.NO_PACKAGE, Message("no_package", told))
