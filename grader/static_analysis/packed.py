"""Facts as JSON and back: how they leave the process that read the hand-in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from grader.static_analysis.facts import Construct, EntryFacts, Mention, Place, Role, SourceFacts


def pack(facts: SourceFacts) -> bytes:
    """Return facts as bytes."""
    return json.dumps(asdict(facts), separators=(",", ":")).encode()


def unpack(data: bytes) -> SourceFacts:
    """Return the facts in what a worker wrote.

    Raises:
        ValueError: It is no such thing; the worker read hostile text and is not trusted with more.
    """
    try:
        content = json.loads(data)
        entries = {str(name): _entry(item) for name, item in content["entries"].items()}
        return SourceFacts(entries, str(content["unreadable"]), _mentions(content["reach"]))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not what the analysis writes: {error!r}") from error


def _entry(item: dict[str, Any]) -> EntryFacts:
    return EntryFacts(
        tuple(str(name) for name in item["functions"]),
        tuple(_construct(part) for part in item["constructs"]),
        int(item["depth"]),
        _mentions(item["mentions"]),
        _mentions(item["opaque"]),
        int(item["indexings"]),
        int(item["slice_assignments"]),
    )


def _construct(item: dict[str, Any]) -> Construct:
    first, last = item["repeated"]
    return Construct(
        str(item["kind"]),
        Role(item["role"]),
        _place(item["place"]),
        int(item["depth"]),
        str(item["function"]),
        (int(first), int(last)),
    )


def _mentions(items: Iterable[dict[str, Any]]) -> tuple[Mention, ...]:
    return tuple(
        Mention(str(item["name"]), _place(item["place"]), bool(item["called"])) for item in items
    )


def _place(item: dict[str, Any]) -> Place:
    return Place(int(item["line"]), int(item["column"]), int(item["last_line"]))
