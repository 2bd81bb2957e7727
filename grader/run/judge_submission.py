"""A submission: run on every question of a plan, its text read, and judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from grader.assignment.types import Question
from grader.checks.base import Check, Probe
from grader.checks.diagnoses import across_cases, exception_cause
from grader.checks.hidden_case import with_inputs_told
from grader.checks.judge import (
    combine,
    holds_none,
    judge_case,
    settle,
    with_diagnoses,
    without_repeats,
)
from grader.errors import nearest_name
from grader.observation import Observation, Outcome, Stop
from grader.run.answer_budget import CpuGuard, budget_beside
from grader.run.capabilities import no_package
from grader.run.materials import Materials
from grader.run.observe import (
    Event,
    PhaseTimes,
    QuestionObserved,
    QuestionRun,
    QuestionStarted,
    observations,
    observe,
)
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.prices import (
    OF_RESULTS,
    Credit,
    Made,
    PartialCredit,
    Price,
    of_cases,
    of_slip,
    of_values,
    results_alone,
    shows_work,
    with_credit,
    with_price,
)
from grader.run.proving import Prover
from grader.run.scenario_relay import open_session
from grader.sandbox.host.processes import Sandbox
from grader.static_analysis.facts import EntryFacts, SourceFacts, reachable
from grader.static_analysis.reader import SourceReader
from grader.verdict import (
    Code,
    Message,
    Owner,
    Param,
    Status,
    Verdict,
    deferred,
    failed,
    fault,
    plain,
)
from grader.wire.messages import Fault
from grader.wire.values import Value

_STUB = re.compile(r"(\w+)(?:\.\w+)? is not written yet")
"""What functions and methods of a starter raise."""

ALL_OR_NOTHING = PartialCredit()

Verdicts = dict[str, Verdict]
"""Check id → verdict."""
JudgedCases = Mapping[str, Sequence[tuple[PlannedCase, Verdict]]]
"""Check id → its cases, each with the verdict on it."""
Runs = Mapping[str, QuestionRun]
"""Question id → what came of it."""
FindMade = Callable[[PlannedQuestion, QuestionRun, QuestionRun, Sandbox], Made | None]
"""See ``KnownMistakes.made``."""


def judge_question(
    planned: PlannedQuestion,
    reference: QuestionRun,
    submission: QuestionRun,
    asked: Collection[str] = (),
    partial: PartialCredit = ALL_OR_NOTHING,
) -> Verdicts:
    """Judge every check of a question on all of its cases; return the verdicts of listed ones.

    Args:
        planned: The question with the inputs that both runs got.
        reference: What the reference did with them.
        submission: What the submission did.
        asked: Names of all functions that are asked for, this one's too.
        partial: What is earned where it is right in part.
    """
    question = planned.question
    # The reference first: where it failed, no submission is to blame.
    known = {*asked, *(reference.loaded.names if reference.loaded else ())}
    stopped = _reference_problem(question, reference) or _import_problem(
        question, submission, known
    )
    if stopped is not None:
        return for_all(question, stopped)
    judged = _judged(planned, reference, submission)
    verdicts = _unsettled(question, judged, submission)
    if partial.price is None:
        settled = settle(question.checks, verdicts, partial.shares)
    else:
        settled = with_price(question.checks, verdicts, partial.price)
    if partial.right_cases and _wrong_results(question, verdicts):
        earned = _right_cases(question, judged, submission, partial)
        settled = with_credit(question.checks, settled, earned) if earned else settled
    if (slip := submission.mended) is not None:
        verdicts = _unsettled(question, _judged(planned, reference, slip.run), slip.run)
        if slip.earns:
            left = Price(slip.earns, frozenset(slip.voids))
            mended = with_price(question.checks, verdicts, left)
        else:
            # Something else may be wrong yet; what rests on all of it earns its share there.
            mended = settle(question.checks, verdicts, partial.shares and slip.others)
        settled = with_credit(question.checks, settled, of_slip(slip, mended))
    settled = with_diagnoses(question.checks, settled)
    return without_repeats(question.listed, settled)


def _judged(
    planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun
) -> JudgedCases:
    """Return the verdict of each check on each of its cases."""
    question = planned.question
    return {
        check.id: [
            (
                case,
                _unwritten_elsewhere(question, submission, case.key)
                or judge_case(
                    check,
                    case.inputs,
                    reference.observations[case.key],
                    submission.observations[case.key],
                    question.id,
                ),
            )
            for case in planned.cases
            if check.judges(case.case.id)
        ]
        for check in question.checks
    }


def _unsettled(
    question: Question,
    judged: JudgedCases,
    submission: QuestionRun,
    without: Collection[str] = (),
) -> Verdicts:
    """Return the verdict of each check over its cases, before anything rests on another.

    Args:
        question: Whose checks they are.
        judged: The verdicts on its cases.
        submission: What the submission did.
        without: Keys of cases that are left out.
    """
    verdicts: Verdicts = {}
    for check in question.checks:
        cases = [(case.inputs, each) for case, each in judged[check.id] if case.key not in without]
        if cases:
            combined = combine([verdict for _, verdict in cases])
            verdicts[check.id] = with_inputs_told(cases, across_cases(cases, combined))
    # After all that have cases: those tell whether the function is written at all.
    for check in question.checks:
        if check.id not in verdicts:
            verdicts[check.id] = _without_case(check, verdicts, submission)
    return verdicts


def _right_cases(
    question: Question, judged: JudgedCases, submission: QuestionRun, partial: PartialCredit
) -> Credit | None:
    """Return what right results earn where others are wrong; None where none shows work done."""
    values = [each for check in question.checks if of_values(check) for each in judged[check.id]]
    wrong = {case.key for case, verdict in values if verdict.status is not Status.PASSED}
    drawn = {case.key: case for case, _ in values if case.case.varies}
    right = [case for key, case in drawn.items() if key not in wrong]
    # A case like a single key, or no row, asks for less than the work; such are the fewest.
    if len(right) < len(drawn) / 2 or not shows_work(right, submission.observations):
        return None
    verdicts = _unsettled(question, judged, submission, wrong)
    settled = settle(question.checks, verdicts, partial.shares)
    return of_cases(len(right), len(drawn), partial.right_cases, settled)


def wrong_results(
    planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun
) -> list[Check]:
    """Return the checks that a submission fails by the values that came back.

    None where something else is wrong, or undecided, with any of those that judge values.

    Args:
        planned: The question with the inputs that both runs got.
        reference: What the reference did with them.
        submission: What the submission did.
    """
    verdicts = _of_each(planned, reference, submission)
    return _wrong_results(planned.question, verdicts) if verdicts else []


def has_wrong_results(
    planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun
) -> bool:
    """Tell whether anything that came back is wrong, so that known mistakes are asked for.

    Args:
        planned: The question with the inputs that both runs got.
        reference: What the reference did with them.
        submission: What the submission did.
    """
    verdicts = _on_results(planned, reference, submission)
    return any(verdict.code in OF_RESULTS for verdict in verdicts.values())


def failed_results(
    planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun
) -> frozenset[str]:
    """Return the ids of the checks of what came back that a submission fails.

    Args:
        planned: The question with the inputs that both runs got.
        reference: What the reference did with them.
        submission: What the submission did.
    """
    verdicts = _on_results(planned, reference, submission)
    return frozenset(name for name, verdict in verdicts.items() if verdict.status.wrong)


def _on_results(
    planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun
) -> Verdicts:
    """Return the verdicts of ``_of_each`` on what came back alone."""
    judging = {check.id for check in planned.question.checks if results_alone(check)}
    verdicts = _of_each(planned, reference, submission)
    return {name: verdict for name, verdict in verdicts.items() if name in judging}


def _of_each(planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun) -> Verdicts:
    """Return the verdict of each check as ``_unsettled`` does; none where there is no function."""
    if reference.entry is None or submission.entry is None:
        return {}
    judged = _judged(planned, reference, submission)
    return _unsettled(planned.question, judged, submission)


def _wrong_results(question: Question, verdicts: Verdicts) -> list[Check]:
    judging = [check for check in question.checks if of_values(check)]
    wrong = [check for check in judging if not verdicts[check.id].status.earned]
    if any(verdicts[check.id].code not in OF_RESULTS for check in wrong):
        return []
    return wrong


def for_all(question: Question, verdict: Verdict) -> Verdicts:
    """Give one verdict to every check of a question that reports list."""
    return {check.id: verdict for check in question.listed}


def _without_case(check: Check, judged: Verdicts, submission: QuestionRun) -> Verdict:
    """Return the verdict of a self-check on a check whose cases it does not have.

    A function that is not written, or returns nothing, is promised nothing; nor is one whose text
    shows what is wrong.
    """
    for verdict in judged.values():
        if verdict.code in (Code.NOT_IMPLEMENTED, Code.RETURNED_NOTHING):
            return verdict
    source = next((observation.source for observation in submission.observations.values()), None)
    read = check.read(source) if source is not None else None
    return read or left_to_grading()


def left_to_grading() -> Verdict:
    """Return the verdict of a self-check on what only cases judge that it does not have."""
    return deferred(Code.NOT_RUN, Message("left_to_grading"))


def _reference_problem(question: Question, run: QuestionRun) -> Verdict | None:
    if run.entry is not None:
        return None
    if run.failed_load is not None:
        # Before the instructor is blamed: a sandbox that failed says nothing about the reference.
        if run.failed_load.outcome is Outcome.SANDBOX_FAILED:
            detail = Message("sandbox_failed", {"detail": run.failed_load.detail})
            return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, detail)
        why = run.failed_load.detail
    elif run.loaded is not None and run.loaded.fault is not None:
        why = f"{run.loaded.fault.type}: {run.loaded.fault.message}"
    else:
        why = f"it defines none of {', '.join(question.names)}"
    return fault(
        Code.REFERENCE_FAILED, Owner.INSTRUCTOR, Message("reference_failed", {"detail": why})
    )


def _import_problem(question: Question, run: QuestionRun, known: Collection[str]) -> Verdict | None:
    """Return the verdict for a submission whose entry point could not be called at all.

    Args:
        question: What is asked for.
        run: What came of it.
        known: Names of what else is asked for or given.
    """
    if run.entry is not None:
        return None
    if run.failed_load is not None:
        return _load_verdict(run.failed_load)
    assert run.loaded is not None
    error = run.loaded.fault
    if error is not None:
        return _import_fault(error)
    return _missing(question, run.loaded.names, known)


def _load_verdict(observation: Observation) -> Verdict:
    if observation.outcome is Outcome.SANDBOX_FAILED:
        message = Message("sandbox_failed", {"detail": observation.detail})
        return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)
    code = {
        Outcome.TIMED_OUT: Code.TIMED_OUT,
        Outcome.OUT_OF_MEMORY: Code.OUT_OF_MEMORY,
        Outcome.PROTOCOL_VIOLATION: Code.PROTOCOL_VIOLATION,
    }.get(observation.outcome, Code.CRASHED)
    return failed(code, Message("died_at_import", _how_it_ended(observation)))


_STOPPED_FOR = {
    Stop.PROCESSOR: "processor", Stop.ASLEEP: "asleep", Stop.ASLEEP_IN_ALL: "asleep",
    Stop.WALL: "wall",
}  # fmt: skip
"""Reason → the blank that takes the seconds of it."""


def _how_it_ended(observation: Observation) -> dict[str, Param]:
    """Return what a message says of the end of a load, in numbers where there are any."""
    facts = observation.facts
    if observation.outcome is Outcome.TIMED_OUT and facts.stopped and facts.limit is not None:
        return {_STOPPED_FOR[facts.stopped]: facts.limit}
    if observation.outcome is Outcome.OUT_OF_MEMORY:
        return {}
    return {"signal": facts.signal, "exit": facts.exit_code, "detail": observation.detail}


def _unwritten_elsewhere(question: Question, submission: QuestionRun, key: str) -> Verdict | None:
    """Return the verdict on a function that calls one of the file that is still to be written."""
    error = submission.observations[key].claims.fault
    stub = _STUB.fullmatch(error.message) if error else None
    if error is None or stub is None or stub[1] in question.names or submission.loaded is None:
        return None
    # Stubs of older starters name a method without its class; that tells nothing.
    if stub[1] not in submission.loaded.names:
        return None
    params: dict[str, Param] = {
        "function": stub[1], "type": error.type, "file": plain(error.file), "line": error.line,
    }  # fmt: skip
    return failed(Code.RAISED, Message("calls_unwritten", params), trace=plain(error.trace))


def _import_fault(error: Fault) -> Verdict:
    params: dict[str, Param] = {
        "type": error.type, "message": error.message, "file": error.file, "line": error.line,
        "column": error.column,
    }  # fmt: skip
    if error.type in ("SyntaxError", "IndentationError", "TabError"):
        return failed(Code.SYNTAX_ERROR, Message("syntax_error", params), trace=error.trace)
    cause = exception_cause(error.message)
    if error.type == "EOFError" and cause.get("cause") == "nobody_types":
        return failed(Code.IMPORT_FAILED, Message("input_at_import", params), trace=error.trace)
    return failed(Code.IMPORT_FAILED, Message("import_failed", params | cause), trace=error.trace)


def _missing(question: Question, names: Sequence[str], known: Collection[str]) -> Verdict:
    listed: list[Param] = list(names[:20])
    params: dict[str, Param] = {
        "function": question.names[0],
        "names": listed,
        "nearest": misnamed(question.names[0], names, known),
    }
    return failed(Code.MISSING_FUNCTION, Message("missing_function", params))


def misnamed(wanted: str, names: Iterable[str], known: Collection[str]) -> str:
    """Return the name that a function or class was probably given instead of its own, or "".

    Args:
        wanted: Its own name.
        names: Those that the submission defines.
        known: Those of something else: another question's, or what is given.
    """
    # A class is no function under another name: LinearClassifier is no find_classifier.
    free = [name for name in names if name not in known and _is_class(name) == _is_class(wanted)]
    # An imported Tensor is no mutate_tensor under another name.
    return nearest_name(wanted, free, likeness=0.6)


def _is_class(name: str) -> bool:
    """Tell whether a name is written as one of a class."""
    return name.lstrip("_")[:1].isupper()


def judge_all(
    plan: Sequence[PlannedQuestion],
    reference: Mapping[str, QuestionRun],
    runs: Mapping[str, QuestionRun],
    missing: Mapping[str, str],
    partial: Mapping[str, PartialCredit],
) -> dict[str, Verdicts]:
    """Return question → verdicts, for the questions that were run.

    Args:
        plan: What was called.
        reference: What came of it for the reference, by question id.
        runs: The same for the submission.
        missing: Packages that student processes cannot import → why.
        partial: What is earned where it is right in part, by question id.
    """
    judged: dict[str, Verdicts] = {}
    entries = {name for planned in plan for name in planned.question.names}
    for planned in plan:
        name = planned.question.id
        if name not in runs:
            continue
        if lack := lacking_at_import(runs[name], missing):
            judged[name] = for_all(planned.question, lack)
        else:
            paid = partial[name]
            judged[name] = judge_question(planned, reference[name], runs[name], entries, paid)
    return judged


def lacking_at_import(run: QuestionRun, missing: Mapping[str, str]) -> Verdict | None:
    """Return the verdict on a submission whose import got stuck for the lack of a module, or None.

    An import that fails binds a placeholder; but where the file uses that while it is imported, as
    in an annotation, all that comes after it is lost, also what could do without the module.

    Args:
        run: Of any question.
        missing: Modules that some question needs and student processes cannot import → why.
    """
    if run.entry is not None or run.loaded is None or run.loaded.fault is None:
        return None
    wanted = run.loaded.missing
    # With the dot: “torchvision2” must not pass for a part of “torchvision”.
    absent = [
        name for name in missing if any(f"{other}.".startswith(f"{name}.") for other in wanted)
    ]
    return no_package(absent, missing[absent[0]]) if absent else None


@dataclass(frozen=True, slots=True)
class Sources:
    """What the files of a submission say.

    Attributes:
        read: File → what it says.
        module: The file of questions that name no other.
    """

    read: Mapping[str, SourceFacts]
    module: str


def with_sources(
    sources: Sources, plan: Sequence[PlannedQuestion], runs: Mapping[str, QuestionRun]
) -> dict[str, QuestionRun]:
    """Return the runs with what the source says of each.

    The facts on an entry point go into the observations of questions that ask for them, and of
    those that look as if they were not written. A file that cannot be read leaves them out; that is
    for the judge to weigh.
    """
    wanted = {
        planned.question.id: planned.question.file or sources.module
        for planned in plan
        if any(Probe.SOURCE in check.needs() for check in planned.question.checks)
        or _looks_unwritten(runs.get(planned.question.id))
    }
    return dict(runs) | {
        name: _with(runs[name], reachable(sources.read, file, runs[name].entry or ""))
        for name, file in wanted.items()
        if name in runs
    }


def _looks_unwritten(run: QuestionRun | None) -> bool:
    """Tell whether a call, or a part of what it returned, came to nothing, as with a stub."""
    observed = run.observations.values() if run else ()
    return any(_is_nothing(item) for item in observed)


def _is_nothing(seen: Observation) -> bool:
    fault = seen.claims.fault
    if fault is not None:
        return fault.type == "NotImplementedError"
    value = seen.claims.value
    parts: Iterable[Value] = value if isinstance(value, (tuple, list)) else ()
    if isinstance(value, dict):
        parts = value.values()
    return seen.outcome is Outcome.COMPLETED and any(map(holds_none, (value, *parts)))


def _with(run: QuestionRun, facts: EntryFacts | None) -> QuestionRun:
    observations = {key: replace(item, source=facts) for key, item in run.observations.items()}
    return replace(run, observations=observations)


class SubmissionRunner:
    """Runs submissions, one after the other.

    Attributes:
        versions: What the last student process said of its torch and Python.

    Args:
        materials: The assignment and its files.
        sandbox: Starts the student processes.
        guard: What surrounds work on what submissions answer.
        seed: Of all drawn inputs.
        made: Returns the priced mistake that a submission makes in a question.
    """

    def __init__(
        self, materials: Materials, sandbox: Sandbox, guard: CpuGuard, seed: int, made: FindMade
    ) -> None:
        self.versions: dict[str, str] = {}
        self._materials = materials
        self._sandbox = sandbox
        self._guard = guard
        self._sources = SourceReader()
        self._prover = Prover(materials, sandbox, seed)
        self._seed = seed
        self._made = made
        self._by_mistake: dict[tuple[str, str], tuple[Prover, Runs]] = {}

    def run(
        self,
        plan: Sequence[PlannedQuestion],
        files: Mapping[str, bytes],
        phases: PhaseTimes,
        reference: Mapping[str, QuestionRun],
        one_by_one: bool = False,
    ) -> Generator[Event, None, None]:
        """Yield as each question begins, and what came of it, with what source and logs say.

        Args:
            plan: What to call.
            files: Of the submission, by the names that the assignment gives them.
            phases: Called for each part that is done.
            reference: What came of the plan for the reference.
            one_by_one: Somebody waits for each question's result.

        Raises:
            InfrastructureError: No student process can be started.
        """
        # It begins while the submission runs. A failure to start is reported when it is asked.
        with suppress(OSError):
            self._sources.start()
        # Read while the student process starts: each question is judged as soon as it has run.
        sources = self._read(files) if one_by_one else None
        by_id = {planned.question.id: planned for planned in plan}
        # In a self-check there is no reference to answer other inputs. The submission itself
        # answers them: a log that does not come to its own function's values, grading will not
        # prove either.
        prover = self._prover
        if not self._materials.reference:
            own = replace(self._materials, reference=dict(files))
            prover = Prover(own, self._sandbox, self._seed)
        budget = budget_beside(observations(reference), self._guard.reading)
        session = open_session(self._sandbox, self._materials, files, budget)
        left: dict[str, QuestionRun] = {}
        try:
            try:
                for event in observe(session, plan, reference, one_by_one):
                    if isinstance(event, QuestionStarted):
                        yield event
                    elif sources is None:
                        left[event.id] = event.run
                    else:
                        alone = [by_id[event.id]]
                        runs = self._proved_by(prover, alone, {event.id: event.run}, reference)
                        phases.questions[event.id] = event.run.seconds
                        run = with_sources(sources, plan, runs)[event.id]
                        yield replace(event, run=run)
            finally:
                session.finish()
            self.versions = session.versions
            phases.lap("calls", start=session.starting, counting=session.counting)
            runs = self._proved_by(prover, plan, left, reference) if left else {}
        finally:
            prover.close()
            for known, _ in self._by_mistake.values():
                known.close()
        phases.questions |= {name: run.seconds for name, run in runs.items()}
        phases.lap("replay")
        if any(run.observations for run in runs.values()):
            runs = with_sources(self._read(files), plan, runs)
        phases.lap("source")
        yield from (QuestionObserved(name, run) for name, run in runs.items())

    def _proved_by(
        self, prover: Prover, plan: Sequence[PlannedQuestion], runs: Runs, reference: Runs
    ) -> dict[str, QuestionRun]:
        if prover is self._prover:
            return self._proved(plan, runs, reference)
        return prover.proved(plan, runs, runs)

    def _proved(
        self, plan: Sequence[PlannedQuestion], runs: Runs, reference: Runs
    ) -> dict[str, QuestionRun]:
        """Return runs with what came of their logs.

        A log of who makes a priced mistake comes to what the mistake gives on other inputs.
        """
        proved: dict[str, QuestionRun] = {}
        rest = []
        for planned in plan:
            name = planned.question.id
            made = (
                self._made(planned, runs[name], reference[name], self._sandbox)
                if name in runs
                else None
            )
            if made is None:
                rest.append(planned)
                continue
            prover, own = self._prover_of_mistake(planned, made)
            proved |= prover.proved([planned], {name: runs[name]}, own)
        left = {name: run for name, run in runs.items() if name not in proved}
        return {**self._prover.proved(rest, left, reference), **proved}

    def _prover_of_mistake(self, planned: PlannedQuestion, made: Made) -> tuple[Prover, Runs]:
        """Return what runs logs of a mistake again, and what comes of the mistake's own."""
        name = planned.question.id
        key = name, made.name
        if key not in self._by_mistake:
            materials = replace(self._materials, reference=made.files)
            prover = Prover(materials, self._sandbox, self._seed)
            own = {name: made.run}
            self._by_mistake[key] = prover, prover.proved([planned], own, own)
        return self._by_mistake[key]

    def _read(self, files: Mapping[str, bytes]) -> Sources:
        """Read the files of a submission, each once for all questions."""
        module = self._materials.assignment.module
        read = {
            path: self._sources.read(data) for path, data in files.items() if path.endswith(".py")
        }
        # Where the assignment's own file is not there, its questions are looked for in the first.
        return Sources(read, module if module in files else next(iter(files)))
