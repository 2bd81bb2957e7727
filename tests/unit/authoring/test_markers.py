from __future__ import annotations

from textwrap import dedent

import pytest

from grader.authoring.student_files import strip_solutions
from grader.errors import AssignmentError

REFERENCE = '''\
"""A module. The words # BEGIN SOLUTION in a string are no marker."""

import torch


def given(x):
    return x + 1  # stays


def double(x):
    """Twice x."""
    # A comment for students.
    # BEGIN SOLUTION
    y = x
    return y * 2
    # END SOLUTION
'''

STARTER = '''\
"""A module. The words # BEGIN SOLUTION in a string are no marker."""

import torch


def given(x):
    return x + 1  # stays


def double(x):
    """Twice x."""
    # A comment for students.
    raise NotImplementedError("double is not written yet")
'''


def problems_of(source: str, graded: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(AssignmentError) as caught:
        strip_solutions(dedent(source), "ref.py", graded)
    return [str(problem) for problem in caught.value.problems]


def test_a_solution_becomes_not_implemented_and_the_rest_stays() -> None:
    assert strip_solutions(REFERENCE, "ref.py", ["double"]) == STARTER


def test_stripping_a_starter_changes_nothing() -> None:
    assert strip_solutions(STARTER) == STARTER


def test_the_innermost_function_is_named() -> None:
    source = dedent("""\
        class Twice:
            def call(self, x):
                for _ in range(2):
                    # BEGIN SOLUTION
                    x = x + x
                    # END SOLUTION
                return x

            def other(self):
                return 1
    """)
    stripped = strip_solutions(source, "ref.py", ["Twice"])
    assert (
        '            raise NotImplementedError("Twice.call is not written yet")\n        return x'
        in stripped
    )


def test_a_function_inside_a_function_is_named_after_itself() -> None:
    source = dedent("""\
        def outer(x):
            def inner(y):
                # BEGIN SOLUTION
                return y
                # END SOLUTION
            return inner(x)
    """)
    assert 'raise NotImplementedError("inner is not written yet")' in strip_solutions(source)


def test_a_marker_in_a_formatted_string_is_text() -> None:
    source = 'x = 1\ny = f"{x}# BEGIN SOLUTION"\n'
    assert strip_solutions(source) == source


def test_several_regions_and_a_nested_function() -> None:
    source = dedent("""\
        def outer(x):
            # BEGIN SOLUTION
            def inner(y):
                return y
            # END SOLUTION
            z = x
            # BEGIN SOLUTION
            return inner(z)
            # END SOLUTION
    """)
    raises = '    raise NotImplementedError("outer is not written yet")\n'
    assert strip_solutions(source) == f"def outer(x):\n{raises}    z = x\n{raises}"


def test_hidden_module_code_is_left_out() -> None:
    source = dedent("""\
        def f():
            return 1


        # BEGIN HIDDEN
        @f
        def cases(seed):
            return (seed,)
        # END HIDDEN
    """)
    assert strip_solutions(source) == "def f():\n    return 1\n"


@pytest.mark.parametrize(
    ("body", "line", "text"),
    [
        ("# BEGIN SOLUTION\nreturn x", 2, "“BEGIN SOLUTION” has no “END SOLUTION” after it"),
        ("return x\n# END SOLUTION", 3, "“END SOLUTION” has no “BEGIN SOLUTION” before it"),
        (
            "# BEGIN SOLUTION\ny = x\n# BEGIN SOLUTION\nreturn y\n# END SOLUTION",
            4,
            "“BEGIN SOLUTION” inside the region that began on line 2",
        ),
        ("# BEGIN SOLUTION\n# END SOLUTION\nreturn x", 2, "no statement between the markers"),
        ("# BEGIN SOLUTOIN\nreturn x\n# END SOLUTION", 2, "did you mean “SOLUTION”?"),
        ("# BEGIN SOLUTION\nreturn x\n# END HIDDEN", 4, "has no “BEGIN HIDDEN” before it"),
        ("y = x  # BEGIN SOLUTION\nreturn y\n# END SOLUTION", 2, "on a line of its own"),
        ("# BEGIN HIDDEN\nreturn x\n# END HIDDEN", 2, "must stand at module level"),
        ("# BEGIN SOLUTION\nreturn f(\n# END SOLUTION\nx)", 3, "cuts through this statement"),
        ("y = f(\n# BEGIN SOLUTION\nx)\n# END SOLUTION", 2, "cuts through this statement"),
        (
            "if x:\n    # BEGIN SOLUTION\n    y = 1\nreturn y\n    # END SOLUTION",
            5,
            "cuts through this statement",
        ),
        (
            "if x:\n    # BEGIN SOLUTION\n    y = 1\n# END SOLUTION\nreturn y",
            5,
            "indented otherwise than its “BEGIN” on line 3",
        ),
    ],
)
def test_a_bad_marker_is_named_with_its_line(body: str, line: int, text: str) -> None:
    source = "def f(x):\n" + "\n".join(f"    {row}" for row in body.split("\n")) + "\n"
    found = problems_of(source)
    assert any(p.startswith(f"ref.py:{line}: ") and text in p for p in found), found


def test_every_problem_is_listed() -> None:
    source = """\
        # BEGIN SOLUTION
        x = 1
        # END SOLUTION
        def f():
            return 1
    """
    found = problems_of(source, ("f", "g"))
    assert len(found) == 3
    assert found[0].startswith("ref.py:1: a solution outside a function")
    assert found[1].startswith("ref.py:4: “f” is graded but holds no solution markers")
    assert found[2] == "ref.py: the reference does not define “g”; did you mean “f”?" or found[
        2
    ].startswith("ref.py: the reference does not define “g”")


def test_a_broken_reference_is_named_with_its_line() -> None:
    assert problems_of("x = 1\ndef f(:\n")[0].startswith("ref.py:2: the reference does not compile")


def test_what_is_left_must_compile() -> None:
    source = """\
        def f():
            # BEGIN SOLUTION
            try:
                return 1
            # END SOLUTION
            finally:
                pass
    """
    assert "cuts through" in problems_of(source)[0]
