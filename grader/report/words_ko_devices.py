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
    "ran_on_host": ("CPU에서 한 곱셈과 덧셈: {flops}번. {most}번까지만 해야 합니다.",),
    "device_memory": (
        "{device}에서 한꺼번에 쓴 메모리의 최댓값: {peak:size}. {limit:size}까지 쓸 수 있습니다.",
    ),
    "device_memory_grows": (
        "메모리의 최댓값: 큰 문제에서 {second:size}, 작은 문제에서 {first:size}. "
        "{limit:size}까지 쓸 수 있습니다.",
        "놓아주어도 되는 것을 붙들고 있습니다.",
    ),
    "repeats_outside": (
        "같은 연산을 다른 입력으로 다시 실행하면 결과가 맞지 않습니다.",
        "연산에 쓴 값이 torch 밖에서, 곧 NumPy나 파이썬의 수에서 왔습니다.",
    ),
    "repeats_malformed": ("계산의 기록이 올바른 형식이 아닙니다: {why}.",),
    "repeats_unlisted": (
        "계산을 다시 실행할 수 없습니다: {why}.",
        _PERSON,
    ),
    "repeats_differs": (
        "같은 연산을 다른 입력으로 다시 실행하면 결과가 맞지 않습니다.",
        _PERSON,
    ),
    "repeats_own": ("계산이 프로그램이 읽은 수에 따라 달라지므로, 원래 입력으로 채점했습니다.",),
    "repeats_unseen": (
        "device가 한 일은 다시 실행해야만 알 수 있는데, 그럴 수 없었습니다.",
        _PERSON,
    ),
    "overlap_little": (
        "나란히 일해서 줄일 수 있는 시간의 {share:.0f}%를 줄였습니다. 적어도 {least:.0f}%여야 "
        "합니다. 타임라인에서 {elapsed:.1f} ms, 차례로 하면 {serial:.1f} ms, 가장 좋으면 "
        "{ideal:.1f} ms.",
        (
            "가장 오래 쉰 곳: {device}, {start:.1f}–{end:.1f} ms. {awaited}을(를) 기다렸습니다.",
            "가장 오래 쉰 곳: {device}, {start:.1f}–{end:.1f} ms.",
        ),
    ),
    "overlap_slow": (
        "타임라인에서 {elapsed:.1f} ms 걸립니다. {most:.1f} ms까지 허용됩니다. 같은 일을 차례로 "
        "하면 {serial:.1f} ms 걸립니다.",
        "나란히 일하기는 하지만 요구한 것보다 훨씬 많이 계산합니다.",
    ),
    "overlap_token": (
        "GPU가 일한 시간이 모두 {work:.1f} ms입니다. 적어도 {wanted:.1f} ms여야 합니다.",
        "나란히 일하기는 하지만 요구한 것보다 훨씬 적게 계산합니다.",
    ),
    "claim_reached": (
        "{line:line}번째 줄({name})이 프로세스가 스스로 알리는 내용을 건드리거나 "
        "다른 모듈을 바꿉니다.",
        "이 프로세스의 보고만으로 주어지는 점수는 사람이 확인할 때까지 보류됩니다.",
    ),
}

CODES: Mapping[str, str] = {
    "wrong_transfers": "device 사이의 복사가 너무 잦거나 아예 없음",
    "ran_elsewhere": "다른 device에서 일함",
    "not_repeated": "같은 연산이 다른 입력에서는 결과를 내지 못함",
    "not_overlapped": "device가 나란히 일하지 않고 서로 기다림",
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
    "host_waited": (
        "호스트가 한 GPU를 기다린 다음에야 다른 GPU에 일을 주었습니다. synchronize(), .item(), "
        ".cpu(), print는 기다리고, 연산을 내보내는 것은 기다리지 않습니다.",
    ),
    "sent_back": (
        "되돌려 복사한 것 때문에 첫 GPU가 둘째를 기다립니다. 결과는 만들어진 곳에 두세요.",
    ),
    "out_of_turn": (
        "GPU는 내보낸 순서대로 일합니다. 첫 GPU가 다음 조각을 시작하기 전에, 나온 조각을 바로 둘째 "
        "GPU에 주세요.",
    ),
    "one_after_another": ("한 GPU가 끝날 때까지 다른 GPU가 기다렸습니다. 배치를 나누세요.",),
    "one_alone": (
        (
            "모든 일을 {busy}에서 했고, 나란히 한 일이 없습니다.",
            "한 device가 모든 일을 했습니다.",
        ),
    ),
    "launches": (
        "GPU가 대부분 호스트를 기다렸습니다. 조각이 너무 작으면 계산보다 내보내는 데 더 오래 "
        "걸립니다.",
    ),
    "no_gradients": ("기울기가 없습니다. backward()를 불렀고, 모든 층에 닿았나요?",),
    "should_be_empty": ("이 device에는 아무것도 없어야 합니다.",),
}
"""Cause → sentence; those on values are in ``grader.report.words_ko_causes``."""
