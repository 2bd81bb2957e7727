"""What a student's own check says, in Korean. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from grader.report.words_en_intake import Sentence

_AGAIN = "스타터 파일을 다시 받으세요."

RESULT: dict[str, Sentence] = {
    "left_to_grading": ("채점할 때 확인합니다. 이 케이스는 공개되지 않습니다.",),
    "self_check": ("공개 케이스로 한 자가 점검이며 점수가 아닙니다. 숨은 케이스도 채점됩니다.",),
    "support_changed": ("{file}: 받은 것과 다릅니다. 채점은 원래 파일을 씁니다.",),
    "first_wrong": (
        "케이스 {case}: 처음 틀린 곳은 {place}. 돌려준 값 {actual}, 맞는 값 {expected}.",
    ),
    "part_shown": ("표에는 그 둘레만 보입니다.",),
    "element": ("돌려준 값 {actual}, 맞는 값 {expected}",),
    "lay": ("어디에 있었나:",),
    "lay_there": ("{device}에 있는 {what}: {names:names} ({bytes:size}).",),
    "happened": ("무슨 일이 있었나:",),
    "ran_there": (
        (
            "{device}에서 한 일: {ops:names}. 한꺼번에 쓴 메모리는 많아야 {peak:size}.",
            "{device}에서 한 일: {ops:names}.",
        ),
    ),
    "idle_there": ("{device}: 한 일이 없습니다.",),
    "went": ("{source} → {target}: {count}번 복사, {bytes:size}.",),
    "timeline": (
        "각 GPU가 일한 때, 0부터 {elapsed:.1f} ms까지: {forward} forward 또는 갱신, "
        "{backward} backward, {copy} 복사, {idle} 쉼.",
    ),
    "no_matplotlib": (
        "이것을 보여 주는 그림이 있습니다. pip install matplotlib 뒤에 다시 확인하세요.",
    ),
    "nothing_went": ("device 사이에 복사한 것이 없습니다.",),
    "hint": ("힌트: {hint}",),
    "next_step": (("다음: {file} {line:line}번째 줄의 {question}.", "다음: {file}의 {question}."),),
    "next_first": ("그 함수를 쓰고 저장한 뒤 다시 점검하세요.",),
    "all_done": ("여기서 확인할 수 있는 것은 모두 맞습니다.",),
    "loading_stopped": (
        (
            "{file} {line:line}번째 줄: {type}: {message} 이 문장은 끝까지 실행되지 않았습니다.",
            "파일의 한 문장이 끝까지 실행되지 않았습니다: {type}: {message}",
        ),
        "그 아래는 읽지 않았습니다.",
    ),
    "packages_missing": (
        "여기에 설치되지 않음: {names:names}. 이것을 쓰는 코드는 실패합니다.",
        "설치하거나 import를 지우십시오.",
    ),
    "rest_pending": ("채점할 때에만 확인하는 점수: {points}.",),
    "counts_after": (
        (
            "{checks:names}: {requires:most}, {requires:last} 모두 통과 후.",
            "{checks:names}: {requires:last} 통과 후.",
        ),
    ),
    "handed_in": ("제출할 것: {files:names}.",),
    "not_written": ("아직 쓰지 않은 것: {names:names}.",),
    "written": ("모든 함수가 있습니다.",),
    "none_found": (
        "{file}에는 여기서 요구하는 것이 하나도 없습니다.",
        "다른 과제의 파일이 아닌가요?",
        "이 과제에서 쓸 것: {names:names}.",
    ),
    "make_zip": ("“grader submit-zip”이 {file}(으)로 묶어 줍니다.",),
    "watching": ("{file} 지켜보는 중: 저장하면 바뀐 것을 다시 점검합니다. 끝내려면 Ctrl+C.",),
    "unchanged": ("저장되었지만 점검할 것은 바뀌지 않았습니다.",),
    "rechecked": ("다시 점검함: {names:names}. {seconds}초.",),
    "packed": ("{file}: 제출할 수 있습니다. 다시 읽어 보니 다음이 들어 있습니다.",),
    "packed_differs": (
        "{file}: 썼지만 다시 읽어 보니 넣은 것과 다릅니다.",
        "파일을 그대로 제출하세요.",
    ),
}

IN_THE_WAY: dict[str, Sentence] = {
    "no_torch": (
        "이것을 실행하는 파이썬({python})에 PyTorch가 없습니다.",
        "{python} -m pip install torch 명령으로 설치하고 다시 점검하세요.",
    ),
    "no_such_path": ("{path}: 없습니다. 과제 폴더를 지정하세요.",),
    "several_here": ("{path}: 과제가 여럿 있습니다: {names:names}.", "하나를 지정하세요."),
    "authors_folder": (
        "{path}: 과제를 정의하는 폴더이며 학생이 받는 것이 아닙니다.",
        "받는 것은 starter/{name}입니다.",
    ),
    "wrong_folder": (
        "{path}: 과제 폴더가 아닙니다. {file}이(가) 없습니다.",
        "스타터 파일이 있는 폴더로 가거나 grader check path/to/folder처럼 지정하세요.",
    ),
    "module_missing": (
        "{path}에 {file}이(가) 없습니다.",
        ("“{nearest}”이(가) 있습니다. {file}(으)로 이름을 바꾸세요.", "스타터에서 다시 받으세요."),
    ),
    "only_notebook": (
        "{found}은(는) {file}을(를) 쓰는데 옆에 없습니다. 점검할 함수가 없습니다.",
        "스타터에서 {file}을(를) 받아 그 안에 함수를 쓰세요.",
    ),
    "file_unreadable": ("{file}: 읽을 수 없습니다: {reason}.", _AGAIN),
    "file_damaged": ("{file}: 손상되었습니다: {reason}.", _AGAIN),
    "file_lacks": ("{file}: 손상되었습니다. “{what}”이(가) 없습니다.", _AGAIN),
    "tensors_differ": (
        "{tensors}: 옆의 {file}과(와) 짝이 아닙니다.",
        "스타터 파일을 둘 다 다시 받으세요.",
    ),
    "other_version": (
        "{file}: 버전이 “{found}”인데 이 torchgrade는 “{wanted}”을(를) 읽습니다.",
        "스타터 파일을 다시 받거나 그에 맞는 torchgrade를 설치하세요.",
    ),
    "other_inputs": (
        "{question}의 케이스 {case}: 여기서는 입력이 다르게 나옵니다.",
        "스타터가 다른 torchgrade로 만들어졌습니다. 스타터 파일이나 그 torchgrade를 받으세요.",
    ),
    "support_missing": ("{file}: 과제에 필요한데 없습니다.", "스타터에서 다시 받으세요."),
}

SENTENCES = RESULT | IN_THE_WAY
