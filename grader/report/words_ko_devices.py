"""Korean sentences on what lies, runs and moves where. Data only; see ``words_en_devices``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PERSON = "사람이 확인해야 하며, 그때까지 점수는 보류됩니다."

SENTENCES: Mapping[str, Sentence] = {
    "placement_elsewhere": (
        "요구한 device에 있지 않은 것: {misplaced} / {total}.",
        "{what} {name}: {actual}에 있습니다. 맞는 device: {expected}.",
    ),
    "placement_differs": (
        "{device}에 있는 {what}: {found}개({found_bytes:size}), "
        "맞는 수: {wanted}개({wanted_bytes:size}).",
    ),
    "placement_bytes": ("{device}에 있는 양: {found:size}, 맞는 양: {wanted:size}.",),
    "parameters_copied": (
        "{source}에서 {target}(으)로 복사한 파라미터: {parameters}개. 하나도 없어야 합니다.",
    ),
    "transfers_many": (
        "{source}에서 {target}(으)로 복사: {found}번({bytes:size}). {most}번이면 충분합니다.",
    ),
    "transfers_few": (
        "{source}에서 {target}(으)로 복사: {found}번. 적어도 {least}번은 필요합니다.",
    ),
    "transfers_bytes": (
        "{source}에서 {target}(으)로 복사한 양: {bytes:size}, 맞는 양: {wanted:size}.",
    ),
    "ran_elsewhere": (
        "{device}에서 한 일: {share:.0f}%. 적어도 {least:.0f}%여야 합니다.",
        "대부분은 {other}에서 했습니다.",
    ),
    "ran_too_little": (
        "{device}에서 한 곱셈과 덧셈: {flops}번. 적어도 {wanted}번이어야 합니다.",
        "결과가 다른 곳에서 나옵니다.",
    ),
    "ran_unevenly": (
        "{device}에서 한 일: {share:.0f}%. {wanted:.0f}% 정도여야 합니다.",
        "나머지는 대부분 {other}에서 했습니다.",
    ),
    "device_memory": (
        "{device}에서 한꺼번에 쓴 메모리의 최댓값: {peak:size}. {limit:size}까지 쓸 수 있습니다.",
    ),
    "device_memory_grows": (
        "메모리의 최댓값: 큰 문제에서 {second:size}, 작은 문제에서 {first:size}. "
        "{limit:size}까지 쓸 수 있습니다.",
        "놓아주어도 되는 것을 붙들고 있습니다.",
    ),
    "devices_reached": (
        "{line:line}번째 줄({name})이 일을 어디에서 했는지 알리는 부분을 건드립니다.",
        _PERSON,
    ),
}

CODES: Mapping[str, str] = {
    "wrong_transfers": "device 사이의 복사가 너무 잦거나 아예 없음",
    "ran_elsewhere": "다른 device에서 일함",
}

CAUSES: Mapping[str, Sentence] = {
    "computed_then_moved": (
        "CPU에서 계산한 다음 옮긴 것 같습니다. 일을 시작하기 전에 입력이 GPU에 있어야 합니다.",
    ),
    "all_on_one": (
        (
            "모두 {busy}에 있었고 {idle}은(는) 아무 일도 하지 않았습니다.",
            "모두 한 device에 있었고 다른 device는 아무 일도 하지 않았습니다.",
        ),
    ),
    "activation_not_moved": (
        "중간 결과를 다음 층이 있는 device로 옮기지 않았습니다. 예: x.to(…).",
    ),
    "parameters_copied": (
        "모델은 만들 때 한 번만 옮기세요. 학습 단계마다 옮기는 것은 입력과 중간 결과뿐입니다.",
    ),
    "back_and_forth": ("옮긴 것을 다시 되돌려 옮깁니다. 다음에 쓸 곳에 그대로 두세요.",),
    "no_gradients": ("기울기가 없습니다. backward()를 불렀고, 모든 층에 닿았나요?",),
    "should_be_empty": ("이 device에는 아무것도 없어야 합니다.",),
}
"""Cause → sentence; those on values are in ``grader.report.words_ko_causes``."""
