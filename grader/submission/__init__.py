"""A submission becomes a ``Submission`` of bytes and digests. Nothing in it is executed.

Nothing is unpacked to disk either: archives are read in memory, and of all their entries only the
files that the assignment names are opened. So a ``conftest.py``, ``sitecustomize.py`` or
``torch.py`` beside them never reaches the student process.
"""

from grader.submission.reader import Where, read_again, read_for, read_submission
from grader.submission.submission import Bounds, CellMap, IntakeError, Submission, SubmittedFile

__all__ = [
    "Bounds",
    "CellMap",
    "IntakeError",
    "Submission",
    "SubmittedFile",
    "Where",
    "read_again",
    "read_for",
    "read_submission",
]
