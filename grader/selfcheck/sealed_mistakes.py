"""Known mistakes in a starter: each sentence is sealed with what its mistake does on public cases.

Sentences tell what is right ("the divisor is M - 1"), so they do not travel in the clear. The key
of each is made from the results that its mistake has in all public cases of a question. Only who
has these results, by making the mistake, can open it.

Defends against: reading the sentences, or which mistakes are known, in the starter's files.
Does not defend against: who makes the mistake on purpose reads its sentence, as is meant.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from grader.checks.arrays import Array, to_numpy
from grader.checks.traces import read_trace
from grader.observation import Observation, Outcome
from grader.report.messages.catalogue import words_in
from grader.report.messages.language import LANGUAGES
from grader.run.judge_submission import Verdicts
from grader.run.materials import Materials
from grader.run.mistakes import (
    KnownMistakes,
    MistakeRun,
    explained_checks,
    same_results,
    with_sentences,
)
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.run.prices import Made, Price, Results
from grader.sandbox.host.processes import Sandbox
from grader.selfcheck.public import PublicCases, Sealed
from grader.wire.values import Opaque, Tensor, Value

_DIGITS = 1e3
"""Results count to about this share of a tensor's greatest number: rounding rarely crosses it."""

_ASIDE = 2**0.5 / 4
"""Moves the borders of rounding away from the simple fractions that results often are."""

_LEAST = 1e-300

_MOST_NEAR = 6
"""Numbers near a border of rounding that are tried on both sides of it."""

_ROUNDING_OFF = {"float32": 1e-6, "complex64": 1e-6, "float64": 1e-13, "complex128": 1e-13}
"""By which share of a tensor's greatest number another order of operations may move a number."""

_Place = tuple[int, int]
"""Number of an array in the order in which results are read, and index of an element in it."""

_BY_ITSELF = {Outcome.COMPLETED, Outcome.RAISED}

_EARNS, _VOIDS = "earns", "voids"
"""Beside the sentences, where a mistake has a price: its share, and the checks that it voids."""

_TAG = bytes(4)
"""Begins what is sealed, and tells the right key from others."""

_COMMON = """\
배열 목록 장치 차원 모양 열마다 행마다 함수 값이 평균 모델 학습 확률 개수 결과 기울기 가중치 \
텐서 인덱스 전체 하나 그대로 마지막 첫 배치 때문에 있습니다. 입니다. 아닙니다. 됩니다. \
않았습니다. 없습니다. 했습니다. 뺐습니다. 더했습니다. 나누었습니다. 곱했습니다. 반환했습니다. \
합니다. 해야 합니다. 나누세요. 곱하세요. 반환하세요. 사용하세요. 마세요. 하세요. \
에서 으로 에는 를 을 이 가 는 은 의 도 \
gradient device tensor element number weights label batch shape dtype float32 int64 dimension \
matrix index You return instead of only the first the last must be are not all every one each \
with from there here it has that column row is asked for, not divide by; in of the sum mean \
to and The .","ko":"."}{"en":"\
""".encode()
"""Preset dictionary: texts this short compress little by themselves, by half with what is common
in them. A starter sealed with another one tells no sentences any more until it is made again."""

_BITS = -15
"""Asks zlib for the greatest window and no header, which the tag stands in for."""


def sealed_mistakes(materials: Materials, public: PublicCases, sandbox: Sandbox) -> Sealed:
    """Return the sealed sentences of an assignment; run its known mistakes on public cases.

    Args:
        materials: The whole assignment.
        public: Its public part.
        sandbox: Where mistakes run.
    """
    known = KnownMistakes(replace(materials, assignment=public.assignment))
    runs = known.of(public.plan, public.reference, sandbox)
    sealed = {
        # One that no public case shows would open with the right results.
        question: seal(question, [run for run in found if _shows(run, public.reference[question])])
        for question, found in runs.items()
    }
    return {question: sentences for question, sentences in sealed.items() if sentences}


def _shows(run: MistakeRun, right: QuestionRun) -> bool:
    return not same_results(run.results, right.observations)


def seal(question: str, runs: Sequence[MistakeRun]) -> list[str]:
    """Return the sealed sentences of a question, in an order that tells nothing.

    Args:
        question: Its id.
        runs: Its known mistakes with what they did in all public cases.
    """
    keys = ((_key(question, run.results), _content(run)) for run in runs)
    return sorted(_sealed(key, content) for key, content in keys if key and content)


def _sealed(key: bytes, content: Mapping[str, str]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    small = zlib.compressobj(9, zlib.DEFLATED, _BITS, zdict=_COMMON)
    packed = small.compress(text.encode()) + small.flush()
    return b85encode(_with_key(key, _TAG + packed)).decode()


def _content(run: MistakeRun) -> dict[str, str]:
    """Return what is told of a mistake: its sentences, and its price."""
    content = dict(run.mistake.says) if run.telling else {}
    if run.mistake.earns:
        voids = ",".join(sorted(run.mistake.voids))
        content |= {_EARNS: f"{run.mistake.earns:g}", _VOIDS: voids}
    return content


def _opened(key: bytes, sealed: str) -> dict[str, str] | None:
    # Of texts opened with another key, one in 2³² has the tag, and is hardly compressed JSON.
    with suppress(zlib.error, ValueError):
        text = _with_key(key, b85decode(sealed))
        if text.startswith(_TAG):
            packed = zlib.decompressobj(_BITS, zdict=_COMMON).decompress(text[len(_TAG) :])
            says = json.loads(packed)
            return {str(language): str(each) for language, each in says.items()}
    return None


def _with_key(key: bytes, text: bytes) -> bytes:
    stream = hashlib.shake_256(key).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, stream, strict=True))


class SealedMistakes:
    """The known mistakes of a starter.

    Args:
        sealed: Their sentences.
    """

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed

    def explain(
        self,
        judged: Mapping[str, Verdicts],
        runs: Mapping[str, QuestionRun],
        against: tuple[Sequence[PlannedQuestion], Mapping[str, QuestionRun]],
        _: Sandbox,
    ) -> dict[str, Verdicts]:
        """Return the verdicts; see ``KnownMistakes.explain``. Nothing is run."""
        checks = explained_checks(against[0], judged, runs)
        found = {name: self.says(name, runs[name].observations) for name in checks}
        says = {name: sentences for name, sentences in found.items() if sentences}
        return with_sentences(judged, checks, says)

    def prices(
        self,
        runs: Mapping[str, QuestionRun],
        against: tuple[Sequence[PlannedQuestion], Mapping[str, QuestionRun]],
        _: Sandbox,
    ) -> dict[str, Price]:
        """Return question → what grading gives for the mistake that is made there."""
        plan, right = against
        asked = [
            name
            for planned in plan
            if (name := planned.question.id) in runs
            and not same_results(runs[name].observations, right[name].observations)
        ]
        found = {name: self._contents(name, runs[name].observations) for name in asked}
        return {
            name: max((_price(each) for each in priced), key=lambda price: price.share)
            for name, contents in found.items()
            if (priced := [each for each in contents if _EARNS in each])
        }

    def made(self, *_: object) -> Made | None:
        """Return None: a self-check compares logs with what the submission itself gives."""
        return None

    def fits(self, *_: object) -> bool:
        """Return False: it is asked where slips are mended, which takes the reference."""
        return False

    def in_case(self, *_: object) -> list[Observation]:
        """Return nothing; see ``fits``."""
        return []

    def paid(self, *_: object) -> None:
        """Return None; see ``fits``."""

    def says(self, question: str, results: Results) -> dict[str, str]:
        """Return what the author says of what did this; {} if nothing, or more than two things."""
        found: list[dict[str, str]] = []
        for content in self._contents(question, results):
            says = {name: text for name, text in content.items() if name not in (_EARNS, _VOIDS)}
            if says and says not in found:
                found.append(says)
        if len(found) == 2:
            # The public cases do not tell them apart; one of them was made.
            one, other = sorted(found, key=lambda says: sorted(says.items()))
            return {
                language: words_in(language).label(
                    "one_of_two", one=one[language], other=other[language]
                )
                for language in LANGUAGES
                if language in one and language in other
            }
        return found[0] if len(found) == 1 else {}

    def _contents(self, question: str, results: Results) -> list[dict[str, str]]:
        """Return what opens with the results, or with what another machine may round them to."""
        sealed = self._sealed.get(question, ())
        # A mistake runs for the checks of its results alone: where no such check asks for the
        # arguments after the call, another check does, and only here they are told.
        for told in (results, _without_arguments(results)) if sealed and results else ():
            for key in _keys(question, told):
                if found := [content for each in sealed if (content := _opened(key, each))]:
                    return found
        return []


def _without_arguments(results: Results) -> Results:
    return {
        case: replace(seen, claims=replace(seen.claims, args_after=None))
        for case, seen in results.items()
    }


def _price(content: Mapping[str, str]) -> Price:
    return Price(float(content[_EARNS]), frozenset(filter(None, content[_VOIDS].split(","))))


def _keys(question: str, results: Results) -> Iterator[bytes]:
    """Yield the key of results, then those with numbers on the other side of a near border."""
    borders = _Borders()
    if key := _key(question, results, borders):
        yield key
        near = sorted(borders.found)[:_MOST_NEAR]
        for number in range(1, len(near) + 1):
            for across in combinations(near, number):
                moved = {place: step for _, place, step in across}
                yield _key(question, results, _Borders(moved))


class _Borders:
    """Which numbers lie so near to a border of rounding that they may come out beyond it elsewhere.

    Attributes:
        moved: Place of a number → by how many steps it is moved.
        found: How near, where, and by how many steps it would be moved.
    """

    def __init__(self, moved: Mapping[_Place, int] = MappingProxyType({})) -> None:
        self.moved = moved
        self.found: list[tuple[float, _Place, int]] = []
        self._arrays = 0

    def steps(self, parts: Array, unit: float, rounding: float) -> Array:
        """Return in which step of a unit each number lies.

        Args:
            parts: Real or imaginary parts.
            unit: Length of a step.
            rounding: By how many steps a number may be off.
        """
        exact = parts.ravel() / unit + _ASIDE
        floors = np.floor(exact)
        array, self._arrays = self._arrays, self._arrays + 1
        above = exact - floors
        for sign, far in ((-1, above), (1, 1 - above)):
            for index in np.flatnonzero(far < rounding)[: 4 * _MOST_NEAR].tolist():
                self.found.append((float(far[index]), (array, index), sign))
        for (number, index), step in self.moved.items():
            if number == array:
                floors[index] += step
        return floors.astype(np.int64)


def _key(question: str, results: Results, borders: _Borders | None = None) -> bytes:
    """Return what results lock; empty where a call ended otherwise than by itself."""
    if any(seen.outcome not in _BY_ITSELF for seen in results.values()):
        return b""
    borders = borders or _Borders()
    # The question too: functions that return the same wrong thing must not open each other's.
    forms = [f"{case} {_form(seen, borders)}" for case, seen in sorted(results.items())]
    return hashlib.sha256("\n".join([question, *forms]).encode()).digest()


def _form(seen: Observation, borders: _Borders) -> str:
    if seen.outcome is Outcome.RAISED:
        return f"raised {seen.claims.fault.type if seen.claims.fault else ''}"
    return repr((_plain(seen.claims.value, borders), _plain(seen.claims.args_after, borders)))


def _plain(value: Value, borders: _Borders) -> Any:
    """Return what is the same for values that are equal but for rounding."""
    if isinstance(value, Tensor):
        numbers = _rounded(to_numpy(value), borders)
        return value.dtype, value.shape, str(value.device), numbers
    if isinstance(value, float):
        return "float", _rounded(np.array([value]), borders)
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [_plain(item, borders) for item in value]
    if isinstance(value, dict):
        if read_trace(value) is not None:
            return "trace"
        return sorted((repr(key), repr(_plain(item, borders))) for key, item in value.items())
    return ("opaque", value.type) if isinstance(value, Opaque) else repr(value)


def _rounded(numbers: Array, borders: _Borders) -> str:
    if numbers.dtype.kind not in "fc":
        return numbers.tobytes().hex()
    finite = np.isfinite(numbers)
    parts = np.where(finite, numbers, 0).astype(np.complex128)
    most = max(np.abs(parts).max(initial=0.0), _LEAST)
    # A power of ten: nearly every tensor of the same mistake has the same unit, whatever rounding
    # did to its greatest number.
    unit = 10.0 ** np.floor(np.log10(most)) / _DIGITS
    off = _ROUNDING_OFF.get(numbers.dtype.name, 0.0) * most / unit
    steps = [borders.steps(part, unit, off) for part in (parts.real, parts.imag)]
    other = [str(number) for number in numbers[~finite].tolist()]
    return f"{unit} {hashlib.sha256(np.stack(steps).tobytes()).hexdigest()} {other}"
