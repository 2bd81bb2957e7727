"""Where in an instructor's files something went wrong, and in what words the guest told it."""

from __future__ import annotations

import ast

from grader.assignment.find import GIVEN, SCENARIO
from grader.observation import Observation
from grader.report.text import inert
from grader.run.materials import Materials
from grader.wire.messages import Fault

_MAX_TEXT = 500

Place = tuple[str, "int | None"]
"""A file, and a line in it where one is known."""


def position_of(materials: Materials, fault: Fault | None) -> Place | None:
    """Return file and line of a fault, or None where it is in no file of the instructor's."""
    if fault is None or not fault.line:
        return None
    if fault.file in materials.reference:
        return str(materials.reference_folder / fault.file), fault.line
    if fault.file in (SCENARIO, GIVEN) or fault.file in materials.support:
        return str(materials.folder / fault.file), fault.line
    return None


def names_in(source: bytes) -> dict[str, int]:
    """Return what a file that could be imported binds at module level → the line."""
    names: dict[str, int] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = node.lineno
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name: node.lineno for alias in node.names}
        else:
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            names |= {part.id: part.lineno for part in stored if isinstance(part.ctx, ast.Store)}
    return names


def why(seen: Observation) -> str:
    """Return why a call did not complete."""
    fault = seen.claims.fault
    if fault is not None:
        return told_by(fault)
    return f"{seen.outcome.value.replace('_', ' ')}: {inert(seen.detail, _MAX_TEXT)}"


def told_by(fault: Fault) -> str:
    """Return an exception as the guest told it."""
    return inert(f"{fault.type}: {fault.message}", _MAX_TEXT)
