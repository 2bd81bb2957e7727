from __future__ import annotations

import numpy as np
import pytest

from grader.report.html.self_check import Heat
from grader.report.messages.language import VARIABLE


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")


def heat(actual: object, expected: object) -> Heat:
    left, right = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    return Heat("example", "result", left, right, left != right)


def test_the_first_wrong_element_is_framed_and_named() -> None:
    page = heat([[1, 2], [3, 5]], [[1, 2], [3, 4]]).html()
    assert "result[1, 1], returned 5, expected 4" in page
    assert page.count("2px solid #000") == 1
    assert page.count("#d9f2e0") == 3
    assert "The table shows the part" not in page


def test_a_large_matrix_is_cut_around_the_first_wrong_element() -> None:
    right = np.zeros((100, 100))
    wrong = right.copy()
    wrong[60, 70] = 1
    page = heat(wrong, right).html()
    assert page.count("<tr>") == 24
    assert page.count("<td") == 24 * 24
    assert "2px solid #000" in page
    assert "The table shows the part around it." in page


def test_of_many_dimensions_the_matrix_around_it_is_shown() -> None:
    right = np.zeros((2, 3, 2, 2))
    wrong = right.copy()
    wrong[1, 2, 0, 1] = 7
    page = heat(wrong, right).html()
    assert "result[1, 2, 0, 1]" in page
    assert page.count("<td") == 4


@pytest.mark.parametrize(("actual", "expected"), [(3.0, 2.0), ([3.0], [2.0])])
def test_numbers_and_vectors_are_one_row(actual: object, expected: object) -> None:
    page = heat(actual, expected).html()
    assert page.count("<tr>") == 1
    assert "returned 3, expected 2" in page


def test_red_is_paler_the_nearer_and_nan_has_a_colour_of_its_own() -> None:
    page = heat([[1.0001, 2.0, np.nan]], [[1.0, 1.0, 1.0]]).html()
    near, far = "rgb(240,170,170)", "rgb(240,80,80)"
    assert near in page
    assert far in page
    assert "#b58cd9" in page
