"""Profiles of GPUs: data with sources."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from faults import no_faults

from grader.vgpu.timeline.profiles import FOLDER, PROFILES, Profile, profile, read_profile


def test_there_are_the_cards_of_a_course() -> None:
    assert {"t4", "v100", "a100", "h100", "rtx3070-laptop"} <= set(PROFILES)


def unlikely(card: Profile) -> Iterator[str]:
    for name, low, high in (
        ("flops", 1e12, 1e14), ("bandwidth", 1e11, 1e13), ("pinned", 1e9, card.bandwidth),
        ("floor", 1e-7, 1e-4), ("launch", 1e-7, 1e-4),
    ):  # fmt: skip
        if not low < (number := getattr(card, name)) < high:
            yield f"{name} is {number:g}, expected {low:g} to {high:g}"
    if card.pageable > card.pinned:
        yield "copies of pageable memory are faster than those of pinned memory"


def test_the_numbers_are_those_of_a_gpu() -> None:
    no_faults(PROFILES, unlikely, "look the number up at its source, and mind its unit")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"flops": None}, "“flops” is missing"),
        ({"speed": {"value": 1, "source": "?"}}, "“speed” is no field"),
        ({"flops": {"value": 0, "source": "?"}}, "“flops” must be a number above 0, not 0"),
        ({"flops": {"value": "fast", "source": "?"}}, "must be a number above 0, not 'fast'"),
        ({"flops": {"value": 1e12, "source": ""}}, "“flops” names no source"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, change, told) -> None:
    content = json.loads((FOLDER / "t4.json").read_text(encoding="utf-8")) | change
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({name: each for name, each in content.items() if each}))
    with pytest.raises(ValueError, match=told) as caught:
        read_profile(file)
    assert "mine.json" in str(caught.value)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean “v100”"):
        profile("V10")
    with pytest.raises(ValueError, match="there are a100, h100"):
        profile("abacus")


def test_a_slower_card_keeps_its_ratio_and_may_get_another_link() -> None:
    card, slow = profile("v100"), profile("v100").slowed(0.5, peer=1e9)
    assert slow.flops / slow.bandwidth == card.flops / card.bandwidth
    assert (slow.peer, slow.launch) == (1e9, card.launch)
    assert card.slowed(2).peer == card.peer
