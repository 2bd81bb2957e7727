"""Find the wanted files among everything that was submitted.

Where a file of the right name is missing, or the files seem to be for something else, the message
says so. Files are searched as text; nothing in them is parsed or executed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from grader.errors import UsageError
from grader.submission.submission import (
    FileKind,
    FoundFile,
    IntakeError,
    bad,
    composed,
    folded,
    show,
)
from grader.verdict import Code, Message, Param

_MOST_FILES = 50
ARCHIVE = re.compile(r"\.(zip|tgz|tar\.gz|gz|tar)$", re.IGNORECASE)
_DEFINED = re.compile(rb"\b(?:def|class)[ \t]+([A-Za-z_]\w*)|\b([A-Za-z_]\w*)[ \t]*=(?!=)")


def foreign(entries: Sequence[FoundFile], asked: Collection[str]) -> list[str] | None:
    """Return what a submission for another assignment defines; None if it is for this one.

    Args:
        entries: All submitted files.
        asked: Names of the functions that this assignment asks for.

    Returns:
        The functions and classes that the files define, in order. None if any of them is asked
        for, or if nobody can know: ``asked`` is empty, there are too many files, or one of them
        cannot be read, as an archive inside.
    """
    if (
        not asked
        or len(entries) > _MOST_FILES
        or any(ARCHIVE.search(each.path) for each in entries)
    ):
        return None
    defined: dict[str, None] = {}
    try:
        for entry in entries:
            for name, is_function in _names(entry.read()):
                if name in asked:
                    return None
                if is_function and not name.startswith("__"):
                    defined[name] = None
    except (IntakeError, UsageError):
        return None
    return list(defined)


def _names(content: bytes) -> Iterator[tuple[str, bool]]:
    """Yield names that a file binds, and whether each is a function or class."""
    # Text in UTF-16 as well: what is between its letters is no part of a name.
    for match in _DEFINED.finditer(content.replace(b"\0", b"")):
        function, value = match.groups()
        yield (function or value).decode(), function is not None


def only_uses(code: bytes, wanted: str, asked: Collection[str]) -> bool:
    """Return whether a notebook imports the module that it would have to be, and defines nothing.

    Such is the starter's own notebook, submitted alone.
    """
    module = re.escape(wanted.removesuffix(".py").encode())
    imported = re.search(rb"^[ \t]*(?:import|from)[ \t]+%s\b" % module, code, re.MULTILINE)
    return bool(imported and asked) and not any(name in asked for name, _ in _names(code))


LISTED = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """An entry and the wanted file that it becomes."""

    wanted: str
    entry: FoundFile

    @property
    def is_notebook(self) -> bool:
        """Tell whether a notebook stands in for the wanted file."""
        return self.entry.path.lower().endswith(".ipynb") and not self.wanted.endswith(".ipynb")


def choose(
    entries: Sequence[FoundFile],
    hand_in: Sequence[str],
    asked: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[Chosen]:
    """Pick the entry for every wanted file; all of them come from one folder.

    That is the top folder (the one that everything submitted lies in), or else the only folder
    that has them all. A notebook stands in for a ``.py`` that is not beside it.

    Args:
        entries: All that was submitted.
        hand_in: The wanted files.
        asked: File → functions that are asked for in it, to know a submission for something else
            by. Of several such files, some may be missing.

    Returns:
        An entry for each wanted file; reading that of a missing one says so.

    Raises:
        IntakeError: If a file is missing, or more than one folder would do.
    """
    names = _names_of(entries)
    absent = {wanted for wanted in asked if not _anywhere(names, wanted)}
    # With none of them, none may be missing: the message then names them all.
    if len(absent) == len(asked):
        absent = set()
    there = [wanted for wanted in hand_in if wanted not in absent]
    folders = _complete_folders(entries, there)
    if not folders:
        raise _missing(entries, hand_in, frozenset[str]().union(*asked.values()))
    # The folder that everything lies in, with its slash; nothing for the root.
    top = posixpath.commonpath([posixpath.dirname(composed(entry.path)) for entry in entries])
    own = folders.get(f"{top}/" if top else "")
    modules = [folder for folder, files in folders.items() if not _has_notebook(files)]
    if own is None or (_has_notebook(own) and modules):
        if len(folders) > 1:
            paths = [show(files[0].entry.path) for files in folders.values()]
            raise bad("ambiguous", candidates=_few(paths))
        own = next(iter(folders.values()))
    for file in own:
        _refuse_collision(file.entry, entries)
    found = {file.wanted: file for file in own}
    return [found.get(name) or _missing_part(entries, name, hand_in) for name in hand_in]


def choose_documents(
    entries: Sequence[FoundFile], own: Sequence[Chosen], documents: Sequence[str]
) -> list[Chosen]:
    """Pick the files that a person reads, in any case of letters; they lie beside the others.

    Args:
        entries: All that was submitted.
        own: The wanted files with questions.
        documents: Names of those that a person reads.

    Returns:
        An entry for each; reading that of a missing one says so.
    """
    first = next((item.entry.path for item in own if item.entry in entries), "")
    folder = first[: first.rfind("/") + 1]
    by_path = {folded(entry.path): entry for entry in entries}
    found = {name: by_path.get(folded(folder + name)) for name in documents}
    known = [*documents, *(item.wanted for item in own)]
    return [
        Chosen(name, entry) if entry else _missing_part(entries, name, known)
        for name, entry in found.items()
    ]


def has_all(entries: Iterable[FoundFile], hand_in: Sequence[str]) -> bool:
    """Tell whether all wanted files are there under their own names, in no folder."""
    return {composed(name) for name in hand_in} <= {composed(entry.path) for entry in entries}


def _complete_folders(
    entries: Sequence[FoundFile], hand_in: Sequence[str]
) -> dict[str, list[Chosen]]:
    """Return the folders that hold every wanted file, with the files."""
    by_path: dict[str, FoundFile] = {}
    for entry in entries:
        by_path.setdefault(composed(entry.path), entry)
    folders = {}
    for folder in _bases(by_path, hand_in[0]):
        files = []
        for wanted in hand_in:
            name = composed(wanted)
            held = by_path.get(folder + name) or by_path.get(folder + _notebook_name(name))
            files += [] if held is None else [Chosen(wanted, held)]
        if len(files) == len(hand_in):
            folders[folder] = files
    return folders


def _bases(paths: Iterable[str], wanted: str) -> list[str]:
    """Return the folders in which the first wanted file, or its notebook, lies."""
    found: dict[str, None] = {}
    for path in paths:
        for name in (composed(wanted), _notebook_name(composed(wanted))):
            if path == name or path.endswith(f"/{name}"):
                found[path[: -len(name)]] = None
    return list(found)


def _notebook_name(wanted: str) -> str:
    return f"{wanted.removesuffix('.py')}.ipynb" if wanted.endswith(".py") else wanted


def _has_notebook(files: Sequence[Chosen]) -> bool:
    return any(file.is_notebook for file in files)


def _refuse_collision(chosen: FoundFile, entries: Sequence[FoundFile]) -> None:
    """Refuse names that some file systems take for one: which file was meant is not ours to say."""
    key = folded(chosen.path)
    same = [show(entry.path) for entry in entries if folded(entry.path) == key]
    if len(same) > 1:
        raise bad("collision", files=_few(same))


def _missing(
    entries: Sequence[FoundFile], hand_in: Sequence[str], asked: Collection[str]
) -> IntakeError:
    by_name = _names_of(entries)
    absent = [wanted for wanted in hand_in if not _anywhere(by_name, wanted)]
    # With nothing absent, all are there, but in different folders.
    params: dict[str, Param] = {"missing": _few(absent or hand_in)}
    if not entries:
        return IntakeError(Code.MISSING_FILE, Message("nothing_found", params))
    params["found"] = _few([show(entry.path) for entry in entries])
    params["found_count"] = len(entries)
    if (others := foreign(entries, asked)) is not None:
        params["names"] = _few([show(name) for name in others])
        return IntakeError(Code.MISSING_FILE, Message("another_assignment", params))
    if not absent:
        return IntakeError(Code.MISSING_FILE, Message("files_scattered", params))
    if archives := [show(entry.path) for entry in entries if ARCHIVE.search(entry.path)]:
        params["archives"] = _few(archives)
        return IntakeError(Code.MISSING_FILE, Message("archive_inside", params))
    near = [show(match) for wanted in absent if (match := _nearest(wanted, list(by_name)))]
    notebook = any(entry.path.lower().endswith(".ipynb") for entry in entries)
    if not near and notebook and len(absent) == 1 and absent[0].endswith(".py"):
        # With the ending of the missing file it would be refused once more.
        params["notebook"] = _notebook_name(absent[0])
        return IntakeError(Code.MISSING_FILE, Message("missing_file_notebook", params))
    if not near:
        return IntakeError(Code.MISSING_FILE, Message("missing_file", params))
    params["nearest"] = _few(near)
    return IntakeError(Code.MISSING_FILE, Message("missing_file_nearest", params))


def _missing_part(entries: Sequence[FoundFile], wanted: str, hand_in: Sequence[str]) -> Chosen:
    """Return a stand-in for one of several files that was not handed in: it cannot be read."""
    # The other wanted files have names of their own: “part_2.py” is no misspelt “part_1.py”.
    known = {composed(name) for name in hand_in}
    near = _nearest(wanted, [name for name in _names_of(entries) if name not in known])
    params: dict[str, Param] = {"file": wanted, "nearest": show(near) if near else None}

    def refuse() -> bytes:
        raise IntakeError(Code.MISSING_FILE, Message("not_handed_in", params))

    return Chosen(wanted, FoundFile(wanted, FileKind.FILE, refuse))


def _names_of(entries: Sequence[FoundFile]) -> dict[str, None]:
    return {composed(posixpath.basename(entry.path)): None for entry in entries}


def _anywhere(names: Container[str], wanted: str) -> bool:
    name = posixpath.basename(composed(wanted))
    return name in names or _notebook_name(name) in names


def _nearest(wanted: str, names: Sequence[str]) -> str | None:
    """Return the name that ``wanted`` was probably given: copies, other case, lost underscores."""
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(_bare(name), name)
    match = get_close_matches(_bare(posixpath.basename(wanted)), list(known), n=1, cutoff=0.7)
    return known[match[0]] if match else None


def _bare(name: str) -> str:
    """Return a name without what downloads, editors and file systems do to it."""
    without_copy = re.sub(r"\s*\((\d+|copy)\)|[\s_-]*copy(?=\.)", "", name.casefold())
    return re.sub(r"[\s_-]", "", without_copy)


def _few(names: Sequence[str]) -> list[Param]:
    return [*names[:LISTED], "…"] if len(names) > LISTED else list(names)
