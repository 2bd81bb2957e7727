"""Walks through value trees."""

from collections import namedtuple

import pytest
from observed import tensor

from grader.wire.tree import UnlikeError, agree, combine, leaves, map_leaves, places, tensors

ONE, TWO = tensor([1.0]), tensor([2.0])
TREE = (1, [ONE, {"loss": TWO, 3: ()}], None)


def test_leaves_come_in_order_whatever_holds_them():
    assert list(leaves(TREE)) == [1, ONE, TWO, None]
    assert list(leaves(ONE)) == [ONE]
    assert list(leaves({})) == []
    assert list(tensors(TREE)) == [ONE, TWO]


def test_a_walk_for_leaves_goes_as_deep_as_a_value_does():
    deep = 1
    for _ in range(10_000):
        deep = [deep]
    assert list(leaves(deep)) == [1]


def test_places_are_named_as_in_a_log():
    assert dict(places(TREE, "output")) == {
        "output[0]": 1,
        "output[1][0]": ONE,
        "output[1][1][loss]": TWO,
        "output[2]": None,
    }
    assert list(places(5, "output")) == [("output", 5)]


def test_other_leaves_stand_in_the_same_form():
    assert map_leaves(str, (1, [2, {"a": 3}], [])) == ("1", ["2", {"a": "3"}], [])
    assert map_leaves(str, ([1], {"a": 3}), lambda item: type(item) is list) == ("[1]", {"a": "3"})


def test_a_named_tuple_is_a_leaf():
    pair = namedtuple("Pair", "left right")(1, 2)
    assert list(leaves([pair])) == [pair]
    assert map_leaves(type, [pair]) == [type(pair)]


def test_trees_of_one_form_are_combined_leaf_by_leaf():
    assert combine(max, (1, {"a": [5]}), (2, {"a": [3]}), (0, {"a": [4]})) == (2, {"a": [5]})


@pytest.mark.parametrize(
    ("one", "other"),
    [((1,), [1]), ([1], [1, 2]), ({"a": 1}, {"b": 1}), ([(1, 2)], [(1,)]), ([[1]], [1])],
)
def test_trees_of_another_form_are_not(one, other):
    with pytest.raises(UnlikeError):
        combine(max, one, other)
    assert not agree(lambda *_: True, one, other)
    assert combine(max, [one, 1], [other, 2], unlike=lambda *_: "unlike") != [one, 2]


def test_only_the_place_that_differs_is_put_otherwise():
    first = lambda one, _: one  # noqa: E731
    assert combine(max, [(1, 2), 3], [(1,), 4], unlike=first) == [(1, 2), 4]


def test_trees_agree_where_a_rule_holds_at_each_place():
    near = lambda one, other: abs(one - other) < 2  # noqa: E731
    assert agree(near, (1, {"a": [2]}), (2, {"a": [3]}))
    assert not agree(near, (1, {"a": [2]}), (2, {"a": [5]}))
    # To Python, True equals 1.
    assert not agree(lambda *_: True, [True], [1])
    assert agree(lambda *_: True, [{"a": 1}], [{"b": 1}], whole=lambda item: type(item) is dict)
