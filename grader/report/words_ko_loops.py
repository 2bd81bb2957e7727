"""Korean sentences on loops, operations and memory. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PERSON = "사람이 확인해야 하며, 그때까지 점수는 보류됩니다."

SENTENCES: Mapping[str, Sentence] = {
    "loop_found": (
        (
            "{line:line}번째 줄: {loop}. 여기서는 어떤 반복문도 쓸 수 없습니다.",
            "{loop}. 여기서는 어떤 반복문도 쓸 수 없습니다.",
        ),
        "{dims}이(가) 커질수록 더 많이 돕니다.",
    ),
    "loop_too_many": (
        "겹친 반복문: {found}, 맞는 수: {wanted} ({dims}에 대해).",
        "가장 안쪽은 {line:line}번째 줄의 {loop}입니다.",
    ),
    "loop_too_few": ("겹친 반복문: {found}, 맞는 수: {wanted} ({dims}에 대해).",),
    "loop_missing": (
        "{dims}에 대한 반복문이 코드에도 실행에도 없습니다.",
        "이 함수는 항목을 하나씩 처리해야 합니다.",
    ),
    "loops_uncounted": (
        "세어 보려고 더 큰 {dims}(으)로 실행했을 때 끝나지 않았습니다.",
        _PERSON,
    ),
    "loops_unread": ("파일의 코드를 분석하지 못했습니다.", _PERSON),
    "loops_grows": (
        "코드에 반복문은 없지만 {dims}이(가) 커질수록 단계가 늘어납니다.",
        "{line:line}번째 줄({name})이 하는 일을 숨깁니다.",
        _PERSON,
    ),
    "loops_elsewhere": (
        "{line:line}번째 줄: {loop}. 도는 것은 보이지 않았지만 {dims}이(가) 커질수록 단계가 "
        "늘어납니다.",
        _PERSON,
    ),
    "loops_hides": ("{line:line}번째 줄({name})이 하는 일을 채점기에서 숨깁니다.", _PERSON),
    "loops_slow": (
        "반복문만큼 오래 걸리고, {line:line}번째 줄({name})이 하는 일을 숨깁니다.",
        _PERSON,
    ),
    "loops_slow_elsewhere": (
        "{line:line}번째 줄: {loop}. 도는 것은 보이지 않았지만 반복문만큼 오래 걸립니다.",
        _PERSON,
    ),
    "loops_unseen": (
        "코드에 반복문은 없지만 {dims}이(가) 커져도 torch가 일하는 것이 보이지 않았습니다.",
        "{line:line}번째 줄({name})이 하는 일을 숨깁니다.",
        _PERSON,
    ),
    "loops_idle": (
        "{line:line}번째 줄: {loop}이(가) 돌지만 일은 그 안에서 하지 않습니다.",
        _PERSON,
    ),
    "loops_flat": (
        "{line:line}번째 줄: {loop}이(가) 있지만 {dims}이(가) 커져도 더 돌지 않습니다.",
        _PERSON,
    ),
    "loops_differs": (
        "겹친 반복문: {found}, 맞는 수: {wanted} ({dims}에 대해). 단계는 {grown}에 따라 "
        "늘어납니다.",
        _PERSON,
    ),
    "forbidden_call": (
        "{line:line}번째 줄: {name}이(가) 여기서 쓸 수 없는 연산 {op}을(를) 씁니다.",
    ),
    "ops_unexplained": ("연산 {op}이(가) 쓰였지만 코드의 어디인지 보이지 않습니다.", _PERSON),
    "ops_outside": (
        "{line:line}번째 줄: {name}은(는) torch 밖에서 일하므로 연산이 보이지 않습니다.",
        _PERSON,
    ),
    "ops_uncounted": ("세어 보려고 실행했을 때 끝나지 않았습니다.", _PERSON),
    "decided": ("사람이 확인하고 {worth}점 중 {points}점을 주었습니다. {why}",),
    "too_many_calls": ("{what}: {found}번 썼습니다. {most}번까지 쓸 수 있습니다.",),
    "too_much_memory": (
        "도중의 가장 큰 텐서: {largest:size}. {limit:size}까지 쓸 수 있습니다.",
        "{dims}에 따라 커집니다.",
    ),
}

CODES: Mapping[str, str] = {
    "loop_found": "쓸 수 없는 반복문",
    "loop_missing": "반복문이 없음",
    "forbidden_call": "쓸 수 없는 연산",
    "too_many_calls": "너무 여러 번 함",
    "too_much_memory": "도중의 텐서가 너무 큼",
    "needs_review": "사람이 확인해야 함",
    "decided": "사람이 결정함",
}
