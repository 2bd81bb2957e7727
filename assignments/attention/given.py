"""Runs in the actor, beside the submission: gradients, which are local, and models to train.

What these functions say scores nothing by itself: scenario.py compares what follows from numbers
that it has drawn.
"""

import contextlib

import torch
from torch import nn

from grader.student_process.api import OldGradients  # noqa: F401  scenario.py asks for it by name


class Small(nn.Module):
    """What is trained: a layer, and a mean over the places that the mask shows."""

    def __init__(self, dim):
        super().__init__()
        self.layer = nn.Linear(dim, dim)

    def forward(self, x, mask):
        """Return a mixture of x that the mask decides."""
        seen = mask.to(x.dtype)
        return torch.tanh(self.layer(x)) + seen @ x / seen.sum(dim=1, keepdim=True)


class Asking(nn.Module):
    """Stands for an attention: asks a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, mask=None):
        """Ask the function."""
        return self.function(x.detach(), mask)


class Attention(torch.autograd.Function):
    """Attention with its gradient, both of them asked for."""

    @staticmethod
    def forward(ctx, function, pull, query, key, value, mask):
        """Ask for the result."""
        ctx.pull, ctx.mask = pull, mask
        ctx.save_for_backward(query, key, value)
        return function(query, key, value, mask)

    @staticmethod
    def backward(ctx, grad):
        """Ask for the gradients."""
        return None, None, *ctx.pull(*ctx.saved_tensors, ctx.mask, grad), None


def attention(function, pull):
    """Return an attention that asks other functions for its result and its gradients."""

    def attend(query, key, value, mask=None):
        return Attention.apply(function, pull, query, key, value, mask)

    return attend


def small(dim):
    """Make a small model in float64."""
    return Small(dim).double()


def stand_in(block, function):
    """Put a function in the place of a block's attention."""
    block.attention = Asking(function)


def layers(module, inputs):
    """Return what the layers of these names return; those that cannot be asked are left out."""
    found = {}
    for name, x in inputs.items():
        # Of another size, or no layer at all: the rest of the case is judged all the same.
        with contextlib.suppress(AttributeError, TypeError, RuntimeError):
            found[name] = getattr(module, name)(x)
    return found


def gradients(module, x, weights):
    """Return the gradients of a weighted sum of what a module returns."""
    module.zero_grad()
    (module(x) * weights).sum().backward()
    return {name: weight.grad for name, weight in module.named_parameters()}
