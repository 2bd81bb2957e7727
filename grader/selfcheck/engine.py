"""A self-check: run the student's own file on public cases, and judge as grading judges."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from typing import cast

from grader.checks.diagnoses import exception_cause
from grader.checks.ops import WRITTEN_AS
from grader.grading import Grader, Options
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.sums import with_results
from grader.run.capabilities import DeviceChoice
from grader.run.judge_submission import misnamed
from grader.run.materials import Materials
from grader.run.observe import QuestionRun
from grader.sandbox.host.processes import Sandbox
from grader.selfcheck.pictures import device_lines
from grader.selfcheck.public import PUBLIC_SEED
from grader.selfcheck.sealed_mistakes import SealedMistakes
from grader.selfcheck.values import printed_lines, value_lines
from grader.selfcheck.warm_sandbox import SpareSandbox
from grader.selfcheck.workplace import (
    Workplace,
    from_text,
    line_as_written,
    read_workplace,
    words_for,
)
from grader.selfcheck.written_stubs import (
    Inside,
    bracket_lines,
    default_devices,
    inside,
    takes_long_to_load,
)
from grader.verdict import Code, Message, Param

_LACKS = re.compile(r"\bmodule '(\w+)' has no attribute '(\w+)'")
_MOST_PLACES = 3
_MOST_LINES = 8
OnQuestion = Callable[[str], None]
OnResult = Callable[[QuestionResult], None]


class SelfCheck:
    """Checks one workplace, again and again. A context manager.

    Attributes:
        workplace: May be opened again between two checks.
        seen: What the student's functions did when they were checked last, by question.
        words: Of the current language, as they speak of what was checked last.

    Args:
        workplace: The folder.
        sandbox: Where the student's code runs, see ``open_for_check``; closed with this.
        device: Where GPU questions run.
    """

    def __init__(
        self, workplace: Workplace, sandbox: Sandbox, device: DeviceChoice = "auto"
    ) -> None:
        self.workplace = workplace
        self._device: DeviceChoice = device
        self._sandbox = sandbox
        self.seen: dict[str, QuestionRun] = {}
        self.words = current()
        self._latest: Mapping[str, QuestionRun] = {}
        self._printed: dict[str, str] = {}

    def check(
        self,
        questions: Sequence[str] = (),
        on_question: OnQuestion = lambda _: None,
        on_result: OnResult | None = None,
    ) -> Report:
        """Run and judge; what is not asked for stays pending.

        What a busy machine gave no time is run once more.

        Args:
            questions: Ids; all where empty.
            on_question: Called with the id of each question as it begins.
            on_result: Called with the result of a question as soon as there is one.

        Raises:
            UsageError: There is no such question, or the submission cannot be read.
        """
        public = self.workplace.public
        grader = Grader(
            self._materials(), self._sandbox, Options(PUBLIC_SEED, self._device, tuple(questions))
        )
        self.words = words_for(read_workplace(self.workplace))
        grader.words = self.words
        grader.mistakes = SealedMistakes(public.mistakes)
        told: set[str] = set()
        if on_result is not None:
            grader.on_question = self._noting(on_result, told, _sandbox_failed)
        grader.adopt(public.plan, public.reference)
        path = self.workplace.hand_in
        examined = grader.examine(self.workplace.where, path.name, on_question)
        runs, report = examined.runs, examined.report
        starved = [each.id for each in report.questions if _sandbox_failed(each)]
        if starved:
            again = grader.with_questions(starved)
            if on_result is not None:
                again.on_question = self._noting(on_result, told, lambda _: False)
            examined = again.examine(self.workplace.where, path.name, on_question)
            found = {each.id: each for each in examined.report.questions if each.id in starved}
            runs = {**runs, **examined.runs}
            report = with_results(report, [found.get(each.id, each) for each in report.questions])
        self.seen.update(runs)
        self._latest = runs
        return self._noted(report)

    def _noting(
        self, on_result: OnResult, told: set[str], waits: Callable[[QuestionResult], bool]
    ) -> Callable[[QuestionResult, QuestionRun, str], None]:
        """Return what hands on each result once, but for what waits to be run once more."""

        def note(result: QuestionResult, run: QuestionRun, printed: str) -> None:
            if result.id in told or waits(result):
                return
            told.add(result.id)
            # Whoever prints it asks for details.
            self.seen[result.id] = run
            self._printed[result.id] = printed
            on_result(self.located(result))

        return note

    def located(self, result: QuestionResult) -> QuestionResult:
        """Return a result that says what the student's folder shows beside it.

        Of a missing function where it stands instead; of an import of the file by itself, that it
        is one.
        """
        lacking = [check for check in result.checks if check.code is Code.MISSING_FUNCTION]
        # Once for all checks of a question: the file is read and parsed for it.
        missing = self._elsewhere(result.id, lacking[0]) if lacking else None
        checks = (self._check_located(check, missing) for check in result.checks)
        return result.model_copy(update={"checks": tuple(checks)})

    def _check_located(self, check: CheckResult, missing: Message | None) -> CheckResult:
        if missing is not None and check.code is Code.MISSING_FUNCTION:
            return self._worded(check, missing)
        if check.code is Code.SANDBOX_FAILED:
            # The machine is the student's own: its reason is what helps on.
            return check.model_copy(update={"student_message": check.message})
        itself = self._of_itself(str(check.params.get("message", "")))
        if check.code is Code.IMPORT_FAILED and itself and check.message_id:
            return self._worded(
                check, Message(check.message_id, cast("dict[str, Param]", check.params) | itself)
            )
        return check

    def _worded(self, check: CheckResult, message: Message) -> CheckResult:
        """Return a check's result with another message."""
        text = self.words.render(message)
        return check.model_copy(
            update={
                "message": text,
                "student_message": text,
                "message_id": message.id,
                "params": dict(message.params),
            }
        )

    def _of_itself(self, error: str) -> dict[str, Param]:
        """Return what a file lacks that imports itself: in a notebook that means the starter's."""
        found = _LACKS.search(error)
        module = self.workplace.public.assignment.module.removesuffix(".py")
        if found is None or found[1] != module:
            return {}
        return {"own_module": module, "own_name": found[2]}

    def _elsewhere(self, question: str, check: CheckResult) -> Message:
        place = self.workplace
        function, asked = place.function(question), place.public.assignment.functions
        names = check.params.get("names")
        others = (
            [str(each) for each in names if each not in asked] if isinstance(names, list) else []
        )
        if (found := self._inside(question)) is not None:
            return Message("stands_inside", found.params(function))
        return Message(
            "missing_function",
            {
                "function": function,
                "names": list[Param](others),
                "nearest": misnamed(function, others, asked),
                "file": place.public.assignment.place_of(place.question(question)) or None,
            },
        )

    def _inside(self, question: str) -> Inside | None:
        place = self.workplace
        return from_text(place, lambda own: inside(place, own, place.question(question)))

    def details(self, question: QuestionResult) -> dict[str, tuple[str, ...]]:
        """Return check → lines on the values and on what the devices did in its last run."""
        found = value_lines(question, self.workplace, self.seen)
        for check in question.checks:
            if check.message_id == "died_at_import" and check.code is Code.TIMED_OUT:
                found[check.id] = self._while_loading()
            if check.message_id == "too_many_calls":
                lines = self._counted_lines(question.id, str(check.params.get("what")))
                found[check.id] = lines + found.get(check.id, ())
        for name, lines in self.devices(question).items():
            found[name] = found.get(name, ()) + lines
        return found

    def _counted_lines(self, question: str, what: str) -> tuple[str, ...]:
        """Return the lines in which brackets stand that were counted."""
        names = self.workplace.question(question).names
        assigned = what == WRITTEN_AS["slice_assignment"]
        places = from_text(self.workplace, lambda own: bracket_lines(own, names, assigned)) or ()
        shown = [line_as_written(self.workplace, file, line) for file, line in places[:_MOST_LINES]]
        head = self.words.render(Message("counted_lines", {"what": what}))
        return (head, *shown) if shown else ()

    def _while_loading(self) -> tuple[str, ...]:
        """Return lines on what may take long where the file was stopped while it was loaded."""
        places = from_text(self.workplace, takes_long_to_load)
        if not places:
            return ()
        lines = [self.words.render(Message("runs_while_loading"))]
        for file, line in places[:_MOST_PLACES]:
            lines.append(self.words.render(Message("runs_at_line", {"file": file, "line": line})))
            lines.append(line_as_written(self.workplace, file, line))
        return (*lines, self.words.render(Message("out_of_the_way")))

    def devices(self, question: QuestionResult) -> dict[str, tuple[str, ...]]:
        """Return check → lines on what the devices did when it was checked last."""
        return device_lines(question, self.workplace, self.seen)

    def printed(self, question: str) -> tuple[str, ...]:
        """Return the beginning of what a question printed when it was checked last, as lines."""
        return printed_lines(self._printed.get(question, ""))

    def noticed_while_loading(self) -> Iterator[Message]:
        """Yield what went wrong as the file was loaded, where functions were found all the same.

        Packages that are not installed, files that are not handed in, and a statement that raised,
        unless a question that was lost to it says so.
        """
        latest = self._latest.values()
        loaded = [run.loaded for run in latest if run.entry is not None and run.loaded]
        missing = sorted({name for each in loaded for name in each.missing})
        own = {name: file for name in missing if (file := self._file_beside(name))}
        lacking = sorted({_to_install(name) for name in missing if name not in own})
        # A package that is there needs no installing: it has no such module or name.
        there = [name for name in lacking if _is_there(name.partition(".")[0])]
        if packages := [name for name in lacking if name not in there]:
            yield Message("packages_missing", {"names": list[Param](packages)})
        if there:
            yield Message("names_missing", {"names": list[Param](there)})
        if own:
            names = sorted(set(own.values()))
            yield Message("own_files_missing", {"names": list[Param](names)})
        faults = {each.fault.file: each.fault for each in loaded if each.fault is not None}
        runs = (run for run in latest if run.entry is None and run.loaded)
        told = {run.loaded.fault.file for run in runs if run.loaded and run.loaded.fault}
        for error in (faults[name] for name in faults if name not in told):
            params: dict[str, Param] = {
                "type": error.type, "message": error.message, "file": error.file,
                "line": error.line,
            }  # fmt: skip
            params |= self._of_itself(error.message) | exception_cause(error.message)
            yield Message("loading_stopped", params)
        yield from self._defaults_to_gpu()

    def _defaults_to_gpu(self) -> Iterator[Message]:
        """Yield the lines that put all tensors on a GPU; most questions run where none is."""
        for file, line, call in from_text(self.workplace, default_devices) or ():
            yield Message("defaults_to_gpu", {"file": file, "line": line, "call": call})

    def _file_beside(self, module: str) -> str | None:
        """Return the student's own file or folder that an import meant; nobody hands it in."""
        root, folder = module.partition(".")[0], self.workplace.hand_in
        folder = folder.parent if folder.is_file() else folder
        if not root.isidentifier():
            return None
        return next((name for name in (f"{root}.py", root) if (folder / name).exists()), None)

    def make_ready(self) -> None:
        """Have the next run begin warm; takes no time now."""
        if isinstance(self._sandbox, SpareSandbox) and self.workplace.public.plan:
            self._sandbox.make_ready(self.workplace.public.plan[0].process)

    def close(self) -> None:
        """End every student process."""
        self._sandbox.close()

    def __enter__(self) -> SelfCheck:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _materials(self) -> Materials:
        place = self.workplace
        return Materials(
            assignment=place.public.assignment,
            # A starter has no solution; what it did comes with the public cases (``adopt``).
            reference={},
            support=place.support,
            scenario=place.public.scenario,
            digest=place.public.digest,
            starter=place.folder,
            reference_folder=place.folder,
            root=place.folder,
            folder=place.folder,
            given=place.public.given,
        )

    def _noted(self, report: Report) -> Report:
        changed = [
            Message("support_changed", {"file": name})
            for name, data in self.workplace.support.items()
            if hashlib.sha256(data).hexdigest() != self.workplace.public.support[name]
        ]
        notes = tuple(current().render(note) for note in [*changed, Message("self_check")])
        submission = report.submission
        return report.model_copy(
            update={
                "questions": tuple(map(self.located, report.questions)),
                "submission": submission.model_copy(update={"notes": (*submission.notes, *notes)}),
            }
        )


def _sandbox_failed(question: QuestionResult) -> bool:
    return any(check.code is Code.SANDBOX_FAILED for check in question.checks)


def _to_install(module: str) -> str:
    """Return what an import lacks: its package, or the name that an installed one does not have."""
    root = module.partition(".")[0]
    return module if _is_there(root) else root


def _is_there(root: str) -> bool:
    """Tell whether a package is installed here, or Python's own."""
    return root in sys.stdlib_module_names or PathFinder.find_spec(root) is not None
