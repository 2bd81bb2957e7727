"""The sentences, in Korean. Data only, in the form that ``grader.report.words_en`` describes.

Every id, blank and code of the English words is here too; ``tests/unit/report/test_words_ko.py``
sees to that. Particles that depend on what fills a blank are written both ways, as forms are.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.report import (
    words_ko_causes,
    words_ko_check,
    words_ko_clock,
    words_ko_devices,
    words_ko_gpu,
    words_ko_intake,
    words_ko_loops,
    words_ko_values,
)
from grader.report.words_en import CAUSE
from grader.report.words_en_intake import Sentence

_PENDING = "채점될 때까지 점수는 보류됩니다."
_NO_LOSS = "점수는 깎이지 않습니다."

_RUN: dict[str, Sentence] = {
    "not_implemented": (("아직 쓰지 않았습니다: {function}.", "아직 쓰지 않았습니다."),),
    "missing_function": (
        "{function}이라는 이름이 없습니다.",
        "파일에 있는 것: {names:names}.",
        "“{nearest}”인가요?",
    ),
    "raised": (
        (
            "{file} {line:line}번째 줄에서 {type} 발생: {message}",
            "{file} {line:line}번째 줄에서 {type} 발생.",
            "{type} 발생: {message}",
            "{type} 발생.",
        ),
    ),
    "unusable": (
        (
            "{function}의 결과를 쓸 수 없습니다: {type}: {message}",
            "{function}의 결과를 쓸 수 없습니다: {type}.",
        ),
    ),
    "raised_again": (
        (
            "{file} {line:line}번째 줄의 {type}, {first}에서와 같습니다.",
            "{type}, {first}에서와 같습니다.",
        ),
    ),
    "timed_out": (
        (
            "프로세서 시간을 {seconds:.3g}초 쓰고도 결과가 없어 멈췄습니다.",
            "멈췄습니다: {detail}.",
            "너무 느려서 멈췄습니다.",
        ),
        "끝나지 않는 반복문이 있는지, 일이 너무 많지 않은지 살펴보세요.",
    ),
    "waited_too_long": (
        "멈췄습니다: {seconds:.3g}초를 기다리기만 하고 거의 계산하지 않았습니다(프로세서 시간 "
        "{computed:.2g}초).",
        "무엇을 기다리는지 살펴보세요: sleep, 잠금, 입력, 다른 프로세스.",
    ),
    "not_finished": (
        "{seconds:.3g}초가 지나도 결과가 없어 멈췄습니다.",
        "끝나지 않는 반복문이 있는지, 일이 너무 많지 않은지, 무엇을 기다리는지 살펴보세요.",
    ),
    "not_reached": (
        "실행하지 않았습니다. 이 문제의 앞선 두 경우를 멈춰야 했습니다.",
        "그것부터 고치세요.",
    ),
    "out_of_memory": (
        (
            "메모리를 {limit_mb} MiB 넘게 써서 멈췄습니다.",
            "멈췄습니다: {detail}.",
            "메모리를 너무 많이 써서 멈췄습니다.",
        ),
    ),
    "crashed": (
        (
            "프로세스가 시그널 {signal:signal}(으)로 죽었습니다.",
            "프로세스가 종료 코드 {exit}(으)로 스스로 끝났습니다.",
            "프로세스가 죽었습니다: {detail}.",
            "프로세스가 죽었습니다.",
        ),
    ),
    "died_at_import": ("import하는 동안 파일을 멈췄습니다: {detail}.",),
    "protocol_violation": (
        (
            "채점기가 읽을 수 없는 답입니다: {detail}.",
            "채점기가 읽을 수 없는 답입니다.",
        ),
    ),
    "requirement_not_met": (
        (
            "이것을 모두 통과해야 점수가 됩니다: {requires:most}, {requires:last}.",
            "이것을 통과해야 점수가 됩니다: {requires:last}.",
        ),
    ),
    "unreadable_file": (
        (
            "함수가 쓴 파일을 읽지 못했습니다: {type}: {message}",
            "함수가 쓴 파일을 읽지 못했습니다.",
        ),
    ),
    "no_file": ("쓰라고 한 곳에 파일이 없습니다.",),
}

_HAND_IN: dict[str, Sentence] = {
    "syntax_error": (
        (
            "{file} {line:line}번째 줄 {column:line}번째 칸의 문법 오류: {message}.",
            "{file} {line:line}번째 줄의 문법 오류: {message}.",
            "{file}의 문법 오류: {message}.",
        ),
        "고칠 때까지 파이썬이 이 파일을 읽지 못합니다.",
    ),
    "import_failed": (
        (
            "파일의 import가 {line:line}번째 줄에서 {type}(으)로 멈췄습니다: {message}",
            "파일의 import가 {type}(으)로 멈췄습니다: {message}",
            "파일의 import가 {type}(으)로 멈췄습니다.",
        ),
    ),
}

_NOT_THE_STUDENT: dict[str, Sentence] = {
    "no_device": (
        ("필요한 GPU: {cuda}, 있는 GPU: {found}.", "필요한 GPU: {cuda}."),
        f"GPU가 있는 기계에서 {_PENDING}",
    ),
    "no_permission": (
        "이 기계가 허용하지 않는 것이 필요합니다: {needs}.",
        f"다른 기계에서 {_PENDING}",
    ),
    "no_package": (
        (
            "여기서 import할 수 없는 것이 필요합니다: {packages:names} ({detail}).",
            "여기서 import할 수 없는 것이 필요합니다: {packages:names}.",
        ),
        f"그것이 있는 기계에서 {_PENDING}",
    ),
    "sandbox_failed": ("채점기의 격리 환경이 실패했습니다: {detail}.", _NO_LOSS),
    "reference_failed": ("참조 풀이가 실패했습니다: {detail}.", _NO_LOSS),
    "not_run": ("채점기가 여기까지 오지 못하고 멈췄습니다.", _NO_LOSS),
    "not_selected": ("이번 실행에서 뺐습니다.", "점수는 보류됩니다."),
}

SENTENCES: Mapping[str, Sentence] = {
    **words_ko_values.SENTENCES,
    **_RUN,
    **_HAND_IN,
    **_NOT_THE_STUDENT,
    **words_ko_intake.SENTENCES,
    **words_ko_loops.SENTENCES,
    **words_ko_devices.SENTENCES,
    **words_ko_clock.SENTENCES,
    **words_ko_gpu.SENTENCES,
    **words_ko_check.SENTENCES,
    **{
        CAUSE + name: sentence
        for causes in (words_ko_causes.CAUSES, words_ko_devices.CAUSES)
        for name, sentence in causes.items()
    },
}

CODES: Mapping[str, str] = {
    **words_ko_loops.CODES,
    **words_ko_devices.CODES,
    **words_ko_clock.CODES,
    "ok": "통과",
    "not_run": "실행하지 않음",
    "wrong_value": "값이 틀림",
    "wrong_shape": "shape이 틀림",
    "wrong_dtype": "dtype이 틀림",
    "wrong_device": "device가 틀림",
    "wrong_type": "type이 틀림",
    "not_finite": "NaN 또는 무한대",
    "input_modified": "입력이 바뀜",
    "reduced_precision": "맞지만 정밀도가 낮음",
    "not_a_view": "뷰여야 할 곳에 복사본",
    "shares_memory": "입력과 메모리를 공유함",
    "not_in_place": "제자리에서 하지 않음",
    "not_implemented": "아직 쓰지 않음",
    "missing_function": "함수를 찾지 못함",
    "raised": "예외 발생",
    "timed_out": "너무 오래 걸림",
    "out_of_memory": "메모리를 너무 많이 씀",
    "crashed": "프로세스가 죽음",
    "unreadable_file": "함수가 쓴 파일을 읽지 못함",
    "protocol_violation": "답을 읽을 수 없음",
    "requirement_not_met": "다른 검사를 먼저 통과해야 함",
    "syntax_error": "문법 오류",
    "import_failed": "파일을 import하지 못함",
    "missing_file": "파일을 찾지 못함",
    "bad_submission": "제출물을 읽지 못함",
    "no_device": "이 기계에 없는 GPU가 필요함",
    "no_permission": "이 기계가 허용하지 않는 것이 필요함",
    "device_failed": "GPU에 문제가 생김",
    "no_package": "이 기계에 없는 패키지가 필요함",
    "sandbox_failed": "격리 환경이 실패함",
    "reference_failed": "참조 풀이가 실패함",
}

PHRASES: Mapping[str, str] = {
    "hidden": "숨은 케이스에서: {what}.",
    "grader_fault": "채점기가 끝내지 못했습니다: {what}. 점수는 깎이지 않습니다.",
    "own_exception": "예외",
    "case": "케이스 {case}:",
    "input": "입력 “{name}”",
    "argument_0": "첫 번째 인수",
    "argument_1": "두 번째 인수",
    "argument_2": "세 번째 인수",
    "argument_n": "{number}번째 인수",
}
