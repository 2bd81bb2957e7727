"""Attention: scaled dot-products, masks, several heads, and a block that trains.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name. Keep the names of the layers too: their weights are set from outside by them.

Words used below: a batch has ``B`` sequences. Each of ``M`` queries looks at ``N`` keys, which have
a value each. All of them are vectors of ``D`` numbers. No function may change its inputs.
"""

import math

import torch
from torch import Tensor, nn


def attend_loop(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention one query after the other.

    The weights of a query are the softmax, over the keys, of its products with the keys, divided by
    the root of D. Its result is the sum of the values, each times its weight.

    Args:
        query: Shape (B, M, D), a floating dtype.
        key: Shape (B, N, D), the same dtype.
        value: Shape (B, N, D), the same dtype.

    Returns:
        Shape (B, M, D), the same dtype.

    Hint:
        ``torch.softmax`` is allowed.
    """
    raise NotImplementedError("attend_loop is not written yet")


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute attention without a loop of any kind.

    That there is no loop is worth half of the points. Not allowed: ``scaled_dot_product_attention``
    and whatever else of ``torch`` does all of it; with these, that half is lost, too.

    Args:
        query: Shape (B, M, D), a floating dtype.
        key: Shape (B, N, D), the same dtype.
        value: Shape (B, N, D), the same dtype.
        mask: Shape (M, N) or (B, M, N), dtype bool: where it is True, the query may look at the
            key. Each query may look at one key at least. Without a mask all may.

    Returns:
        Shape (B, M, D), the same dtype. Keys that a query may not look at have weight 0.
    """
    raise NotImplementedError("attend is not written yet")


def causal_mask(length: int) -> Tensor:
    """Make the mask with which a place looks at itself and at those before it.

    Args:
        length: Number of places, at least 1.

    Returns:
        Shape (length, length), dtype bool: entry ``[i, j]`` tells whether place i may look at j.
    """
    raise NotImplementedError("causal_mask is not written yet")


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its share of the numbers."""

    def __init__(self, dim: int, num_heads: int) -> None:
        """Make four layers ``nn.Linear(dim, dim)``: ``query``, ``key``, ``value`` and ``output``.

        Args:
            dim: D, a multiple of ``num_heads``.
            num_heads: H.
        """
        super().__init__()
        raise NotImplementedError("MultiHeadAttention.__init__ is not written yet")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let each place of a sequence look at all places.

        ``query``, ``key`` and ``value`` of x are each cut into H parts: head h has the numbers from
        ``h * D / H`` up to ``(h + 1) * D / H``. Each head attends on its own, products divided by
        the root of **its** number of entries. The results, put together in order, go through
        ``output``.

        Args:
            x: Shape (B, N, D).
            mask: Shape (N, N), dtype bool, as for ``attend``.

        Returns:
            Shape (B, N, D).
        """
        raise NotImplementedError("MultiHeadAttention.forward is not written yet")


class Block(nn.Module):
    """One layer of a transformer: look around, then think; each adds to what is there."""

    def __init__(self, dim: int, num_heads: int) -> None:
        """Make the layers, with these names.

        ``norm1`` and ``norm2`` are ``nn.LayerNorm(dim)``, ``attention`` is
        ``MultiHeadAttention(dim, num_heads)``, ``wide`` is ``nn.Linear(dim, 4 * dim)`` and
        ``narrow`` is ``nn.Linear(4 * dim, dim)``.

        Args:
            dim: D.
            num_heads: H.
        """
        super().__init__()
        raise NotImplementedError("Block.__init__ is not written yet")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute ``y = x + attention(norm1(x))``, then ``y + narrow(relu(wide(norm2(y))))``.

        Args:
            x: Shape (B, N, D).
            mask: Passed on to ``attention``.

        Returns:
            Shape (B, N, D).
        """
        raise NotImplementedError("Block.forward is not written yet")


def train_to_copy(
    model: nn.Module, x: Tensor, target: Tensor, learning_rate: float, steps: int
) -> list[float]:
    """Train a model by plain gradient descent on all sequences at once.

    The loss is the mean of the squared differences between ``model(x, mask)`` and ``target``, with
    the causal mask of x's length.

    Args:
        model: Called as ``model(x, mask)``. Its parameters are changed.
        x: Shape (B, N, D).
        target: Shape (B, N, D).
        learning_rate: Of the steps.
        steps: How many.

    Returns:
        The loss before each step: ``steps`` floats.
    """
    raise NotImplementedError("train_to_copy is not written yet")
