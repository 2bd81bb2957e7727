"""Runs in the guest, beside the hand-in, where a call on values is not enough.

What the wire cannot carry is made here from what it can: tensors with a layout, NumPy arrays,
tensors on a GPU, files. Where a tensor that is returned lies in memory is told by the guest's own
probe; a NumPy array is turned into the tensor on its memory for that.
"""

from __future__ import annotations

import os

import numpy as np
import torch

from grader.guest.api import artifact, scratch


def _outcome(function, *args):
    """Return what a function returns, or the torch error that it lets through, as text."""
    try:
        return function(*args)
    except NotImplementedError:
        raise
    except RuntimeError:
        return "RuntimeError"


def _on_both_sides(numbers, of):
    return bool((numbers < of).any() and (numbers > of).any())


def made(student, m, n, data, like):
    """Make tensors; what is random is told by what holds for nearly all random numbers."""
    tensors = student.make_tensors(m, n, data, like)
    if not isinstance(tensors, dict) or not {"uniform", "normal"} <= tensors.keys():
        return {"tensors": tensors, "fixed": tensors, "random": None}
    uniform, normal = tensors["uniform"], tensors["normal"]
    return {
        "tensors": tensors,
        "fixed": {name: tensors.get(name) for name in ("zeros", "data", "ones")},
        "random": {
            "uniform within 0 and 1": bool(((uniform >= 0) & (uniform < 1)).all()),
            "uniform on both sides of a half": _on_both_sides(uniform, 0.5),
            "normal on both sides of 0": _on_both_sides(normal, 0),
            "normal beyond 1": _on_both_sides(normal.abs(), 1),
        },
    }


def added(student, x, y, out):
    """Add three ways; the sums are told together, and what became of x."""
    sums = student.add_three_ways(x, y, out)
    if not isinstance(sums, dict):
        return {"sums": sums}
    return {**sums, "sums": sums, "x": x}


def flattened_transpose(student, x):
    """Ask for views that do not exist: a copy instead is told as such."""
    result = _outcome(student.flatten_views, x.t())
    return result if isinstance(result, str) else "no error"


_LAYOUTS = (
    lambda x: x,
    lambda x: x[1:],
    lambda x: x[:, 2:],
    lambda x: x[1, ::2],
    lambda x: x.t(),
    lambda x: x[2:].t()[1:],
    lambda x: x[0, 0],
    lambda x: x[:1].expand(3, -1),
    lambda x: x.reshape(-1, 2, 2).transpose(0, 1),
)


def storages(student, x):
    """Ask about nine views of one tensor."""
    facts = [student.storage_facts(layout(x)) for layout in _LAYOUTS]
    if not all(isinstance(fact, dict) for fact in facts):
        return {"facts": facts}
    names = ("size", "offset", "stride", "contiguous")
    return {name: [fact.get(name) for fact in facts] for name in names}


def pairs(student, x):
    """Ask about tensors that share a storage, in ways more and less plain."""
    flat = x.view(-1)
    return {
        "itself": student.same_storage(x, x),
        "another view": student.same_storage(x, x.t()),
        "two rows": student.same_storage(x[0], x[1]),
        "a part, the other way round": student.same_storage(flat[3:], x),
        "another dtype": student.same_storage(x, x.view(torch.int32)),
    }


def strangers(student, x):
    """Ask about tensors that share nothing but their numbers."""
    zeros = torch.zeros(3)
    return {
        "a copy": student.same_storage(x, x.clone()),
        "rows of two copies": student.same_storage(x[1], x.clone()[1]),
        "the same numbers": student.same_storage(zeros, torch.zeros(3)),
    }


def transposed_part(student, x):
    """Transpose what is itself a view with steps."""
    return student.transpose_without_copy(x[:, 1:].transpose(0, 1)[..., ::2])


def contiguous(student, x):
    """Ask for a contiguous layout of what has one."""
    result = student.make_contiguous(x)
    return {"result": result, "contiguous": _is_contiguous(result)}


def contiguous_copies(student, x):
    """Ask for a contiguous layout of what has none."""
    results = [student.make_contiguous(part) for part in (x.t(), x[:, 1:], x[0].expand(3, -1))]
    return {"result": results, "contiguous": [_is_contiguous(result) for result in results]}


def _is_contiguous(value):
    # Below a subclass, which may have its own opinion.
    with torch._C.DisableTorchFunctionSubclass():
        return isinstance(value, torch.Tensor) and torch.Tensor.is_contiguous(value)


def bridged(student, x):
    """Give an array on the memory of x, note the numbers, and change the array afterwards."""
    array = x.numpy()
    result = student.numpy_bridge(array)
    if not isinstance(result, dict):
        return {"numbers": result}
    numbers = {name: _copy(value) for name, value in result.items()}
    array += 1
    return {**result, "numbers": numbers}


def _copy(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


def _array(value):
    """Return a NumPy array as the tensor on its memory, with a word on what it was."""
    tensor = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
    return {"array": tensor, "type": type(value).__name__}


def arrayed(student, x):
    """Ask for an array, note the numbers, and change the tensor afterwards."""
    result = _array(student.as_numpy(x))
    numbers = _copy(result["array"])
    x += 1
    return {**result, "numbers": numbers}


def arrayed_with_gradients(student, x):
    """Ask for an array of a tensor that requires gradients."""
    try:
        return _array(student.as_numpy(x.requires_grad_()))
    finally:
        x.requires_grad_(False)


def moved(student, x, y):
    """Move between the CPU and a GPU."""
    result = student.to_device_and_dtype(x, y.to("cuda"))
    if not isinstance(result, dict):
        return {"all": result}
    array = _array(result.get("array"))
    return {
        "all": {**result, "array": array},
        "gpu": {name: result.get(name) for name in ("like_y", "double")},
        "home": result.get("home"),
    }


def saved(student, x, y):
    """Save a tensor, a part of a larger one, and one that is not contiguous."""
    student.save_tensors({"whole": x, "part": y[2:4], "turned": x.t()}, str(scratch() / "x.pt"))
    return {"file": artifact("x.pt")}


def loaded(student, x, y):
    """Load what torch wrote."""
    path = str(scratch() / "given.pt")
    torch.save({"first": x, "second": y}, path)
    return student.load_tensors(path)


class _Payload:
    """Runs something when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, (str(scratch() / "ran"),)


def loaded_from_a_stranger(student, x):
    """Load a file that holds more than tensors; only its refusal is right."""
    path, mark = str(scratch() / "stranger.pt"), scratch() / "ran"
    torch.save({"first": x, "second": _Payload()}, path)
    try:
        student.load_tensors(path)
    except NotImplementedError:
        raise
    except Exception:  # noqa: BLE001  any refusal will do
        refused = True
    else:
        refused = False
    if mark.exists():
        mark.rmdir()
        return "code in the file ran"
    return "refused" if refused else "loaded"


def saved_hdf5(student, x, y):
    """Save for other languages: a tensor, one of whole numbers, and one that requires gradients."""
    tensors = {"plain": x, "whole": y.t(), "layer.weight": (2 * x).requires_grad_()}
    student.save_hdf5(tensors, str(scratch() / "x.h5"))
    return {"file": artifact("x.h5")}


def loaded_hdf5(student, x, y):
    """Load what another program wrote."""
    import h5py  # noqa: PLC0415  not everywhere, and nothing else here needs it

    path = str(scratch() / "given.h5")
    with h5py.File(path, "w") as file:
        file["first"] = x.numpy()
        file["second"] = y.numpy()
        file["one number"] = 2.5
    return student.load_hdf5(path)


def layer(student, weight, scale, x):
    """Look at a layer, and at what one step of an optimiser changes in it."""
    net = student.ScaledLinear(weight.clone(), scale.clone())
    output = net(x)
    names = [name for name, _ in net.named_parameters()]
    if output.requires_grad and names:
        output.sum().backward()
        torch.optim.SGD(net.parameters(), lr=0.5).step()
    return {
        "output": output.detach(),
        "trained": ", ".join(sorted(names)),
        "state": ", ".join(sorted(net.state_dict())),
        "after": {"weight": net.weight.detach(), "scale": torch.as_tensor(net.scale).detach()},
    }
