"""The starter: what students begin with, generated from the reference and the handout.

Generated files are committed, so that they can be read and linked to, and checked for drift, so
that nobody edits them by hand. Building is deterministic, byte for byte.

Public cases are made by running the reference once on the visible cases and keeping what matters.
Everything stays small enough to be committed and downloaded. A case that would not is left to
grading, as hidden ones are.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from grader.assignment.find import GIVEN, SCENARIO
from grader.assignment.translation import (
    Translation,
    docstrings,
    docstrings_of,
    file_of,
    translations,
)
from grader.assignment.types import Assignment
from grader.authoring.student_files import (
    build_notebook,
    hints_in,
    split_handout,
    strip_solutions,
    unshown,
)
from grader.authoring.translated import with_docstrings, with_examples
from grader.checks.by_hand import BY_HAND
from grader.errors import AssignmentError, Problem, UsageError
from grader.grading import Grader, Options
from grader.interpreter import plain_processor
from grader.report.model import CheckResult, Report
from grader.run.materials import Materials
from grader.sandbox.host.processes import Sandbox
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.files import read_public, size_of
from grader.selfcheck.folder import CASES_FILE, TENSORS_FILE
from grader.selfcheck.public import (
    PUBLIC_SEED,
    CaseName,
    PublicCases,
    items_with_numbers,
    public_part,
    public_questions,
    public_runs,
)
from grader.selfcheck.sealed_mistakes import sealed_mistakes
from grader.selfcheck.warm_sandbox import open_for_check
from grader.selfcheck.workplace import Workplace
from grader.verdict import Code, Status, Visibility

HANDOUT = "handout.md"
_README = """\
# {title}

1. Fill in the functions in {modules}. Each docstring says what goes in, what comes out and what \
is not allowed.
2. Try them in `{notebook}`, which explains the ideas, loads your file again whenever you save it, \
and has a check after each function.
3. Check your work in this folder, as often as you like:

   ```
   grader check            # what is right, what is not and why, what to do next
   grader check --watch    # the same, again whenever you save
   pytest                  # the same as tests: in an editor, or pytest -k name
   ```

4. Hand in {hand_in}, or what `grader submit-zip` packs.

The check tries public cases, which lie in `{cases}` and `{tensors}` beside your file; grading \
tries more. It needs torchgrade, once: `pip install` the file or the folder that your course names.
{languages}
| question | points |
|---|---|
{questions}
| **sum** | **{points:g}** |
{given}
You can hand in before everything is written: a function that still raises `NotImplementedError` \
earns nothing and costs the others nothing.
"""
_GIVEN = "\nGiven, and worth no points: {names}.\n"
_KOREAN_README = """\
# {title}
{english}
1. {modules}의 함수를 채우세요. 각 함수의 docstring에 무엇을 받아 무엇을 반환하는지, 무엇을 쓰면 \
안 되는지 {written} 있습니다.
2. `{notebook}`에서 함수를 실행해 보세요. `.py` 파일을 저장할 때마다 다시 불러오고, 함수마다 \
점검하는 셀이 있습니다.{handout}
3. 이 폴더에서 몇 번이든 점검하세요:

   ```
   grader check --lang ko          # 맞은 것, 틀린 것과 이유, 다음에 할 일
   grader check --lang ko --watch  # 저장할 때마다 다시
   pytest                          # 같은 점검을 테스트로: 편집기에서, 또는 pytest -k 이름
   ```

   `pytest`와 노트북의 `%check`도 한국어로 보려면 환경 변수 `TORCHGRADE_LANG=ko`를 설정하세요. \
노트북에서는 첫 셀에 `%env TORCHGRADE_LANG=ko`를 쓰면 됩니다.

4. {hand_in} 또는 `grader submit-zip`이 만든 압축 파일을 제출하세요.

점검에는 이 폴더에 있는 공개 케이스(`{cases}`, `{tensors}`)를 쓰고, 채점할 때는 더 많은 케이스를 \
씁니다. torchgrade가 필요하니, 강의에서 알려 준 파일이나 폴더를 `pip install`로 한 번 설치하세요.

| 문제 | 제목 | 점수 |
|---|---|---|
{questions}
| **합계** | | **{points:g}** |
{given}
다 쓰지 못해도 제출할 수 있습니다. 아직 `NotImplementedError`를 일으키는 함수는 점수가 없을 뿐, \
다른 함수의 점수를 깎지 않습니다.
"""
_KOREAN_HANDOUT = " 설명은 한국어로 [{name}]({name})에 있습니다."
_KOREAN_GIVEN = "\n이미 주어진 함수이며 점수가 없습니다: {names}.\n"


_LINK_TO_ENGLISH = "\n[English](README.md)\n"
_IN_ENGLISH, _IN_KOREAN = "영어로 적혀", "적혀"


def build_starter(
    assignment: Assignment, folder: Path, reference: Path, language: str = "en"
) -> dict[str, bytes]:
    """Return the starter's files by name.

    Args:
        assignment: What is asked.
        folder: ``assignments/<id>``: support files, ``handout.md``, ``ko.toml``, ``handout.ko.md``,
            ``docstrings.ko.toml``.
        reference: ``reference/<id>``, with the module that carries solution markers.
        language: Of docstrings, notebook and README, as far as the author translated them.

    Raises:
        AssignmentError: A file is missing or broken, gives a solution or a case generator away, or
            is a handout without an example of a question.
    """
    if language != "en":
        return _translated(assignment, folder, reference, language)
    notebook = f"{assignment.id}.ipynb"
    files = {name: _stripped(assignment, name, reference) for name in assignment.hand_in}
    files[notebook] = _notebook(assignment, folder / HANDOUT)
    seen = [item.id for item in assignment.questions if item.visibility is Visibility.VISIBLE]
    handouts = sorted(path.name for path in folder.glob("handout.*.md"))
    translated = translations(folder, seen)
    files["README.md"] = _readme(assignment, notebook, translated, handouts).encode()
    if korean := translated.get("ko"):
        files[_readme_of("ko")] = _korean_readme(assignment, notebook, korean, handouts).encode()
    copied = (*assignment.support, *map(file_of, translated), *handouts)
    files |= {name: _read(folder / name) for name in copied}
    return files


def _translated(
    assignment: Assignment, folder: Path, reference: Path, language: str
) -> dict[str, bytes]:
    """Return the starter in another language; what has no translation stays in English."""
    words = docstrings(folder, language)
    if not words:
        text = "is not there; a starter in another language needs its docstrings"
        raise AssignmentError([Problem(str(folder / docstrings_of(language)), None, "", text)])
    files = build_starter(assignment, folder, reference)
    for name in assignment.hand_in:
        files[name] = with_docstrings(files[name].decode(), name, words).encode()
    notebook = f"{assignment.id}.ipynb"
    own = f"handout.{language}.md"
    if (handout := files.pop(own, None)) is not None:
        files[notebook] = _notebook(assignment, folder / HANDOUT, handout.decode(), language)
    if files.pop(_readme_of(language), None) is not None:
        korean = translations(folder, [item.id for item in assignment.questions])[language]
        # The one that pages of repositories show; there is no other.
        text = _korean_readme(assignment, notebook, korean, (), docstrings_in_korean=True)
        files["README.md"] = text.encode()
    return files


def write_starter(files: Mapping[str, bytes], target: Path) -> list[Path]:
    """Write the starter into ``target``; return the files that changed.

    Other files there are left: a person may have put them there.
    """
    changed = []
    for name, data in files.items():
        path = target / name
        if path.is_file() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        changed.append(path)
    return changed


def check_starter(files: Mapping[str, bytes], target: Path) -> list[Problem]:
    """Return where ``target`` differs from what would be generated; empty if it does not."""
    problems = []
    for name, data in files.items():
        path = target / name
        if not path.is_file():
            problems.append(Problem(str(path), None, "", f"is missing; run {_remedy(target)}"))
        elif drift := _first_difference(path.read_bytes(), data):
            line, text = drift
            problems.append(Problem(str(path), line, "", f"{text}; run {_remedy(target)}"))
    wanted = {target / name for name in (*files, CASES_FILE, TENSORS_FILE)}
    for path in sorted(target.rglob("*")):
        parts = path.relative_to(target).parts
        beside = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and path not in wanted and not beside:
            text = "is not generated from anything; remove it, or name it under support:"
            problems.append(Problem(str(path), None, "", text))
    return problems


def _remedy(target: Path) -> str:
    return f"make starter ID={target.name}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        text = f"cannot be read ({error.strerror}), and the starter needs it"
        raise AssignmentError([Problem(str(path), None, "", text)]) from None


def _text(path: Path) -> str:
    try:
        text = _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = f"is not UTF-8 (byte {error.start})"
        raise AssignmentError([Problem(str(path), None, "", text)]) from None
    # A starter made on Windows would else differ in every line from the one that is checked in.
    return text.replace("\r\n", "\n")


def _stripped(assignment: Assignment, name: str, reference: Path) -> bytes:
    path = reference / name
    own = [question for question in assignment.coded if assignment.file_of(question) == name]
    source = strip_solutions(_text(path), str(path), [question.names[0] for question in own])
    left = _functions(source)
    cases = (case for question in assignment.questions for case in question.cases)
    text = "the case generator “{}” would be given to students; BEGIN HIDDEN … END HIDDEN keeps it"
    problems = [
        Problem(str(path), None, "", text.format(generator))
        for generator in sorted({case.generate for case in cases if case.generate} & left)
    ]
    if problems:
        raise AssignmentError(problems)
    return source.encode()


def _notebook(
    assignment: Assignment, handout: Path, translated: str = "", language: str = "en"
) -> bytes:
    if handout.exists():
        text = _text(handout)
    else:
        # Each question's own docstring stands in for the prose that nobody wrote.
        sections = (
            f"## {each.title}\n\n"
            f"```python\nhelp({assignment.module_of(each)}.{each.names[0]})\n```\n"
            for each in assignment.coded
        )
        text = "\n".join([f"# {assignment.title}\n", *sections])
    if translated:
        name = handout.with_name(f"handout.{language}.md")
        text = with_examples(text, translated, str(name))
    cells = split_handout(text, str(handout))
    names = [(assignment.module_of(asked), asked.names[0]) for asked in assignment.coded]
    problems = [
        Problem(str(handout), None, "", f"no ```python example calls {name}")
        for name in unshown(cells, names)
    ]
    if problems:
        raise AssignmentError(problems)
    shown: dict[str, dict[str, str]] = {file: {} for file in assignment.asked}
    for question in assignment.coded:
        if question.visibility is Visibility.VISIBLE:
            shown[assignment.file_of(question)][question.names[0]] = question.id
    return build_notebook(cells, shown, language)


def _readme(
    assignment: Assignment, notebook: str, translated: Collection[str], handouts: Collection[str]
) -> str:
    others = [_readme_of(language) for language in translated]
    links = ", ".join(f"[{name}]({name})" for name in (*others, *handouts))
    options = "".join(f"; `grader check --lang {language}`" for language in translated)
    rows = [
        f"| `{question.id}` | {question.points:g}{' bonus' if question.bonus else ''} |"
        for question in assignment.questions
    ]
    return _README.format(
        **_said_in_readmes(assignment, notebook, _GIVEN),
        title=assignment.title,
        questions="\n".join(rows),
        languages=f"\nIn another language: {links}{options}.\n" if links else "",
    )


def _readme_of(language: str) -> str:
    return f"README.{language}.md"


def _korean_readme(
    assignment: Assignment,
    notebook: str,
    words: Translation,
    handouts: Collection[str],
    docstrings_in_korean: bool = False,
) -> str:
    own = next((name for name in handouts if name == "handout.ko.md"), "")
    rows = [
        f"| `{question.id}` | {words.titles.get(question.id, '')} "
        f"| {question.points:g}{' (보너스)' if question.bonus else ''} |"
        for question in assignment.questions
    ]
    return _KOREAN_README.format(
        **_said_in_readmes(assignment, notebook, _KOREAN_GIVEN),
        title=words.title or assignment.title,
        questions="\n".join(rows),
        handout=_KOREAN_HANDOUT.format(name=own) if own else "",
        english="" if docstrings_in_korean else _LINK_TO_ENGLISH,
        written=_IN_KOREAN if docstrings_in_korean else _IN_ENGLISH,
    )


def _said_in_readmes(assignment: Assignment, notebook: str, given: str) -> dict[str, Any]:
    """Return what the pages of all languages say, by the names of their blanks."""
    names = _listed(assignment.given)
    return {
        "modules": _listed(assignment.asked),
        "notebook": notebook,
        "hand_in": _listed([*assignment.hand_in, *assignment.documents]),
        "points": assignment.points,
        "given": given.format(names=names) if names else "",
        "cases": CASES_FILE,
        "tensors": TENSORS_FILE,
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _first_difference(found: bytes, wanted: bytes) -> tuple[int, str] | None:
    pairs = zip_longest(found.splitlines(keepends=True), wanted.splitlines(keepends=True))
    for number, (old, new) in enumerate(pairs, start=1):
        if old != new:
            return number, f"is {_shown(old)}, generated would be {_shown(new)}"
    return None


def _shown(line: bytes | None) -> str:
    return "nothing" if line is None else repr(line.decode(errors="replace"))[:120]


CASE_BYTES = 200_000
ALL_BYTES = 400_000


@dataclass(frozen=True, slots=True)
class _Shown:
    """The instructor's files that run in a student's process, without what is hidden."""

    scenario: str
    given: str


@dataclass(frozen=True, slots=True)
class MadeCases:
    """Public cases, and the visible cases that are not among them.

    Attributes:
        public: What travels.
        left_out: Visible cases that stay behind, each with the reason.
    """

    public: PublicCases
    left_out: dict[CaseName, str]


def make_public(materials: Materials, sandbox: Sandbox) -> MadeCases:
    """Run the reference on the visible cases.

    Raises:
        AssignmentError: The reference, a generator or a scenario does not do what it should.
        InfrastructureError: No student process can be started.
    """
    shown = _Shown(
        _shown_text(materials.scenario, materials.folder / SCENARIO),
        _shown_text(materials.given, materials.folder / GIVEN),
    )
    scenarios = _functions(shown.scenario)
    left_out: dict[CaseName, str] = {
        (question.id, case.id): "its scenario is hidden"
        for question in materials.assignment.questions
        for case in question.cases
        if case.scenario is not None and case.scenario not in scenarios
    }
    public = _run(materials, shown, left_out, sandbox)
    if too_large := dict(_too_large(public)):
        # Run anew, not cut out: a check may judge nothing now, and a case that no check judges any
        # more must not travel.
        left_out |= too_large
        public = _run(materials, shown, left_out, sandbox)
    # First: known mistakes are told apart by all that the reference did, public or not.
    sealed = sealed_mistakes(materials, public, sandbox)
    runs = public_runs(public.plan, public.reference)
    travels = replace(public, reference=runs, mistakes=sealed)
    return MadeCases(travels, left_out | dict(_not_run(public)))


def _not_run(public: PublicCases) -> Iterator[tuple[CaseName, str]]:
    """Yield the cases that the reference could not run on this machine."""
    ran = {planned.question.id: planned for planned in public.plan}
    for name in public_questions(public.assignment):
        question = next(item for item in public.assignment.questions if item.id == name)
        cases = {item.case.id for item in ran[name].cases} if name in ran else set()
        for case in question.cases:
            if case.id not in cases:
                yield (name, case.id), "the reference could not be run on it here"


def check_public(materials: Materials) -> list[Problem]:
    """Return where a starter's public cases are not those of the assignment as it is now.

    They are not made anew and compared: floating-point results differ in their last bits from one
    machine to another. Instead, what they were made from must be what is there, and the reference
    must earn everything on them that can be earned here, on another processor, too.

    Args:
        materials: The whole assignment, with the folder of its starter.

    Raises:
        InfrastructureError: No student process can be started.
    """
    file, remedy = materials.starter / CASES_FILE, f"run make starter ID={materials.starter.name}"
    try:
        public = read_public(materials.starter)
    except UsageError as error:
        return [Problem(str(file), None, "", f"{error} Or {remedy}")]
    if public.digest != materials.starter_digest:
        text = f"was made from other files than the assignment has now; {remedy}"
        return [Problem(str(file), None, "", text)]
    place = Workplace(materials.starter, public, materials.reference_folder)
    with plain_processor(), SelfCheck(place, open_for_check(), "virtual") as own:
        lost = lost_elsewhere(own.check())
    return [Problem(str(file), None, where, f"{text}; then {remedy}") for where, text in lost]


def checks_of(report: Report) -> Iterator[tuple[str, CheckResult]]:
    """Yield the checks of a report, each as ``question.check`` with its result."""
    for question, check in report.checks():
        yield f"{question}.{check.id}", check


def lost_elsewhere(report: Report) -> list[tuple[str, str]]:
    """Return what the reference loses where torch uses few of the processor's instructions.

    Args:
        report: Of the reference, run so on inputs and against results that were made otherwise.

    Returns:
        Pairs of ``question.check`` and what to do. A check that only waits for another one, which
        is listed, is left out.
    """
    told = (
        "So the reference itself loses this where results differ in their last bits, as they do "
        "from one processor to another: allow for it (kind: close), or draw in float64"
    )
    return [
        (where, f"{check.message} {told}")
        for where, check in checks_of(report)
        if check.status not in (Status.PASSED, Status.DEFERRED)
        and check.code is not Code.REQUIREMENT_NOT_MET
        # What a person reads is the student's to write; it lies in no starter.
        and check.kind != BY_HAND
    ]


def _run(
    materials: Materials, shown: _Shown, left_out: dict[CaseName, str], sandbox: Sandbox
) -> PublicCases:
    assignment = public_part(materials.assignment, left_out)
    part = replace(materials, assignment=assignment)
    options = Options(PUBLIC_SEED, "virtual", public_questions(assignment))
    grader = Grader(part, sandbox, options)
    grader.prepare()
    return PublicCases(
        assignment,
        materials.starter_digest,
        shown.scenario,
        shown.given,
        {name: hashlib.sha256(data).hexdigest() for name, data in materials.support.items()},
        dict(_hints(materials)),
        grader.plan,
        grader.reference_runs,
    )


def _shown_text(source: str, path: Path) -> str:
    return strip_solutions(source, str(path)) if source else ""


def _functions(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _too_large(public: PublicCases) -> Iterator[tuple[CaseName, str]]:
    """Yield the cases that take too much room by themselves, or together, the largest first."""
    sizes: dict[CaseName, int] = {}
    for planned in public.plan:
        run = public.reference[planned.question.id]
        for case in planned.cases:
            name = planned.question.id, case.case.id
            seen = run.observations[case.key]
            sizes[name] = sizes.get(name, 0) + size_of(
                case, seen, bool(items_with_numbers(planned, case))
            )
    total = sum(sizes.values())
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size > CASE_BYTES or total > ALL_BYTES:
            total -= size
            yield name, f"it takes {size // 1000} kB"


def _hints(materials: Materials) -> Iterator[tuple[str, str]]:
    """Yield the hints in the docstrings of the reference's functions."""
    assignment = materials.assignment
    for file in assignment.asked:
        own = [item for item in assignment.questions if assignment.file_of(item) == file]
        yield from hints_in(materials.reference[file], {item.names[0]: item.id for item in own})
