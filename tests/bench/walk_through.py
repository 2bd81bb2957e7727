"""What of the package runs on the host to grade one question: what somebody new has to read.

    python tests/bench/walk_through.py [pytorch101] [normalize_columns] [--show]

It runs ``grader grade`` of the reference, without walls and with an empty cache, as a first time,
and counts the functions of the package that are called, and the files they stand in. What student
processes run does not count. ``--show`` prints the calls of each file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections import Counter
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "grader"


def called(command: list[str]) -> set[tuple[str, int, str]]:
    """Return file, line and name of each function of the package that a command calls."""
    seen: set[tuple[str, int, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # The bodies of modules and classes are no functions; lambdas have no name.
        named = code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")
        if event == "call" and named and code.co_filename.startswith(str(PACKAGE)):
            seen.add((code.co_filename, code.co_firstlineno, code.co_name))

    sys.argv = ["grader", *command]
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        from grader.cli import app  # noqa: PLC0415 - what its import calls counts, too

        app.main()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return seen


def main() -> None:
    """Grade, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("assignment", nargs="?", default="pytorch101")
    parser.add_argument("question", nargs="?", default="normalize_columns")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = place
        command = ["grade", args.assignment, str(ROOT / "reference" / args.assignment)]
        command += ["--questions", args.question, "--isolation", "none", "--out", place]
        functions = called(command)
    files = Counter(str(Path(path).relative_to(PACKAGE)) for path, *_ in functions)
    print(f"{args.question}: {len(functions)} functions in {len(files)} files")
    if args.show:
        for path, count in sorted(files.items()):
            print(f"{count:4d} {path}")


if __name__ == "__main__":
    main()
