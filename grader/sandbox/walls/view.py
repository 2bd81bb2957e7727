"""What a guest may read: the system's libraries, the interpreter, and the grader's own package.

Nothing is named here that an instructor or a student put on the machine. ``assignments/``,
``reference/``, ``tests/``, hand-ins and home folders are out, even where the interpreter or the
checkout lies in one of them: only the folders below are, each at its own path.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

from grader.interpreter import package_folders

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
    packages = {Path(name).resolve() for name in _beside_torch()}
    if package.parent not in packages:
        # A checkout is on the path, by an editable install or otherwise: only the package may be
        # seen. Where all packages lie in one folder, it is that.
        paths.discard(package.parent)
    paths |= {package}
    too_wide = [path for path in paths if path == Path("/") or path == _home()]
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


@lru_cache(maxsize=2)
def below(place: str) -> tuple[str, ...]:
    """Return the entries of the folder ``place`` that are, or hold, something of the view.

    A mount on ``place`` hides these, where a checkout or an interpreter lies in ``/tmp``.

    Raises:
        OSError: ``place`` itself is in the view, and cannot be a guest's own as well.
    """
    outer = Path(place)
    paths = [Path(path) for path in (*readable(), *aliases())]
    if covering := [path for path in paths if outer.is_relative_to(path)]:
        raise OSError(f"{covering[0]} is on Python's path, and guests have {place} as scratch")
    inner = {path.relative_to(outer).parts[0] for path in paths if outer in path.parents}
    return tuple(str(outer / name) for name in sorted(inner))


def _beside_torch() -> list[str]:
    return [folder for name, folder in package_folders().items() if name != "grader"]


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        # A container's user need not be in /etc/passwd.
        return None


def _in_system(path: Path) -> bool:
    return Path("/usr") == path or Path("/usr") in path.parents
