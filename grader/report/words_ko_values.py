"""Korean sentences on returned values. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_MISMATCHED = (
    "{where:part}에서 다른 원소: {mismatched} / {total} ({percent:.1f}%).",
    "다른 원소: {mismatched} / {total} ({percent:.1f}%).",
)
_ABSOLUTE = (
    "가장 큰 절대 오차: {abs_diff}, 위치 {abs_index:index}.",
    "가장 큰 절대 오차: {abs_diff}.",
)


def _differs(what: str) -> Sentence:
    return (
        (
            "{where:part}의 " + what + ": {actual}, 맞는 값: {expected}.",
            what + ": {actual}, 맞는 값: {expected}.",
        ),
    )


_VALUES: dict[str, Sentence] = {
    "wrong_value": (
        _MISMATCHED,
        (
            "가장 큰 절대 오차: {abs_diff}, 위치 {abs_index:index} ({atol}까지 허용).",
            "가장 큰 절대 오차: {abs_diff} ({atol}까지 허용).",
        ),
        (
            "가장 큰 상대 오차: {rel_diff}, 위치 {rel_index:index} ({rtol}까지 허용).",
            "가장 큰 상대 오차: {rel_diff} ({rtol}까지 허용).",
        ),
    ),
    "not_equal": (_MISMATCHED, _ABSOLUTE, "정확히 같아야 합니다."),
    "beyond_rounding": (
        _MISMATCHED,
        _ABSOLUTE,
        "가장 나쁜 원소의 오차는 반올림으로 설명되는 크기의 {times}배입니다.",
    ),
    "reduced_precision": (
        "알고리즘은 맞지만 정밀도가 {precision} 수준입니다.",
        "처음부터 끝까지 입력의 dtype으로 계산하세요.",
    ),
    "entries_missing": ("빠졌거나 틀린 항목(순서 무관): {missing} / {total}.",),
    "another_word": (
        (
            "{where:part}: {actual}, 맞는 값: {expected}.",
            "나온 것: {actual}, 맞는 값: {expected}.",
        ),
    ),
    "wrong_shape": _differs("shape"),
    "wrong_dtype": _differs("dtype"),
    "wrong_device": _differs("device"),
    "wrong_type": _differs("type"),
    "not_finite": (
        (
            "NaN 또는 무한대인 원소: {count} / {total}, 첫 위치 {index:index}.",
            "NaN 또는 무한대인 원소: {count} / {total}.",
        ),
    ),
    "input_modified": (
        (
            "{input}에서 바뀐 원소: {mismatched} / {total}.",
            "{input}의 값이 바뀌었습니다.",
        ),
        "함수는 입력을 그대로 두어야 합니다.",
    ),
}

_MEMORY: dict[str, Sentence] = {
    "not_a_view": (
        (
            "{where:part}: 복사본입니다. {input}의 메모리를 공유하지 않습니다.",
            "결과가 복사본입니다. {input}의 메모리를 공유하지 않습니다.",
        ),
        "슬라이스는 뷰입니다. 리스트, 텐서, 마스크로 인덱싱하거나 .clone()을 쓰면 복사됩니다.",
    ),
    "shares_memory": (
        (
            "{where:part}: {input}의 메모리를 공유하므로 하나를 바꾸면 다른 것도 바뀝니다.",
            "결과가 {input}의 메모리를 공유하므로 하나를 바꾸면 다른 것도 바뀝니다.",
        ),
        "새 텐서를 돌려주세요.",
    ),
    "not_in_place": (
        "돌려준 것이 {input} 자체가 아닙니다.",
        "x[…] = …처럼 그 안에 쓰고 그것을 돌려주세요.",
    ),
}

SENTENCES: Mapping[str, Sentence] = {**_VALUES, **_MEMORY}
