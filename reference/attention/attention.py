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
    # BEGIN SOLUTION
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            products = key[batch] @ query[batch, row] / math.sqrt(query.shape[2])
            result[batch, row] = products.softmax(dim=0) @ value[batch]
    return result
    # END SOLUTION


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
    # BEGIN SOLUTION
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=2) @ value
    # END SOLUTION


def causal_mask(length: int) -> Tensor:
    """Make the mask with which a place looks at itself and at those before it.

    Args:
        length: Number of places, at least 1.

    Returns:
        Shape (length, length), dtype bool: entry ``[i, j]`` tells whether place i may look at j.
    """
    # BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()
    # END SOLUTION


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its share of the numbers."""

    def __init__(self, dim: int, num_heads: int) -> None:
        """Make four layers ``nn.Linear(dim, dim)``: ``query``, ``key``, ``value`` and ``output``.

        Args:
            dim: D, a multiple of ``num_heads``.
            num_heads: H.
        """
        super().__init__()
        # BEGIN SOLUTION
        self.num_heads = num_heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)
        # END SOLUTION

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
        # BEGIN SOLUTION
        batch, places, dim = x.shape

        def heads(layer: nn.Linear) -> Tensor:
            parts = layer(x).view(batch, places, self.num_heads, dim // self.num_heads)
            return parts.transpose(1, 2).flatten(0, 1)

        seen = attend(heads(self.query), heads(self.key), heads(self.value), mask)
        seen = seen.view(batch, self.num_heads, places, -1).transpose(1, 2)
        return self.output(seen.reshape(batch, places, dim))
        # END SOLUTION


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
        # BEGIN SOLUTION
        self.norm1 = nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.norm2 = nn.LayerNorm(dim)
        self.wide = nn.Linear(dim, 4 * dim)
        self.narrow = nn.Linear(4 * dim, dim)
        # END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute ``y = x + attention(norm1(x))``, then ``y + narrow(relu(wide(norm2(y))))``.

        Args:
            x: Shape (B, N, D).
            mask: Passed on to ``attention``.

        Returns:
            Shape (B, N, D).
        """
        # BEGIN SOLUTION
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(torch.relu(self.wide(self.norm2(y))))
        # END SOLUTION


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
    # BEGIN SOLUTION
    mask = causal_mask(x.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = (model(x, mask) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
    # END SOLUTION


# BEGIN HIDDEN
def masked(seed, B, M, N, D):
    """Queries, keys, values, and a mask with which each query sees one key at least."""
    dice = torch.Generator().manual_seed(seed % 2**63)
    query, key, value = (
        torch.randn(B, length, D, dtype=torch.float64, generator=dice) for length in (M, N, N)
    )
    mask = torch.rand(B, M, N, generator=dice) < 0.5
    mask[:, :, 0] |= ~mask.any(dim=2)
    return query, key, value, mask


# END HIDDEN
