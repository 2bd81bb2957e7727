"""YAML text → plain data, and the line on which each part of it stands.

PyYAML parses; this module decides what a parsed scalar means and how much a file may expand to.
Scalars follow the core schema of YAML 1.2, as editors do: ``no`` and ``on`` are words, ``1e-5`` is
a number, ``010`` and ``12:30`` are text. (PyYAML's own rules are those of YAML 1.1, under which
a question called ``no`` is a boolean and a tolerance of ``1e-5`` is text.)

Defends against: tags that build objects, aliases that expand without end, duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Union

import yaml

from grader.errors import AssignmentError, Problem

MAX_BYTES = 1 << 20
MAX_NODES = 50_000
MAX_DEPTH = 40

DocumentPath = tuple[Union[str, int], ...]
"""Keys and indices that lead from the top of a document to a part of it."""
ProblemAt = tuple[DocumentPath, str]
"""Where in a document, and what is wrong there."""

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2; only composes and builds scalars."""


_Loader.yaml_implicit_resolvers = {}
_NUMBER_STARTS = list("-+.0123456789")
for _name, _pattern, _starts in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+", _NUMBER_STARTS),
    ("float", r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?", _NUMBER_STARTS),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", list("-+.")),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _starts)
_SCALARS = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "str"))


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A YAML file as data.

    Attributes:
        file: Name for messages.
        data: Mappings, lists and scalars.
        lines: 1-based line of every part.
        written: Scalars as they were typed.
    """

    file: str
    data: Any
    lines: Mapping[DocumentPath, int]
    written: Mapping[DocumentPath, str]

    def at(self, path: DocumentPath) -> Any:
        """Return the part at a path."""
        part = self.data
        for step in path:
            part = part[step]
        return part

    def problem(self, path: DocumentPath, text: str) -> Problem:
        """Return a problem at a path, or at the nearest thing around it that has a line."""
        known = path
        while known not in self.lines and known:
            known = known[:-1]
        return Problem(self.file, self.lines.get(known), where(path), text)


def where(path: DocumentPath) -> str:
    """Return a path as people write it: ``questions[0].points``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def read_document(file: str, content: bytes) -> YamlDocument:
    """Parse a YAML file.

    Raises:
        AssignmentError: It is not UTF-8 or not YAML, repeats a key, or expands without measure.
    """
    text = _decode(file, content)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise AssignmentError([Problem(file, None, "", "the file is empty")])
        builder = _Builder(file, loader)
        data = builder.build(node, ())
    except yaml.MarkedYAMLError as error:
        raise AssignmentError([_syntax_problem(file, error)]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        said = f"character {error.character:#04x} is not allowed in YAML"
        raise AssignmentError([Problem(file, line, "", said)]) from None
    except RecursionError:
        raise AssignmentError([Problem(file, None, "", "nested too deeply")]) from None
    if builder.problems:
        raise AssignmentError(builder.problems)
    return YamlDocument(file, data, builder.lines, builder.written)


def _decode(file: str, content: bytes) -> str:
    if len(content) > MAX_BYTES:
        text = f"found {len(content)} bytes; the most is {MAX_BYTES}"
        raise AssignmentError([Problem(file, None, "", text)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        text = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise AssignmentError([Problem(file, line, "", text)]) from None


def _syntax_problem(file: str, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    said = ", ".join(part for part in (error.context, error.problem) if part)
    hint = ""
    if "\\t" in said:
        hint = "; YAML is indented with spaces, never with tabs"
    elif "mapping values are not allowed" in said:
        hint = "; a text that holds “: ” needs quotes, and keys beside one another one indentation"
    elif "expected <block end>" in said:
        hint = "; keys beside one another need the same indentation"
    line = None if mark is None else mark.line + 1
    return Problem(file, line, "", f"not valid YAML: {said}{hint}")


@dataclass
class _Builder:
    """Turns composed nodes into data, remembering lines."""

    file: str
    loader: _Loader
    lines: dict[DocumentPath, int] = field(default_factory=dict)
    written: dict[DocumentPath, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    nodes: int = 0

    def build(self, node: yaml.Node, path: DocumentPath) -> Any:
        self.nodes += 1
        # An alias is counted each time it is used: that is what a "billion laughs" multiplies.
        if self.nodes > MAX_NODES or len(path) > MAX_DEPTH:
            bound = f"{MAX_NODES} values" if self.nodes > MAX_NODES else f"{MAX_DEPTH} levels"
            text = f"the file expands to more than {bound}"
            raise AssignmentError([Problem(self.file, _line(node), where(path[:6]), text)])
        self.lines.setdefault(path, _line(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node, path)
        self._complain(node, path, f"the tag {node.tag.replace(_TAG, '!!')} is not allowed here")
        return None

    def _mapping(self, node: yaml.MappingNode, path: DocumentPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._complain(key_node, path, "a key must be a word, found a list or mapping")
                continue
            key = key_node.value
            inner = (*path, key)
            if key_node.tag != _TAG + "str":
                self._complain(key_node, inner, f"{key!s} is no text; as a key write “'{key}'”")
            elif key in result:
                first = self.lines[inner]
                self._complain(
                    key_node, inner, f"“{key}” is here a second time, after line {first}"
                )
            else:
                self.lines[inner] = _line(key_node)
                result[key] = self.build(value_node, inner)
        return result

    def _scalar(self, node: yaml.ScalarNode, path: DocumentPath) -> Any:
        self.written[path] = node.value
        try:
            return self.loader.construct_object(node)
        except (ValueError, KeyError):  # an explicit tag on unfit text, or 5,000 digits
            kind = node.tag.removeprefix(_TAG)
            self._complain(node, path, f"“{node.value[:40]}” cannot be read as !!{kind}")
            return None

    def _complain(self, node: yaml.Node, path: DocumentPath, text: str) -> None:
        self.problems.append(Problem(self.file, _line(node), where(path), text))


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
