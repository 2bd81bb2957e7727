from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import replace

import pytest
from faults import no_faults

from grader.report.messages.catalogue import ENGLISH
from grader.report.messages.templates import show
from grader.report.messages.words import MAX_TEXT, MissingWordsError, Words
from grader.verdict import Code, Message, Owner, Param, Status, Verdict, failed, passed

STRICT = replace(ENGLISH, strict=True)
NUMBERS: dict[str, Param] = {
    "mismatched": 3, "total": 12, "percent": 25.0, "abs_diff": 0.5, "abs_index": [0, 1],
    "rel_diff": 0.1, "rel_index": [2, 3], "atol": 1e-5, "rtol": 0.0, "where": "result",
}  # fmt: skip
SHAPES: dict[str, Param] = {"actual": [2, 3], "expected": [3]}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            Message("wrong_value", NUMBERS),
            "Mismatched elements: 3 / 12 (25.0%). Greatest absolute difference: 0.5 at index "
            "(0, 1) (up to 1e-05 allowed). Greatest relative difference: 0.1 at index (2, 3) "
            "(up to 0 allowed).",
        ),
        (
            Message(
                "wrong_value", {**NUMBERS, "abs_diff": "nan", "abs_index": [], "rel_diff": None}
            ),
            "Mismatched elements: 3 / 12 (25.0%). Absolute difference: nan "
            "(up to 1e-05 allowed).",
        ),
        (
            Message("not_equal", {**NUMBERS, "where": "result[1]", "abs_diff": 2}),
            "Mismatched elements: 3 / 12 (25.0%) in result[1]. Greatest absolute difference: 2 at "
            "index (0, 1). These must be equal exactly.",
        ),
        (Message("wrong_shape", SHAPES), "Shape is (2, 3), expected (3,)."),
        (
            Message("wrong_shape", {**SHAPES, "where": "result['a']"}),
            "Shape of result['a'] is (2, 3), expected (3,).",
        ),
        (
            Message("wrong_dtype", {"actual": "int64", "expected": "float32"}),
            "Dtype is int64, expected float32.",
        ),
        (
            Message("wrong_device", {"actual": "cpu", "expected": "cuda"}),
            "Device is cpu, expected cuda.",
        ),
        (Message("wrong_type", {"actual": "None", "expected": "Tensor"}),
         "Type is None, expected Tensor."),
        (
            Message("not_finite", {"count": 1, "total": 4, "index": [0]}),
            "NaN or infinite elements: 1 / 4, the first at index (0,).",
        ),
        (
            Message("input_modified", {"name": "x", "mismatched": 6, "total": 24}),
            "Changed elements of input “x”: 6 / 24. The function must leave its inputs as they "
            "were.",
        ),
        (Message("not_implemented", {"function": "f"}), "Not implemented yet: f."),
        (Message("not_implemented", {"function": ""}), "Not implemented yet."),
        (
            Message("missing_function", {"function": "f", "names": ["g", "h"], "nearest": "g"}),
            "The file has no f. It has “g”: rename that, if it is what is asked for.",
        ),
        (  # imported names stand in a file too, and are not defined there
            Message("missing_function", {"function": "f", "names": ["Path", "g"], "nearest": ""}),
            "The file has no f. It has: Path, g.",
        ),
        (
            Message("missing_function", {"function": "f", "names": [], "nearest": None}),
            "The file has no f.",
        ),
        (
            Message("missing_function", {"function": "f", "names": ["g"], "file": "two.py"}),
            "two.py has no f. It has: g.",
        ),
        (
            Message("raised", {"type": "E", "message": "m", "line": 3, "file": "a.py"}),
            "E in a.py, line 3: m",
        ),
        (
            Message("raised", {"type": "E", "message": "m 1", "hint_en": "Look."}),
            "E: m 1. Hint: Look.",
        ),
        (
            Message("raised", {"type": "E", "message": "", "line": 3, "file": "a.py"}),
            "E in a.py, line 3.",
        ),
        (Message("raised", {"type": "E", "message": "m", "line": 0, "file": ""}), "E: m"),
        (Message("raised", {"type": "E", "message": "", "line": 0, "file": ""}), "E."),
        (
            Message("timed_out", {"seconds": 10.0}),
            "Stopped after 10 s of processor time without a result. "
            "Look for a loop that never ends, or for far too much work.",
        ),
        (
            Message("timed_out"),
            "Stopped: too slow. Look for a loop that never ends, or for far too much work.",
        ),
        (
            Message("waited_too_long", {"seconds": 10.0, "computed": 0.031}),
            "Stopped: it waited for 10 s and hardly computed (0.031 s of processor time). Look for "
            "what it waits for: a sleep, a lock, input, another process.",
        ),
        (
            Message("out_of_memory", {"limit_mb": 1024}),
            "Stopped for using more than 1024 MiB of memory.",
        ),
        (Message("crashed", {"signal": 11}), "The process died by signal 11 (SIGSEGV)."),
        (Message("crashed", {"signal": 999}), "The process died by signal 999."),
        (Message("crashed", {"exit": 0}), "The process ended itself with exit status 0."),
        (Message("crashed", {"detail": "x"}), "The process died: x."),
        (Message("crashed"), "The process died."),
        (
            Message("protocol_violation", {"detail": "unknown tag"}),
            "The answer was not one that the grader can read: unknown tag.",
        ),
        (
            Message("requirement_not_met", {"requires": ["values", "shape", "dtype"]}),
            "Counts only once values, shape and dtype pass.",
        ),
        (
            Message("requirement_not_met", {"requires": ["values"]}),
            "Counts only once values passes.",
        ),
        (
            Message("counts_after", {"checks": ["fast"], "requires": ["product", "on_gpu"]}),
            "fast: once product and on_gpu pass.",
        ),
        (
            Message("not_in_place", {"name": 0}),
            "What is returned is not the first argument itself. Write into it, as x[…] = … does, "
            "and return it.",
        ),
        (
            Message("input_modified", {"name": 3}),
            "It changed argument 4. The function must leave its inputs as they were.",
        ),
        (
            Message(
                "syntax_error",
                {"message": "invalid syntax", "file": "a.py", "line": 3, "column": 7, "type": "E"},
            ),
            "Syntax error in a.py, line 3, column 7: invalid syntax. Python cannot read the file "
            "until this is mended.",
        ),
        (
            Message("syntax_error", {"message": "Did you mean print(...)?", "file": "a.py"}),
            "Syntax error in a.py: Did you mean print(...)? Python cannot read the file until "
            "this is mended.",
        ),
        (
            Message("import_failed", {"type": "E", "message": "m", "line": 3}),
            "Importing the file stopped at line 3 with E: m",
        ),
        (
            Message("no_device", {"cuda": 2, "found": 1}),
            "GPUs needed: 2, found: 1. The points stay pending until a machine with a GPU has "
            "graded this.",
        ),
        (
            Message("sandbox_failed", {"detail": "fork"}),
            "The grader's sandbox failed: fork. No points are lost.",
        ),
        (
            Message("reference_failed", {"detail": "E: m"}),
            "The reference solution failed: E: m. No points are lost.",
        ),
        (Message("not_run"), "The grader stopped before it came to this. No points are lost."),
    ],
)  # fmt: skip
def test_sentences(message: Message, text: str) -> None:
    assert STRICT.render(message) == text


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            Message("missing_file_nearest", {
                "missing": ["toy.py"], "found": ["Toy1.py", "…"], "found_count": 40,
                "nearest": ["Toy1.py"],
            }),
            "Missing: toy.py. Found in the submission: Toy1.py, … (40 in all). Did you mean "
            "Toy1.py? Rename it, and hand it in again.",
        ),
        (
            Message("too_large", {"file": "a.py", "limit": 4 << 20}),
            "a.py is larger than 4 MiB; hand in source, no data.",
        ),
        (
            Message("too_large", {"file": "a.py", "limit": "more"}),
            "a.py is larger than more; hand in source, no data.",
        ),
        (
            Message("too_large", {"file": "a.py", "limit": 100}),
            "a.py is larger than 100 bytes; hand in source, no data.",
        ),
        (
            Message("not_source_pdf", {"file": "a.py"}),
            "a.py is a PDF, no Python source. Save it as plain Python text in UTF-8, and hand it "
            "in again.",
        ),
        (
            Message("not_text", {"file": "a.py", "line": 3, "byte": "0xff", "encoding": "utf-8"}),
            "a.py, line 3: byte 0xff is no utf-8 text. Save it as plain Python text in UTF-8, and "
            "hand it in again.",
        ),
        (
            Message("converted_notebook", {"found": "toy.ipynb", "wanted": "toy.py"}),
            "toy.ipynb was read as toy.py, its code cells in order.",
        ),
    ],
)  # fmt: skip
def test_sentences_on_hand_ins(message: Message, text: str) -> None:
    assert STRICT.render(message) == text


def test_an_unknown_id_raises_in_tests_and_falls_back_in_life() -> None:
    message = Message("odd_thing", {"n": 3, "text": "a\x1b"})
    with pytest.raises(MissingWordsError, match="odd_thing"):
        STRICT.render(message)
    assert ENGLISH.render(message) == "odd_thing (n=3, text=a\\x1b)"
    assert ENGLISH.render(Message("odd_thing")) == "odd_thing"


def test_missing_parameters_fall_back_too() -> None:
    with pytest.raises(MissingWordsError, match="wrong_shape"):
        STRICT.render(Message("wrong_shape"))
    assert ENGLISH.render(Message("wrong_shape")) == "wrong_shape"


def test_an_unknown_code_raises_in_tests_and_falls_back_in_life() -> None:
    bare = Words({}, {}, {}, {})
    verdict = Verdict(Status.FAILED, Code.CRASHED, Owner.STUDENT)
    assert bare.for_staff(verdict) == "crashed"
    with pytest.raises(MissingWordsError, match="crashed"):
        replace(bare, strict=True).for_staff(verdict)


@pytest.mark.parametrize(
    "template", ["{a.__class__}", "{a[0]}", "{0}", "{}", "{a!r}", "{a.b!s}", "{a b}"]
)
def test_a_template_reaches_into_nothing(template: str) -> None:
    words = Words({"m": (template,)}, {}, {}, {})
    with pytest.raises(ValueError, match="a template may"):
        words.render(Message("m", {"a": "x"}))


def test_fields_in_parameters_stay_text() -> None:
    message = Message("raised", {"type": "{line}", "message": "{0.__class__} {x!r} %s"})
    assert STRICT.render(message) == "{line}: {0.__class__} {x!r} %s"


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\r\nb\tc\x00", "a\\r\\nb\\tc\\x00"),
        ("\u202eabc\u200b\ufeff", "\\u202eabc\\u200b\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\u2028\u2029\x85", "\\u2028\\u2029\\x85"),
        ("naïve Ω 漢字 한국 🙂", "naïve Ω 漢字 한국 🙂"),
    ],
)
def test_text_of_a_hand_in_is_inert(raw: str, seen: str) -> None:
    assert STRICT.render(Message("raised", {"type": "E", "message": raw})) == f"E: {seen}"


def test_lengths_are_bounded() -> None:
    text = STRICT.render(Message("raised", {"type": "x" * 10**6, "message": "\x1b" * 10**6}))
    assert len(text) <= 1010
    assert text.count("…") == 2
    many = Message("missing_function", {"function": "f", "names": ["n" * 9] * 1000})
    assert len(STRICT.render(many)) < 200
    odd = Message("odd", {str(n): "x" * 500 for n in range(100)})
    assert len(ENGLISH.render(odd)) == MAX_TEXT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-05, "1e-05"),
        (0.30000000000000004, "0.3"),
        (float("nan"), "nan"),
        (True, "True"),
        (None, "None"),
        ([1], "(1,)"),
        ([], "()"),
        (["a", [1, 2.5]], "(a, (1, 2.5))"),
        (list(range(20)), "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …)"),
        (12345, "12345"),
    ],
)
def test_how_values_look(value: Param, text: str) -> None:
    assert show(value) == text


def test_endless_integers_are_measured_not_printed() -> None:
    assert show(10**5000) == "an integer of 16610 bits"
    huge = Message("wrong_value", {**NUMBERS, "percent": 10**5000})
    assert "(an integer of 16610 bits%)" in STRICT.render(huge)


@pytest.mark.parametrize("line", [0, -1, True, 10**9, "7", None, 3.0])
def test_a_line_is_a_small_positive_integer(line: Param) -> None:
    assert STRICT.for_student(_raised("ValueError", line)) == "Case wide: ValueError: 0.125"


def _raised(name: str, line: Param = 12) -> Verdict:
    params: dict[str, Param] = {"type": name, "message": "0.125", "line": line, "file": "a.py"}
    return replace(failed(Code.RAISED, Message("raised", params)), case="wide")


@pytest.mark.parametrize("line", [0, 1, 12, 5400])
def test_on_a_hidden_case_no_line_is_told(line: int) -> None:
    hidden = replace(_raised("ValueError", line), hidden=True)
    assert STRICT.for_student(hidden) == "In a hidden case: ValueError."


def test_on_a_hidden_case_an_exception_is_its_type() -> None:
    told = _raised("IndexError")
    assert STRICT.for_student(told) == "Case wide: IndexError in a.py, line 12: 0.125"
    hidden = replace(told, hidden=True)
    assert STRICT.for_student(hidden) == "In a hidden case: IndexError."
    assert STRICT.for_staff(hidden) == "Case wide: IndexError in a.py, line 12: 0.125"


def test_an_exceptions_name_cannot_carry_an_input_out() -> None:
    hidden = replace(_raised("E0_125_7"), hidden=True)
    assert STRICT.for_student(hidden) == "In a hidden case: an exception."
    hidden_ones = [replace(_raised(name), hidden=True) for name in dir(builtins)]
    told = {STRICT.for_student(verdict) for verdict in hidden_ones}
    # A choice among few tells little: five bits at most for each check that is given up.
    assert len(told) <= 32
    for name in ("IndexError", "RuntimeError", "TypeError", "ValueError", "ZeroDivisionError"):
        assert f"In a hidden case: {name}." in told


def _says_more_than_the_code(code: Code) -> Iterator[str]:
    message = Message("wrong_value", {**NUMBERS, "mismatched": 77})
    text = STRICT.for_student(replace(failed(code, message), case="wide", hidden=True))
    if text != f"In a hidden case: {ENGLISH.codes[code.value]}.":
        yield text


def test_on_a_hidden_case_only_the_code_is_told() -> None:
    no_faults(
        {code.value: code for code in Code if code not in (Code.OK, Code.RAISED)},
        _says_more_than_the_code, "say nothing of a hidden case but its code",
    )  # fmt: skip


def test_a_cause_follows_the_numbers() -> None:
    shape = Message("wrong_shape", {**SHAPES, "cause": "transposed"})
    text = "The result is the transpose of the right one: rows and columns are swapped."
    assert STRICT.render(shape) == f"Shape is (2, 3), expected (3,). {text}"
    scaled = Message("wrong_shape", {**SHAPES, "cause": "scaled", "factor": 3.0})
    assert STRICT.render(scaled).endswith(" Every element is 3 times what it should be.")


@pytest.mark.parametrize("cause", ["no such cause", "", None, 3, "{x}"])
def test_an_unknown_cause_is_not_told(cause: Param) -> None:
    plain = STRICT.render(Message("wrong_shape", SHAPES))
    assert STRICT.render(Message("wrong_shape", {**SHAPES, "cause": cause})) == plain


def test_on_a_hidden_case_a_cause_is_told_without_its_numbers() -> None:
    params: dict[str, Param] = {**NUMBERS, "cause": "offset", "offset": 41.5}
    hidden = replace(failed(Code.WRONG_VALUE, Message("wrong_value", params)), hidden=True)
    assert STRICT.for_student(hidden) == (
        "In a hidden case: wrong values. Every element is off by the same amount."
    )


def test_a_hidden_exception_without_a_message_is_its_code() -> None:
    hidden = Verdict(Status.FAILED, Code.RAISED, Owner.STUDENT, hidden=True)
    assert STRICT.for_student(hidden) == "In a hidden case: raised an exception."


@pytest.mark.parametrize("hidden", [True, False])
def test_the_references_fault_is_for_staff(hidden: bool) -> None:
    message = Message("reference_failed", {"detail": "secret"})
    verdict = Verdict(
        Status.ERROR, Code.REFERENCE_FAILED, Owner.INSTRUCTOR, message=message, hidden=hidden
    )
    assert "secret" in STRICT.for_staff(verdict)
    assert "secret" not in STRICT.for_student(verdict)
    assert "No points are lost" in STRICT.for_student(verdict)


def test_a_pass_needs_no_words() -> None:
    assert STRICT.for_staff(passed()) == STRICT.for_student(replace(passed(), hidden=True)) == ""
