"""The table of what held in which container, collected while the tests run."""

from __future__ import annotations

from pathlib import Path

COLUMNS = {
    "tier": "tier",
    "attempts": "probes of a process, all as they must be",
    "suite": "conformance tests passed",
    "graded": "showcase as labelled",
    "attacks": "attacks as labelled",
}
_rows: dict[str, dict[str, str]] = {}


def note(setting: str, **found: object) -> None:
    """Keep what was found in a setting, by column."""
    assert set(found) <= set(COLUMNS)
    _rows.setdefault(setting, {}).update({name: str(value) for name, value in found.items()})


def rows() -> list[str]:
    """Return the table in Markdown; empty where nothing was noted."""
    if not _rows:
        return []
    lines = [f"| container | {' | '.join(COLUMNS.values())} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for setting, found in _rows.items():
        cells = [found.get(name, "–") for name in COLUMNS]
        lines.append(f"| {setting} | {' | '.join(cells)} |")
    return lines


def write(path: Path) -> None:
    """Write the table to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows()) + "\n", encoding="utf-8")
