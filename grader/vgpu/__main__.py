"""``python -m grader.vgpu [--gpus N] [--memory SIZE] [--trace] [--module NAME=FILE] script.py …``.

Runs a script, as it is, on virtual GPUs, and says at the end what they did.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TypeVar

from grader.vgpu import install
from grader.vgpu.options import parse_count, parse_module, parse_size
from grader.vgpu.show import listing, overview
from grader.vgpu.stand_ins import StandIns

_T = TypeVar("_T")


def run_script(path: Path, arguments: Sequence[str]) -> int:
    """Run a script as ``python script.py …`` would; return its exit status.

    Args:
        path: The script.
        arguments: What it finds in ``sys.argv`` after its own name.
    """
    module = ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    sys.argv[:] = [str(path), *arguments]
    sys.path[0] = str(path.resolve().parent)
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        exec(code, vars(module))  # noqa: S102  running it is what was asked for
    except SystemExit as ended:
        return _status(ended.code)
    except BaseException as error:  # noqa: BLE001  as the interpreter: print, and end with 1
        _print(error, str(path))
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _options(arguments)
    sys.meta_path.insert(0, StandIns(dict(options.module)))
    machine = install(options.gpus, options.memory)
    status = run_script(options.script, options.arguments)
    _flush()
    # Beside what the script prints, which may go into a file or a pipe.
    if options.trace:
        sys.stderr.write("\n" + listing(machine))
    sys.stderr.write("\n" + overview(machine))
    return status


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; what is wrong with it ends the process with 2."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.vgpu", description="Run a script on virtual GPUs."
    )
    parser.add_argument("--gpus", type=_typed(parse_count), default=1, help="how many; 1")
    parser.add_argument("--memory", type=_typed(parse_size), help="of each, such as 8GiB; no limit")
    parser.add_argument("--trace", action="store_true", help="list events one by one as well")
    parser.add_argument(
        "--module", type=_typed(parse_module), action="append", default=[], metavar="NAME=FILE",
        help="a file beside the script that answers to the name of a library's module, where "
        "that library is not installed: torchvision.models.resnet=resnet.py",
    )  # fmt: skip
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="for the script")
    options = parser.parse_args(arguments)
    if not options.script.is_file():
        parser.error(f"there is no file {options.script}")
    for _, file in options.module:
        if not (options.script.parent / file).is_file():
            parser.error(f"--module: there is no file {file} beside {options.script}")
    return options


def _flush() -> None:
    """Write out what the script printed, if somebody still reads it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _typed(parse: Callable[[str], _T]) -> Callable[[str], _T]:
    """Let argparse print a parser's own words instead of the name of its function."""

    def parsed(text: str) -> _T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def _status(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    sys.stderr.write(f"{code}\n")
    return 1


def _print(error: BaseException, script: str) -> None:
    """Print a traceback that begins in the script and leaves out the devices' own frames."""
    own = str(Path(__file__).parent)
    shown = traceback.TracebackException(type(error), error, _from(error.__traceback__, script))
    part: traceback.TracebackException | None = shown
    while part is not None:
        kept = [frame for frame in part.stack if not frame.filename.startswith(own)]
        part.stack = traceback.StackSummary.from_list(kept)
        part = part.__cause__ or part.__context__
    sys.stderr.write("".join(shown.format()))


def _from(trace: TracebackType | None, script: str) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    return trace


if __name__ == "__main__":
    sys.exit(main())
