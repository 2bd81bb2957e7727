"""Mounts: a root of our own that holds what ``view`` names, read-only, and a sized scratch.

Defends against: reading or finding anything that is not in the view, writing anywhere but to the
scratch, filling the disk or its inodes, device files, set-user-ID programs, running files from the
scratch, and leftovers: the scratch goes with the guest.
Does not defend against: reading what is in the view. Nothing secret may be put there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox.walls import libc, view

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_ATTR_RDONLY = 1
_ATTR_NOSUID = 2
_ATTR_NODEV = 4

SCRATCH = "/tmp"  # noqa: S108  a private mount in the guest's own view
SHARED_MEMORY = "/dev/shm"  # noqa: S108  likewise
INODES = 20_000
"""Files and folders that a scratch may hold."""

_ETC = {
    "passwd": "root:x:0:0::/:/bin/false\nnobody:x:65534:65534::/tmp:/bin/false\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost guest\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Call ``mount(2)``.

    Raises:
        OSError: It failed; the message names the target.
    """
    parts = (source.encode(), target.encode(), kind.encode())
    libc.syscall("mount", *parts, flags, data.encode(), about=target)


def build_root(nodes: Sequence[str] = (), optional: Sequence[str] = ()) -> None:
    """Replace the root of this process's mount namespace by a read-only view.

    Args:
        nodes: Device nodes that are in it beside those that everybody needs, where they exist.
        optional: Further paths that are in it, where they exist.

    Raises:
        OSError: A mount was refused; the message names it.
    """
    for place in (SCRATCH, SHARED_MEMORY):
        view.below(place)  # Refuses what no guest could be given, before anything is mounted.
    mount("", "/", "", MS_REC | MS_PRIVATE)
    # Cloned before the new root is mounted: what it covers could not be reached any more.
    trees = {f"/dev/{name}": _clone(f"/dev/{name}", 0) for name in view.DEVICES}
    trees |= {path: _clone(path, 0) for path in nodes if Path(path).exists()}
    outside = [path for path in optional if not path.startswith("/proc") and Path(path).exists()]
    for path in (*view.readable(), *outside):
        may_lack = path in view.OPTIONAL or path in outside
        with contextlib.suppress(OSError) if may_lack else contextlib.nullcontext():
            trees[path] = _clone(path, _ATTR_NODEV)
    links = {path: str(Path(path).readlink()) for path in view.SYSTEM if Path(path).is_symlink()}
    links |= {path: str(Path(path).resolve()) for path in view.aliases()}
    root = SCRATCH
    mount("none", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=4096,mode=755")
    for path, tree in trees.items():
        _attach(tree, root + path)
    _furnish(Path(root), links)
    mount("none", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.chdir(root)
    libc.syscall("pivot_root", b".", b".")
    libc.syscall("umount2", b".", MNT_DETACH, about="the old root")
    os.chdir("/")
    mount("", "/", "", MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, "size=1m,mode=755")


def mount_scratch(size: int, owner: int) -> None:
    """Mount an empty private scratch and shared memory, each of at most ``size`` bytes.

    What the view has below either stays, read-only: an interpreter hidden here would fail honest
    code at its next late import. It is the outermost folder that is mounted again, as no mount
    point can be renamed or removed; a plain folder above one could be, by the scratch's owner.

    Args:
        size: In bytes.
        owner: UID and GID that may write to them.

    Raises:
        OSError: A mount was refused.
    """
    options = f"size={size},nr_inodes={INODES},mode=700,uid={owner},gid={_gid(owner)}"
    for target in (SCRATCH, SHARED_MEMORY):
        # Cloned first: what the scratch covers cannot be reached any more.
        kept = {path: _clone(path, _ATTR_NODEV) for path in view.below(target)}
        mount("none", target, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
        for path, tree in kept.items():
            _attach(tree, path)


def mount_proc() -> None:
    """Mount the processes of this PID namespace.

    Raises:
        OSError: It was refused, as in a container that covers parts of ``/proc``.
    """
    # Not read-only: a user namespace of the guest's own is set up by writing here. What is below
    # /proc/sys belongs to a root that the guest is not.
    mount("none", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _gid(owner: int) -> int:
    # A user keeps the own group; a slot's group has the same number as its user.
    return os.getegid() if owner == os.geteuid() else owner


def _clone(path: str, extra: int) -> int:
    """Return a descriptor of a detached, recursive, read-only copy of the mounts at ``path``."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    tree = libc.syscall("open_tree", _AT_FDCWD, path.encode(), flags, about=path)
    attributes = struct.pack("QQQQ", _ATTR_RDONLY | _ATTR_NOSUID | extra, 0, 0, 0)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    how = _AT_EMPTY_PATH | _AT_RECURSIVE
    libc.syscall("mount_setattr", tree, b"", how, buffer, len(attributes), about=path)
    return tree


def _attach(tree: int, target: str) -> None:
    place = Path(target)
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if stat.S_ISDIR(os.fstat(tree).st_mode):
        place.mkdir(mode=0o755, exist_ok=True)
    else:
        place.touch()
    where = target.encode()
    flags = _MOVE_MOUNT_F_EMPTY_PATH
    libc.syscall("move_mount", tree, b"", _AT_FDCWD, where, flags, about=target)
    os.close(tree)


def _furnish(root: Path, links: dict[str, str]) -> None:
    for path, goal in links.items():
        link = Path(f"{root}{path}")
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists() and not link.is_symlink():
            link.symlink_to(goal)
    for name in ("proc", "tmp", "dev/shm", "etc"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "dev/fd").symlink_to("/proc/self/fd")
    for name, text in _ETC.items():
        (root / "etc" / name).write_text(text, encoding="ascii")
