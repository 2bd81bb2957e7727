"""Korean that students read: one word for one thing, and nothing word by word from English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from faults import no_faults

ROOT = Path(__file__).parents[2]
TEXTS = [
    ROOT / "grader/report/messages/ko.toml",
    ROOT / "grader/cli/korean.py",
    ROOT / "grader/vgpu/ko.json",
    ROOT / "grader/authoring/starter.py",
    ROOT / "grader/authoring/student_files.py",
    *sorted(ROOT.glob("assignments/*/*.ko.*")),
    *sorted(ROOT.glob("assignments/*/ko.toml")),
    *sorted(ROOT.glob("assignments/*/scenario.py")),
    *sorted(ROOT.glob("reference/*/mistakes.py")),
]
OF_MISTAKES = "# says-ko: "
WRITTEN_SO = {
    # One word for one thing.
    r"기계": "컴퓨터",
    r"진짜": "실제",
    r"인수": "인자",
    r"(?<!메모리를 )돌려(?:주|준|줄|줍|줘)": "반환하다",
    r"걸음": "단계",
    r"칸[은을이마과]": "원소",
    r"모양": "shape",
    r"샌드박스": "격리 환경",
    r"비공개 케이스": "숨은 케이스",
    r"아직 쓰지 않": "아직 작성하지 않",
    r"몸통|머리[가를는만의]": "백본, 헤드",
    r"까닭": "이유",
    r"훈련": "학습",
    r"에포크": "에폭",
    r"정칙화": "정규화",
    r"시험 (?:점|데이터)": "테스트 점, 테스트 데이터",
    r"시작 파일": "스타터",
    # Word by word.
    r"당신|그들|그것들": "name the thing, or say 여러분",
    r"에 의해|에 의한": "make the doer the subject",
    r"되어지|되어진|지게 됩니다|여집니다": "one passive is enough",
    r"으로부터": "에서",
    r"을 가지고 있|를 가지고 있습니다": "있습니다",
    r"하는 것이 가능|할 수 있게 됩": "할 수 있습니다",
    r"만약": "leave it out: -(으)면 says it",
    r"하기 위하여": "하려면",
    r"낯선 사람": "모르는 사람",
    r"중 하나입니다": "가운데 하나입니다",
    r"함에 있어서?": "할 때",
    r"(?:하여야|되어야) 하는 것": "해야 할 것",
}
"""What Korean readers stumble over → what stands there instead."""
# A particle that depends on the sound before it is only chosen where messages are filled in.
BOTH_PARTICLES = re.compile(r"[을이은과]\([를가는와]\)|\((?:으|이)\)[로]")
NOT_POLITE = re.compile(r"(?:한다|이다|된다|있다|없다|하라|해라|해요|세요요|해야죠)\.")


def faults(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        if path.name == "mistakes.py" and not line.startswith(OF_MISTAKES):
            continue
        for pattern, better in WRITTEN_SO.items():
            for found in re.finditer(pattern, line):
                yield f"line {number}: “{found[0]}” ({better})"
        if path.parent.name != "messages" and BOTH_PARTICLES.search(line):
            yield f"line {number}: two particles at once; turn the sentence round"
        if NOT_POLITE.search(line):
            yield f"line {number}: other sentences end in -습니다 or -세요"


def test_korean_has_one_word_for_one_thing_and_no_literal_translations() -> None:
    no_faults(
        {str(path.relative_to(ROOT)): path for path in TEXTS}, faults, "write what a lecturer would"
    )


def test_such_words_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("값을 돌려준다.\nshape을(를) 봅니다.\n메모리를 돌려줍니다.\n")
    assert [fault.partition(":")[0] for fault in faults(page)] == ["line 1", "line 2"]
