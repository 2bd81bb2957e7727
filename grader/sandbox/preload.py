"""What a fork-server imports beside torch, so that no guest has to.

Only what an assignment's own files import, and of that only what is known to leave no thread
behind: a fork-server with a second thread is no use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_IMPORT = re.compile(rb"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Preload:
    """What to import.

    Attributes:
        modules: Their names; one that is not installed is left out.
        fonts: Folder in which matplotlib keeps its list of fonts, which may take it five seconds to
            make; empty for none. Its own folder would bring a user's settings along.
    """

    modules: tuple[str, ...] = ()
    fonts: str = ""


NOTHING = Preload()


def preload(files: Iterable[bytes], fonts: str) -> Preload:
    """Return what to import for an assignment.

    Args:
        files: The instructor's Python files.
        fonts: Where a list of fonts may be kept; empty for nowhere.
    """
    names = {name.decode() for text in files for name in _IMPORT.findall(text)}
    found = ("h5py",) if "h5py" in names else ()
    if "matplotlib" in names and fonts:
        return Preload((*found, "matplotlib.pyplot"), fonts)
    return Preload(found)
