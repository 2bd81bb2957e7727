"""Drives the submission from the stage: it makes modules, sets their weights, and compares.

What other questions ask for is answered from here, so that a mistake costs its own points only.
"""

from __future__ import annotations

import torch

from grader.scenario_process import actor, callback, given

_RIGHT = {}
"""Name of a student's function → what puts a right one in its place. Empty in a self-check."""


def _put_right(name):
    """Put a right function in the place of the submission's; a self-check asks the student's."""
    if name in _RIGHT:
        _RIGHT[name]()


# BEGIN HIDDEN
# These would show students how theirs are written.
def _attend(query, key, value, mask=None):
    products = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        products = products.masked_fill(~mask, -torch.inf)
    return products.softmax(dim=-1) @ value


def _mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def _pulled(query, key, value, mask, grad):
    """Return what a gradient of attention's result is for what it was made of."""
    parts = [part.clone().requires_grad_() for part in (query, key, value)]
    return torch.autograd.grad(_attend(*parts, mask), parts, grad)


def _right_attention():
    actor.set_attr(actor.module, "attend", callback(_attend, most=99))


def _right_attention_with_gradients():
    answers = callback(_attend, most=99), callback(_pulled, most=99)
    actor.set_attr(actor.module, "attend", given("attention", *answers, keep=True))


def _right_mask():
    actor.set_attr(actor.module, "causal_mask", callback(_mask, most=99))


_RIGHT |= {
    "attend": _right_attention,
    "attend with gradients": _right_attention_with_gradients,
    "causal_mask": _right_mask,
}


# END HIDDEN
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
    drawn = {
        name: torch.randn(state[name].shape, dtype=torch.float64) / 2 for name in sorted(state)
    }
    actor.method(module, "load_state_dict", drawn, keep=True)


def _asked(module, x):
    free = actor.method(module, "__call__", x)
    # Each place may look at itself, and at others by chance.
    mask = torch.rand(x.shape[1], x.shape[1]).fill_diagonal_(0) < 0.5
    return {"free": free, "masked": actor.method(module, "__call__", x, mask)}


def heads(x, dim, num_heads):
    """Ask an attention with several heads, without a mask and with one."""
    _put_right("attend")
    module, shapes = _made("MultiHeadAttention", dim, num_heads)
    _fill(module)
    layers = given("layers", module, dict.fromkeys(("query", "key", "value", "output"), x))
    return {"shapes": shapes, "layers": layers, **_asked(module, x)}


def learning(x, dim, num_heads):
    """Ask for its gradients."""
    _put_right("attend with gradients")
    module, _ = _made("MultiHeadAttention", dim, num_heads)
    _fill(module)
    return given("gradients", module, x, torch.randn(x.shape, dtype=x.dtype))


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
    _put_right("causal_mask")
    model = given("small", x.shape[2], keep=True)
    _fill(model)
    noticed = given("OldGradients", model, keep=True)
    losses = actor.call("train_to_copy", model, x, target, rate, steps)
    weights = actor.method(model, "state_dict")
    return {"losses": losses, "weights": weights, "old_gradients": actor.attr(noticed, "met")}
