"""Reads the files that hand-ins wrote, in a guest of its own."""

from __future__ import annotations

import torch

from grader.guest.api import unpack


def read_torch(file):
    """Return the tensors of a file of torch's, and the bytes beside them that came along."""
    try:
        content = torch.load(unpack(file), weights_only=True)
    except Exception as error:
        # Torch's own words run to a page, and end in how to load the file all the same.
        what = "it is no file of torch.save, or holds more than tensors in plain containers"
        raise ValueError(what) from error
    if not isinstance(content, dict):
        raise TypeError(f"the file holds a {type(content).__name__}, not a dict of tensors")
    for name, value in content.items():
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"“{name}” is a {type(value).__name__}, not a tensor")
    tensors = list(content.values())
    # Tensors may share a storage; each storage is in the file once.
    stored = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    needed = sum(tensor.nbytes for tensor in tensors)
    return {"tensors": content, "too_much": max(0, sum(stored.values()) - needed)}


def read_hdf5(file):
    """Return the datasets of an HDF5 file."""
    import h5py  # noqa: PLC0415  not everywhere, and nothing else here needs it

    with h5py.File(unpack(file), "r") as content:
        groups = [name for name, entry in content.items() if isinstance(entry, h5py.Group)]
        if groups:
            raise TypeError(f"“{groups[0]}” is a group, not a dataset")
        return {name: _tensor(dataset) for name, dataset in content.items()}


def _tensor(dataset):
    array = dataset[...]
    # Another byte order is as good to HDF5; torch knows the machine's own only.
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))
