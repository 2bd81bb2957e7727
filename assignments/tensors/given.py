"""Runs beside the submission: NumPy arrays and autograd. Nothing that it says scores by itself."""

from __future__ import annotations

import numpy as np
import torch


def look(x, steps):
    """Return a view of a tensor; each step is a method and its arguments."""
    for name, *args in steps:
        x = getattr(x, name)(*args)
    return x


def add_one(thing):
    """Change an array or a tensor in place."""
    thing += 1


def as_tensor(value):
    """Return a NumPy array as the tensor on its memory, with a word on what it was."""
    tensor = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
    return {"array": tensor, "type": type(value).__name__}


def is_contiguous(value):
    """Tell how a tensor lies, below a subclass, which may have its own opinion."""
    with torch._C.DisableTorchFunctionSubclass():
        return isinstance(value, torch.Tensor) and torch.Tensor.is_contiguous(value)


def step(net, x, lr):
    """Make one step of an optimiser, if there is anything to train."""
    output = net(x)
    if output.requires_grad and list(net.parameters()):
        output.sum().backward()
        torch.optim.SGD(net.parameters(), lr=lr).step()


def add_to_parameters(net, number):
    """Add a number to whatever is among a net's parameters."""
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(number)


def save_state(net, path):
    """Save what a net says of its state."""
    torch.save(net.state_dict(), path)
