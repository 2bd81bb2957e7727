"""From bytes to facts: every entry point with all that it can come to inside the file."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

from grader.static_analysis.dims import handed_dims
from grader.static_analysis.facts import (
    Construct,
    EntryFacts,
    Mention,
    Role,
    SourceFacts,
    SourcePlace,
    Written,
    pack,
)
from grader.static_analysis.reader import serve
from grader.static_analysis.scan import CodeScanner
from grader.static_analysis.scope import Names, Scan, module_names
from grader.static_analysis.stubs import DEFINITIONS, is_half_written, is_stub, returns_something

_MAX_DEPTH = 99
_MAX_ITEMS = 2_000


def analyse(data: bytes) -> SourceFacts:
    """Return the facts about a file. Executes nothing.

    A file may be nested so that the interpreter dies of it; call this in a process that may die.
    """
    try:
        # A student's invalid escape makes the parser warn, as if it were the grader's own text.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        return SourceFacts(_File(tree).entries())
    except SyntaxError as error:
        return SourceFacts(unreadable=_named(error), syntax_error=True)
    # Parsers report text that is nested too deep as a lack of memory, too.
    except (ValueError, RecursionError, MemoryError) as error:
        # No facts is not “no loop”: the judge leaves what rests on the source to a person.
        return SourceFacts(unreadable=_named(error))


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def allow_long_numbers() -> None:
    """Let this process read numbers of any length.

    Where Python refuses one, it speaks of a syntax error. A student process may lift that limit and
    run the file; so the text must be read here.
    """
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


class _File:
    """One file: what its names are bound to, and what each of these says by itself."""

    def __init__(self, tree: ast.Module) -> None:
        self._names: Names = module_names(tree.body)
        self._own = frozenset(self._names.bound)
        self._handed = handed_dims(tree)
        self._scans: dict[int, Scan] = {}
        self._loose = self._hiding()

    def entries(self) -> Mapping[str, EntryFacts]:
        found = {}
        for name, nodes in self._names.bound.items():
            found[name] = self._facts(name, nodes)
            for node in nodes:
                for method in node.body if isinstance(node, ast.ClassDef) else ():
                    if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        full = f"{name}.{method.name}"
                        found[full] = self._facts(full, [method])
        return found

    def _hiding(self) -> tuple[Mention, ...]:
        """What hides at the module level: it may rebind anything."""
        return tuple(
            mention
            for node in self._names.loose
            for mention in self._scan("the module", node).opaque
        )

    def _scan(self, name: str, node: ast.AST) -> Scan:
        # By identity: the tree lives as long as this, so that no number is used twice.
        if id(node) not in self._scans:
            scanner = CodeScanner(name, self._names.imports, self._own, self._handed)
            self._scans[id(node)] = scanner.scan(node)
        return self._scans[id(node)]

    def _facts(self, name: str, nodes: list[ast.AST]) -> EntryFacts:
        walk = _Walk(self)
        deepest = walk.come_to(name, nodes, 0)
        constructs = {(item.place, item.kind, item.depth): item for item in walk.constructs}
        ordered = sorted(constructs.values(), key=lambda item: (item.place.line, item.place.column))
        return EntryFacts(
            tuple(walk.functions),
            tuple(ordered[:_MAX_ITEMS]),
            min(deepest, _MAX_DEPTH),
            tuple(walk.mentions[:_MAX_ITEMS]),
            (*self._loose, *walk.opaque)[:_MAX_ITEMS],
            walk.indexings,
            walk.slice_assignments,
            self._written(name, nodes[-1]),
        )

    def _written(self, name: str, last: ast.AST) -> Written | None:
        if not isinstance(last, DEFINITIONS):
            return None
        if isinstance(last, ast.ClassDef):
            return Written(last.lineno, is_half_written(last), whole=False)
        stub = is_stub(last)
        earlier = [node for node in self._names.replaced.get(name, ()) if _is_written(node)]
        return Written(last.lineno, stub, returns_something(last), stub and bool(earlier))

    def scans(self, name: str, nodes: list[ast.AST]) -> Iterator[Scan]:
        for node in nodes:
            yield self._scan(name, node)

    def bound(self, name: str) -> list[ast.AST]:
        return self._names.bound[name]


def _is_written(node: ast.AST) -> bool:
    return isinstance(node, DEFINITIONS) and not is_stub(node)


class _Walk:
    """Follows uses of own names from one entry point; a circle is recursion."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._open: list[str] = []
        self._deepest: dict[str, int] = {}
        self.functions: list[str] = []
        self.constructs: list[Construct] = []
        self.mentions: list[Mention] = []
        self.opaque: list[Mention] = []
        self.indexings = 0
        self.slice_assignments = 0

    def come_to(self, name: str, nodes: list[ast.AST], depth: int) -> int:
        """Add a function and what it comes to; return the greatest depth of loops from there."""
        first = name not in self.functions
        if first:
            self.functions.append(name)
        self._open.append(name)
        deepest = depth
        for scan in self._file.scans(name, nodes):
            # Once, however many ways lead here: a helper's indexings would be counted again.
            if first:
                self._take(scan, depth)
            loops = [item.depth for item in scan.constructs if item.role is Role.LOOP]
            deepest = max([deepest, *(depth + own for own in loops)])
            for used, within, place in scan.own:
                deepest = max(deepest, self._follow(used, depth + within, place))
        self._open.pop()
        return deepest

    def _follow(self, name: str, depth: int, place: SourcePlace) -> int:
        if name in self._open:
            scans = list(self._file.scans(name, self._file.bound(name)))
            # Of a function that calls another, which calls it, nothing is told.
            alone = self._open[-1] == name and len(scans) == 1
            over_dims, numbers = scans[0].recursion if alone else (False, False)
            role, inner = Role.EXEMPT if numbers else Role.LOOP, depth + (not numbers)
            loop = Construct("recursion", role, place, inner, self._open[-1], over_dims=over_dims)
            self.constructs.append(replace(loop, repeated=(place.line, place.last_line)))
            return inner
        # Only a deeper way to the same function can say anything new.
        if depth <= self._deepest.get(name, -1) or depth > _MAX_DEPTH:
            return depth
        self._deepest[name] = depth
        return self.come_to(name, self._file.bound(name), depth)

    def _take(self, scan: Scan, depth: int) -> None:
        self.constructs += [replace(item, depth=item.depth + depth) for item in scan.constructs]
        self.mentions += scan.mentions
        self.opaque += scan.opaque
        self.indexings += scan.indexings
        self.slice_assignments += scan.slice_assignments


if __name__ == "__main__":
    allow_long_numbers()
    serve(
        lambda data: pack(analyse(data)),
        too_much=pack(SourceFacts(unreadable="the analysis says too much")),
    )
