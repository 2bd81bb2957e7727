"""Landlock: what may be opened, made and removed is a list, and everything else is refused.

Defends against: opening, listing, making, renaming or removing anything outside the list, even for
a process that gained the right user or a descriptor-free path to it; device calls (ABI 5), binding
and connecting TCP (ABI 4), abstract sockets and signals outwards (ABI 6).
Does not defend against: ``stat`` of hidden paths, ``chdir`` to them, and files already open: the
kernel does not mediate these. Before ABI 6 neither signals; seccomp has a rule for them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable

from grader.sandbox.walls import libc

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REMOVE_DIR = 1 << 4
REMOVE_FILE = 1 << 5
MAKE_DIR = 1 << 7
MAKE_REG = 1 << 8
MAKE_SOCK = 1 << 9
MAKE_SYM = 1 << 12
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
OPEN = READ_FILE | WRITE_FILE | TRUNCATE
# No device nodes or named pipes: the proof makes a pipe, which nothing but Landlock refuses.
WRITE = READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK
WRITE |= MAKE_SYM | REFER

_ONLY_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


def abi() -> int:
    """Return the kernel's Landlock version; 0 where it is absent, off or forbidden."""
    try:
        return libc.syscall("landlock_create_ruleset", None, 0, _CREATE_VERSION)
    except OSError:
        return 0


class Ruleset:
    """Rules under construction.

    Args:
        version: The kernel's ABI, 1 or more.
        tcp: Leave TCP alone, for a student process with a network namespace of its own.
    """

    def __init__(self, version: int, tcp: bool = False) -> None:
        # All rights that this kernel knows are handled; a right that is not handled is allowed
        # everywhere.
        rights = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
        self._handled = (1 << rights) - 1
        network = 0b11 if version >= 4 and not tcp else 0
        scoped = 0b11 if version >= 6 else 0
        attributes = struct.pack("QQQ", self._handled, network, scoped)
        # A shorter structure is how an older kernel is told that the rest is not asked for.
        size = 8 if version < 4 else 16 if version < 6 else 24
        buffer = ctypes.create_string_buffer(attributes, len(attributes))
        self._fd = libc.syscall("landlock_create_ruleset", buffer, size, 0)

    def allow(self, paths: Iterable[str], access: int) -> None:
        """Allow ``access`` at and below each path; paths that do not exist are passed over.

        Raises:
            OSError: The kernel refused a rule.
        """
        for path in paths:
            try:
                # O_PATH names a thing without opening it: a device sees nothing, and no right to
                # read is needed.
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            # No rule is needed for these: what no rule allows is refused.
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EACCES, errno.ENOTDIR):
                    continue
                raise
            try:
                folder = stat.S_ISDIR(os.fstat(fd).st_mode)
                # The kernel refuses a rule on a file with a right that only folders have.
                rights = access if folder else access & _ONLY_FILES
                rule = struct.pack("=Qi", rights & self._handled, fd)
                buffer = ctypes.create_string_buffer(rule, len(rule))
                add = ("landlock_add_rule", self._fd, _RULE_PATH_BENEATH, buffer, 0)
                libc.syscall(*add, about=path)
            finally:
                os.close(fd)

    def enforce(self) -> None:
        """Hold this process, and all that it starts, to the rules for good.

        Raises:
            OSError: ``no_new_privs`` is not set, or Landlock is off.
        """
        libc.syscall("landlock_restrict_self", self._fd, 0)
        os.close(self._fd)
