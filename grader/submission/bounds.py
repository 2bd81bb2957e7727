"""How much a hand-in may ask of the machine that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on what is read; every one counts real bytes, never what a header claims.

    Attributes:
        entries: Files and folders looked at, those of ``__MACOSX`` and the like left out.
        headers: Entries of any kind that an archive may list at all.
        file_bytes: Largest wanted file that is no source.
        source_bytes: Largest ``.py``, and the code of a notebook; source is read line by line.
        tar_extras: Bytes of a tar archive's extension headers, all together.
        notebook_bytes: Largest notebook; its outputs count here, though nobody looks at them.
        notebook_items: JSON strings, and JSON commas and brackets, of a notebook. Guards memory:
            an empty list takes two bytes in the file and thirty times as many once parsed.
        cells: Code cells of a notebook.
        total_bytes: Largest archive, its largest unpacked size, and all wanted files together.
        ratio: Times that content may grow when unpacked …
        ratio_from: … once it is larger than this.
        depth: Parts of a path.
        name_length: Characters of one part of a path.
    """

    entries: int = 2000
    headers: int = 50_000
    file_bytes: int = 20 * MIB
    source_bytes: int = 4 * MIB
    tar_extras: int = 8 * MIB
    notebook_bytes: int = 32 * MIB
    notebook_items: int = 2_000_000
    cells: int = 2000
    total_bytes: int = 100 * MIB
    ratio: int = 200
    ratio_from: int = MIB
    depth: int = 16
    name_length: int = 255

    def unpacked(self, packed: int) -> int:
        """Return the most bytes that ``packed`` bytes may become."""
        return max(self.ratio_from, self.ratio * packed)

    def largest(self, path: str) -> int:
        """Return the most bytes that a file of this name may hold."""
        by_suffix = {".py": self.source_bytes, ".ipynb": self.notebook_bytes}
        return by_suffix.get(PurePosixPath(path).suffix.lower(), self.file_bytes)
