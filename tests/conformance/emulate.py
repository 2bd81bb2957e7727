"""Runs a command as another environment would: ``python emulate.py ENVIRONMENT COMMAND…``.

Needs root with CAP_SYS_ADMIN. The command sees the interpreter at its own path even where that
lies in a folder closed to other users.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from grader.sandbox.walls import libc, privileges, seccomp, view

NOBODY = 65534
# What Docker leaves to root in a container that was started without options.
DOCKER_CAPABILITIES = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}
DOCKER_DENIED = (
    "mount", "umount2", "unshare", "setns", "pivot_root", "fsopen", "fsmount", "fsconfig", "fspick",
    "move_mount", "open_tree", "mount_setattr", "bpf", "perf_event_open", "userfaultfd", "keyctl",
    "add_key", "request_key", "open_by_handle_at", "kexec_load", "init_module", "reboot", "acct",
)  # fmt: skip
LANDLOCK = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
ENOSYS = 38


def expose_interpreter() -> None:
    view.enter_namespaces(libc.CLONE_NEWNS)
    view.mount("", "/", "", view.MS_REC | view.MS_PRIVATE)
    folders = view.folders()
    closed = {
        parent
        for folder in folders
        for parent in Path(folder).parents
        if not parent.stat().st_mode & 0o001
    }
    outermost = {path for path in closed if not closed & set(path.parents)}
    for path in outermost:
        inside = [folder for folder in folders if path in Path(folder).parents]
        trees = {folder: view._clone(folder, 0) for folder in inside}
        view.mount("none", str(path), "tmpfs", 0, "mode=755,size=1m")
        for folder, tree in trees.items():
            view._attach(tree, folder)


def filtered(denied: tuple[str, ...], code: int = 1, namespaces_too: bool = False) -> None:
    program = seccomp.Filter(seccomp.machine())
    for name in denied:
        program.deny(name, code)
    if namespaces_too:
        program.deny("clone3", ENOSYS)
        program.bits("clone", seccomp._NAMESPACES, allowed=False)
    seccomp.install(program.finish())


def become_docker_root() -> None:
    filtered(DOCKER_DENIED, namespaces_too=True)
    for capability in range(64):
        if capability not in DOCKER_CAPABILITIES:
            try:
                libc.prctl(libc.PR_CAPBSET_DROP, capability)
            except OSError:
                break
    # Held capabilities shrink to the bounding set at exec, which comes next.


def become_nobody() -> None:
    privileges.become(NOBODY)
    os.environ["HOME"] = "/tmp"


def main() -> None:
    environment, command = sys.argv[1], sys.argv[2:]
    expose_interpreter()
    if environment == "docker":
        become_docker_root()
    elif environment == "nobody":
        become_nobody()
    elif environment == "no-userns":
        filtered(("unshare",), namespaces_too=True)
        become_nobody()
    elif environment == "no-landlock":
        filtered(LANDLOCK, ENOSYS)
    elif environment == "nothing":
        filtered((*LANDLOCK, "unshare"), ENOSYS, namespaces_too=True)
        become_nobody()
    elif environment != "root":
        raise SystemExit(f"unknown environment {environment}; see main() in {__file__}")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
