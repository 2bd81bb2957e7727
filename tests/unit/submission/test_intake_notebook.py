"""Notebooks: their code, line for line, as Python."""

from __future__ import annotations
import __future__

import ast
import io
import json
import subprocess
import sys
import sysconfig
import tokenize
from pathlib import Path

import nbformat
import pytest

from grader.submission import Bounds, CellMap, IntakeError, read_submission
from grader.submission.notebook import NEWLINE, Scanner, convert, to_python

DEFAULT = Bounds()
STDLIB = Path(sysconfig.get_paths()["stdlib"])


def code(source: object, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], **more}


def book(*cells: object, **top: object) -> bytes:
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **top}
    return json.dumps(whole).encode()


def made(data: bytes, bounds: Bounds = DEFAULT) -> tuple[list[str], CellMap]:
    source, cells = convert("hw.ipynb", data, "pytorch101.py", bounds)
    return source.decode().split("\n"), cells


def refusal(data: bytes, bounds: Bounds = DEFAULT) -> tuple[str, dict[str, object]]:
    with pytest.raises(IntakeError) as caught:
        made(data, bounds)
    return caught.value.message.id, dict(caught.value.message.params)


def python(cell: str) -> list[str]:
    return to_python(cell, "pytorch101.py")[0]


# whole notebooks


def test_code_cells_in_order_with_a_map():
    lines, cells = made(
        book(
            {"cell_type": "markdown", "source": "# title"},
            code(["a = 1\n", "b = 2"]),
            code("c = 3\n"),
        )
    )
    assert lines[2:] == ["# cell 1", "a = 1", "b = 2", "# cell 2", "c = 3", ""]
    assert cells.cell_of(1 + lines.index("b = 2")) == (1, 2)
    assert cells.cell_of(1 + lines.index("c = 3")) == (2, 1)
    assert cells.cell_of(1) is None


def test_outputs_are_dropped_unseen():
    lines, _ = made(
        book(code("a = 1", outputs=[{"anything": ["at", "all", 3]}], execution_count={}))
    )
    assert "anything" not in "\n".join(lines)


def test_source_with_other_line_endings():
    lines, cells = made(book(code("a = 1\r\nb = 2\rc = 3")))
    assert lines[3:6] == ["a = 1", "b = 2", "c = 3"]
    assert cells.cell_of(6) == (1, 3)


def test_unusual_separators_are_not_line_ends():
    lines, _ = made(book(code("a = '\x0b\x1c\x85\u2028'\nb = 2")))
    assert lines[4] == "b = 2"


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_every_version_as_nbformat_reads_it(version):
    newest = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("a = 1\nb = 2\n"),
            nbformat.v4.new_markdown_cell("# title"),
            nbformat.v4.new_code_cell("c = 3"),
        ]
    )
    text = _as_version(newest, version)
    expected = [
        cell.source for cell in nbformat.reads(text, as_version=4).cells if cell.cell_type == "code"
    ]
    lines, cells = made(text.encode())
    assert len(expected) == len(cells.first_lines) == 2
    for source, first in zip(expected, cells.first_lines, strict=True):
        wanted = source.removesuffix("\n").split("\n")
        assert lines[first - 1 :][: len(wanted)] == wanted


def _as_version(newest: nbformat.NotebookNode, version: int) -> str:
    if version >= 3:
        return nbformat.writes(newest, version=version)
    key = {1: "code", 2: "input"}[version]
    more = {"cell_type": "code", "language": "python", "outputs": []}
    cells = [{**more, key: c.source} for c in newest.cells if c.cell_type == "code"]
    body = {"cells": cells} if version == 1 else {"worksheets": [{"cells": cells}], "metadata": {}}
    return json.dumps({"nbformat": version, "nbformat_minor": 0, **body})


def test_several_worksheets():
    sheet = {"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}
    lines, _ = made(json.dumps({"nbformat": 3, "worksheets": [sheet, sheet]}).encode())
    assert lines[2:8] == ["# cell 1", "a = 1", "b = 2", "# cell 2", "a = 1", "b = 2"]


def test_newer_minor_version_and_unknown_keys():
    lines, _ = made(book(code("a = 1", id=7, extra=[]), nbformat_minor=99, other={}))
    assert lines[3] == "a = 1"


def test_byte_order_mark():
    assert made(b"\xef\xbb\xbf" + book(code("a = 1")))[0][3] == "a = 1"


def test_malformed_json_is_located():
    assert refusal(b'{\n  "cells": [,]\n}') == (
        "notebook_not_json",
        {"file": "hw.ipynb", "line": 2, "column": 13, "problem": "Expecting value"},
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty_file"),
        (b" \n", "empty_file"),
        (b"[]", "notebook_broken"),
        (b"3", "notebook_broken"),
        (b"{}", "notebook_broken"),
        (b"[" * 100_000, "notebook_broken"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "notebook_broken"),
        (book(code(5)), "notebook_broken"),
        (book(code(["a", 5])), "notebook_broken"),
        (book(nbformat=3, worksheets=5), "notebook_broken"),
        (book(nbformat=3, worksheets=[5]), "notebook_broken"),
        (book(cells=5), "notebook_broken"),
        (book(nbformat=5), "notebook_version"),
        (book(nbformat="x"), "notebook_version"),
        (book(nbformat=[]), "notebook_version"),
        (book(), "notebook_without_code"),
        (book({"cell_type": "markdown", "source": "x"}, code(" \n")), "notebook_without_code"),
        (book(5, code("")), "notebook_without_code"),
        ("x".encode("utf-16"), "not_text"),
    ],
)
def test_refused(data, message):
    assert refusal(data)[0] == message


@pytest.mark.parametrize(
    "data",
    [
        book(code("x"), junk=[[]] * 200),
        book(code("x"), junk=["a,[{"] * 200),
        b'{"\\\\": "' + b'","' * 500,
    ],
)
def test_json_of_too_many_parts(data):
    assert refusal(data, Bounds(notebook_items=150))[0] == "notebook_too_large"


def test_commas_in_outputs_do_not_count():
    noisy = code("a = 1", outputs=['0.1, 0.2, [\\"{' * 1000])
    assert made(book(noisy), Bounds(notebook_items=150))[0][3] == "a = 1"


def test_too_much_code():
    assert refusal(book(code("x" * 60)), Bounds(source_bytes=50))[0] == "notebook_too_large"


def test_too_many_cells():
    assert refusal(book(*[code("x")] * 6), Bounds(cells=5))[0] == "notebook_too_large"


def test_lone_surrogate_survives_as_an_escape():
    assert made(book(code("s = '\ud800'")))[0][3] == "s = '\\ud800'"


def test_cookie_in_a_cell_does_not_count():
    source, _ = convert("hw.ipynb", book(code("# coding: latin-1\ns = 'é'")), "m.py", Bounds())
    assert tokenize.detect_encoding(io.BytesIO(source).readline)[0] == "utf-8"
    space: dict[str, object] = {}
    exec(compile(source, "m.py", "exec"), space)
    assert space["s"] == "é"


def test_future_imports_move_to_the_top():
    data = book(
        code("%load_ext autoreload\nimport torch"),
        code("from __future__ import annotations\nx = 1"),
    )
    lines, cells = made(data)
    assert lines[1] == "from __future__ import annotations"
    assert lines[6] == "pass  # from __future__ import annotations"
    assert cells.cell_of(8) == (2, 2)
    ast.parse("\n".join(lines))


def test_unknown_future_imports_stay():
    assert python("from __future__ import braces") == ["from __future__ import braces"]


# magics


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%matplotlib inline", "pass  # %matplotlib inline"),
        ("    %timeit f(x)", "    pass  # %timeit f(x)"),
        ("!pip install torch", "pass  # !pip install torch"),
        ("\t!nvidia-smi", "\tpass  # !nvidia-smi"),
        ("!!ls", "pass  # !!ls"),
        ("?torch.mm", "pass  # ?torch.mm"),
        ("torch.mm?", "pass  # torch.mm?"),
        ("torch.mm??", "pass  # torch.mm??"),
        ("%time?", "pass  # %time?"),
        ("pip install torch", "pass  # pip install torch"),
        ("/print 3", "pass  # /print 3"),
        (",f a b", "pass  # ,f a b"),
        ("files = !ls", "files = []  # files = !ls"),
        ("files = %sx ls", "files = []  # files = %sx ls"),
        ("  t = %timeit -o f()", "  t = None  # t = %timeit -o f()"),
        ("a, b = !ls", "pass  # a, b = !ls"),
        ("d[0] = !ls", "pass  # d[0] = !ls"),
        ("%time y = f(x)", "y = f(x)"),
        ("    %time y = f(x)", "    y = f(x)"),
        ("%time", "pass  # %time"),
    ],
)
def test_lines_that_only_ipython_knows(line, expected):
    block = f"if x:\n{line}\nz = 1" if line[0].isspace() else f"{line}\nz = 1"
    result = python(block)
    assert result[-2:] == [expected, "z = 1"]
    ast.parse("\n".join(result))


@pytest.mark.parametrize(
    "line",
    [
        "x = a % b",
        "x = a != b",
        "x %= 3",
        "x = 'what?'",
        "x = 1  # really?",
        "# really?",
        "x = '%d' % 3",
        "print('!ls')",
        "pip = 3",
        "pip in x",
        "uv if uv else 1",
        "x == y",
        "x['a=!b'] = 3",
        "@decorator",
        "x = {'a': 1}['a'] % 3",
    ],
)
def test_python_is_left_alone(line):
    assert python(line) == [line]


@pytest.mark.parametrize(
    "cell",
    [
        's = """\n%matplotlib inline\n!ls\n"""',
        "s = '''\n?x\n'''",
        "x = (a\n% b)",
        "x = a \\\n% b",
        "x = [\n!= 3,\n]",
        "s = 'a\\\n%b'",
        's = """a\\"""\n%b\n"""',
        "f(  # (\n%b)",
        'x = f"""{\n%a}"""',
        '"""\n%%time\n"""',
    ],
)
def test_inside_strings_and_statements_nothing_changes(cell):
    assert python(cell) == cell.split("\n")


def test_after_a_string_or_bracket_a_magic_is_one_again():
    assert python('s = """(\n"""\n%b')[2] == "pass  # %b"
    assert python("f('(', \"'\", '\\'')\n%b")[1] == "pass  # %b"
    assert python("s = 'open\n%b")[1] == "pass  # %b"
    assert python("x)]}\n%b")[1] == "pass  # %b"


def test_shell_command_over_several_lines():
    cell = "!pip install \\\n  torch \\\n  numpy\nx = 1"
    assert python(cell) == ["pass  # !pip install \\", "#   torch \\", "#   numpy", "x = 1"]


@pytest.mark.parametrize("magic", ["bash", "html", "javascript", "timeit", "writefile other.py"])
def test_cell_that_is_no_python(magic):
    assert python(f"\n%%{magic}\nrm -rf x\n'''") == ["# ", f"# %%{magic}", "# rm -rf x", "# '''"]


@pytest.mark.parametrize(
    "magic",
    ["time", "capture out", "writefile pytorch101.py", "writefile -a '/content/pytorch101.py'"],
)
def test_cell_whose_magic_wraps_python(magic):
    assert python(f"%%{magic}\n%b\ny = 1") == [f"# %%{magic}", "pass  # %b", "y = 1"]


def test_indented_cell_is_shifted():
    assert python("    def f():\n        return 1\n") == ["def f():", "    return 1"]


def test_line_count_is_kept():
    cell = "%%time\n\n!ls \\\n -l\ns = '''\n\n%x'''\nx?\n\n"
    assert len(python(cell)) == cell.count("\n")


@pytest.mark.parametrize("name", ["argparse", "ast", "dataclasses", "inspect", "tarfile", "typing"])
def test_agrees_with_tokenize_on_real_python(name):
    with tokenize.open(STDLIB / f"{name}.py") as file:
        source = file.read()
    assert _statements_by_scanner(source) == _statements_by_tokenize(source)
    future = {line for line in source.split("\n") if line.startswith("from __future__")}
    left = [line for line in python(source) if not line.startswith("pass  # from __future__")]
    assert left == [line for line in source.removesuffix("\n").split("\n") if line not in future]


def _statements_by_scanner(source: str) -> set[int]:
    scanner, starts = Scanner(), set()
    for number, line in enumerate(NEWLINE.split(source), start=1):
        if scanner.fresh and line.strip() and not line.strip().startswith("#"):
            starts.add(number)
        scanner.feed(line)
    return starts


def _statements_by_tokenize(source: str) -> set[int]:
    skipped = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    starts, new = set(), True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            new = True
        elif new and token.type not in skipped:
            starts.add(token.start[0])
            new = False
    return starts


def test_every_feature_python_knows_is_movable():
    for feature in __future__.all_feature_names:
        assert to_python(f"from __future__ import ({feature},)", "m.py")[1] == {feature}


def test_a_line_that_is_almost_a_magic_takes_no_longer_than_others():
    """In a process of its own: a pattern that tries every split of the blanks takes minutes."""
    lines = [
        "'a?' + blanks + 'x'", "'a?' + blanks + ';' + blanks + 'x'", "'%time' + blanks + '-x'",
        "'%%' + blanks + '-'", "'a' + blanks + '=' + blanks + 'x'", "'a' + ', ' * 10**5 + 'x'",
        "'pip' + blanks + 'X'", "'from __future__ import ' + 'a ' * 10**5", "'[' * 10**5 + '?x'",
    ]  # fmt: skip
    program = "\n".join(
        [
            "from grader.submission.notebook import to_python",
            "blanks = ' ' * 10**5",
            *(f"to_python({line}, 'hw.py')" for line in lines),
        ]
    )
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def test_a_notebook_that_only_uses_the_module_is_told_what_to_hand_in(tmp_path: Path):
    path = tmp_path / "hw.ipynb"
    path.write_bytes(book(code("import hw\n"), code("hw.f()  # 3\n")))
    with pytest.raises(IntakeError) as caught:
        read_submission(path, ("hw.py",), asked={"hw.py": {"f"}})
    assert caught.value.message.id == "only_notebook"
    assert caught.value.message.params["file"] == "hw.py"
    # Where nobody says what is asked for, nothing can be missed.
    assert read_submission(path, ("hw.py",)).files


@pytest.mark.parametrize("cell", ["def f(x):\n    return x\n", "f = lambda x: x\n"])
def test_a_notebook_whose_cells_define_a_function_is_taken(cell: str, tmp_path: Path):
    path = tmp_path / "hw.ipynb"
    path.write_bytes(book(code("import hw\n"), code(cell)))
    assert read_submission(path, ("hw.py",), asked={"hw.py": {"f"}}).files[0].path == "hw.py"
