"""A student process's view: private namespaces, and a root of system, Python and grader.

The view names folders of the system's libraries, of the interpreter and of this package, each at
its own path, read-only. ``assignments/``, ``reference/``, ``tests/``, submissions and home folders
are out, even where the interpreter or the checkout lies in one of them.

Defends against: reading or finding anything that is not in the view, writing anywhere but to the
scratch, filling the disk or its inodes, device files, set-user-ID programs, running files from the
scratch, and leftovers: the scratch goes with the student process. Finding, signalling or tracing
processes outside, reaching any network or the abstract sockets of others, message queues and
segments left for the next student process, and descendants that outlive it: the student process is
process 1 of its namespace, and when it dies the kernel kills all that it ever started before
anybody learns of its death. Does not defend against: reading what is in the view (nothing
secret may be put there), flaws of the kernel itself, or timing observed through shared hardware.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from grader.interpreter import package_folders
from grader.sandbox.walls import libc

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
    packages = {Path(name).resolve() for name in _beside_torch()}
    searched = {Path(name).resolve() for name in sys.path if name and Path(name).is_dir()}
    # torch 2.6 puts such a folder on the path as it is imported.
    paths |= {path for path in searched if path in packages or not _made_private(path)}
    if package.parent not in packages:
        # A checkout is on the path, by an editable install or otherwise: only the package may be
        # seen. Where all packages lie in one folder, it is that.
        paths.discard(package.parent)
    paths |= {package}
    too_wide = [path for path in paths if path == Path("/") or path == _home()]
    if too_wide:
        raise OSError(f"{too_wide[0]} is on Python's path; student processes would see all of it")
    inner = {path for path in paths for other in paths if other in path.parents}
    return tuple(sorted(str(path) for path in paths - inner if not _in_system(path)))


@lru_cache(maxsize=1)
def readable() -> tuple[str, ...]:
    """Return all that a student process may read and that exists; links lead to listed paths."""
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
        OSError: ``place`` itself is in the view, and cannot be a student process's own as well.
    """
    outer = Path(place)
    paths = [Path(path) for path in (*readable(), *aliases())]
    if covering := [path for path in paths if outer.is_relative_to(path)]:
        raise OSError(f"{covering[0]} is on Python's path, but {place} is every process's scratch")
    inner = {path.relative_to(outer).parts[0] for path in paths if outer in path.parents}
    return tuple(str(outer / name) for name in sorted(inner))


def _beside_torch() -> list[str]:
    return [folder for name, folder in package_folders().items() if name != "grader"]


def _made_private(path: Path) -> bool:
    """Tell whether a folder is one that ``tempfile`` made for this process alone.

    Another user may not open it, whatever shows it; nobody needs anything that lies there.
    """
    return path.parent == Path(tempfile.gettempdir()).resolve() and not path.stat().st_mode & 0o077


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        # A container's user need not be in /etc/passwd.
        return None


def _in_system(path: Path) -> bool:
    return Path("/usr") == path or Path("/usr") in path.parents


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

SCRATCH = "/tmp"  # noqa: S108  a private mount in the process's own view
SHARED_MEMORY = "/dev/shm"  # noqa: S108  likewise
INODES = 20_000
"""Files and folders that a scratch may hold."""

# Made up: the host's own would tell who its users are and what its network is called.
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
        below(place)  # Refuses what no student process could be given, before anything is mounted.
    # Private, or every mount from here on would propagate to the host.
    mount("", "/", "", MS_REC | MS_PRIVATE)
    # Cloned before the new root is mounted: what it covers could not be reached any more.
    trees = {f"/dev/{name}": _clone(f"/dev/{name}", 0) for name in DEVICES}
    trees |= {path: _clone(path, 0) for path in nodes if Path(path).exists()}
    outside = [path for path in optional if not path.startswith("/proc") and Path(path).exists()]
    for path in (*readable(), *outside):
        may_lack = path in OPTIONAL or path in outside
        with contextlib.suppress(OSError) if may_lack else contextlib.nullcontext():
            trees[path] = _clone(path, _ATTR_NODEV)
    links = {path: str(Path(path).readlink()) for path in SYSTEM if Path(path).is_symlink()}
    links |= {path: str(Path(path).resolve()) for path in aliases()}
    root = SCRATCH
    mount("none", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=4096,mode=755")
    for path, tree in trees.items():
        _attach(tree, root + path)
    _furnish(Path(root), links)
    mount("none", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.chdir(root)
    libc.syscall("pivot_root", b".", b".")
    # Until this the old root is still reachable below the new one, with all files of the host.
    libc.syscall("umount2", b".", MNT_DETACH, about="the old root")
    os.chdir("/")
    # Read-only last: the folders and links of the view had to be written first.
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
        clones = {path: _clone(path, _ATTR_NODEV) for path in below(target)}
        mount("none", target, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
        for path, tree in clones.items():
            _attach(tree, path)


def mount_proc() -> None:
    """Mount the processes of this PID namespace.

    Raises:
        OSError: It was refused, as in a container that covers parts of ``/proc``.
    """
    # Not read-only: a user namespace of the student process's own is set up by writing here. What
    # is below /proc/sys belongs to a root that the student process is not.
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


KINDS = ("mnt", "pid", "net", "ipc")
_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x1 | 0x40


def current_namespaces() -> dict[str, str]:
    """Return kind → identity of the namespaces that this process is in."""
    namespaces = {}
    for kind in KINDS:
        try:
            namespaces[kind] = os.readlink(f"/proc/self/ns/{kind}")  # noqa: PTH115  milliseconds count
        except OSError:  # noqa: PERF203
            namespaces[kind] = "unknown"
    return namespaces


def enter_namespaces(flags: int) -> None:
    """Move this process (for PIDs: its next child) into new namespaces.

    Raises:
        OSError: The kernel or the container does not allow it.
    """
    libc.syscall("unshare", flags, about=hex(flags))


def enter_user_namespace() -> None:
    """Enter a new user namespace with this user, and only this one, mapped to itself.

    Raises:
        OSError: User namespaces are forbidden here.
    """
    uid, gid = os.geteuid(), os.getegid()
    # A process that is not dumpable does not own its own /proc files and could not write its map.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    enter_namespaces(libc.CLONE_NEWUSER)
    # The kernel refuses the map of groups of an ordinary user until this is written.
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def become_first_process() -> None:
    """Fork so that the child is process 1 of a new PID namespace, and return only in the child.

    The parent waits for it and ends as it ended. The child dies with the parent.

    Raises:
        OSError: PID namespaces are forbidden here.
    """
    enter_namespaces(libc.CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        # As process 1 it takes its whole namespace along, so nothing outlives a parent that was
        # killed.
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    # The control socket must be the child's alone, or the host would not see it die.
    os.closerange(3, 256)
    _, status = os.waitpid(child, 0)
    # Not sys.exit: exit handlers and buffers are those of the process that was forked.
    os._exit(min(os.waitstatus_to_exitcode(status) % 256, 255))


def raise_loopback() -> None:
    """Bring up ``lo`` in a private network namespace.

    Raises:
        OSError: It could not be done.
    """
    request = struct.pack("16sh14x", b"lo", _IFF_UP_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFFLAGS, request)


def _write(path: str, text: str) -> None:
    # A map may be written once and in one call; buffered files do not promise that.
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
