"""Help texts in Korean: of the commands that students run, and the list of all commands.

Loaded where a reader's language is Korean and a help text is asked for. Wide characters take two
columns, which the library's own layout does not know.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

COMMANDS = {
    "grade": "제출물 하나를 채점합니다.",
    "batch": "한 반의 제출물을 모두 채점합니다.",
    "merge": "다른 컴퓨터에서 채점한 대기 점수를 채웁니다.",
    "export": "학습 플랫폼이나 CI에 쓸 성적을 만듭니다.",
    "rejudge": "검사를 바꾼 뒤 한 반을 다시 판정합니다.",
    "regrade": "한 반의 제출물을 같은 입력으로 다시 실행합니다.",
    "replay": "제출물 하나를 다시 실행해 판정을 비교합니다.",
    "decide": "점수를 직접 줍니다.",
    "comment": "학생 코드의 한 줄에 의견을 답니다.",
    "count": "GPU로만 정할 수 있는 점수를 넣거나 뺍니다.",
    "review": "사람을 기다리는 것을 하나씩 보고 점수를 줍니다.",
    "desk": "브라우저에서 혼자 또는 함께 점수를 직접 줍니다.",
    "status": "채점이 어디까지 갔는지 알려 줍니다.",
    "pictures": "보고서의 그림을 그 안의 수로 다시 그립니다.",
    "similarity": "비슷해 보이는 제출물을 사람이 읽도록 알려 줍니다.",
    "report": "교직원과 학생이 볼 페이지를 만듭니다.",
    "check": "공개 케이스로 점검합니다.",
    "submit-zip": "제출할 파일을 맞는 이름으로 묶고 다시 읽어 봅니다.",
    "new": "여기에 새 과제를 시작합니다. 바로 채점되는 문제가 하나 들어 있습니다.",
    "starter": "reference/ID로 starter/ID를 만듭니다.",
    "lint": "학생보다 먼저 과제를 시험해 봅니다.",
    "schema": "JSON 스키마를 출력합니다.",
    "pack": "과제를 참조 풀이, 채점기와 함께 묶습니다.",
}
"""Name → what the list of commands says of it."""

_LANG = "메시지의 언어. 없으면 컴퓨터의 언어를 씁니다."
_HELP = "이 도움말을 보여 주고 끝냅니다."
_TOLD: dict[str, tuple[str, dict[str, str]]] = {
    "": (
        "PyTorch 과제를 채점합니다.",
        {"version": "버전을 출력합니다.", "help": _HELP},
    ),
    "check": (
        "공개 케이스로 점검합니다. 점수가 아닙니다. 채점할 때는 더 많은 케이스를 씁니다.",
        {
            "what": "문제: 이름, 이름의 앞부분 또는 번호(Q15). 과제 폴더의 경로도 됩니다.",
            "questions": "점검할 문제의 이름, 쉼표로 나눕니다. 없으면 모두 점검합니다.",
            "device": "GPU 문제에 쓸 것. auto는 실제 GPU를, 없으면 가상 GPU를 씁니다.",
            "isolation": "코드를 둘러싸는 격리 환경. auto는 되는 것 가운데 가장 강한 것을 씁니다.",
            "watch": "끝내지 않고, 저장할 때마다 바꾼 것을 다시 점검합니다.",
            "everything": "틀린 것이 있어도 맞은 것까지 보여 줍니다.",
            "fail": "틀린 것이 있으면 종료 상태가 3입니다.",
            "form": "text는 읽을 글, json은 report.json과 같은 형식, lines는 FILE:LINE: MESSAGE.",
            "lang": _LANG,
            "help": _HELP,
        },
    ),
    "submit-zip": (
        "제출할 파일을 맞는 이름으로 묶고 다시 읽어 봅니다.\n\n"
        "파이썬이 불러올 수 없는 파일은 묶지 않습니다. 아직 작성하지 않은 것은 알려 줍니다. "
        "아무것도 작성하지 않은 파일인데 폴더의 다른 파일에 작성한 것이 있으면 먼저 묻습니다. "
        "터미널이 아니거나 노트북의 셀이면 그때 묶지 않고 종료 상태 4로 끝납니다. 그래도 묶으려면 "
        "파일을 지정하세요.",
        {"path": "과제 폴더 또는 그 안의 파일.", "lang": _LANG, "help": _HELP},
    ),
}
"""Command → its description, and parameter → help. "" is the group of all commands."""

_DEFAULT = re.compile(r"\[default: (.*?)\]", re.DOTALL)
_WIDEST = 80
_FIRST = 30
"""Columns that what stands on the left may take, as in the library's own layout."""


def help_of(name: str, command: Any, context: Any) -> str:
    """Return the help text of a command; empty where there is none in Korean.

    Args:
        name: Of the command; empty for the group of all commands.
        command: As the library has it.
        context: Of its call.
    """
    if name not in _TOLD:
        return ""
    described, texts = _TOLD[name]
    width = max(min(shutil.get_terminal_size().columns, _WIDEST) - 2, 50)
    usage = " ".join(command.collect_usage_pieces(context))
    usage = usage.replace("[OPTIONS]", "[옵션]").replace("COMMAND [ARGS]...", "명령 [인자]...")
    lines = [f"사용법: {context.command_path} {usage}"]
    for paragraph in described.split("\n\n"):
        lines += ["", *(f"  {line}" for line in _wrapped(paragraph, width - 2))]
    sections: dict[str, list[tuple[str, str]]] = {"인자": [], "옵션": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            default = _DEFAULT.search(record[1])
            told = f"  [기본값: {default[1]}]" if default else ""
            kind = "인자" if parameter.param_type_name == "argument" else "옵션"
            sections[kind].append((record[0], texts[parameter.name] + told))
    sections["명령"] = list(COMMANDS.items()) if not name else []
    for title, rows in sections.items():
        if rows:
            lines += ["", f"{title}:", *_listed(rows, width)]
    return "\n".join(lines)


def _listed(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    left = min(max(cell_len(first) for first, _ in rows), _FIRST) + 2
    for first, text in rows:
        told = _wrapped(text, width - left - 2)
        if cell_len(first) > left - 2:
            yield f"  {first}"
        else:
            yield f"  {first}{' ' * (left - cell_len(first))}{told.pop(0)}"
        yield from (f"  {' ' * left}{line}" for line in told)


def _wrapped(text: str, width: int) -> list[str]:
    return [line.plain.rstrip() for line in Text(text).wrap(Console(width=width), width)]
