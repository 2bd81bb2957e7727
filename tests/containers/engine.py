"""A private Docker engine for tests: real containers, without anybody's own engine or registry.

It needs root and two Debian packages: ``apt-get install docker.io debootstrap``. The image is this
machine's own distribution, fetched once from the mirror that apt is set up with and kept under
``build/containers``. Containers have no network. Closing the engine ends its daemon and containers;
what stays is the folder with the image, which ``make clean`` removes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "containers"
PACKAGES = ("python3", "python3-venv", "python3-pip", "libgomp1", "make", "git")
INSTALL = "apt-get install docker.io debootstrap"

COURSE = "/course"
"""Where ``course`` shows the assignments, references and tests in a container."""

_SHOWN = ("assignments", "reference", "tests", "pyproject.toml")

_START_SECONDS = 30.0
_BUILD_SECONDS = 420.0
_ADMINISTRATORS_ONLY = "/usr/sbin:/sbin"


class UnavailableError(Exception):
    """There can be no engine on this machine; says why, in a line."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a container is run.

    Attributes:
        options: Further options of ``docker run``, such as ``--user 1000``.
        mounts: Path on this machine → path in the container, with ``:ro`` to forbid writing.
        image: Name of the image; the engine's own where it is empty.
    """

    options: tuple[str, ...] = ()
    mounts: Mapping[str | Path, str] = field(default_factory=dict)
    image: str = ""


def course() -> dict[str | Path, str]:
    """Return mounts that install torchgrade and its packages as ``pip`` would, and a course.

    Packages are those of this Python, which has to be of the image's version: ``Engine.suits``.
    """
    site = sysconfig.get_path("purelib")
    return {
        site: f"/usr/local/lib/python{_version()}/dist-packages:ro",
        # Not in the folder above: a mount point there would be made on this machine.
        ROOT / "grader": "/usr/lib/python3/dist-packages/grader:ro",
        # Not the whole checkout: the engine's own mounts lie in its folder for what is built.
        **{ROOT / name: f"{COURSE}/{name}:ro" for name in _SHOWN},
    }


class Engine:
    """A running engine; ``opened`` makes one.

    Args:
        socket: Path of its socket.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._number = 0
        self.image = ""

    def run(
        self, command: Sequence[str], setting: Setting, seconds: float = 300.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a new container, and remove the container.

        Args:
            command: Program and arguments.
            setting: How to run it.
            seconds: How long it may take.

        Raises:
            TimeoutError: It took longer, and was ended; says what it had printed.
        """
        self._number += 1
        name = f"torchgrade-{os.getpid()}-{self._number}"
        options = ["--rm", "--network=none", f"--name={name}", *setting.options]
        for here, there in setting.mounts.items():
            options += ["--volume", f"{here}:{there}"]
        arguments = ["run", *options, setting.image or self.image, *command]
        try:
            return self.docker(*arguments, seconds=seconds)
        except subprocess.TimeoutExpired as error:
            self.docker("rm", "--force", name)
            printed = "\n".join(map(_text, (error.stdout, error.stderr)))[-4000:]
            raise TimeoutError(f"{command} took more than {seconds:g} s\n{printed}") from None

    def docker(self, *arguments: str, seconds: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Call ``docker`` on this engine, and return how it ended."""
        command = [_program("docker"), f"--host=unix://{self._socket}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)

    def suits(self) -> None:
        """Make sure that a container runs, with a Python that can use this one's packages.

        Raises:
            UnavailableError: It does not.
        """
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        outcome = self.run(["python3", "-c", asked], Setting())
        if outcome.returncode:
            raise UnavailableError(f"a container does not run: {_last(outcome.stderr)}")
        if (found := outcome.stdout.strip()) != _version():
            raise UnavailableError(
                f"the image has Python {found}, and packages here are {_version()}'s"
            )


@contextmanager
def opened(cache: Path = CACHE) -> Iterator[Engine]:
    """Start an engine with an image, and end it.

    Two that use one folder take turns.

    Args:
        cache: Where the engine keeps its data, the image among it.

    Raises:
        UnavailableError: There is none on this machine; says why.
    """
    if reason := _obstacle():
        raise UnavailableError(reason)
    cache.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = stack.enter_context((cache / "lock").open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        # A socket's path may have some hundred characters; a checkout's may be longer.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="engine-")))
        engine = stack.enter_context(_running(cache / "data", folder))
        engine.image = _image(engine, cache)
        engine.suits()
        yield engine


def _obstacle() -> str:
    if sys.platform != "linux" or os.geteuid() != 0:
        return "an engine of one's own needs Linux and root"
    missing = [name for name in ("dockerd", "docker", "debootstrap") if not _program(name)]
    return f"{', '.join(missing)} not installed: {INSTALL}" if missing else ""


def _program(name: str) -> str:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_ADMINISTRATORS_ONLY}") or ""


@contextmanager
def _running(data: Path, folder: Path) -> Iterator[Engine]:
    socket, log = folder / "socket", folder / "log"
    # Neither firewall rules nor a bridge: it changes nothing of this machine's network.
    options = ["--iptables=false", "--ip6tables=false", "--bridge=none", f"--data-root={data}"]
    options += [f"--exec-root={folder}/exec", f"--pidfile={folder}/pid", f"--host=unix://{socket}"]
    with log.open("w") as printed:
        daemon = subprocess.Popen(
            # Killed without a chance to tidy up, the tests take their engine along.
            ["setpriv", "--pdeathsig=TERM", _program("dockerd"), *options],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
    try:
        engine = Engine(socket)
        _wait(engine, daemon, log)
        yield engine
    finally:
        daemon.terminate()
        daemon.wait(_START_SECONDS)
        # An engine that was killed leaves what it had mounted.
        for place in (data, folder):
            subprocess.run(
                ["umount", "--recursive", "--quiet", place], check=False, capture_output=True
            )


def _wait(engine: Engine, daemon: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while engine.docker("version").returncode:
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise UnavailableError(f"dockerd does not start: {_last(log.read_text())}")
        time.sleep(0.1)


def _image(engine: Engine, cache: Path) -> str:
    """Return the name of the image, which is made if there is none yet."""
    site, suite, components = _mirror()
    recipe = " ".join((suite, *PACKAGES))
    name = f"torchgrade:{suite}-{hashlib.sha256(recipe.encode()).hexdigest()[:8]}"
    if engine.docker("image", "inspect", name).returncode == 0:
        return name
    with tempfile.TemporaryDirectory(prefix="image-", dir=cache) as folder:
        options = [f"--include={','.join(PACKAGES)}", f"--components={components}"]
        command = [_program("debootstrap"), "--variant=minbase", *options, suite, folder, site]
        made = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_BUILD_SECONDS
        )
        if made.returncode:
            raise UnavailableError(f"debootstrap cannot make an image: {_last(made.stdout)}")
        archive = Path(folder).with_suffix(".tar")
        try:
            subprocess.run(["tar", "-C", folder, "-cf", archive, "."], check=True)
            imported = engine.docker("import", str(archive), name, seconds=_BUILD_SECONDS)
        finally:
            archive.unlink(missing_ok=True)
    if imported.returncode:
        raise UnavailableError(f"the image cannot be imported: {_last(imported.stderr)}")
    return name


def _mirror() -> tuple[str, str, str]:
    """Return the mirror that apt is set up with, this machine's release, and its components."""
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    command = ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        raise UnavailableError(
            "the image is made from apt's mirror, and there is no apt here"
        ) from None
    found = [line.split() for line in listed.splitlines()]
    found = [words for words in found if len(words) == 3 and words[1] == suite]
    if not suite or not found:
        raise UnavailableError(f"apt knows no mirror of this machine's release “{suite}”")
    site = found[0][0]
    components = {words[2] for words in found if words[0] == site} & {"main", "universe"}
    return site, suite, ",".join(sorted(components))


def _version() -> str:
    return sysconfig.get_python_version()


def _text(printed: bytes | str | None) -> str:
    # After a time-out these are bytes, text mode or not.
    return printed.decode(errors="replace") if isinstance(printed, bytes) else printed or ""


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][-300:] if lines else "it said nothing"
