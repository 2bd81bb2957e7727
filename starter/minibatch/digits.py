"""Rendered images of the digits 3 and 7: a stand-in for the MNIST sample of the lecture.

Nothing is downloaded. Each image is drawn from strokes as a pen would draw them, with the size,
slant, turn, pen and place of a hand of its own, and has the format of the real ones: 28 × 28
brightnesses in a row of 784 numbers from 0 to 1. The same seed gives the same images (on another
processor one may differ by a grey level).

``load()`` gives the whole set, in the lecture's sizes. If a file ``digits.npz`` lies beside this
one, its arrays ``x`` (n, 784), uint8, and ``y`` (n,), 1 for a three, are used instead: that is how
to work with real images.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

SEVENS, THREES = 6265, 6131
SIDE = 28
_VERSION = 1
_CHUNK = 256


def load() -> tuple[np.ndarray, np.ndarray]:
    """Return all images and labels: the sevens first, then the threes.

    The first call draws them, which takes a few seconds, and keeps them in the user's cache folder.

    Returns:
        ``X`` of shape (12396, 784), float32, from 0 to 1, and ``y`` of shape (12396, 1), float32: 0
        for a seven, 1 for a three.
    """
    own = Path(__file__).with_name("digits.npz")
    if own.is_file():
        return _as_floats(*_read(own))
    kept = _cache() / f"digits-{_VERSION}.npz"
    try:
        images, labels = _read(kept)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        labels = np.repeat([0, 1], [SEVENS, THREES])
        images = render(labels, seed=0)
        _keep(kept, images, labels)
    return _as_floats(images, labels)


def render(labels: np.ndarray, seed: int) -> np.ndarray:
    """Draw one image for each label.

    Args:
        labels: Shape (n,), 0 for a seven, 1 for a three.
        seed: Another seed, other hands.

    Returns:
        Shape (n, 784), uint8.
    """
    dice = np.random.default_rng(seed)
    images = np.zeros((len(labels), SIDE * SIDE), np.uint8)
    # In small pieces, drawn in the order of the labels: memory stays small, and the first images
    # are the same however many follow.
    for start in range(0, len(labels), _CHUNK):
        piece = np.asarray(labels[start : start + _CHUNK])
        images[start : start + len(piece)] = _draw(piece, dice)
    return images


def _as_floats(images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return images.astype(np.float32) / 255, labels.astype(np.float32).reshape(-1, 1)


def _read(file: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(file, allow_pickle=False) as data:
        images, labels = data["x"], data["y"]
    if images.ndim != 2 or images.shape[1] != SIDE * SIDE or labels.shape != images.shape[:1]:
        raise ValueError(
            f"{file}: x must be (n, 784) and y (n,), found {images.shape}, {labels.shape}"
        )
    return images, labels


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torchgrade"


def _keep(file: Path, images: np.ndarray, labels: np.ndarray) -> None:
    """Write a file that is there whole or not at all; without a place for it, do without."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".npz", delete=False) as target:
            np.savez_compressed(target, x=images, y=labels)
        Path(target.name).replace(file)
    except OSError:
        return


# Strokes, in a square from -1 to 1 with y downwards. A three is two bows that meet in the middle,
# or a bar, a slant and a bow; a seven is a bar and a stem, some with a serif, some with a cross.
def _three(dice: np.random.Generator, n: int) -> np.ndarray:
    """Points of n threes, shape (n, 15, 2)."""
    turn = np.linspace(-2.6, 1.45, 8)
    upper = _bow(dice, n, turn, (0.0, -0.46), (0.55, 0.46))
    lower = _bow(dice, n, np.linspace(-1.35, 2.55, 8), (0.0, 0.46), (0.62, 0.5))
    angular = dice.random((n, 1, 1)) < 0.35
    bar = np.stack(
        [np.concatenate([np.linspace(-0.6, 0.55, 4), np.linspace(0.45, -0.1, 4)]),
         np.concatenate([np.full(4, -0.9), np.linspace(-0.75, -0.1, 4)])], axis=1,
    )  # fmt: skip
    upper = np.where(angular, bar, upper)
    return np.concatenate([upper, lower[:, 1:]], axis=1)


def _bow(
    dice: np.random.Generator,
    n: int,
    turn: np.ndarray,
    centre: tuple[float, float],
    radii: tuple[float, float],
) -> np.ndarray:
    stretch = 1 + 0.18 * dice.standard_normal((n, 1, 2))
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.array(centre) + around * np.array(radii) * stretch


def _seven(dice: np.random.Generator, n: int) -> np.ndarray:
    """Points of n sevens, shape (n, 15, 2)."""
    along = np.linspace(0, 1, 9)[None, :, None]
    bend = dice.normal(0.12, 0.16, (n, 1, 1))
    foot = np.array([-0.2, 0.95]) + dice.normal(0, (0.28, 0.05), (n, 1, 2))
    corner = np.array([0.6, -0.85]) + dice.normal(0, 0.07, (n, 1, 2))
    stem = corner + (foot - corner) * along
    stem = stem + bend * np.sin(np.pi * along) * np.array([1.0, 0.3])
    left = np.array([-0.62, -0.82]) + dice.normal(0, 0.1, (n, 1, 2))
    serif = left + np.array([0.0, 1.0]) * np.abs(dice.normal(0, 0.16, (n, 1, 1)))
    bar = left + (corner - left) * np.linspace(0, 1, 4)[None, :-1, None]
    # The cross is drawn where the pen comes by, and back: one line without lifting it.
    crossed = dice.random((n, 1, 1)) < 0.3
    middle = stem[:, 4:5]
    reach = np.where(crossed, dice.normal(0.38, 0.08, (n, 1, 1)), 0.0) * np.array([1.0, 0.05])
    return np.concatenate(
        [serif, bar, stem[:, :5], middle - reach, middle + reach, middle, stem[:, 5:8]], axis=1
    )  # fmt: skip


def _draw(labels: np.ndarray, dice: np.random.Generator) -> np.ndarray:
    n = len(labels)
    points = np.where(labels[:, None, None] == 1, _three(dice, n), _seven(dice, n))
    points = points + dice.normal(0, 0.035, points.shape)
    points = _placed(points, dice).astype(np.float32)
    pen = np.abs(dice.normal(1.15, 0.3, (n, 1))).astype(np.float32)
    ink = dice.uniform(0.75, 1.0, (n, 1)).astype(np.float32)
    image = ink * np.clip(pen + 0.5 - np.sqrt(_nearest(points)), 0, 1)
    image += 0.06 * dice.standard_normal(image.shape, dtype=np.float32) * (image > 0)
    return np.round(255 * np.clip(image, 0, 1)).astype(np.uint8)


def _placed(points: np.ndarray, dice: np.random.Generator) -> np.ndarray:
    """Turn, slant, stretch and shift each digit, and give its points in pixels."""
    n = len(points)
    angle = dice.normal(0, 0.15, n)
    slant = dice.normal(0.1, 0.2, n)
    stretch = dice.normal((6.2, 6.4), (0.8, 0.6), (n, 2))
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], 1)
    shear = np.stack([np.ones(n), -slant, np.zeros(n), np.ones(n)], 1).reshape(n, 2, 2)
    matrix = turn.reshape(n, 2, 2) @ (shear * stretch[:, None, :])
    # Above or below the middle: no single picture of brightnesses, as a linear classifier has one,
    # fits both.
    line = np.where(dice.random(n) < 0.5, 4.6, -4.6)
    place = dice.normal(0, 0.7, (n, 1, 2)) + np.stack([np.zeros(n), line], axis=1)[:, None]
    return points @ matrix.swapaxes(1, 2) + (SIDE - 1) / 2 + place


def _nearest(points: np.ndarray) -> np.ndarray:
    """Return the squared distance of each pixel to the nearest stroke, shape (n, 784)."""
    n = len(points)
    steps = np.arange(SIDE, dtype=np.float32)
    across, down = steps[None, None, :], steps[None, :, None]
    nearest = np.full((n, SIDE, SIDE), np.inf, np.float32)
    ways = np.diff(points, axis=1)
    for stroke in range(ways.shape[1]):
        start, way = points[:, stroke], ways[:, stroke]
        x, y = across - start[:, 0, None, None], down - start[:, 1, None, None]
        dx, dy = way[:, 0, None, None], way[:, 1, None, None]
        length = np.maximum(dx * dx + dy * dy, 1e-6)
        # The foot of the perpendicular, kept on the stroke.
        foot = x * (dx / length) + y * (dy / length)
        np.clip(foot, 0, 1, out=foot)
        x = x - foot * dx
        y = y - foot * dy
        np.minimum(nearest, x * x + y * y, out=nearest)
    return nearest.reshape(n, -1)
