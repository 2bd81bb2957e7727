"""Drives the submission from the stage: it makes modules, sets their weights, and compares.

What other questions ask for is answered from here, so that a mistake costs its own points only.
"""

from __future__ import annotations

import torch

from grader.stage import actor, callback, given


def _attend(query, key, value, mask=None):
    products = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        products = products.masked_fill(~mask, -torch.inf)
    return products.softmax(dim=-1) @ value


def _mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def _mixed(x, mask=None):
    """Stand for an attention: anything that tells x and the mask apart."""
    return x.flip(1) / 2 if mask is None else mask.to(x.dtype) @ x


def _made(name, dim, heads):
    """Make a module in float64; return it, and the shapes of its weights."""
    module = actor.keep(name, dim, heads)
    actor.method(module, "double", keep=True)
    state = actor.method(module, "state_dict")
    return module, {key: tuple(weight.shape) for key, weight in sorted(state.items())}


def _fill(module):
    state = actor.method(module, "state_dict")
    drawn = {name: torch.randn(state[name].shape).double() / 2 for name in sorted(state)}
    actor.method(module, "load_state_dict", drawn, keep=True)


def _asked(module, x):
    free = actor.method(module, "__call__", x)
    return {"free": free, "masked": actor.method(module, "__call__", x, _mask(x.shape[1]))}


def heads(x, dim, num_heads):
    """Ask an attention with several heads, without a mask and with one."""
    actor.set_attr(actor.module, "attend", callback(_attend, most=99))
    module, shapes = _made("MultiHeadAttention", dim, num_heads)
    _fill(module)
    layers = given("layers", module, dict.fromkeys(("query", "key", "value", "output"), x))
    return {"shapes": shapes, "layers": layers, **_asked(module, x)}


def learning(x, dim, num_heads):
    """Ask for its gradients; autograd needs the submission's own attention."""
    module, _ = _made("MultiHeadAttention", dim, num_heads)
    _fill(module)
    return given("gradients", module, x, torch.randn(x.shape).double())


def block(x, dim, num_heads):
    """Ask a block, without a mask and with one."""
    module, shapes = _made("Block", dim, num_heads)
    given("stand_in", module, callback(_mixed, most=99))
    _fill(module)
    layers = given("layers", module, {
        "norm1": x, "norm2": x, "wide": x, "narrow": x.repeat(1, 1, 4),
    })  # fmt: skip
    return {"shapes": shapes, "layers": layers, **_asked(module, x)}


def train(x, target, rate, steps):
    """Train a model that comes from here."""
    actor.set_attr(actor.module, "causal_mask", callback(_mask, most=99))
    model = given("small", x.shape[2], keep=True)
    _fill(model)
    noticed = given("OldGradients", model, keep=True)
    losses = actor.call("train_to_copy", model, x, target, rate, steps)
    weights = actor.method(model, "state_dict")
    return {"losses": losses, "weights": weights, "old_gradients": actor.attr(noticed, "met")}
