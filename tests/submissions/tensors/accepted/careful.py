# Does more than is asked: refuses what no view fits, copies by hand, tells errors apart.
# expect:
#   questions:
#     "*": {status: passed}

import collections
import os
import pickle

import h5py
import numpy
import torch
from torch import nn


def flatten_views(x):
    flat = x.reshape(-1)
    rows = x.reshape(-1, 8)
    for view in (flat, rows):
        if view.untyped_storage().data_ptr() != x.untyped_storage().data_ptr():
            raise RuntimeError("no view of this layout")
    return flat, rows


def same_storage(x, y):
    return x.storage().data_ptr() == y.storage().data_ptr()


def make_contiguous(x):
    return x if x.is_contiguous() else x.clone(memory_format=torch.contiguous_format)


def transpose_without_copy(x):
    sizes, steps = list(x.shape), list(x.stride())
    sizes[-2:], steps[-2:] = reversed(sizes[-2:]), reversed(steps[-2:])
    return x.as_strided(sizes, steps, x.storage_offset())


def numpy_bridge(a):
    shared = torch.from_numpy(a)
    return {"shared": shared, "own": shared.to(torch.float32, copy=True)}


def as_numpy(x):
    with torch.no_grad():
        return x.detach().numpy()[...]


def choose_dtype(x, y):
    y = y[:0] if isinstance(y, torch.Tensor) and y.dim() else y
    return torch.result_type(x, y)


def named_axes(images, weights):
    moved = images.movedim(-3, -1)
    return (moved * weights).sum(-1)


def save_tensors(tensors, path):
    ordered = collections.OrderedDict((name, t.detach().clone()) for name, t in tensors.items())
    torch.save(ordered, path + ".new")
    os.replace(path + ".new", path)


def load_tensors(path):
    try:
        loaded = torch.load(path, weights_only=True, mmap=True)
    except pickle.UnpicklingError as error:
        raise ValueError(f"{path} holds more than tensors") from error
    return dict(loaded)


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            array = tensor.detach().numpy()
            file.create_dataset(name, data=array, dtype=array.dtype.newbyteorder(">"))


def load_hdf5(path):
    tensors = {}
    with h5py.File(path, "r") as file:

        def read(name, dataset):
            array = numpy.empty(dataset.shape, dataset.dtype)
            dataset.read_direct(array)
            tensors[name] = torch.from_numpy(array)

        file.visititems(read)
    return tensors


class Layer(nn.Module):
    scale: torch.Tensor

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight.clone())


class ScaledLinear(Layer):
    def __init__(self, weight, scale):
        super().__init__(weight)
        self.scale = nn.Buffer(scale.clone())

    def forward(self, x):
        return nn.functional.linear(x, self.weight.t()) * self.scale


def gradient_by_hand(x, w, y):
    M, P = y.shape
    return x.transpose(0, 1).matmul((x.matmul(w) - y) * (2.0 / (M * P)))
