"""The starter in another language: docstrings and the notebook's prose; code stays as it is.

Where the author's words stand, and what of them is missing: ``lint`` says it.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping

from grader.assignment.translation import LANGUAGES, docstrings, docstrings_of, file_of
from grader.authoring.student_files import strip_solutions
from grader.errors import AssignmentError, Problem
from grader.run.materials import Materials

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,} ")
_FENCED = re.compile(r"^```[^\n]*\n.*?^```[ ]*$\n?", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"(?m)^(?=#+ )")
_PICTURE = re.compile(r"(?m)^!\[.*$")


def with_docstrings(source: str, file: str, words: Mapping[str, str]) -> str:
    """Return a module with docstrings in another language; those without one keep theirs.

    Args:
        source: Of the module, with LF line ends.
        file: Its name, under which its own docstring stands.
        words: Name → docstring.

    Raises:
        AssignmentError: A docstring would change the code.
    """
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    # From below: what is above keeps its lines.
    for name, node in sorted(_documented(tree, file), key=lambda each: -each[1].body[0].lineno):
        if name in words:
            old = node.body[0]
            indent = " " * old.col_offset
            quoted = textwrap.indent(_quoted(words[name]), indent, lambda line: bool(line.strip()))
            lines[old.lineno - 1 : old.end_lineno] = [f"{quoted}\n"]
    made = "".join(lines)
    if _code(made) != _code(source):
        text = "a docstring ends too early: it holds three quotation marks, or a backslash"
        raise AssignmentError([Problem(file, None, "", text)])
    return made


def documented(source: str, file: str) -> dict[str, str]:
    """Return the docstrings of a module by name, such as ``KnnClassifier.predict``."""
    nodes = _documented(ast.parse(source), file)
    return {name: ast.get_docstring(node) or "" for name, node in nodes}


def _documented(tree: ast.Module, file: str) -> Iterator[tuple[str, _Documented]]:
    waiting: list[tuple[str, _Documented]] = [(file, tree)]
    for name, node in waiting:
        if ast.get_docstring(node) is not None:
            yield name, node
        prefix = f"{name}." if isinstance(node, ast.ClassDef) else ""
        if isinstance(node, (ast.Module, ast.ClassDef)):
            waiting += [
                (f"{prefix}{inner.name}", inner)
                for inner in node.body
                if isinstance(inner, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            ]


def _quoted(text: str) -> str:
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def _code(source: str) -> str:
    """Return a module without its docstrings, to compare."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    for _, node in list(_documented(tree, "")):
        node.body[0] = ast.Pass()
    return ast.dump(tree)


def with_examples(handout: str, translated: str, file: str) -> str:
    """Return a translated handout with the original's examples and pictures, section by section.

    Args:
        handout: The original.
        translated: Prose alone, with the same headings.
        file: The translation's path, for messages.

    Raises:
        AssignmentError: It has other headings.
    """
    if _levels(handout) != _levels(translated):
        text = "has other headings than the handout; give each of its sections one, in its order"
        raise AssignmentError([Problem(file, None, "", text)])
    sections = zip(_sections(handout), _sections(translated), strict=True)
    parts = []
    for original, own in sections:
        found = [*_FENCED.finditer(original), *_PICTURE.finditer(_FENCED.sub("", original))]
        examples = (each[0].strip("\n") for each in found)
        parts.append("\n\n".join([own.strip(), *(text for text in examples if text not in own)]))
    return "\n\n".join(parts).strip()


def _sections(text: str) -> list[str]:
    # A comment in an example looks like a heading: examples are taken for one character each.
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\0{len(kept) - 1}\0"

    bare = _FENCED.sub(keep, text)
    return [
        re.sub(r"\0(\d+)\0", lambda found: kept[int(found[1])], part)
        for part in _HEADING.split(bare)
    ]


def _levels(text: str) -> list[int]:
    found = (re.match(r"#+", section) for section in _sections(text))
    return [len(each[0]) for each in found if each]


def untranslated(materials: Materials) -> Iterator[str]:
    """Yield sentences on what is not translated, for languages that an assignment has words in.

    A docstring also counts where it has other names in double backticks than the original: most
    likely the original was changed.
    """
    for language in LANGUAGES:
        if not (materials.folder / file_of(language)).is_file():
            continue
        words = docstrings(materials.folder, language)
        missing, differing = [], []
        for name, text in _originals(materials).items():
            if name not in words:
                missing.append(name)
            elif set(_literals(text)) - set(_literals(words[name])):
                differing.append(name)
        file = docstrings_of(language)
        if missing:
            yield f"{file} has no docstring of {', '.join(missing)}"
        if differing:
            yield (
                f"{file} has other names in double backticks than the docstrings of "
                f"{', '.join(differing)}"
            )


def unknown_docstrings(materials: Materials) -> Iterator[tuple[str, str]]:
    """Yield where translated docstrings stand under names that no file of students has."""
    for language in LANGUAGES:
        file = materials.folder / docstrings_of(language)
        known = _originals(materials)
        for name in docstrings(materials.folder, language):
            if name not in known:
                yield str(file), f"{name}: nothing of this name has a docstring; take it out"


def _originals(materials: Materials) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in materials.assignment.hand_in:
        path = materials.reference_folder / name
        text = strip_solutions(path.read_text(encoding="utf-8-sig"), str(path))
        found |= documented(text, name)
    return found


def _literals(text: str) -> list[str]:
    """Return what stands in double backticks, but for formulas in words, which are translated."""
    found = (" ".join(each.split()) for each in _LITERAL.findall(text))
    return [each for each in found if not _WORDS.search(each)]
