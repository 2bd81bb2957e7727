"""Two copies of shared folders follow each other, whatever one side does to its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.wire import shared
from grader.wire.shared import Folder
from grader.wire.values import ProtocolError

NAMES = ("shared-1", "shared-2")


class Side:
    """One process: its scratch and its copies."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.folder = scratch, Folder(scratch)
        for name in NAMES:
            (scratch / name).mkdir(parents=True)

    def tell(self, other: Side) -> dict[str, shared.Buffer | None]:
        found = self.folder.changed(NAMES)
        other.folder.take(found, NAMES)
        return found

    def write(self, path: str, text: str = "x") -> None:
        target = self.scratch / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    @property
    def content(self) -> dict[str, str]:
        found = (path for path in self.scratch.rglob("*") if path.is_file())
        return {path.relative_to(self.scratch).as_posix(): path.read_text() for path in found}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Side, Side]:
    return Side(tmp_path / "one"), Side(tmp_path / "other")


def changes(side: Side, root: Path) -> None:
    side.write("shared-1/a", "other")


def removes(side: Side, root: Path) -> None:
    (root / "a").unlink()


def renames(side: Side, root: Path) -> None:
    (root / "a").rename(root / "b")


def folder_for_file(side: Side, root: Path) -> None:
    (root / "a").unlink()
    side.write("shared-1/a/inner")


def file_for_folder(side: Side, root: Path) -> None:
    shutil.rmtree(root / "deep")
    side.write("shared-1/deep")


def everything(side: Side, root: Path) -> None:
    shutil.rmtree(root)


def link_for_file(side: Side, root: Path) -> None:
    (root / "a").unlink()
    (root / "a").symlink_to("/etc/hostname")


@pytest.mark.parametrize(
    "act",
    [changes, removes, renames, folder_for_file, file_for_folder, everything, link_for_file],
)
def test_what_one_side_does_the_other_does_too(
    sides: tuple[Side, Side], act: Callable[[Side, Path], None]
) -> None:
    one, other = sides
    for path in ("shared-1/a", "shared-1/deep/er/c", "shared-2/kept"):
        one.write(path)
    one.tell(other)
    assert other.content == one.content

    act(other, other.scratch / "shared-1")
    told = other.tell(one)

    assert "shared-2/kept" not in told
    plain = {path: text for path, text in other.content.items() if not is_link(other, path)}
    assert one.content == plain
    assert other.tell(one) == one.tell(other) == {}


def is_link(side: Side, path: str) -> bool:
    return (side.scratch / path).is_symlink()


def test_a_file_that_is_gone_leaves_room(
    sides: tuple[Side, Side], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "MAX_FILES", 2)
    one, other = sides
    for name in "abcd":
        one.write(f"shared-1/{name}")
        one.tell(other)
        (one.scratch / f"shared-1/{name}").unlink()
    assert one.tell(other) == {"shared-1/d": None}
    assert other.content == {}


def test_what_was_refused_was_not_told(
    sides: tuple[Side, Side], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = sides
    monkeypatch.setattr(shared, "MAX_FILES", 2)
    for name in "abc":
        one.write(f"shared-1/{name}")
    with pytest.raises(ProtocolError, match="3 shared files"):
        one.tell(other)
    (one.scratch / "shared-1/b").unlink()
    assert one.tell(other).keys() == {"shared-1/a", "shared-1/c"}
