"""``make setup`` takes torch's CPU build where there is no GPU, and never fails for want of it."""

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import threading
import venv
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pip
import pytest
from gpu.builds import driver_version
from pip_index import wheel

from grader.authoring.platform_dry_run import CPU_INDEX

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci/light_torch.py"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without torch, with the pip of this one."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "pip.pth").write_text(f"{_pip_alone(site, Path(pip.__file__).parent)}\n")
    return folder / "bin/python"


def _pip_alone(site: Path, pip: Path) -> Path:
    beside = site.parents[2] / "pip_alone"
    beside.mkdir()
    (beside / "pip").symlink_to(pip)
    return beside


def fetched(python: Path, index: str, folder: Path, pin: str = "torch==2.13.0\n") -> str:
    """Run the script with another index; return what it says."""
    (folder / "pins").write_text(pin)
    code = (
        "import runpy, sys\n"
        f"found = runpy.run_path({str(SCRIPT)!r}, run_name='light_torch')\n"
        "from pathlib import Path\n"
        "found['main'](Path(sys.argv[1]), sys.argv[2])\n"
    )
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        [str(python), "-c", code, str(folder / "pins"), index],
        env={**environment, "PIP_CONFIG_FILE": os.devnull, "no_proxy": "127.0.0.1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pip's usual build is small here")
@pytest.mark.skipif(bool(driver_version()), reason="this machine has a GPU")
def test_it_fetches_the_small_build_once_and_says_so(empty: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "index", "torch", "2.13.0+cpu", "filelock")
    index = (tmp_path / "index").as_uri()
    said = fetched(empty, index, tmp_path)
    assert "fetching torch 2.13.0 for CPUs (about 200 MB)" in said
    listed = subprocess.run(
        [str(empty), "-m", "pip", "list", "--format", "freeze"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "torch==2.13.0+cpu" in listed.stdout


@pytest.mark.skipif(bool(driver_version()), reason="this machine has a GPU")
def test_where_it_cannot_be_had_the_usual_index_serves(empty: Path, tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("pip's usual build is small here")
    said = fetched(empty, (tmp_path / "nowhere").as_uri(), tmp_path, "torch==9.9.9\n")
    assert "torch's own index cannot be read (" in said
    assert "pip's usual index serves" in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pip's usual build is small here")
@pytest.mark.skipif(bool(driver_version()), reason="this machine has a GPU")
def test_an_index_that_answers_is_not_said_to_be_out_of_reach(empty: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "index", "torch", "2.13.0+cpu", "filelock")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "index"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        index = f"http://127.0.0.1:{server.server_port}"
        said = fetched(empty, index, tmp_path, "torch==9.9.9\n")
        server.shutdown()
    assert "index answers, but pip took no torch 9.9.9 from it (No matching distribution" in said
    assert "cannot be read" not in said
    assert "pip's usual index serves" in said
    # Nothing listens there any more, and pip says the same.
    said = fetched(empty, index, tmp_path, "torch==9.9.9\n")
    assert "torch's own index cannot be read (" in said


def test_nothing_is_fetched_where_torch_is(tmp_path: Path) -> None:
    assert fetched(Path(sys.executable), (tmp_path / "nowhere").as_uri(), tmp_path) == ""


def test_it_asks_the_index_that_packs_ask() -> None:
    assert f'INDEX = "{CPU_INDEX}"' in SCRIPT.read_text(encoding="utf-8")


def test_for_a_gpu_it_says_how_much_is_to_come(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(SCRIPT), run_name="light_torch")["main"]
    monkeypatch.setitem(main.__globals__, "driver_version", lambda: "580.65.06")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "pins").write_text("torch==2.13.0\n")
    main(tmp_path / "pins", "nowhere")
    said = "A GPU is here: torch 2.13.0 for it (about 3 GB) comes from the usual index.\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("broken", [False, True], ids=["uv", "uv that fails"])
def test_uv_installs_where_it_is_and_pip_where_it_cannot(tmp_path: Path, broken: bool) -> None:
    """Make runs stand-ins that note what they are asked for."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    noted = tmp_path / "noted"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".ci").mkdir()
    for name in ("constraints.txt", "light_torch.py"):
        (tmp_path / ".ci" / name).touch()
    # What `python -m venv` makes is there already; this Python only notes.
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for path, status in (("uv", int(broken)), (".venv/bin/python", 0), (".venv/bin/grader", 0)):
        program = f'#!/bin/sh\necho "{Path(path).name} $*" >> "{noted}"\nexit {status}\n'
        (tmp_path / path).write_text(program)
        (tmp_path / path).chmod(0o755)
    asked = ["make", "-s", "setup", "PYTHON=true", f"UV={tmp_path / 'uv'}"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wanted = "--constraint .ci/constraints.txt --editable .[dev]"
    calls = [line for line in noted.read_text().splitlines() if line.endswith(wanted)]
    assert [call.split()[0] for call in calls] == (["uv", "python"] if broken else ["uv"])
