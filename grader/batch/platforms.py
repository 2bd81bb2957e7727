"""A class as platforms give it out: who handed in what, and when.

* Gradescope's bulk export: ``submission_metadata.yml`` beside one folder a submission;
* Moodle's download: ``Name_Number_assignsubmission_file_`` before each folder or file;
* Canvas' download: ``name_USER_ATTEMPT_file``, all files of all students in one folder;
* Autograder.io: ``uniquename_umid_….zip``, with or without stray braces;
* a text file that names one repository a line.

What is none of these is taken as it lies: one hand-in an entry.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from grader.batch.discover import Found, HandIn, Student, entries_of, is_hand_in, plain
from grader.batch.names import apart, told
from grader.errors import UsageError

METADATA = "submission_metadata.yml"
_MARK = "_assignsubmission_file"
# The first number that fits: what comes behind it, students may have written themselves.
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_file_?(?P<file>.*)", re.DOTALL
)
# Of a folder the last: nothing comes behind it, and names before it are students' own too.
_MOODLE_FOLDER = re.compile(
    r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_file_?(?P<file>)", re.DOTALL
)
_CANVAS = re.compile(
    r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<attempt>\d+)_(?P<file>.+)", re.DOTALL
)
# Canvas numbers a file that is handed in again: pytorch101-1.py.
_AGAIN = re.compile(r"-\d+(?=\.[^.]+$)")
_AUTOGRADER_IO = re.compile(
    r"\{?(?P<name>[a-z]{2,16})\}?_\{?(?P<number>\d{8})\}?(_.*)?\.zip", re.IGNORECASE
)
_SECONDS = 10

_Named = Mapping[Path, re.Match[str]]


def discover(folder: Path, out: Path) -> Found:
    """Return the hand-ins of a class.

    Args:
        folder: Of hand-ins or a platform's download; or a ``.txt`` that lists repositories.
        out: Where reports go; no hand-in, should it lie in the folder.

    Raises:
        UsageError: It is none of these, holds none, or a platform's list is broken.
    """
    if folder.is_file() and folder.suffix == ".txt":
        return _repositories(folder)
    entries = entries_of(folder, out)
    if len(entries) == 1 and (entries[0] / METADATA).is_file():
        return discover(entries[0], out)  # the export was unpacked into a folder of its own
    if (folder / METADATA).is_file():
        return _gradescope(folder, entries)
    for platform, pattern, gather in _BY_NAME:
        named = {path: match for path in entries if (match := pattern.fullmatch(path.name))}
        if named and len(named) >= len([path for path in entries if is_hand_in(path)]):
            others = tuple(told(path.name) for path in entries if path not in named)
            return Found(tuple(_unique(gather(named))), others, platform)
    return plain(folder, entries)


def _gradescope(folder: Path, entries: Sequence[Path]) -> Found:
    path = folder / METADATA
    try:
        # The C reader, where there is one: an export holds every earlier result too.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        listed = yaml.load(path.read_bytes(), Loader=loader)  # noqa: S506  both are safe ones
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise UsageError(
            f"{path}: cannot be read as Gradescope’s list of submissions: {error}"
        ) from error
    if not isinstance(listed, Mapping):
        raise UsageError(f"{path}: is no list of submissions by folder; export them again")
    hand_ins, missing = [], []
    for name, about in listed.items():
        if (folder / str(name)).is_dir() and isinstance(about, Mapping):
            hand_ins.append(_of_gradescope(folder / str(name), about))
        else:
            missing.append(str(name))
    if not hand_ins:
        raise UsageError(f"{path}: none of the {len(listed)} folders that it lists is there")
    known = {METADATA, *map(str, listed)}
    left_out = [each.name for each in entries if each.name not in known]
    left_out += [f"{name} (listed, but not there)" for name in missing]
    return Found(tuple(_unique(hand_ins)), tuple(left_out), "gradescope")


def _of_gradescope(path: Path, about: Mapping[str, Any]) -> HandIn:
    people = tuple(
        Student(_text(each, ":name"), _text(each, ":email"), _text(each, ":sid"))
        for each in about.get(":submitters") or ()
        if isinstance(each, Mapping)
    )
    history = about.get(":history")
    attempts = len(history) + 1 if isinstance(history, list) else None
    return HandIn(path.name, path, people, _moment(about.get(":created_at")), attempts=attempts)


def _moodle(named: _Named) -> list[HandIn]:
    folders = {path: _MOODLE_FOLDER.fullmatch(path.name) for path in named if path.is_dir()}
    return _gather({path: folders.get(path) or match for path, match in named.items()}, "number")


def _canvas(named: _Named) -> list[HandIn]:
    return _gather(named, "user")


def _autograder_io(named: _Named) -> list[HandIn]:
    return [
        HandIn(match["name"], path, (Student(match["name"], id=match["number"]),))
        for path, match in named.items()
    ]


_BY_NAME: tuple[tuple[str, re.Pattern[str], Callable[[_Named], list[HandIn]]], ...] = (
    ("moodle", _MOODLE, _moodle),
    ("canvas", _CANVAS, _canvas),
    ("autograder.io", _AUTOGRADER_IO, _autograder_io),
)


def _gather(named: _Named, number: str) -> list[HandIn]:
    """Return one hand-in a student, of a folder or of files that carry their name.

    Args:
        named: What each path is called.
        number: The group of the match that is the student's number.
    """
    groups: dict[tuple[str, str], list[tuple[Path, re.Match[str]]]] = {}
    for path, match in named.items():
        groups.setdefault((match["name"], match[number]), []).append((path, match))
    claims = Counter(its for _, its in groups)
    found = []
    for (name, its), group in groups.items():
        first_path = group[0][0]
        files = {_AGAIN.sub("", match["file"]) or path.name: path for path, match in group}
        where = first_path if first_path.is_dir() else files
        marks = [match["late"] for _, match in group if "late" in match.groupdict()]
        late = any(marks) if marks else None
        # Where several people go by one number, it is not that of whoever has another behind it:
        # their name was made up, and no grade of theirs is to be entered by it.
        doubtful = claims[its] > 1 and any(_MARK in match["file"] for _, match in group)
        student = Student(told(name), id="" if doubtful else its)
        called = re.sub(r"\s+", "_", told(f"{name}_{its}"))
        found.append(HandIn(called, where, (student,), late=late))
    return _renamed(found)


def _unique(hand_ins: Sequence[HandIn]) -> list[HandIn]:
    names = [hand_in.name for hand_in in hand_ins]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two hand-ins by the name of {', '.join(twice)}; keep one of each")
    return _renamed(sorted(hand_ins, key=lambda each: each.name))


def _renamed(hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """Give each a name that nothing else has, not on any disk."""
    free = apart([hand_in.name for hand_in in hand_ins])
    return [replace(each, name=name) for each, name in zip(hand_ins, free, strict=True)]


def _repositories(listing: Path) -> Found:
    """Return one hand-in a repository, as it is checked out; blank lines and ``#`` are skipped."""
    lines = [line.strip() for line in listing.read_text().splitlines()]
    paths = [listing.parent / line for line in lines if line and not line.startswith("#")]
    absent = [str(path) for path in paths if not path.is_dir()]
    if absent or not paths:
        what = f"not there: {', '.join(absent)}" if absent else "it names none"
        raise UsageError(f"{listing}: lists one repository a line; {what}")
    hand_ins = [HandIn(path.name, path, created_at=_committed(path)) for path in paths]
    return Found(tuple(_unique(hand_ins)), platform="git")


def _committed(path: Path) -> dt.datetime | None:
    """Return when the last commit was made; a copy without its history has no such time."""
    # A configuration that came with a repository must not name programs to be run: for files that
    # changed, for signatures, or to fetch what is missing.
    safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    # Nor is a repository around the hand-ins, the instructor's own, the history of any of them.
    environment = {
        **os.environ,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CEILING_DIRECTORIES": str(path.resolve().parent),
    }
    asked = ["log", "-1", "--no-show-signature", "--format=%cI"]
    try:
        told = subprocess.run(  # noqa: S603
            ["git", *safe, "-C", str(path), *asked],  # noqa: S607
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _moment(told.stdout.strip()) if told.returncode == 0 else None


def _text(about: Mapping[str, Any], key: str) -> str:
    value = about.get(key)
    return "" if value is None else str(value)


def _moment(value: object) -> dt.datetime | None:
    """Return a time with its zone; Gradescope's own, without one, is UTC."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(re.sub(r"(Z| UTC)$", "+00:00", value.strip()))
        except ValueError:
            return None
    if not isinstance(value, dt.datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)
