"""The submissions of a class as text and tokens; each line has the name that a reader knows."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from grader.batch.discover import ClassSubmission
from grader.errors import UsageError
from grader.report.messages.catalogue import current
from grader.similarity.tokens import Tokens, unpack
from grader.static_analysis.reader import Disposable
from grader.submission import IntakeError, Submission, SubmittedFile, read_submission
from grader.text import inert

MOST_BYTES = 256 << 10
"""Of source that is compared; an assignment takes a tenth of it."""
_MOST_SAID = 300


@dataclass(frozen=True, slots=True)
class Script:
    """The Python of a submission.

    Attributes:
        source: All files, one after the other, with plain line ends.
        labels: What each line is called: its number, or notebook cell and line in it.
        tokens: Of ``source``.
    """

    source: str
    labels: tuple[str, ...]
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Compared:
    """A submission that can be compared.

    Attributes:
        name: Of the submission.
        names: Of all that are identical with it, itself first.
        script: Its Python.
    """

    name: str
    names: tuple[str, ...]
    script: Script


@dataclass(frozen=True, slots=True)
class ScriptClass:
    """What there is to compare.

    Attributes:
        compared: One of each set of identical submissions, by name.
        unread: Name → why it is not compared.
    """

    compared: tuple[Compared, ...]
    unread: dict[str, str] = field(default_factory=dict)


class Scripts:
    """Makes scripts of submissions, with a process that reads their text. A context manager."""

    def __init__(self) -> None:
        self._tokeniser = Disposable("grader.similarity.tokens")

    def __enter__(self) -> Scripts:
        return self

    def __exit__(self, *_: object) -> None:
        self._tokeniser.close()

    def of(self, submission: Submission) -> Script:
        """Return the Python of a submission.

        Raises:
            ValueError: It cannot be compared; says why.
        """
        files = [file for file in submission.files if file.path.endswith(".py")]
        if sum(len(file.data) for file in files) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 10} KiB of source")
        lines, labels = [], []
        for file in files:
            if len(files) > 1:
                # As a comment, which is no token: it is there for whoever reads the page.
                lines.append(f"# {file.path}")
                labels.append("")
            own = _decoded(file).split("\n")
            lines += own
            labels += [_label(file, number) for number in range(1, len(own) + 1)]
        source = "\n".join(lines)
        # “replace” puts one “?” for a lone surrogate, so that places in characters stay right.
        try:
            tokens = unpack(self._tokeniser.ask(source.encode("utf-8", "replace")))
        except (OSError, ValueError, EOFError) as error:
            self._tokeniser.close()
            raise ValueError(f"its text could not be taken apart: {error}") from error
        return Script(source, tuple(labels), tokens)


def read_class(
    submissions: Iterable[ClassSubmission],
    wanted: Sequence[str],
    scripts: Scripts,
    asked: Mapping[str, Collection[str]] = MappingProxyType({}),
    tick: Callable[[], object] = int,
) -> ScriptClass:
    """Read the submissions of a class; identical ones once.

    Of several files with questions, which ``asked`` names, one is enough.

    Raises:
        UsageError: None of the submissions is there any more.
    """
    first: dict[str, Submission] = {}
    names: dict[str, list[str]] = {}
    unread: dict[str, str] = {}
    gone: UsageError | None = None
    for one in submissions:
        try:
            submission = read_submission(one.path, wanted, name=one.name, asked=asked)
        except IntakeError as error:
            unread[one.name] = current().render(error.message)
        except UsageError as error:
            # One that may not be read is no reason to compare nobody.
            unread[one.name] = inert(str(error), _MOST_SAID)
            gone = error
        else:
            first.setdefault(submission.digest, submission)
            names.setdefault(submission.digest, []).append(one.name)
        tick()
    if gone is not None and not first:
        raise UsageError(f"{gone}; submissions have to lie where they lay when graded") from gone
    compared = []
    for digest, submission in first.items():
        alike = tuple(names[digest])
        try:
            compared.append(Compared(alike[0], alike, scripts.of(submission)))
        except ValueError as error:
            unread |= dict.fromkeys(alike, str(error))
    return ScriptClass(tuple(compared), unread)


def read_starter(folder: Path, scripts: Scripts) -> list[Script]:
    """Return what students were given: the modules, and the notebooks beside them.

    Args:
        folder: Of the starter; need not exist.
        scripts: Makes scripts of them.
    """
    given: list[tuple[Path, Sequence[str]]] = [
        (path, [f"{path.stem}.py"])
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".ipynb") and path.is_file()
    ]
    return [scripts.of(read_submission(path, names, name=path.name)) for path, names in given]


def _decoded(file: SubmittedFile) -> str:
    """Return the text of a file that intake has found to be text, with plain line ends."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(file.data).readline)
    text = file.data.decode(encoding, "replace")
    # An encoding may give lone surrogates; the tokeniser would see other offsets than we.
    text = text.encode("utf-8", "replace").decode()
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _label(file: SubmittedFile, line: int) -> str:
    if file.cells is None:
        return str(line)
    place = file.cells.cell_of(line)
    return f"{place[0]}:{place[1]}" if place else ""
