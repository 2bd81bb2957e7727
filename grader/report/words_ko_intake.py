"""Korean sentences on hand-ins. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from grader.report.words_en_intake import Sentence

_SAVE_AS_TEXT = "UTF-8 파이썬 텍스트로 저장해서 다시 제출하세요."
_PACK_AGAIN = "다시 압축해서 다시 제출하세요."
_FOUND = (
    "제출물에 있는 것: {found:names} (모두 {found_count}개).",
    "제출물에 있는 것: {found:names}.",
)

NOTES: dict[str, Sentence] = {
    "taken_as": ("{found}을(를) {wanted}(으)로 받았습니다. 다음에는 그 이름으로 제출하세요.",),
    "taken_as_another": (
        "{found}을(를) {wanted}(으)로 받았지만, 여기서 요구하는 것이 하나도 없습니다.",
        "다른 과제의 제출물이 아닌가요?",
    ),
    "converted_notebook": ("{found}의 코드 셀을 차례로 {wanted}(으)로 읽었습니다.",),
}

MISSING: dict[str, Sentence] = {
    "nothing_found": ("없는 파일: {missing:names}.", "제출물에 파일이 하나도 없습니다."),
    "missing_file": (
        "없는 파일: {missing:names}.",
        _FOUND,
        "파일 이름을 바꾸어 다시 제출하세요.",
    ),
    "missing_file_nearest": (
        "없는 파일: {missing:names}.",
        _FOUND,
        "{nearest:names}인가요? 이름을 바꾸어 다시 제출하세요.",
    ),
    "another_assignment": (
        "없는 파일: {missing:names}.",
        _FOUND,
        (
            "정의된 것: {names:names}. 여기서 요구하는 것은 하나도 없습니다.",
            "여기서 요구하는 것이 하나도 없습니다.",
        ),
        "다른 과제의 제출물인 것 같습니다. 이 과제의 파일을 제출하세요.",
    ),
    "files_scattered": (
        "한 폴더에 함께 있지 않습니다: {missing:names}.",
        _FOUND,
        "한 폴더에 모아 다시 제출하세요.",
    ),
    "ambiguous": (
        "해당할 수 있는 파일이 여럿입니다: {candidates:names}.",
        "하나만 남기고 다시 제출하세요.",
    ),
    "collision": (
        "대소문자나 악센트만 다른 이름들입니다: {files:names}.",
        "하나만 남기고 다시 제출하세요.",
    ),
}

PATHS: dict[str, Sentence] = {
    "is_link": ("{file}: 링크입니다. 파일 자체를 제출하세요.",),
    "is_special": ("{file}: 장치나 파이프입니다. 보통 파일만 제출하세요.",),
    "path_unusable": ("쓸 수 없는 파일 이름: {file}.", "이름을 바꾸세요."),
    "path_outside": ("{file}: 제출물 바깥을 가리킵니다.", _PACK_AGAIN),
    "path_too_deep": ("{file}: 폴더가 너무 깊습니다. {limit}단계까지입니다.",),
    "name_too_long": ("파일 이름이 너무 깁니다: {file}. {limit}자까지입니다.",),
}

ARCHIVES: dict[str, Sentence] = {
    "too_many_files": ("제출물의 파일이 {limit}개를 넘습니다. 자신의 파일만 제출하세요.",),
    "too_large": ("{file}: {limit:size}보다 큽니다. 데이터가 아니라 소스를 제출하세요.",),
    "too_compressed": ("{file}: 풀면 {limit}배를 넘으므로 읽지 않았습니다.",),
    "broken_archive": ("{file}: 손상되었습니다: {problem}.", _PACK_AGAIN),
    "encrypted": ("{file}: 암호로 잠겨 있습니다.", "암호 없이 압축하세요."),
    "unknown_compression": ("{file}: 드문 방식으로 압축되었습니다.", "보통 .zip을 쓰세요."),
    "unknown_archive": ("{file}: {kind} 압축 파일입니다.", "보통 .zip이나 .tar.gz를 쓰세요."),
    "not_an_archive": ("{file}: 이름은 압축 파일이지만 아닙니다.", _PACK_AGAIN),
}

FILES: dict[str, Sentence] = {
    "empty_file": ("{file}: 비어 있습니다.",),
    "wrong_encoding": ("{file}: {encoding}(으)로 쓰였습니다.", _SAVE_AS_TEXT),
    "unknown_encoding": ("{file}: 읽지 않는 인코딩입니다: {problem}.", _SAVE_AS_TEXT),
    "not_text": (
        "{file} {line:line}번째 줄: 바이트 {byte}은(는) {encoding} 텍스트가 아닙니다.",
        _SAVE_AS_TEXT,
    ),
    "nul_bytes": ("{file} {line:line}번째 줄: NUL 바이트가 있어 텍스트가 아닙니다.", _SAVE_AS_TEXT),
    "notebook_not_json": (
        "{file}: 노트북이 아닙니다: {problem} ({line:line}번째 줄, {column:line}번째 칸).",
        "Jupyter에서 다시 저장하세요.",
    ),
    "notebook_broken": ("{file}: 손상된 노트북입니다: {problem}.", "Jupyter에서 다시 저장하세요."),
    "notebook_version": (
        "{file}: 읽지 않는 노트북 형식 {version}입니다.",
        "더 새로운 Jupyter에서 저장하세요.",
    ),
    "notebook_too_large": ("{file}: 너무 큰 노트북입니다.", "출력을 지우고 저장하세요."),
    "notebook_without_code": ("{file}: 코드가 없습니다.",),
}

_KINDS = {
    "elf": "컴파일된 프로그램",
    "windows_program": "Windows 프로그램",
    "zip": ".zip 압축 파일",
    "gzip": "gzip 압축 파일",
    "png": "그림",
    "hdf5": "HDF5 데이터 파일",
    "pdf": "PDF",
    "rtf": "서식 있는 문서",
    "web_page": "웹 페이지",
    "notebook": "노트북(이름이 .ipynb로 끝나야 함)",
    "pyc": "컴파일된 파이썬",
    "utf16": "UTF-16 텍스트",
}
NOT_SOURCE: dict[str, Sentence] = {
    f"not_source_{kind}": (f"{{file}}: 파이썬 소스가 아니라 {what}입니다.", _SAVE_AS_TEXT)
    for kind, what in _KINDS.items()
}

SENTENCES = {**NOTES, **MISSING, **PATHS, **ARCHIVES, **FILES, **NOT_SOURCE}
