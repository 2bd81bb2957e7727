"""The list of public scripts, and how what came of one is judged; nothing is fetched here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_scripts import public
from gpu_scripts.processes import Ran
from gpu_scripts.public import PublicScript, different, judge, judged, public_scripts

SCRIPT = PublicScript("toy", "owner/name", "0" * 40, "toy.py")


def test_the_list_names_a_hundred_scripts_each_at_a_commit() -> None:
    listed = public_scripts()
    assert len(listed) >= 100
    assert len({each.name for each in listed}) == len(listed)
    assert len({each.repository for each in listed}) >= 20
    for each in listed:
        assert re.fullmatch(r"[0-9a-f]{40}", each.commit), each.name
        assert each.path.endswith(".py")


def test_what_cannot_be_fetched_is_skipped_and_says_so(tmp_path: Path) -> None:
    outcome = judge(SCRIPT, tmp_path, 10.0)
    assert (outcome.word, "owner/name" in outcome.why) == ("skipped", True)


REFUSAL = "NotImplementedError: x is not supported on virtual CUDA devices\n"
CASES = {
    "works": (Ran(0, "", ""), Ran(0, "", "")),
    "refused": (Ran(1, "", REFUSAL), Ran(0, "", "")),
    "wrong": (Ran(1, "", "RuntimeError: obscure\n"), Ran(0, "", "")),
    "skipped": (Ran(1, "", "ValueError: no data\n"), Ran(1, "", "ValueError: no data\n")),
    "runs on": (Ran(-9, "", "\nended: it did not end by itself\n"), Ran(0, "", "")),
}


@pytest.mark.parametrize("word", CASES)
def test_what_came_of_a_script(word: str) -> None:
    virtual, host = CASES[word]
    assert public._outcome(SCRIPT, virtual, lambda: [host]).word == word


def test_numbers_are_those_of_the_cpu() -> None:
    text = "Epoch 1 Loss: 0.52 (0.61)\nTest accuracy of it: 97.5 %\ntook 3.25 s\n"
    assert judged(text) == [0.52, 97.5]
    assert different([0.52], [0.52]) == ""
    assert different([0.52], [0.6]) == "printed 0.52, on the CPU 0.6"
    assert different([], []) == "printed 0 numbers, on the CPU 0"
    compared = PublicScript("toy", "owner/name", "0" * 40, "toy.py", compare=True)
    other = [Ran(0, "loss 0.6\n", "")]
    assert public._outcome(compared, Ran(0, "loss 0.5\n", ""), lambda: other).word == "wrong"
