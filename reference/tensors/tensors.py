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
    # BEGIN SOLUTION
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.long),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float),
    }
    # END SOLUTION


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
    # BEGIN SOLUTION
    new = x + y
    torch.add(x, y, out=out)
    y.add_(x)
    return {"new": new, "out": out, "in_place": y}
    # END SOLUTION


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
    # BEGIN SOLUTION
    return x.mv(v), x.mm(v.view(-1, 1)), x.matmul(v)
    # END SOLUTION


def outer_product(v: Tensor, w: Tensor) -> Tensor:
    """Multiply every number of one vector by every number of another, by broadcasting.

    No loops. Not allowed: ``outer``, ``ger``, ``einsum``, ``kron``, and products of matrices.

    Args:
        v: Shape (M,).
        w: Shape (N,), the same dtype.

    Returns:
        Shape (M, N); entry ``[i, j]`` is ``v[i] * w[j]``.
    """
    # BEGIN SOLUTION
    return v.view(-1, 1) * w
    # END SOLUTION


def add_row(x: Tensor, v: Tensor) -> Tensor:
    """Add a vector to every row of a matrix. No loops.

    Args:
        x: Shape (M, N).
        v: Shape (N,), the same dtype.

    Returns:
        Shape (M, N), a new tensor.
    """
    # BEGIN SOLUTION
    return x + v
    # END SOLUTION


def add_column(x: Tensor, w: Tensor) -> Tensor:
    """Add a vector to every column of a matrix. No loops.

    Args:
        x: Shape (M, N); M and N may be equal.
        w: Shape (M,), the same dtype.

    Returns:
        Shape (M, N), a new tensor; entry ``[i, j]`` is ``x[i, j] + w[i]``.
    """
    # BEGIN SOLUTION
    return x + w.view(-1, 1)
    # END SOLUTION


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
    # BEGIN SOLUTION
    return x.view(-1), x.view(-1, 8)
    # END SOLUTION


def storage_facts(x: Tensor) -> dict:
    """Say how a tensor looks at its storage.

    Args:
        x: Any shape and layout.

    Returns:
        A dict with the keys ``"size"``, a tuple of ints; ``"offset"``, an int, the position in the
        storage of the first entry; ``"stride"``, a tuple of ints, the steps in the storage from one
        entry to the next in each dimension; and ``"contiguous"``, a bool.
    """
    # BEGIN SOLUTION
    return {
        "size": tuple(x.size()),
        "offset": x.storage_offset(),
        "stride": x.stride(),
        "contiguous": x.is_contiguous(),
    }
    # END SOLUTION


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
    # BEGIN SOLUTION
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    # END SOLUTION


def transpose_without_copy(x: Tensor) -> Tensor:
    """Swap the last two dimensions, as a view.

    Args:
        x: Shape (…, M, N), with any number of dimensions before the last two, maybe none.

    Returns:
        A view of ``x`` of shape (…, N, M).
    """
    # BEGIN SOLUTION
    return x.transpose(-2, -1)
    # END SOLUTION


def make_contiguous(x: Tensor) -> Tensor:
    """Return the same numbers in a contiguous layout; copy only if that is needed.

    Args:
        x: Any shape and layout.

    Returns:
        Shape and numbers of ``x``, contiguous. Where ``x`` is contiguous already, it shares its
        memory.
    """
    # BEGIN SOLUTION
    return x.contiguous()
    # END SOLUTION


def squeeze_unsqueeze(x: Tensor) -> dict[str, Tensor]:
    """Drop dimensions of size 1, and add some.

    Args:
        x: Shape (M, 1, N). M or N may be 1 as well.

    Returns:
        A dict of views of ``x``: ``"all"`` without any dimension of size 1; ``"middle"`` of shape
        (M, N); ``"first"`` of shape (1, M, 1, N); ``"last"`` of shape (M, 1, N, 1).
    """
    # BEGIN SOLUTION
    return {
        "all": x.squeeze(),
        "middle": x.squeeze(1),
        "first": x.unsqueeze(0),
        "last": x.unsqueeze(-1),
    }
    # END SOLUTION


def numpy_bridge(a: np.ndarray) -> dict[str, Tensor]:
    """Turn a NumPy array into two tensors: one that shares its memory, and one that does not.

    Args:
        a: Any shape, float64 or float32.

    Returns:
        A dict with the keys ``"shared"``, a tensor on the memory of ``a``, in its dtype: to change
        one is to change the other; and ``"own"``, a **float32** tensor of the same numbers that has
        memory of its own, whichever dtype ``a`` has.
    """
    # BEGIN SOLUTION
    return {"shared": torch.from_numpy(a), "own": torch.tensor(a, dtype=torch.float32)}
    # END SOLUTION


def as_numpy(x: Tensor) -> np.ndarray:
    """Turn a tensor in the memory of the CPU into a NumPy array that shares its memory.

    Args:
        x: Any shape; it may require gradients.

    Returns:
        An array on the memory of ``x``.
    """
    # BEGIN SOLUTION
    return x.detach().numpy()
    # END SOLUTION


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
    # BEGIN SOLUTION
    return {
        "like_y": x.to(y),
        "double": x.to("cuda", torch.float64),
        "home": y.to("cpu", torch.float32),
        "array": y.cpu().numpy(),
    }
    # END SOLUTION


def choose_dtype(x: Tensor, y: Tensor | float) -> torch.dtype:
    """Say which dtype ``x + y`` has.

    Args:
        x: Any shape and dtype.
        y: A tensor whose shape goes with that of ``x``, or a Python number.

    Returns:
        The dtype, such as ``torch.float32``.
    """
    # BEGIN SOLUTION
    return torch.result_type(x, y)
    # END SOLUTION


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
    # BEGIN SOLUTION
    return x[index.to(torch.int64)]
    # END SOLUTION


def sum_of_halves(x: Tensor) -> Tensor:
    """Add up numbers in half precision without losing them.

    Args:
        x: Any shape, float16, in the memory of the CPU. The sum may be greater than what float16
            holds (65504).

    Returns:
        Shape (), **float32**: the sum of all entries, added up in float32.
    """
    # BEGIN SOLUTION
    return x.sum(dtype=torch.float32)
    # END SOLUTION


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
    # BEGIN SOLUTION
    return torch.einsum("...chw,c->...hw", images, weights)
    # END SOLUTION


def save_tensors(tensors: dict[str, Tensor], path: str) -> None:
    """Write named tensors into a file of torch's own format, with nothing else in it.

    Args:
        tensors: By name. Some may be small views of large tensors; only what they show is saved.
        path: Of the file.
    """
    # BEGIN SOLUTION
    torch.save({name: tensor.clone() for name, tensor in tensors.items()}, path)
    # END SOLUTION


def load_tensors(path: str) -> dict[str, Tensor]:
    """Read named tensors from a file that ``torch.save`` wrote. The file may be a stranger's.

    Args:
        path: Of the file.

    Returns:
        The tensors by name.

    Raises:
        Exception: There is something else than tensors in the file. Nothing in it is run.
    """
    # BEGIN SOLUTION
    return torch.load(path, weights_only=True)
    # END SOLUTION


def save_hdf5(tensors: dict[str, Tensor], path: str) -> None:
    """Write named tensors into an HDF5 file, which any language can read.

    Args:
        tensors: By name, in the memory of the CPU. Some may require gradients.
        path: Of the file. Each tensor becomes a dataset with its name, of its shape and dtype. The
            file is closed when the function returns.
    """
    import h5py  # here, so that all other functions work where it is not installed

    # BEGIN SOLUTION
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().numpy()
    # END SOLUTION


def load_hdf5(path: str) -> dict[str, Tensor]:
    """Read all datasets of an HDF5 file.

    Args:
        path: Of the file. It holds datasets only, no groups.

    Returns:
        The tensors by the names of the datasets, in their dtypes, with memory of their own: they
        hold their numbers when the file is closed.
    """
    import h5py

    # BEGIN SOLUTION
    with h5py.File(path, "r") as file:
        return {name: torch.from_numpy(file[name][...]) for name in file}
    # END SOLUTION


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
        # BEGIN SOLUTION
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)
        # END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Return ``scale`` times the product of ``x`` and ``weight``.

        Args:
            x: Shape (M, N).

        Returns:
            Shape (M, P).
        """
        # BEGIN SOLUTION
        return self.scale * (x @ self.weight)
        # END SOLUTION


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
    # BEGIN SOLUTION
    difference = x @ w - y
    return 2 / y.numel() * (x.t() @ difference)
    # END SOLUTION


# BEGIN HIDDEN
def matvec_three_ways_loop(x, v):
    """What ``matvec_three_ways`` does, row by row."""
    product = torch.stack([row.dot(v) for row in x])
    return product, product.view(-1, 1), product


def outer_product_loop(v, w):
    """What ``outer_product`` does, row by row."""
    return torch.stack([number * w for number in v])


def add_row_loop(x, v):
    """What ``add_row`` does, row by row."""
    return torch.stack([row + v for row in x])


def add_column_loop(x, w):
    """What ``add_column`` does, row by row."""
    return torch.stack([row + number for row, number in zip(x, w, strict=True)])


def named_axes_loop(images, weights):
    """What ``named_axes`` does, channel by channel."""
    total = torch.zeros_like(images[..., 0, :, :])
    for channel, weight in enumerate(weights):
        total = total + images[..., channel, :, :] * weight
    return total


def gradient_by_hand_loop(x, w, y):
    """What ``gradient_by_hand`` does, row by row."""
    total = torch.zeros_like(w)
    for row, wanted in zip(x, y, strict=True):
        total = total + torch.outer(row, row @ w - wanted)
    return 2 / y.numel() * total


# END HIDDEN
