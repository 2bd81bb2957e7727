"""The digits of ``minibatch``: the lecture's sizes, the same from the same seed, drawn once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FILE = Path(__file__).parents[3] / "assignments" / "minibatch" / "digits.py"


def module_of(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A copy of the module in a folder of its own, with a small set and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "digits.py").write_bytes(FILE.read_bytes())
    module = module_of(tmp_path / "digits.py")
    module.SEVENS, module.THREES = 12, 9  # type: ignore[attr-defined]
    return module


def test_the_lectures_sizes() -> None:
    module = module_of(FILE)
    assert (module.SEVENS, module.THREES) == (6265, 6131)
    assert module.SEVENS + module.THREES == 12396


def test_the_same_seed_draws_the_same_and_another_one_others(digits: ModuleType) -> None:
    labels = np.array([0, 1] * 10)
    images = digits.render(labels, 3)
    assert (images.shape, images.dtype) == ((20, 784), np.uint8)
    assert np.array_equal(images, digits.render(labels, 3))
    assert not np.array_equal(images, digits.render(labels, 4))
    assert len(np.unique(images, axis=0)) == 20


def test_an_image_shows_a_stroke_and_not_noise(digits: ModuleType) -> None:
    images = digits.render(np.array([0, 1] * 10), 3).reshape(-1, 28, 28) / 255
    inked = (images > 0.5).mean(axis=(1, 2))
    assert inked.min() > 0.02
    assert inked.max() < 0.35
    # Ink lies beside ink: a pixel and its neighbour have much in common, as noise has not.
    assert np.corrcoef(images[:, :, 1:].ravel(), images[:, :, :-1].ravel())[0, 1] > 0.5


def test_drawn_once_and_read_again(digits: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = digits.load()
    assert (x.shape, x.dtype, y.shape, y.dtype) == ((21, 784), "float32", (21, 1), "float32")
    assert y.ravel().tolist() == [0.0] * 12 + [1.0] * 9
    assert (x.min(), x.max()) >= (0.0, 0.5)
    assert x.max() <= 1.0
    monkeypatch.setattr(digits, "render", None)
    again, _ = digits.load()
    assert np.array_equal(x, again)


def test_a_damaged_cache_is_drawn_anew(digits: ModuleType, tmp_path: Path) -> None:
    x, _ = digits.load()
    (kept,) = (tmp_path / "cache").rglob("*.npz")
    kept.write_bytes(kept.read_bytes()[:100])
    again, _ = digits.load()
    assert np.array_equal(x, again)


def test_real_images_beside_the_module_are_used(digits: ModuleType, tmp_path: Path) -> None:
    images = np.full((4, 784), 51, np.uint8)
    np.savez(tmp_path / "digits.npz", x=images, y=np.array([0, 1, 1, 0]))
    x, y = digits.load()
    assert np.allclose(x, 0.2)
    assert y.ravel().tolist() == [0.0, 1.0, 1.0, 0.0]


def test_images_of_another_shape_are_refused(digits: ModuleType, tmp_path: Path) -> None:
    np.savez(tmp_path / "digits.npz", x=np.zeros((4, 28, 28), np.uint8), y=np.zeros(4))
    with pytest.raises(ValueError, match=r"\(n, 784\)"):
        digits.load()
