"""What a guest may read: the system's libraries, the interpreter, and the grader's own package.

Nothing is named here that an instructor or a student put on the machine. ``assignments/``,
``reference/``, ``tests/``, hand-ins and home folders are out, even where the interpreter or the
checkout lies in one of them: only the folders below are, each at its own path.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders, or links into ``/usr`` where a distribution has merged them."""

FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types")
DEVICES = ("null", "zero", "full", "random", "urandom")
OPTIONAL = ("/sys/devices/system/cpu", "/etc/fonts")
"""What some libraries look at and can do without."""


@lru_cache(maxsize=1)
def folders() -> tuple[str, ...]:
    """Return the folders of the interpreter and of this package, outermost only, by real path.

    Raises:
        OSError: A folder is so wide that binding it would show everything.
    """
    package = Path(__file__).resolve().parents[2]
    paths = {Path(name).resolve() for name in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    paths |= {Path(name).resolve() for name in sys.path if name and Path(name).is_dir()}
    checkout = package.parent
    # An editable install puts the checkout itself on the path: only the package may be seen.
    paths = {path for path in paths if path != checkout} | {package}
    too_wide = [path for path in paths if path == Path("/") or path == Path.home()]
    if too_wide:
        raise OSError(f"{too_wide[0]} is on Python's path; a guest would see all that lies in it")
    inner = {path for path in paths for other in paths if other in path.parents}
    return tuple(sorted(str(path) for path in paths - inner if not _in_system(path)))


@lru_cache(maxsize=1)
def readable() -> tuple[str, ...]:
    """Return all that a guest may read, where it exists; links lead to what is listed anyway."""
    paths = (Path(path) for path in (*SYSTEM, *folders(), *FILES, *OPTIONAL))
    return tuple(str(path) for path in paths if path.exists() and not path.is_symlink())


def aliases() -> tuple[str, ...]:
    """Return paths by which the interpreter's folders are also known, where links lead to them."""
    names = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    return tuple(sorted(name for name in names if str(Path(name).resolve()) != name))


def _in_system(path: Path) -> bool:
    return Path("/usr") == path or Path("/usr") in path.parents
