"""What hand-ins are called: each has a folder of its own among the reports.

Defends against: two names that some file systems take for one (upper and lower case, accents
composed or not), names of files that a batch, an export or a comparison writes beside the folders,
``.`` and ``..``, names too long or in no encoding.
Does not defend against: names that Windows alone gives a meaning (``NUL``, a dot at the end).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from grader.report.csv_file import GRADEBOOK_FILE
from grader.report.pages import INDEX_FILE
from grader.report.summary_page import SUMMARY_FILE
from grader.store.atomic import PROBE_FILE
from grader.store.journal import JOURNAL_FILE, PREVIOUS_FILE
from grader.submission.entry import folded

SIMILARITY_FOLDER = "similarity"
EXPORTS = ("canvas", "moodle", "nbgrader")
"""Tables that are exported beside the folders, ``canvas.csv`` and so on."""
_RESERVED = frozenset({
    "", ".", "..", PROBE_FILE, GRADEBOOK_FILE, INDEX_FILE, SIMILARITY_FOLDER, SUMMARY_FILE,
    *(f"{name}.csv" for name in EXPORTS),
    *(f + end for f in (JOURNAL_FILE, PREVIOUS_FILE) for end in ("", "-wal", "-shm", "-journal")),
})  # fmt: skip
"""Folded: what lies, or may come to lie, beside the folders of hand-ins."""
_LONGEST = 200
"""Bytes of a name; file systems take 255, and endings are added to it."""


def told(name: str) -> str:
    """Return a file's name as text that every file, database and folder takes.

    Bytes that are no UTF-8 come from file systems as what no encoder takes.
    """
    text = name.encode("utf-8", "backslashreplace")
    if len(text) > _LONGEST:
        mark = hashlib.sha256(text).hexdigest()[:12]
        return f"{text[:_LONGEST].decode('utf-8', 'ignore')}_{mark}"
    return text.decode()


def apart(names: Sequence[str]) -> Iterator[str]:
    """Yield a name for each, the same where it is free; otherwise with ``_`` after it."""
    taken = set(_RESERVED)
    for wanted in names:
        name = wanted
        while folded(name) in taken:
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
        return known[folded(short)] == 1 and folded(short) not in _RESERVED

    return list(apart([short if free(short) else whole for short, whole in pairs]))
