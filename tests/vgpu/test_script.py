"""``python -m grader.vgpu``: somebody's script, as it is, on virtual GPUs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.vgpu.__main__ import main
from grader.vgpu.core.machine import installed
from grader.vgpu.timeline import report as pictures

SCRIPT = """
import sys

import torch
from torch import nn

import beside

if __name__ == "__main__":
    model = nn.Linear(4, 2).cuda()
    out = model(torch.ones(3, 4).to("cuda:1" if "wrong" in sys.argv else "cuda:0"))
    print(sys.argv, __file__, tuple(out.shape), out.device, torch.cuda.device_count(), beside.X)
    # Who asks for no picture gets along without what draws one.
    assert not {"grader.report", "matplotlib"} & {*sys.modules} or "alone" not in sys.argv
    if "exit" in sys.argv:
        sys.exit(7)
    if "text" in sys.argv:
        sys.exit("stopped")
    if "full" in sys.argv:
        torch.zeros(2**20, device="cuda")
    if "interrupt" in sys.argv:
        raise KeyboardInterrupt
"""

TWO_HALVES = """
import torch
from deepnets.models import Tower
from torch import nn, optim


class Halves(Tower):
    def __init__(self):
        super().__init__(width=8)
        self.lower.to("cuda:0")
        self.upper.to("cuda:1")

    def forward(self, x):
        return self.upper(self.lower(x.to("cuda:0")).to("cuda:1"))


model = Halves()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
before = model.lower[0].weight.detach().clone()
for _ in range(2):
    optimizer.zero_grad()
    out = model(torch.randn(6, 8))
    nn.MSELoss()(out, torch.randn(6, 3).to(out.device)).backward()
    optimizer.step()
print(out.device, model.lower[0].weight.grad.device, bool((model.lower[0].weight != before).any()))
"""

TOWER = """
from torch import nn


class Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lower = nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU())
        self.upper = nn.Linear(width, 3)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("X = 'imported'\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path / "train.py"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let ``main`` change what a process of its own would keep to itself."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    for name in ("argv", "path", "meta_path"):
        monkeypatch.setattr(sys, name, list(getattr(sys, name)))
    modules = {*sys.modules}
    yield
    for name in {"beside", "deepnets", "deepnets.models", "tower"} - modules:
        sys.modules.pop(name, None)
    machine = installed()
    if machine is not None:
        machine.uninstall()


def test_a_script_runs_unmodified_and_is_told_what_it_did(script: Path) -> None:
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", "--memory", "1GiB", "--trace"]
    done = subprocess.run(
        [*command, script, "--lr", "0.1", "alone"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout
        == f"{[str(script), '--lr', '0.1', 'alone']} {script} (3, 2) cuda:0 2 imported\n"
    )
    assert "addmm" in done.stderr
    assert "cuda:0    takes 512 B" in done.stderr
    # The script never asked for the second one.
    assert "computed nothing" not in done.stderr


@pytest.mark.usefixtures("here")
def test_options_of_the_script_are_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "options.py"
    script.write_text("import sys; print(*sys.argv[1:])")
    given = ["--m", "256", "--gpus", "9", "--no-a", "--lap"]
    assert main(["--gpus", "1", str(script), *given]) == 0
    assert capsys.readouterr().out.split() == given


def test_ctrl_c_ends_the_script_and_shows_what_was_done(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time, torch\ntorch.ones(2).cuda()\nprint('there', flush=True)\ntime.sleep(100)\n"
    )
    command = [sys.executable, "-m", "grader.vgpu", tmp_path / "slow.py"]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "KeyboardInterrupt\n" in told
    assert "cpu   cuda:0       1" in told
    assert "grader" not in told


@pytest.mark.usefixtures("here")
def test_a_model_on_two_gpus_with_a_library_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "halves.py").write_text(TWO_HALVES)
    (tmp_path / "tower.py").write_text(TOWER)
    told = ["--gpus", "2", "--module", "deepnets.models=tower.py", str(tmp_path / "halves.py")]
    assert main(told) == 0
    said = capsys.readouterr()
    assert said.out == "cuda:1 cuda:0 True\n"
    # Two steps: an activation there, its gradient back, and no parameter among them.
    routes = [line.split() for line in said.err.splitlines()]
    assert ["cuda:0", "cuda:1", "2", "384", "B", "0"] in routes
    assert ["cuda:1", "cuda:0", "2", "384", "B", "0"] in routes


@pytest.mark.usefixtures("here")
def test_a_traceback_is_the_scripts_own_and_the_trace_comes_all_the_same(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--gpus", "2", str(script), "wrong"]) == 1
    told = capsys.readouterr().err
    assert "Expected all tensors to be on the same device" in told
    assert f'File "{script}", line 11' in told
    assert "grader" not in told.replace(str(script.parent), "")
    assert "Virtual GPUs: " in told


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("word", "status", "text"),
    [
        ("exit", 7, ""),
        ("text", 1, "stopped\n"),
        ("full", 1, "CUDA out of memory. Tried to allocate 4.00 MiB"),
        ("interrupt", 130, "KeyboardInterrupt\n"),
    ],
)
def test_the_exit_status_is_the_scripts(
    script: Path, word: str, status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--memory", "1MiB", str(script), word]) == status
    assert text in capsys.readouterr().err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "error"), [("def f(:\n", "SyntaxError"), ("import nowhere_at_all\n", "ModuleNotFound")]
)
def test_a_script_that_fails_early_is_python_to_complain_of(
    tmp_path: Path, text: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.py").write_text(text)
    assert main(["--gpus", "2", str(tmp_path / "bad.py")]) == 1
    told = capsys.readouterr().err
    assert error in told
    assert "grader" not in told.replace(str(tmp_path), "")
    assert told.endswith("\nVirtual GPUs: the program did nothing with cuda:0 … cuda:1.\n")


@pytest.mark.usefixtures("here")
def test_nobody_need_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "long.py").write_text("print('x')\n")

    class Gone:
        def write(self, _: str) -> None: ...

        def flush(self) -> None:
            raise BrokenPipeError

        def fileno(self) -> int:
            return fd

    with (tmp_path / "out").open("w") as file:
        fd = file.fileno()
        monkeypatch.setattr(sys, "stdout", Gone())
        assert main([str(tmp_path / "long.py")]) == 0
        file.write("nobody reads this")
    assert (tmp_path / "out").read_text() == ""


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_on_a_timeline_a_script_has_a_cards_time_and_its_picture(
    script: Path, kind: str, start: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = script.parent / f"gpus.{kind}"
    told = ["--gpus", "2", "--timeline", "v100", "--picture", str(file), str(script)]
    assert main(told) == 0
    said = capsys.readouterr().err
    assert "in the time of NVIDIA V100 SXM2 by published figures: " in said
    assert said.endswith(f"\nPicture: {file}\n")
    content = file.read_bytes()
    assert content.startswith(start)
    assert b"train.py on NVIDIA V100 SXM2" in content


LAPS = """
import time

import torch

x = torch.ones(4096, 4096, device="cuda")
(x @ x).sum().item()
start = time.perf_counter()
(x @ x).sum().item()
print(time.perf_counter() - start)
"""


@pytest.mark.usefixtures("here")
def test_a_set_up_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "laps.py").write_text(LAPS)

    def times(*more: str) -> tuple[str, str]:
        told = ["--timeline", "v100", "--no-arithmetic", *more, str(tmp_path / "laps.py")]
        assert main(told) == 0
        installed().uninstall()
        said = capsys.readouterr().err
        (line,) = [line for line in said.splitlines() if " by published figures: " in line]
        return said, line.rpartition(": ")[2]

    said, shown = times("--lap", "1")
    lap = said.partition("\n1: ")[2].partition("\n")[0]
    assert shown == f"{lap}.", "of one run: another one's host takes another time"
    _, whole = times()
    # A product on a V100 takes 8.8 ms: two of them, and one.
    assert float(whole.split()[0]) > 17
    assert 8 < float(lap.split()[0]) < 10
    assert float(times("--skip", "9ms")[1].split()[0]) < 10
    assert "No lap 9: there were 1. All is shown." in times("--lap", "9")[0]


@pytest.mark.usefixtures("here")
def test_a_picture_that_cannot_be_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "idle.py").write_text("print('x')\n")
    (tmp_path / "busy.py").write_text("import torch; print(torch.ones(2).cuda().sum().item())\n")
    (tmp_path / "taken.svg").mkdir()
    told = ["--timeline", "t4", "--no-arithmetic", "--picture", str(tmp_path / "taken.svg")]
    assert main([*told, str(tmp_path / "idle.py")]) == 0
    assert "No picture: nothing ran on a virtual GPU." in capsys.readouterr().err
    installed().uninstall()
    assert main([*told, str(tmp_path / "busy.py")]) == 0
    said = capsys.readouterr()
    assert said.out == "nan\n"
    assert "No picture: [Errno 21] Is a directory" in said.err


def test_without_matplotlib_that_is_told_before_the_script_runs(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="2"):
        main(["--timeline", "t4", "--picture", "x.svg", str(script)])
    assert "--picture: a picture needs matplotlib, which is missing: pip" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--timeline", "v1000", "x.py"), "“v1000” is no device profile; there are a100, h100, "),
        (("--timeline", "t4", "--picture", "x.gif", __file__), "it must end in .svg or .png"),
        (("--timeline", "t4", "--picture", "no/x.svg", __file__), "there is no folder "),
        (("--picture", "x.svg", __file__), "need the time of a card: --timeline v100"),
        (("--no-arithmetic", __file__), "need the time of a card: --timeline v100"),
        (("--chrome-trace", "x.json", __file__), "need the time of a card: --timeline v100"),
        (("--timeline", "t4", "--chrome-trace", "no/x.json", __file__), "there is no folder "),
        (("--lap", "1", __file__), "need the time of a card: --timeline v100"),
        (("--lap", "0", "x.py"), "“0” is no number of a lap"),
        (("--skip", "soon", "x.py"), "“soon” is no time; write a number and a unit"),
        (("nowhere.py",), "there is no file nowhere.py"),
        (("--gpus", "0", "x.py"), "“0” is no number of GPUs"),
        (("--memory", "much", "x.py"), "“much” is no size"),
        (("--module", "torchvision", "x.py"), "“torchvision” is no module with a file"),
        (("--module", "a-b=c.py", "x.py"), "“a-b=c.py” is no module with a file"),
        (("--module", "a.b=c.py", __file__), "there is no file c.py beside"),
    ],
)
def test_wrong_usage_is_told_in_words(
    arguments: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert text in capsys.readouterr().err
    assert installed() is None


STREAMS = """
import torch

x = torch.ones(64, 64).to("cuda:0")
y = (x @ x).to("cuda:1")
with torch.cuda.stream(torch.cuda.Stream(1)):
    print((y + y).sum().item())
"""


def test_what_ran_when_opens_in_perfetto(tmp_path: Path) -> None:
    script, written = tmp_path / "streams.py", tmp_path / "out.json"
    script.write_text(STREAMS)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", "--timeline", "v100"]
    ran = subprocess.run(
        [*command, "--chrome-trace", str(written), str(script)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"Trace: {written} (opens in ui.perfetto.dev)" in ran.stderr
    events = json.loads(written.read_text())["traceEvents"]
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    ran_on = [
        (event["name"], names[event["pid"], event["tid"]]) for event in events if event["ph"] == "X"
    ]
    assert ran_on[:4] == [
        ("copy", "cuda:0 stream 0"), ("mm", "cuda:0 stream 0"), ("copy", "cuda:0 stream 0"),
        ("add", ran_on[3][1]),
    ]  # fmt: skip
    assert ran_on[3][1].startswith("cuda:1 stream ")
    assert ran_on[3][1] != "cuda:1 stream 0"
    spans = [event for event in events if event["ph"] == "X"]
    assert all(event["dur"] > 0 for event in spans)
    product, copy = spans[1:3]
    assert copy["ts"] >= product["ts"] + product["dur"]
    assert copy["args"]["to"] == "cuda:1"
