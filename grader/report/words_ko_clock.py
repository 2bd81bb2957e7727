"""Korean sentences on speed and its measurement. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PERSON = "사람이 확인해야 하며, 그때까지 점수는 보류됩니다."

SENTENCES: Mapping[str, Sentence] = {
    "too_slow": (
        "벡터화한 참조 풀이보다 {times:.3g}배 오래 걸립니다. 반복문은 {loop_times:.3g}배 걸립니다.",
        "측정한 크기: {sizes}.",
        "반복문으로 항목을 하나씩 처리하거나, 필요한 것보다 훨씬 많이 계산합니다.",
    ),
    "timed_wrong": (
        (
            "검사할 때는 맞았지만, 다른 입력으로 시간을 잴 때는 틀렸습니다: "
            "다른 수 {mismatched} / {total}.",
            "검사할 때는 맞았지만, 다른 입력으로 시간을 잴 때는 틀렸습니다: {was}.",
        ),
    ),
    "timed_idle": (
        "호출과 호출 사이에 쓴 프로세서 시간이 호출 중에 쓴 시간의 {percent} %입니다.",
        _PERSON,
    ),
    "timed_together": (
        "잇달아 여러 번 부르면 빠르지만 한 번만 부르면 그렇지 않습니다. "
        "호출끼리 일을 나누어 쓰므로 시간으로는 아무것도 알 수 없습니다.",
        _PERSON,
    ),
    "inconclusive": (
        (
            "{sets}번 쟀지만 기준에 너무 가깝거나 너무 들쭉날쭉해서 알 수 없습니다.",
            "너무 들쭉날쭉해서 알 수 없습니다.",
        ),
        "벡터화한 참조 풀이의 약 {times:.3g}배 걸리고, 반복문은 {loop_times:.3g}배 걸립니다.",
        "점수는 보류됩니다. 기계가 한가할 때 다시 채점하거나 사람이 정해야 합니다.",
    ),
    "clock_off": (
        "속도를 재지 않았습니다. 시계가 꺼져 있었습니다.",
        "--clock auto로 다시 채점될 때까지 점수는 보류됩니다.",
    ),
    "no_clock": (
        "속도를 재지 못했습니다: {detail}.",
        "리눅스에서 채점될 때까지 점수는 보류됩니다.",
    ),
    "no_reading": (
        "속도를 재지 못했습니다. 프로세서 시계를 읽지 못했거나 읽은 값이 있을 수 없는 값입니다.",
        "다시 채점될 때까지 점수는 보류됩니다.",
    ),
    "too_busy": (
        "속도를 재지 못했습니다. 기계가 너무 바빴습니다.",
        "다시 채점될 때까지 점수는 보류됩니다.",
    ),
    "loop_by_time": (
        "반복문이 없을 때보다 {times:.3g}배 오래 걸립니다. 반복문은 {loop_times:.3g}배 걸립니다.",
        "{dims}이(가) 커질수록 단계가 늘어납니다.",
        "측정한 크기: {sizes}.",
    ),
}

CODES: Mapping[str, str] = {
    "too_slow": "너무 느림",
    "not_timed": "속도를 재지 않음",
    "inconclusive": "속도가 기준에 너무 가까워 알 수 없음",
}
