"""How the package is cut: ``python tests/bench/house.py``. Nothing here is a limit.

Prints for each room (a folder of ``grader/``) its lines of code, its functions, their length at
the ninetieth percentile, and how many are used exactly once; then the functions that walk through
nested values by themselves, and the public names that several modules define. A line of code is no
blank line, comment or docstring. A function is used once where its name stands in one place of the
package beside definitions and imports. Many of those are called by another module, or handed over;
so the private ones that their own module calls once are counted apart. A function is a walk where
it asks whether something is a tuple, list or dict, and calls itself; ``grader.wire.tree`` has those
for value trees.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "grader"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(text: str) -> set[int]:
    """Return the lines that hold code: no blank ones, comments or docstrings."""
    beside = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in beside and token.type != tokenize.ENDMARKER:
            lines |= {*range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            lines -= {*range(node.lineno, node.end_lineno + 1)}
    return lines


def functions(text: str) -> dict[Function, int]:
    """Return each function of a module with its lines of code."""
    lines = code_lines(text)
    return {
        node: len(lines & {*range(node.lineno, (node.end_lineno or node.lineno) + 1)})
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def used_names(code: ast.AST) -> Iterator[str]:
    """Yield the name of each place of some code that uses one; imports are none."""
    for node in ast.walk(code):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def public_names(text: str) -> set[str]:
    """Return the classes and functions that a module defines for others."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, kinds) and not node.name.startswith("_")
    }


def walks(text: str) -> Iterator[str]:
    """Yield each function of a module that asks for a container's type, and calls itself."""
    for function in functions(text):
        inside = list(ast.walk(function))
        names = {*used_names(function)}
        asks = any(
            isinstance(node, ast.Name) and node.id in {"tuple", "list", "dict"}
            for test in inside
            if isinstance(test, ast.Compare)
            or (isinstance(test, ast.Call) and ast.unparse(test.func) == "isinstance")
            for node in ast.walk(test)
        )
        if asks and function.name in names:
            yield function.name


def room(path: Path) -> str:
    """Return the folder of ``grader/`` in which a module stands."""
    inner = path.relative_to(PACKAGE).parts
    return inner[0] if len(inner) > 1 else "top files"


def main() -> None:
    """Print the tables."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    uses = Counter(name for text in texts.values() for name in used_names(ast.parse(text)))
    code: Counter[str] = Counter()
    modules = Counter(map(room, texts))
    lengths: dict[str, list[int]] = defaultdict(list)
    once: Counter[str] = Counter()
    for path, text in texts.items():
        code[room(path)] += len(code_lines(text))
        for node, length in functions(text).items():
            lengths[room(path)].append(length)
            once[room(path)] += uses[node.name] == 1
    print("| room | modules | lines of code | functions | 90 % have at most | used once |")
    print("|---|---|---|---|---|---|")
    for name, lines in code.most_common():
        print(_row(name, modules[name], lines, lengths[name], once[name]))
    everything = [length for room_lengths in lengths.values() for length in room_lengths]
    print(_row("all", len(texts), code.total(), everything, once.total()))
    print(f"\nWithout vgpu: {code.total() - code['vgpu']:,} lines of code.")
    called = sum(map(_called_once, texts.values()))
    share = called / len(everything)
    print(f"Private and called once in their own module: {called:,} ({share:.0%}).\n")
    _print_walks({path: text for path, text in texts.items() if room(path) != "vgpu"})
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in texts.items():
        for name in public_names(text):
            places[name].append(str(path.relative_to(PACKAGE)))
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            print(f"{name}: {', '.join(paths)}")


def _called_once(text: str) -> int:
    """Return how many functions nothing but one call in their own module names."""
    tree = ast.parse(text)
    uses = Counter(used_names(tree))
    calls = Counter(
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (name := getattr(node.func, "attr", getattr(node.func, "id", "")))
    )
    private = (each.name for each in functions(text) if each.name.startswith("_"))
    return sum(uses[name] == calls[name] == 1 for name in private)


def _print_walks(texts: Mapping[Path, str]) -> None:
    walking = {path: [*walks(text)] for path, text in texts.items()}
    print(f"Without vgpu: {sum(map(len, walking.values()))} walks through nested values.\n")
    for path, names in walking.items():
        if names:
            print(f"{path.relative_to(PACKAGE)}: {', '.join(names)}")
    print()


def _row(name: str, modules: int, lines: int, lengths: list[int], once: int) -> str:
    longest = round(quantiles(lengths, n=10)[-1]) if len(lengths) > 1 else sum(lengths)
    share = f"{once / len(lengths):.0%}" if lengths else "–"
    return f"| {name} | {modules} | {lines:,} | {len(lengths):,} | {longest} | {once:,} ({share}) |"


if __name__ == "__main__":
    main()
