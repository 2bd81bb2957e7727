"""System calls by ctypes; a failure is an ``OSError`` that names the call."""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Any

from grader.sandbox.walls.numbers import number

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

PR_SET_PDEATHSIG = 1
PR_GET_PDEATHSIG = 2
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4


class CallError(OSError):
    """A system call failed.

    Attributes:
        call: Its name, and what it was done to.
    """

    call = ""


def error_name(error: OSError) -> str:
    """Return ``EACCES`` and the like."""
    return errno.errorcode.get(error.errno or 0, f"errno {error.errno}")


def syscall(name: str, *args: Any, about: str = "") -> int:
    """Make a system call by name.

    Args:
        name: A key of the table in ``numbers``.
        args: Integers, bytes, None or ctypes objects.
        about: What it was done to, for the message of a failure.

    Raises:
        OSError: The call failed; the message names it.
    """
    which = number(name)
    if which is None:
        raise OSError(errno.ENOSYS, f"{name}: not on this architecture")
    result = int(_libc.syscall(ctypes.c_long(which), *(_argument(item) for item in args)))
    if result < 0:
        raise _failure(name, about)
    return result


def prctl(option: int, value: int = 0, third: int = 0) -> int:
    """Make a ``prctl`` call and return what it returned.

    Raises:
        OSError: It failed.
    """
    result = int(_libc.prctl(option, *(ctypes.c_ulong(item) for item in (value, third, 0, 0))))
    if result < 0:
        raise _failure("prctl", str(option))
    return result


def parent_death_signal() -> int:
    """Return the signal that this process gets when its parent dies; 0 for none."""
    value = ctypes.c_int(0)
    if _libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(value), 0, 0, 0) < 0:
        raise _failure("prctl", "PR_GET_PDEATHSIG")
    return value.value


def _argument(item: Any) -> Any:
    return ctypes.c_long(item) if isinstance(item, int) else item


def _failure(call: str, about: str) -> CallError:
    code = ctypes.get_errno()
    where = f"{call} {about}".strip()
    error = CallError(code, f"{where}: {os.strerror(code)}")
    error.call = where
    return error
