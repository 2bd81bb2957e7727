"""What the commands take: choices, and arguments with their help texts."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class IsolationChoice(str, Enum):
    """How well submissions must be walled in."""

    auto = "auto"
    full = "full"
    restricted = "restricted"
    none = "none"


class DeviceChoice(str, Enum):
    """Where GPU questions run."""

    auto = "auto"
    cpu = "cpu"
    virtual = "virtual"
    cuda = "cuda"


class ClockChoice(str, Enum):
    """Whether speed is measured."""

    auto = "auto"
    off = "off"


class WithoutChoice(str, Enum):
    """What a course does not have."""

    gpu = "gpu"


class EngineChoice(str, Enum):
    """Who does the work of a batch."""

    local = "local"
    ray = "ray"


AssignmentArg = Annotated[str, typer.Argument(help="Assignment id, or a path to its folder.")]
OutOfBatch = Annotated[Path, typer.Argument(help="--out of `grader batch`.", metavar="DIR")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the reports; made if absent.")]
ClassArg = Annotated[
    Path,
    typer.Argument(
        help="One submission an entry (folder, archive or file), a platform's download, or a .txt "
        "that lists repositories."
    ),
]
JobsOpt = Annotated[
    int | None,
    typer.Option("-j", "--jobs", min=1, help="Submissions at a time; one a core where absent."),
]
EngineOpt = Annotated[
    EngineChoice,
    typer.Option("--engine", help="Processes of this machine (local), or a Ray cluster."),
]
ResumeOpt = Annotated[
    bool, typer.Option("--resume", help="Go on with the batch that was begun in --out.")
]
WatchOpt = Annotated[
    bool,
    typer.Option(
        "--watch", help="Grade what arrives in the folder, until Ctrl-C or SIGTERM; resumes."
    ),
]
ProfileOpt = Annotated[bool, typer.Option("--profile", help="Say at the end where the time went.")]
IsolationOpt = Annotated[
    IsolationChoice, typer.Option("--isolation", help="Sandbox to insist on; auto takes the best.")
]
DeviceOpt = Annotated[
    DeviceChoice,
    typer.Option("--device", help="For GPU questions: real GPUs, else virtual ones (auto)."),
]
SeedOpt = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of all inputs; random where absent.")
]
QuestionsOpt = Annotated[
    str, typer.Option("--questions", help="Ids to grade, separated by commas; all where absent.")
]
ClockOpt = Annotated[
    ClockChoice,
    typer.Option(
        "--clock",
        help="Measure speed last, one submission at a time (auto), or leave its points pending.",
    ),
]
WithoutOpt = Annotated[
    WithoutChoice | None,
    typer.Option(
        "--without",
        help="The course has no GPU: points that wait for one are out of the maximum.",
    ),
]
CacheOpt = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache",
        help="Keep what the reference did; at a terminal, draw new inputs once an hour.",
    ),
]
OnlyPendingOpt = Annotated[
    Path | None,
    typer.Option(
        "--only-pending",
        help="--out of an earlier batch: grade only what waits there for a GPU, and passed the "
        "rest.",
    ),
]
LateOpt = Annotated[
    Path | None, typer.Option("--late", help="What lateness costs, and extensions: YAML.")
]
RosterOpt = Annotated[
    Path | None,
    typer.Option("--roster", help="Who is in the course: a CSV with id or email, and name."),
]


class Language(str, Enum):
    """Languages that students are spoken to in."""

    en = "en"
    ko = "ko"


LanguageOpt = Annotated[
    Language | None,
    typer.Option("--lang", help="Language of the messages; the machine's where absent."),
]
