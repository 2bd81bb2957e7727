"""Who is like whom."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from class_of import DISGUISED, LONG, OTHER, compared, read

from grader.similarity.compare import LEAST_OWN, _partners, compare
from grader.similarity.tokens import tokenise


def test_a_disguised_copy_is_found_and_nobody_else(tmp_path: Path) -> None:
    found = compared(tmp_path, ann=LONG, bob=DISGUISED, cem=OTHER)
    (pair,) = found.pairs
    assert {pair.first.name, pair.second.name} == {"ann", "bob"}
    assert pair.score > 0.85
    assert found.closest["cem"] < 0.2


def test_what_the_starter_gives_does_not_count(tmp_path: Path) -> None:
    found = compared(tmp_path, starter=LONG, ann=LONG + "\nprint(1)\n", bob=LONG + "\nprint(2)\n")
    assert found.pairs == ()
    assert found.thin == ("ann", "bob")


def test_what_comes_twice_in_a_hand_in_is_left_out_twice(tmp_path: Path) -> None:
    twice = LONG + LONG.replace("first", "third")
    found = compared(tmp_path, starter=LONG, ann=twice + OTHER, bob=twice)
    assert found.pairs == ()
    assert found.closest.keys() == {"ann"}


def test_what_many_have_is_common_and_does_not_count(tmp_path: Path) -> None:
    few = {f"s{n}": f"{LONG}\nprint({n})\n" for n in range(5)}
    many = {f"s{n}": f"{LONG}\nprint({n})\n" for n in range(12)}
    assert len(compared(tmp_path / "few", **few).pairs) == 10
    found = compared(tmp_path / "many", **many)
    assert found.pairs == ()
    assert found.common > 0
    assert found.limit == 10


def test_identical_ones_do_not_make_anything_common(tmp_path: Path) -> None:
    alike = {f"s{n}": LONG for n in range(20)}
    found = compared(tmp_path, **alike, zoe=DISGUISED)
    (pair,) = found.pairs
    assert len(pair.first.names) == 20
    assert pair.second.name == "zoe"


def independent(number: int) -> str:
    """Return code that nobody else in a class has."""
    draw = random.Random(number)
    names = ["sum", "mean", "amax", "clamp", "roll", "flip", "cumsum", "sort", "abs", "exp", "log"]
    lines = [
        f"    x = x.{draw.choice(names)}({draw.randrange(99)}) {sign} {number}.{line}"
        for line, sign in enumerate("+-*/" * 3)
    ]
    return "def first(x):\n" + "\n".join(lines) + "\n    return x\n"


def test_a_ring_of_copiers_does_not_hide_by_its_size(tmp_path: Path) -> None:
    # 14 of 60 are more than a tenth, so what they share would count as common.
    ring = {f"ring{n}": f"{LONG}\nprint({n})\n" for n in range(14)}
    others = {f"s{n}": independent(n) for n in range(46)}
    found = compared(tmp_path, **ring, **others)
    names = {side.name for pair in found.pairs for side in (pair.first, pair.second)}
    assert names == set(ring)
    assert found.copies == ()


def test_a_ring_that_took_three_quarters_is_found(tmp_path: Path) -> None:
    # Each has three of four parts, and each part is held by 15 of 50: more than a tenth.
    source = [independent(1000 + part) for part in range(4)]
    ring = {}
    for number in range(20):
        parts = [*source]
        parts[number % 4] = independent(2000 + number)
        ring[f"ring{number}"] = "".join(parts)
    others = {f"s{n}": independent(n) for n in range(30)}
    found = compared(tmp_path, **ring, **others)
    names = {side.name for pair in found.pairs for side in (pair.first, pair.second)}
    assert names == set(ring)


def test_copies_are_told_whatever_is_common(tmp_path: Path) -> None:
    many = {f"s{n}": LONG.replace("values", f"values_{n}") for n in range(30)}
    short = "def first(x):\n    return x\n"
    found = compared(
        tmp_path, starter="x = 1\n", **many, ann=short, bob=short, cem="x = 1\n", dua="x = 1\n"
    )
    assert [len(names) for names in found.copies] == [30, 2]
    assert found.copies[1] == ("ann", "bob")


def test_a_copy_that_a_formatter_went_over_is_told(tmp_path: Path) -> None:
    line = "return res.roll(1, dims=1), k.tolist()"
    assert line in DISGUISED
    formatted = DISGUISED.replace(
        line, "return (\n        res.roll(1, dims=1,),\n        (k.tolist()),\n    )"
    )
    found = compared(tmp_path, ann=LONG, bob=formatted, cem=OTHER)
    assert found.copies == (("ann", "bob"),)


def test_one_person_twice_is_no_pair(tmp_path: Path) -> None:
    hand_ins = read(tmp_path, ann=LONG, ann_late=DISGUISED, bob=OTHER).compared
    assert compare(hand_ins, [], 0.6).pairs
    assert compare(hand_ins, [], 0.6, lambda one, two: one[:3] != two[:3]).pairs == ()


def test_who_has_too_little_is_not_compared(tmp_path: Path) -> None:
    short = "x = [1, 2, 3]\n"
    assert len(tokenise(short).document) < LEAST_OWN
    found = compared(tmp_path, ann=short, bob=short + "y = 2\n", cem=LONG)
    assert found.thin == ("ann", "bob")


def test_regions_cover_code_alone_and_lead_to_each_other(tmp_path: Path) -> None:
    (pair,) = compared(tmp_path, ann=LONG, bob=DISGUISED).pairs
    left, right = pair.regions
    for side, regions, others in ((pair.first, left, right), (pair.second, right, left)):
        for region in regions:
            text = "".join(side.script.source[a:b] for a, b in region.spans)
            assert "#" not in text
            assert '"""' not in text
            assert 0 <= region.partner < len(others)
    source = pair.first.script.source
    index = next(n for n, r in enumerate(left) if any("cumsum" in source[a:b] for a, b in r.spans))
    partner = right[left[index].partner]
    assert any("cumsum" in pair.second.script.source[a:b] for a, b in partner.spans)


def test_nobody_at_all(tmp_path: Path) -> None:
    assert compared(tmp_path).pairs == ()
    assert compare([], [], 0.6).closest == {}


def test_what_stands_at_very_many_places_takes_no_time() -> None:
    """As in a table of zeros; a test that compared place with place would not end."""
    places = 10**5
    prints = tuple(SimpleNamespace(hashes={1}, hash_idx={1: range(places)}) for _ in range(2))
    slices = tuple(np.array([[0, places // 2], [places // 2, places]]) for _ in range(2))
    here, there = _partners(cast("Any", prints), slices)
    assert here.keys() == there.keys() == {0, 1}
