"""A package index on this machine, of empty packages."""

from __future__ import annotations

import zipfile
from pathlib import Path


def wheel(index: Path, name: str, version: str, *requires: str) -> None:
    """Put an empty package into a folder that pip takes for an index."""
    folder = index / name
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {required}\n" for required in requires)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{info}/METADATA", metadata)
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    links = "".join(
        f'<a href="{each.name.replace("+", "%2B")}">{each.name}</a>\n'
        for each in folder.glob("*.whl")
    )
    (folder / "index.html").write_text(links)
