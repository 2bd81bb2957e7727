"""Runs beside the submission: NumPy arrays and autograd. Nothing that it says scores by itself."""

from __future__ import annotations

import numpy as np
import torch

from grader.student_process.api import logged, placement


def look(x, steps):
    """Return a view of a tensor; each step is a method and its arguments."""
    for name, *args in steps:
        x = getattr(x, name)(*args)
    return x


def write(thing, index, number):
    """Write a number into an array or a tensor, below a subclass, which may write elsewhere."""
    if isinstance(thing, np.ndarray):
        np.ndarray.__setitem__(thing, tuple(index), number)
        return
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        torch.Tensor.__setitem__(thing, tuple(index), number)


def write_in_order(tensor, place, number):
    """Write a number into the one long view of a tensor, which only a contiguous one has."""
    with torch._C.DisableTorchFunctionSubclass():
        flat = torch.Tensor.view(tensor, -1)
    write(flat, [place], number)


def copy_to(array, numbers):
    """Have NumPy write numbers into an array; of anything else it raises TypeError."""
    np.copyto(array, numbers.numpy())


def moved(student, x, y):
    """Call to_device_and_dtype with y on a GPU, and write down what is computed."""
    with logged() as log:
        for name, leaf in {"x": x, "y": y}.items():
            log.leaf(name, leaf)
        y = y.to("cuda")
        log.begin("moves", "x", "y")
        result = student.to_device_and_dtype(x, y)
        # Not what is home again: NumPy may have had its hand in it, which no log follows.
        tensors = {name: result[name] for name in ("like_y", "double") if name in result}
        log.end("moves", tensors)
    everything = {name: as_tensor(item) for name, item in result.items()}
    return {
        "all": everything,
        "home": _for_numpy(result.get("home")),
        "log": log.as_values(),
        "placed": placement(None, tensors),
    }


def _for_numpy(value):
    """Return what NumPy has of a tensor; it has nothing of one on a GPU."""
    try:
        return torch.from_numpy(value.detach().numpy())
    except (TypeError, AttributeError):
        return "not in the memory of the CPU"


def as_tensor(value):
    """Return a NumPy array as the tensor on its memory."""
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


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
