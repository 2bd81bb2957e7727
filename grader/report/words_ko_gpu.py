"""Korean sentences on speed on a GPU. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PENDING = "점수는 보류되며, 깎이지 않습니다."
_PERSON = "사람이 확인해야 하며, 그때까지 점수는 보류됩니다."

SENTENCES: Mapping[str, Sentence] = {
    "speed_no_device": (
        "속도는 실제 GPU에서만 잽니다.",
        "GPU가 있는 기계에서 채점될 때까지 점수는 보류됩니다.",
    ),
    "speed_device_failed": (
        ("이 기계의 GPU에 문제가 생겼습니다: {detail}.", "이 기계의 GPU에 문제가 생겼습니다."),
        _PENDING,
    ),
    "speed_device_throttled": (
        "잰 횟수의 대부분에서 GPU가 스스로 클럭을 낮췄습니다({detail}).",
        "과열되지 않는 GPU에서 다시 채점될 때까지 점수는 보류됩니다.",
    ),
    "speed_device_taken": (
        "이 기계의 모든 GPU가 기다릴 수 있는 시간보다 오래 사용 중이었습니다.",
        _PENDING,
    ),
    "speed_no_room": (
        "GPU 메모리가 모자라 비교할 것과 함께 올릴 수 없습니다.",
        "더 큰 GPU가 있는 기계에서 채점될 때까지 점수는 보류됩니다.",
    ),
    "speed_too_slow": (
        "{device}에서 참조 풀이보다 {times:.3g}배 오래 걸립니다: {student_ms:.3g} ms, "
        "참조 풀이는 {reference_ms:.3g} ms.",
        "측정한 크기: {sizes}.",
        "GPU와 주고받는 복사가 필요 이상으로 많거나, 아직 CPU에서 하는 일이 있습니다.",
    ),
    "speed_inconclusive": (
        (
            "{sets}번 쟀지만 기준에 너무 가깝거나 너무 들쭉날쭉해서 알 수 없습니다: "
            "참조 풀이의 약 {times:.3g}배.",
            "너무 들쭉날쭉해서 알 수 없습니다.",
        ),
        "점수는 보류됩니다. 기계가 한가할 때 다시 채점하거나 사람이 정해야 합니다.",
    ),
    "speed_impossible": (
        "{student_ms:.3g} ms 만에 답했는데, 입력을 GPU로 옮기는 데에만 적어도 "
        "{floor_ms:.3g} ms가 듭니다. 잰 것으로 치지 않습니다.",
        _PERSON,
    ),
    "speed_busy": (
        "답한 뒤에도 GPU가 계속 일했습니다. 답하는 데 걸린 시간의 {busy_percent} %입니다.",
        _PERSON,
    ),
    "speed_not_worth_it": (
        "이 기계에서는 참조 풀이도 GPU에서 CPU보다 {speedup:.3g}배밖에 빠르지 않습니다. "
        "요구되는 것은 {at_least:.3g}배입니다.",
        _PENDING,
    ),
    "speed_too_little": (
        "CPU보다 {gained:.3g}배밖에 빠르지 않습니다. {at_least:.3g}배가 필요하고, "
        "참조 풀이는 {speedup:.3g}배 빠릅니다.",
        "측정한 크기: {sizes}.",
    ),
    "speed_wrong": ("검사할 때는 맞았지만, 새 입력으로 시간을 잴 때는 틀렸습니다: {was}.",),
}
