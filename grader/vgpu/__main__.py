"""``python -m grader.vgpu [--gpus N] [--nproc N] [--memory SIZE] [--timeline CARD] … script.py …``.

Runs a script, as it is, on virtual GPUs, and says at the end what they did; with ``--timeline`` in
what time, with ``--picture`` in a picture too; with ``--nproc`` in several processes.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, TracebackType
from typing import Any, NoReturn, TypeVar

import torch.distributed

from grader.vgpu import install
from grader.vgpu.advice import Places
from grader.vgpu.core.machine import Shared
from grader.vgpu.magics import (
    parse_count,
    parse_lap,
    parse_module,
    parse_picture,
    parse_ranks,
    parse_size,
    parse_time,
)
from grader.vgpu.memory import MemoryNotes
from grader.vgpu.module_fallbacks import StandIns
from grader.vgpu.processes import (
    Account,
    Signals,
    account_of,
    await_children,
    deaths,
    devices_for_children,
    end_now,
    note_faults,
    read_accounts,
    write_account,
)
from grader.vgpu.show import by_module, chrome_trace, costs, joint_report, laps, listing, summary
from grader.vgpu.timeline import PROFILES, Timed, on_timeline, profile
from grader.vgpu.timeline.measure import NoGpuError, measure, write_profile
from grader.vgpu.timeline.report import PictureError, Report, need_drawing, picture
from grader.vgpu.words import said, wrapped

FOLDER = "TORCHGRADE_VGPU_FOLDER"
"""Names the folder of accounts to a rank that this module has started."""


def launch(ranks: int, arguments: Sequence[str], folder: Path) -> tuple[int, Signals]:
    """Run ``python -m grader.vgpu ARGUMENTS`` once for each rank.

    Returns:
        The exit status, and which ranks a signal has ended.

    Args:
        ranks: How many.
        arguments: The same for all of them.
        folder: Where they leave what they did.

    The first that fails ends the others, as torchrun has it.
    """
    meeting = Meeting()
    shared = {
        **os.environ, **meeting.environment(ranks), FOLDER: str(folder), "GROUP_RANK": "0",
        "LOCAL_WORLD_SIZE": str(ranks),
    }  # fmt: skip
    # As torchrun sets it: ranks that each take all cores slow one another down.
    shared.setdefault("OMP_NUM_THREADS", "1")
    command = [sys.executable, "-m", "grader.vgpu", *arguments]
    started = [
        subprocess.Popen(  # noqa: S603  this very command
            command, env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        )
        for rank in range(ranks)
    ]
    try:
        status = _wait(started)
        ended = [(rank, process) for rank, process in enumerate(started) if process.poll()]
        return status, {
            process.pid: (f"rank {rank}", -process.returncode)
            for rank, process in ended
            if process.returncode < 0
        }
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def _say_deaths(folder: Path, ended: Signals) -> bool:
    """Say which processes a signal has ended, and where; return whether any was."""
    texts = list(deaths(folder, ended))
    sys.stderr.write("".join(f"\n! {text}" for text in texts) + "\n" * bool(texts))
    return bool(texts)


def _wait(started: Sequence[subprocess.Popen[bytes]]) -> int:
    while True:
        ended = [process.poll() for process in started]
        failed = next((status for status in ended if status), 0)
        if failed or None not in ended:
            # As shells report a signal.
            return 128 - failed if failed < 0 else failed
        time.sleep(0.02)


class Meeting:
    """Where ranks find each other: a store in the process that starts them, as torchrun's agent's.

    The system chooses the port while the store opens it, so no other program can take it between;
    and the store is there until the last rank has ended, whichever that is.
    """

    def __init__(self) -> None:
        make: Any = torch.distributed.TCPStore  # type: ignore[attr-defined]
        self._store = make("127.0.0.1", 0, is_master=True, wait_for_workers=False)

    def environment(self, ranks: int) -> dict[str, str]:
        """Return what tells so many ranks about it; each needs its ``RANK`` beside."""
        return {
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self._store.port),
            # With the agent's store rank 0 opens none of its own, at a port that is taken already.
            "WORLD_SIZE": str(ranks), "TORCHELASTIC_USE_AGENT_STORE": "True",
            "TORCHELASTIC_RESTART_COUNT": "0",
        }  # fmt: skip


def torchruns_folder() -> Path | None:
    """Return the folder that the ranks of one torchrun share, made where need be; else None."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    # The parent too: torchrun's id is “none” unless somebody gives one.
    run = (os.environ["TORCHELASTIC_RUN_ID"], os.environ.get("MASTER_PORT", ""), os.getppid())
    folder = Path(tempfile.gettempdir()) / f"torchgrade-{os.getuid()}-{'-'.join(map(str, run))}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def is_last(folder: Path) -> bool:
    """Say that this rank has ended; return whether it was the last of this machine's.

    The last one is reported once: making a folder can succeed only once.
    """
    # Before they are counted: of two that end at once, at least one counts both.
    (folder / f"{os.environ['LOCAL_RANK']}.ended").touch()
    if len(list(folder.glob("*.ended"))) < int(os.environ["LOCAL_WORLD_SIZE"]):
        return False
    with contextlib.suppress(FileExistsError):
        (folder / "reported").mkdir()
        return True
    return False


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
        # dont_inherit: this module's `annotations` import would change the script's own.
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
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["measure"] and not Path("measure").exists():
        return _measure(given[1:])
    options = _options(given)
    if FOLDER in os.environ:
        return _run(options, Path(os.environ[FOLDER]))[0]
    shared = torchruns_folder()
    if shared is not None:
        status = _run(options, shared)[0]
        if is_last(shared):
            _tell(options, read_accounts(shared))
            shutil.rmtree(shared)
        return status
    with TemporaryDirectory(prefix="torchgrade-vgpu-") as name:
        folder, report, ended = Path(name), None, Signals()
        if options.nproc is not None:
            status, ended = launch(options.nproc, given, folder)
        else:
            status, report = _run(options, folder)
        await_children(folder)
        accounts = read_accounts(folder)
        # A process that was ended has left no account: what it did is not known.
        if not _say_deaths(folder, ended) or accounts:
            _tell(options, accounts, report)
    return status


def _measure(arguments: Sequence[str]) -> int:
    """Measure a real GPU, and write its profile."""
    parser = argparse.ArgumentParser(
        prog="vgpu measure", formatter_class=_Help,
        description=said("Measure the GPU of this machine, for --timeline FILE.json."),
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE.json")
    parser.add_argument("--device", type=int, default=0, metavar="N", help=said("which GPU; 0"))
    options = parser.parse_args(arguments)
    if options.file.suffix != ".json":
        parser.error(said("the name of a profile ends with .json"))
    file = _resolved("FILE.json", options.file, parser)
    try:
        write_profile(file, measure(options.device))
    except (NoGpuError, ValueError) as error:
        sys.stderr.write(f"vgpu measure: {error}\n")
        return 2
    sys.stderr.write(said("Profile: {file} (vgpu --timeline {file} train.py)", file=file) + "\n")
    return 0


def _run(options: argparse.Namespace, folder: Path) -> tuple[int, Report | None]:
    """Run the script in this process; leave in a folder what it did.

    Returns:
        Its exit status, and what happened when, if that was on a timeline.
    """
    sys.meta_path.insert(0, StandIns(dict(options.module)))
    machine = install(options.gpus, options.memory)
    machine.shared = Shared(folder, options.timeline, not options.no_arithmetic, options.modules)
    if FOLDER in os.environ:
        note_faults(folder)
    elif not faulthandler.is_enabled():
        # Nobody is left to tell of it: the process says itself where it was.
        faulthandler.enable(all_threads=False)
    report = None
    machine.places = Places()
    notes: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if options.modules:
        machine.memory_notes = MemoryNotes(machine)
        notes = machine.memory_notes.counting()
    with devices_for_children(machine), machine.places.counting(), notes:
        if options.timeline is None:
            status = run_script(options.script, options.arguments)
        else:
            line = on_timeline(options.timeline, arithmetic=not options.no_arithmetic)
            with line:
                status = run_script(options.script, options.arguments)
            report = _report(line, options)
    # Before anything is said here: what the script printed last comes first.
    _flush()
    if options.trace:
        sys.stderr.write("\n" + listing(machine))
    account = account_of(machine)
    if account.events:
        write_account(folder, account)
    return status, report


def _tell(
    options: argparse.Namespace, accounts: Sequence[Account], report: Report | None = None
) -> None:
    """Say what all processes did, beside what the script prints: that may go into a pipe."""
    several = len(accounts) > 1 and options.lap is None
    if options.timeline is not None and (several or report is None):
        report = joint_report(accounts, options.timeline, options.skip)
    devices = [f"cuda:{ordinal}" for ordinal in range(options.gpus)]
    spent = None if options.timeline is None else costs(accounts, options.timeline)
    sys.stderr.write("\n" + summary(accounts, devices, report, spent))
    if options.modules:
        sys.stderr.write("".join(f"\n{text}\n" for text in by_module(accounts)))
    if report is not None and options.picture is not None:
        outcome = _draw(report, options)
        sys.stderr.write(f"\n{outcome}\n")
    if options.chrome_trace is not None:
        try:
            options.chrome_trace.write_text(chrome_trace(accounts, options.timeline), "utf-8")
            there = "Trace: {file} (opens in ui.perfetto.dev)"
            sys.stderr.write(f"\n{said(there, file=options.chrome_trace)}\n")
        except OSError as error:
            sys.stderr.write(f"\n{said('No trace: {error}', error=error)}\n")


def _report(line: Timed, options: argparse.Namespace) -> Report:
    """Return what there is to say of the times: of all, of what came later, or of one lap."""
    found = line.laps
    if found:
        sys.stderr.write("\n" + laps(found, line.repeats.left_out))
    if options.lap is None:
        return line.report(options.skip)
    if options.lap > len(found):
        none = "No lap {lap}: there were {count}. All is shown."
        sys.stderr.write(f"\n{said(none, lap=options.lap, count=len(found))}\n")
        return line.report(options.skip)
    return line.report(*found[options.lap - 1])


def _draw(report: Report, options: argparse.Namespace) -> str:
    """Draw the timeline; return what there is to say of that."""
    file, kind = options.picture
    try:
        drawn = picture(report, f"{options.script.name} on {options.timeline.title}", kind)
        if drawn is None:
            return said("No picture: nothing ran on a virtual GPU.")
        file.write_bytes(drawn)
    except (PictureError, OSError) as error:
        return said("No picture: {error}", error=error)
    return said("Picture: {file}", file=file)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; what is wrong with it ends the process with 2."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.script.is_file():
        parser.error(f"there is no file {options.script}")
    for _, file in options.module:
        if not (options.script.parent / file).is_file():
            parser.error(f"--module: there is no file {file} beside {options.script}")
    timed = (
        options.picture, options.no_arithmetic, options.skip, options.lap, options.chrome_trace
    )  # fmt: skip
    if options.timeline is None and any(timed):
        parser.error(
            "--picture, --chrome-trace, --no-arithmetic, --skip and --lap need the time of a card: "
            "--timeline v100"
        )
    _check_files(options, parser)
    return options


def _check_files(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Make sure that files can be written: now, and not after a script that takes an hour."""
    if options.picture is not None:
        try:
            need_drawing()
        except PictureError as error:
            parser.error(f"--picture: {error}")
        options.picture = _resolved("--picture", options.picture[0], parser), options.picture[1]
    if options.chrome_trace is not None:
        options.chrome_trace = _resolved("--chrome-trace", options.chrome_trace, parser)


def _resolved(option: str, file: Path, parser: argparse.ArgumentParser) -> Path:
    """Return where a file is to be written, for the script may change to another folder."""
    file = file.resolve()
    if not file.parent.is_dir():
        parser.error(f"{option}: there is no folder {file.parent}")
    return file


class _Help(argparse.HelpFormatter):
    """The library's layout; where characters are wide, lines are broken by columns."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        """Add the line that begins with “usage”."""
        super().add_usage(usage, actions, groups, prefix or said("usage: "))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return list(wrapped(text, width))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vgpu", description=said("Run a script on virtual GPUs."),
        allow_abbrev=False,  # or an option of the script's that begins as ours do is refused
        formatter_class=_Help, add_help=False,
    )  # fmt: skip
    parser._positionals.title = said("positional arguments")
    parser._optionals.title = said("options")
    help_text = said("show this help message and exit")
    parser.add_argument("-h", "--help", action="help", help=help_text)
    parser.add_argument("--gpus", type=_typed(parse_count), default=1, help=said("how many; 1"))
    parser.add_argument(
        "--memory", type=_typed(parse_size), help=said("of each, such as 8GiB; no limit")
    )
    parser.add_argument(
        "--nproc", type=_typed(parse_ranks), metavar="N",
        help=said("run the script in so many processes, a rank each, as torchrun does"),
    )  # fmt: skip
    peaks = "say what each module held at the peak: parameters, gradients, activations, …"
    parser.add_argument("--modules", action="store_true", help=said(peaks))
    parser.add_argument("--trace", action="store_true", help=said("list events one by one as well"))
    stand_in = (
        "a file beside the script that answers to the name of a library's module, where that "
        "library is not installed: torchvision.models.resnet=resnet.py"
    )
    parser.add_argument(
        "--module", type=_typed(parse_module), action="append", default=[], metavar="NAME=FILE",
        help=said(stand_in),
    )  # fmt: skip
    parser.add_argument(
        "--timeline", type=_typed(profile), metavar="CARD",
        help=said(
            "tell the time that it takes on such cards: {cards}, or FILE.json of vgpu measure",
            cards=", ".join(PROFILES),
        ),
    )  # fmt: skip
    parser.add_argument(
        "--no-arithmetic", action="store_true",
        help=said("with --timeline: compute nothing; numbers that are read from a GPU are NaN"),
    )  # fmt: skip
    parser.add_argument(
        "--picture", type=_typed(parse_picture), metavar="FILE",
        help=said("with --timeline: draw what each GPU did when, as .svg or .png"),
    )  # fmt: skip
    traced = "with --timeline: write what ran when as .json, which Perfetto and Chrome open"
    parser.add_argument("--chrome-trace", type=Path, metavar="FILE", help=said(traced))
    parser.add_argument(
        "--skip", type=_typed(parse_time), default=0.0, metavar="TIME",
        help=said("with --timeline: leave out what came before, such as a set-up: 2.5s, 300ms"),
    )  # fmt: skip
    parser.add_argument(
        "--lap", type=_typed(parse_lap), metavar="N",
        help=said("with --timeline: show the Nth stretch between two readings of a clock alone"),
    )  # fmt: skip
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=said("for the script"))
    return parser


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


def command() -> NoReturn:
    """Be the command ``vgpu``."""
    end_now(main())


if __name__ == "__main__":
    command()
