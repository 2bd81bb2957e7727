"""Which submissions a class folder holds, as platforms give them out: whose, when, called what.

* Gradescope's bulk export: ``submission_metadata.yml`` beside one folder a submission;
* Moodle's download: ``Name_Number_assignsubmission_file_`` before each folder or file;
* Canvas' download: ``name_USER_ATTEMPT_file``, all files of all students in one folder;
* Autograder.io: ``uniquename_umid_….zip``, with or without stray braces;
* a text file that names one repository a line.

What is none of these is taken as it lies: one submission an entry. Each has a name of its own, as
its reports have a folder of their own.

Defends against: two names that some file systems take for one (upper and lower case, accents
composed or not), names of files that a batch, an export or a comparison writes beside the folders,
``.`` and ``..``, names too long or in no encoding.
Does not defend against: names that Windows alone gives a meaning (``NUL``, a dot at the end).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from grader.errors import UsageError
from grader.report.html.render import INDEX_FILE
from grader.report.summary import SUMMARY_FILE
from grader.store.files import PROBE_FILE
from grader.store.journal import JOURNAL_FILE, PREVIOUS_FILE
from grader.submission.reader import Where
from grader.submission.submission import folded

SIMILARITY_FOLDER = "similarity"
QUESTIONS_FOLDER = "questions"
_RESERVED = frozenset({
    "", ".", "..", PROBE_FILE, INDEX_FILE, SIMILARITY_FOLDER, QUESTIONS_FOLDER,
    SUMMARY_FILE,
    *(f + end for f in (JOURNAL_FILE, PREVIOUS_FILE) for end in ("", "-wal", "-shm", "-journal")),
})  # fmt: skip
"""Folded: what lies, or may come to lie, beside the folders of submissions."""
_TABLE = ".csv"
"""The gradebook and the tables that are exported lie there, too."""
_LONGEST = 200
"""Bytes of a name; file systems take 255, and endings are added to it."""


def file_name_text(name: str) -> str:
    """Return a file's name as text that every file, database and folder takes.

    Bytes that are no UTF-8 come from file systems as what no encoder takes.
    """
    text = name.encode("utf-8", "backslashreplace")
    if len(text) > _LONGEST:
        mark = hashlib.sha256(text).hexdigest()[:12]
        return f"{text[:_LONGEST].decode('utf-8', 'ignore')}_{mark}"
    return text.decode()


def _is_reserved(name: str) -> bool:
    return folded(name) in _RESERVED or folded(name).endswith(_TABLE)


def apart(names: Sequence[str]) -> Iterator[str]:
    """Yield a name for each, the same where it is free; otherwise with ``_`` after it."""
    taken: set[str] = set()
    for wanted in names:
        name = wanted
        while _is_reserved(name) or folded(name) in taken:
            name += "_"
        taken.add(folded(name))
        yield name


def shortened(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each: the short one where no other one could be called so.

    Args:
        pairs: A short and a whole name for each.
    """
    known = Counter(key for pair in pairs for key in set(map(folded, pair)))

    def free(short: str) -> bool:
        return known[folded(short)] == 1 and not _is_reserved(short)

    return list(apart([short if free(short) else whole for short, whole in pairs]))


ENDINGS = (".py", ".ipynb", ".zip", ".tar", ".tgz", ".tar.gz")


@dataclass(frozen=True, slots=True)
class Student:
    """Somebody who handed in, as the platform knows them.

    Attributes:
        name: Full name.
        email: Address; empty where the platform does not say.
        id: The platform's or the school's number.
        section: Group or lab, as a roster says.
        platform_id: The platform's number, where a roster gives another one.
    """

    name: str = ""
    email: str = ""
    id: str = ""
    section: str = ""
    platform_id: str = ""


@dataclass(frozen=True, slots=True)
class ClassSubmission:
    """One submission of a class.

    Attributes:
        name: Folder name, or file name without its ending; unique in the class.
        path: Where it is.
        students: Who handed it in, where the platform says; several for a group.
        created_at: When, with its time zone, where the platform says.
        late: Whether it came late, where the platform says that and no more.
        attempts: How often it was handed in, this time included, where the platform says.
    """

    name: str
    path: Where
    students: tuple[Student, ...] = ()
    created_at: dt.datetime | None = None
    late: bool | None = None
    attempts: int | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Its files and folders."""
        where = self.path
        return tuple(map(Path, where.values())) if isinstance(where, Mapping) else (Path(where),)


@dataclass(frozen=True, slots=True)
class Found:
    """What a class folder holds.

    Attributes:
        submissions: By name.
        left_out: Names of entries that are nobody's submission by their ending.
        platform: Whose download this is, or empty.
    """

    submissions: tuple[ClassSubmission, ...]
    left_out: tuple[str, ...] = field(default=())
    platform: str = ""


def is_submission(path: Path) -> bool:
    """Tell whether a path can be one by its kind and ending."""
    return path.is_dir() or path.name.lower().endswith(ENDINGS)


def entries_of(folder: Path, out: Path) -> list[Path]:
    """Return what lies in a folder, by name, without hidden files and the folder of reports.

    Raises:
        UsageError: It is no folder.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder; `grader batch` takes one submission an entry, a platform’s "
            "download, or a .txt that lists repositories"
        )
    # In strings: a watched folder of thousands is looked at again and again.
    home, reports = str(folder.resolve()), str(out.resolve())

    def shown(entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith((".", "__")):
            return False
        whole = os.path.realpath(entry.path) if entry.is_symlink() else f"{home}/{entry.name}"
        return whole != reports

    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in found if shown(entry))
    return [folder / name for name in names]


def one_an_entry(folder: Path, entries: Sequence[Path]) -> Found:
    """Return the submissions of a folder, one for each sub-folder, archive, notebook or ``.py``.

    Raises:
        UsageError: It holds none.
    """
    paths = [path for path in entries if is_submission(path)]
    if not paths:
        kinds = " ".join(ENDINGS)
        raise UsageError(f"{folder} holds no submissions: no folder and no file ending in {kinds}")
    pairs = [(file_name_text(_stem(path)), file_name_text(path.name)) for path in paths]
    left_out = tuple(file_name_text(path.name) for path in entries if not is_submission(path))
    return Found(tuple(map(ClassSubmission, shortened(pairs), paths)), left_out)


def _stem(path: Path) -> str:
    if path.is_dir():
        return path.name
    ending = max((e for e in ENDINGS if path.name.lower().endswith(e)), key=len)
    return path.name[: -len(ending)] or path.name


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
    """Return the submissions of a class.

    Args:
        folder: Of submissions or a platform's download; or a ``.txt`` that lists repositories.
        out: Where reports go; no submission, should it lie in the folder.

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
        # All of them or none: one file that happens to be named so must not turn the others into
        # strangers.
        if named and len(named) >= len([path for path in entries if is_submission(path)]):
            others = tuple(file_name_text(path.name) for path in entries if path not in named)
            return Found(tuple(_unique(gather(named))), others, platform)
    return one_an_entry(folder, entries)


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
    submissions, missing = [], []
    for name, about in listed.items():
        if (folder / str(name)).is_dir() and isinstance(about, Mapping):
            submissions.append(_of_gradescope(folder / str(name), about))
        else:
            missing.append(str(name))
    if not submissions:
        raise UsageError(f"{path}: none of the {len(listed)} folders that it lists is there")
    known = {METADATA, *map(str, listed)}
    left_out = [each.name for each in entries if each.name not in known]
    left_out += [f"{name} (listed, but not there)" for name in missing]
    return Found(tuple(_unique(submissions)), tuple(left_out), "gradescope")


def _of_gradescope(path: Path, about: Mapping[str, Any]) -> ClassSubmission:
    people = tuple(
        Student(_text(each, ":name"), _text(each, ":email"), _text(each, ":sid"))
        for each in about.get(":submitters") or ()
        if isinstance(each, Mapping)
    )
    history = about.get(":history")
    attempts = len(history) + 1 if isinstance(history, list) else None
    return ClassSubmission(
        path.name, path, people, _moment(about.get(":created_at")), attempts=attempts
    )


def _moodle(named: _Named) -> list[ClassSubmission]:
    folders = {path: _MOODLE_FOLDER.fullmatch(path.name) for path in named if path.is_dir()}
    return _gather({path: folders.get(path) or match for path, match in named.items()}, "number")


def _canvas(named: _Named) -> list[ClassSubmission]:
    return _gather(named, "user")


def _autograder_io(named: _Named) -> list[ClassSubmission]:
    return [
        ClassSubmission(match["name"], path, (Student(match["name"], id=match["number"]),))
        for path, match in named.items()
    ]


_BY_NAME: tuple[tuple[str, re.Pattern[str], Callable[[_Named], list[ClassSubmission]]], ...] = (
    ("moodle", _MOODLE, _moodle),
    ("canvas", _CANVAS, _canvas),
    ("autograder.io", _AUTOGRADER_IO, _autograder_io),
)


def _gather(named: _Named, number: str) -> list[ClassSubmission]:
    """Return one submission a student, of a folder or of files that carry their name.

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
        student = Student(file_name_text(name), id="" if doubtful else its)
        called = re.sub(r"\s+", "_", file_name_text(f"{name}_{its}"))
        found.append(ClassSubmission(called, where, (student,), late=late))
    return _renamed(found)


def _unique(submissions: Sequence[ClassSubmission]) -> list[ClassSubmission]:
    names = [submission.name for submission in submissions]
    twice = sorted({name for name in names if names.count(name) > 1})
    # Graded under one name, one of two students would get the other's points.
    if twice:
        raise UsageError(f"two submissions by the name of {', '.join(twice)}; keep one of each")
    return _renamed(sorted(submissions, key=lambda each: each.name))


def _renamed(submissions: Sequence[ClassSubmission]) -> list[ClassSubmission]:
    """Give each a name that nothing else has, not on any disk."""
    free = apart([submission.name for submission in submissions])
    return [replace(each, name=name) for each, name in zip(submissions, free, strict=True)]


def _repositories(listing: Path) -> Found:
    """Return one submission a repository, as checked out; blank lines and ``#`` are skipped."""
    lines = [line.strip() for line in listing.read_text().splitlines()]
    paths = [listing.parent / line for line in lines if line and not line.startswith("#")]
    absent = [str(path) for path in paths if not path.is_dir()]
    if absent or not paths:
        what = f"not there: {', '.join(absent)}" if absent else "it names none"
        raise UsageError(f"{listing}: lists one repository a line; {what}")
    submissions = [ClassSubmission(path.name, path, created_at=_committed(path)) for path in paths]
    return Found(tuple(_unique(submissions)), platform="git")


def _committed(path: Path) -> dt.datetime | None:
    """Return when the last commit was made; a copy without its history has no such time."""
    # A configuration that came with a repository must not name programs to be run: for files that
    # changed, for signatures, or to fetch what is missing.
    safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    # Nor is a repository around the submissions, the instructor's own, the history of any of them.
    environment = {
        **os.environ,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CEILING_DIRECTORIES": str(path.resolve().parent),
    }
    asked = ["log", "-1", "--no-show-signature", "--format=%cI"]
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *safe, "-C", str(path), *asked],  # noqa: S607
            env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _moment(done.stdout.strip()) if done.returncode == 0 else None


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
