"""Tensors: how they are made, what memory they look at, which type they have, how they are kept.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name and called with arguments in that order.

These hold for every function, unless its docstring says otherwise:

* Sizes differ from call to call. Letters in a shape such as (M, N) are sizes.
* Where the dtype of an input is not named, any may come, and the result keeps it.
* Inputs stay as they were. The function that writes into its inputs says so.
* A *view* looks at the memory of its input; a *copy* has memory of its own. Where one of the two is
  asked for, what counts is where the numbers lie, and not which call was made to get there.
* “No loops” forbids ``for``, ``while`` and every comprehension or generator.
"""

import numpy as np
import torch
from torch import Tensor, nn


def make_tensors(M: int, N: int, data: list, like: Tensor) -> dict[str, Tensor]:
    """Make six tensors in six ways.

    Args:
        M: Number of rows.
        N: Number of columns.
        data: Numbers or booleans, maybe in nested lists.
        like: Any shape and dtype.

    Returns:
        A dict with the keys

        * ``"empty"``: shape (M, N), float32, memory as it was found, whatever stands in it;
        * ``"uniform"``: shape (M, N), float32, random numbers from 0 up to, not including, 1;
        * ``"zeros"``: shape (M, N), int64, zeros;
        * ``"data"``: the numbers of ``data``, in the dtype that torch gives them by itself;
        * ``"ones"``: shape (M, N), ones, in the dtype of ``like``;
        * ``"normal"``: the shape of ``like``, **float32** whatever the dtype of ``like`` is, random
          numbers from the standard normal distribution.
    """
    raise NotImplementedError("make_tensors is not written yet")


def add_three_ways(x: Tensor, y: Tensor, out: Tensor) -> dict[str, Tensor]:
    """Add two tensors three times: into a new tensor, into a given one, and into one of the two.

    Args:
        x: Any shape.
        y: The shape and dtype of ``x``. **Changed in place.**
        out: The shape and dtype of ``x``; what stands in it does not matter. **Changed in place.**

    Returns:
        A dict with the keys ``"new"``, a tensor with memory of its own; ``"out"``, which is ``out``
        itself; and ``"in_place"``, which is ``y`` itself. All three hold the sum of ``x`` and what
        ``y`` was when the function was called.
    """
    raise NotImplementedError("add_three_ways is not written yet")


def matvec_three_ways(x: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Multiply a matrix by a vector with ``mv``, with ``mm`` and with ``matmul``.

    ``mm`` multiplies matrices only, so the vector goes in as a matrix of one column, and the result
    stays one. No loops.

    Args:
        x: Shape (M, N).
        v: Shape (N,), the same dtype.

    Returns:
        The product, of shapes (M,), (M, 1) and (M,).
    """
    raise NotImplementedError("matvec_three_ways is not written yet")


def outer_product(v: Tensor, w: Tensor) -> Tensor:
    """Multiply every number of one vector by every number of another, by broadcasting.

    No loops. Not allowed: ``outer``, ``ger``, ``einsum``, ``kron``, and products of matrices.

    Args:
        v: Shape (M,).
        w: Shape (N,), the same dtype.

    Returns:
        Shape (M, N); entry ``[i, j]`` is ``v[i] * w[j]``.
    """
    raise NotImplementedError("outer_product is not written yet")


def add_row(x: Tensor, v: Tensor) -> Tensor:
    """Add a vector to every row of a matrix. No loops.

    Args:
        x: Shape (M, N).
        v: Shape (N,), the same dtype.

    Returns:
        Shape (M, N), a new tensor.
    """
    raise NotImplementedError("add_row is not written yet")


def add_column(x: Tensor, w: Tensor) -> Tensor:
    """Add a vector to every column of a matrix. No loops.

    Args:
        x: Shape (M, N); M and N may be equal.
        w: Shape (M,), the same dtype.

    Returns:
        Shape (M, N), a new tensor; entry ``[i, j]`` is ``x[i, j] + w[i]``.
    """
    raise NotImplementedError("add_column is not written yet")


def flatten_views(x: Tensor) -> tuple[Tensor, Tensor]:
    """Look at a tensor as a vector, and as a matrix with eight columns. Never copy.

    Args:
        x: Any shape; the number of its entries is a multiple of 8. Its memory may be laid out in
            any way.

    Returns:
        Two views of ``x``, of shapes (K,) and (K / 8, 8), where K is the number of entries.

    Raises:
        RuntimeError: There is no such view, because of the way ``x`` is laid out. The error is
            torch's own; let it through, and do not copy instead.
    """
    raise NotImplementedError("flatten_views is not written yet")


def storage_facts(x: Tensor) -> dict:
    """Say how a tensor looks at its storage.

    Args:
        x: Any shape and layout.

    Returns:
        A dict with the keys ``"size"``, a tuple of ints; ``"offset"``, an int, the position in the
        storage of the first entry; ``"stride"``, a tuple of ints, the steps in the storage from one
        entry to the next in each dimension; and ``"contiguous"``, a bool.
    """
    raise NotImplementedError("storage_facts is not written yet")


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Tell whether two tensors look at one storage.

    Args:
        x: Any shape and layout; it has at least one entry.
        y: Likewise.

    Returns:
        True if they share a storage, even where they have no entry in common, as two rows of one
        matrix; False if they do not, even where all of their numbers are equal.

    Hint:
        ``x.data_ptr()`` is the address of the first *entry*; a storage has an address of its own.
    """
    raise NotImplementedError("same_storage is not written yet")


def transpose_without_copy(x: Tensor) -> Tensor:
    """Swap the last two dimensions, as a view.

    Args:
        x: Shape (…, M, N), with any number of dimensions before the last two, maybe none.

    Returns:
        A view of ``x`` of shape (…, N, M).
    """
    raise NotImplementedError("transpose_without_copy is not written yet")


def make_contiguous(x: Tensor) -> Tensor:
    """Return the same numbers in a contiguous layout; copy only if that is needed.

    Args:
        x: Any shape and layout.

    Returns:
        Shape and numbers of ``x``, contiguous. Where ``x`` is contiguous already, it shares its
        memory.
    """
    raise NotImplementedError("make_contiguous is not written yet")


def squeeze_unsqueeze(x: Tensor) -> dict[str, Tensor]:
    """Drop dimensions of size 1, and add some.

    Args:
        x: Shape (M, 1, N). M or N may be 1 as well.

    Returns:
        A dict of views of ``x``: ``"all"`` without any dimension of size 1; ``"middle"`` of shape
        (M, N); ``"first"`` of shape (1, M, 1, N); ``"last"`` of shape (M, 1, N, 1).
    """
    raise NotImplementedError("squeeze_unsqueeze is not written yet")


def numpy_bridge(a: np.ndarray) -> dict[str, Tensor]:
    """Turn a NumPy array into two tensors: one that shares its memory, and one that does not.

    Args:
        a: Any shape, float64 or float32.

    Returns:
        A dict with the keys ``"shared"``, a tensor on the memory of ``a``, in its dtype: to change
        one is to change the other; and ``"own"``, a **float32** tensor of the same numbers that has
        memory of its own, whichever dtype ``a`` has.
    """
    raise NotImplementedError("numpy_bridge is not written yet")


def as_numpy(x: Tensor) -> np.ndarray:
    """Turn a tensor in the memory of the CPU into a NumPy array that shares its memory.

    Args:
        x: Any shape; it may require gradients.

    Returns:
        An array on the memory of ``x``.
    """
    raise NotImplementedError("as_numpy is not written yet")


def to_device_and_dtype(x: Tensor, y: Tensor) -> dict:
    """Move tensors to a GPU and back, and change their dtype on the way.

    Args:
        x: In the memory of the CPU, any shape, float32.
        y: On a GPU, any shape and floating dtype.

    Returns:
        A dict with the keys

        * ``"like_y"``: ``x`` with the device and the dtype of ``y``, by one call of ``to``;
        * ``"double"``: ``x`` on the GPU as float64, by one call of ``to``;
        * ``"home"``: ``y`` in the memory of the CPU, float32;
        * ``"array"``: ``y`` as a NumPy array, in the dtype of ``y``.
    """
    raise NotImplementedError("to_device_and_dtype is not written yet")


def choose_dtype(x: Tensor, y: Tensor | float) -> torch.dtype:
    """Say which dtype ``x + y`` has.

    Args:
        x: Any shape and dtype.
        y: A tensor whose shape goes with that of ``x``, or a Python number.

    Returns:
        The dtype, such as ``torch.float32``.
    """
    raise NotImplementedError("choose_dtype is not written yet")


def rows_at(x: Tensor, index: Tensor) -> Tensor:
    """Pick rows of a matrix by their numbers.

    Args:
        x: Shape (M, N).
        index: Shape (K,): whole numbers from 0 to M − 1 in **any dtype**, float32 and uint8 too; a
            number may come more than once.

    Returns:
        Shape (K, N); row k is row ``index[k]`` of ``x``.

    Hint:
        To torch, an index of dtype uint8 is a mask, and one of int16 or float32 an error.
    """
    raise NotImplementedError("rows_at is not written yet")


def sum_of_halves(x: Tensor) -> Tensor:
    """Add up numbers in half precision without losing them.

    Args:
        x: Any shape, float16, in the memory of the CPU. The sum may be greater than what float16
            holds (65504).

    Returns:
        Shape (), **float32**: the sum of all entries, added up in float32.
    """
    raise NotImplementedError("sum_of_halves is not written yet")


def named_axes(images: Tensor, weights: Tensor) -> Tensor:
    """Weigh the channels of images and add them up, as from colour to grey. No loops.

    Written with ``torch.einsum``, each axis has a name, and it does not matter how many others
    stand before it.

    Args:
        images: Shape (…, C, H, W), with any number of dimensions before the last three.
        weights: Shape (C,), the same dtype.

    Returns:
        Shape (…, H, W): the sum over the channels, each times its weight.
    """
    raise NotImplementedError("named_axes is not written yet")


def save_tensors(tensors: dict[str, Tensor], path: str) -> None:
    """Write named tensors into a file of torch's own format, with nothing else in it.

    Args:
        tensors: By name. Some may be small views of large tensors; only what they show is saved.
        path: Of the file.
    """
    raise NotImplementedError("save_tensors is not written yet")


def load_tensors(path: str) -> dict[str, Tensor]:
    """Read named tensors from a file that ``torch.save`` wrote. The file may be a stranger's.

    Args:
        path: Of the file.

    Returns:
        The tensors by name.

    Raises:
        Exception: There is something else than tensors in the file. Nothing in it is run.
    """
    raise NotImplementedError("load_tensors is not written yet")


def save_hdf5(tensors: dict[str, Tensor], path: str) -> None:
    """Write named tensors into an HDF5 file, which any language can read.

    Args:
        tensors: By name, in the memory of the CPU. Some may require gradients.
        path: Of the file. Each tensor becomes a dataset with its name, of its shape and dtype. The
            file is closed when the function returns.
    """
    import h5py  # here, so that all other functions work where it is not installed

    raise NotImplementedError("save_hdf5 is not written yet")


def load_hdf5(path: str) -> dict[str, Tensor]:
    """Read all datasets of an HDF5 file.

    Args:
        path: Of the file. It holds datasets only, no groups.

    Returns:
        The tensors by the names of the datasets, in their dtypes, with memory of their own: they
        hold their numbers when the file is closed.
    """
    import h5py

    raise NotImplementedError("load_hdf5 is not written yet")


class ScaledLinear(nn.Module):
    """A layer that multiplies by a matrix, which is trained, and by a number, which is not.

    Both are part of the layer's state: ``state_dict()`` has them under the names ``weight`` and
    ``scale``, and ``.double()`` and ``.to(…)`` convert both. Only ``weight`` is among
    ``parameters()``.

    Args:
        weight: Shape (N, P), the matrix at the start.
        scale: Shape (), the number.
    """

    def __init__(self, weight: Tensor, scale: Tensor) -> None:
        raise NotImplementedError("ScaledLinear.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Return ``scale`` times the product of ``x`` and ``weight``.

        Args:
            x: Shape (M, N).

        Returns:
            Shape (M, P).
        """
        raise NotImplementedError("ScaledLinear.forward is not written yet")


def gradient_by_hand(x: Tensor, w: Tensor, y: Tensor) -> Tensor:
    """Compute the gradient of the mean squared error of ``x @ w`` without autograd. No loops.

    The loss is ``((x @ w - y) ** 2).mean()``: the mean over **all** entries. Not allowed:
    ``backward``, ``torch.autograd``, ``torch.func``; that rule is worth half of the points.

    Args:
        x: Shape (M, N), a floating dtype.
        w: Shape (N, P), the same dtype.
        y: Shape (M, P), the same dtype.

    Returns:
        Shape (N, P): the derivative of the loss by each entry of ``w``.
    """
    raise NotImplementedError("gradient_by_hand is not written yet")
