"""The filter programs, run by a small interpreter of the same instructions."""

from __future__ import annotations

import errno
import struct

import pytest

from grader.sandbox.walls import seccomp
from grader.sandbox.walls.libc import _TABLE, AUDIT_ARCH, number
from grader.sandbox.walls.seccomp import Instruction, Label

ALLOW = 0x7FFF0000
KILL = 0x80000000
DENY = 0x00050000 | errno.EPERM
MISSING = 0x00050000 | errno.ENOSYS
ARCHS = tuple(AUDIT_ARCH)


def run(program: bytes, arch: int, which: int, *args: int) -> int:
    """Interpret a program as the kernel does, for the instructions that are used."""
    padded = [*args, *([0] * (6 - len(args)))]
    data = struct.pack("=iIQ6Q", which, arch, 0, *padded)
    place, accumulator = 0, 0
    while True:
        code, then, otherwise, value = struct.unpack_from("=HBBI", program, place * 8)
        place += 1
        if code == seccomp.RETURN:
            return int(value)
        if code == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("=I", data, value)
            continue
        taken = {
            seccomp.JUMP_EQUAL: accumulator == value,
            seccomp.JUMP_GREATER_EQUAL: accumulator >= value,
            seccomp.JUMP_ANY_BIT: bool(accumulator & value),
        }[code]
        place += then if taken else otherwise


def verdict(program: bytes, arch: str, name: str, *args: int) -> int:
    which = number(name, arch)
    assert which is not None
    return run(program, AUDIT_ARCH[arch], which, *args)


@pytest.mark.parametrize("arch", ARCHS)
def test_every_call_of_the_list_is_denied(arch: str) -> None:
    program = seccomp.build(None, arch=arch)
    for name in seccomp.DENIED:
        if number(name, arch) is not None:
            assert verdict(program, arch, name) == DENY, name
    for name in seccomp.ABSENT:
        assert verdict(program, arch, name) == MISSING, name


@pytest.mark.parametrize("arch", ARCHS)
def test_what_is_not_listed_is_allowed(arch: str) -> None:
    program = seccomp.build(None, arch=arch)
    named = {number(name, arch) for name in _TABLE}
    for which in range(500):
        if which not in named:
            assert run(program, AUDIT_ARCH[arch], which) == ALLOW, which


@pytest.mark.parametrize("arch", ARCHS)
def test_sockets(arch: str) -> None:
    walled = seccomp.build(None, arch=arch)
    looped = seccomp.build(None, loopback=True, arch=arch)
    flat = seccomp.build(77, arch=arch)
    met = [
        [verdict(each, arch, "socket", domain) for domain in (1, 2, 10, 16, 40)]
        for each in (walled, looped, flat)
    ]
    assert met == [
        [ALLOW, DENY, DENY, DENY, DENY],
        [ALLOW, ALLOW, ALLOW, ALLOW, DENY],
        [DENY] * 5,
    ]


@pytest.mark.parametrize("arch", ARCHS)
def test_clone(arch: str) -> None:
    spaces, flat = seccomp.build(None, arch=arch), seccomp.build(77, arch=arch)
    fork, thread, user_namespace = 17, 0x3D0F00, 0x10000000 | 17
    assert [verdict(spaces, arch, "clone", f) for f in (fork, thread, user_namespace)] == [
        ALLOW, ALLOW, DENY,
    ]  # fmt: skip
    assert [verdict(flat, arch, "clone", f) for f in (fork, thread, user_namespace)] == [
        DENY, ALLOW, DENY,
    ]  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("own", [None, 77])
def test_a_timed_process_starts_threads_and_no_processes(arch: str, own: int | None) -> None:
    timed = seccomp.build(own, timed=True, arch=arch)
    thread, fork, vfork = 0x3D0F00, 17, 0x4111
    assert [verdict(timed, arch, "clone", f) for f in (thread, fork, vfork)] == [ALLOW, DENY, DENY]
    assert verdict(timed, arch, "clone3") == MISSING
    for name in ("fork", "vfork"):
        if number(name, arch) is not None:
            assert verdict(timed, arch, name) == DENY


@pytest.mark.parametrize("arch", ARCHS)
def test_flat_processes_signal_and_limit_only_themselves(arch: str) -> None:
    flat = seccomp.build(77, arch=arch)
    assert verdict(flat, arch, "kill", 77, 9) == ALLOW
    for other in (76, 1, 0, 2**32 - 1):
        assert verdict(flat, arch, "kill", other, 9) == DENY
    assert verdict(flat, arch, "prlimit64", 0) == ALLOW
    assert verdict(flat, arch, "prlimit64", 78) == DENY
    assert verdict(flat, arch, "prctl", 1) == DENY
    assert verdict(flat, arch, "prctl", 15) == ALLOW


@pytest.mark.parametrize("arch", ARCHS)
def test_signals_by_way_of_a_descriptor(arch: str) -> None:
    program = seccomp.build(None, arch=arch)
    assert verdict(program, arch, "fcntl", 5, 3) == ALLOW
    assert [verdict(program, arch, "fcntl", 5, f) for f in (8, 10, 15)] == [DENY] * 3
    assert verdict(program, arch, "ioctl", 5, 0x5412) == DENY
    # The kernel looks at the lower half only, and so must the filter.
    assert verdict(program, arch, "fcntl", 5, 8 | 1 << 32) == DENY


def test_other_architectures_and_x32_do_not_come_through() -> None:
    program = seccomp.build(None, arch="x86_64")
    assert run(program, AUDIT_ARCH["aarch64"], 0) == KILL
    assert run(program, 0x40000003, 0) == KILL
    assert run(program, AUDIT_ARCH["x86_64"], 0x40000000 | 41, 2) == MISSING


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(OSError, match="riscv64"):
        number("socket", "riscv64")


def test_a_call_without_numbers_says_where_they_belong() -> None:
    with pytest.raises(KeyError, match=r"no_such: write its numbers into _TABLE in walls/libc\.py"):
        number("no_such")


def test_the_assembler_refuses_jumps_it_cannot_write() -> None:
    far = [Instruction(seccomp.RETURN, 0)] * 300
    with pytest.raises(ValueError, match="'end'"):
        seccomp.assemble([Instruction(seccomp.JUMP_EQUAL, 1, "end"), *far, Label("end")])
    with pytest.raises(ValueError, match="nowhere"):
        seccomp.assemble([Instruction(seccomp.JUMP_EQUAL, 1, "nowhere")])
    with pytest.raises(ValueError, match="back"):
        seccomp.assemble([Label("back"), Instruction(seccomp.JUMP_EQUAL, 1, "back")])
