# Leaves the file open, and what it holds in memory.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: unreadable_file}

import h5py
import torch


KEPT = []


def save_hdf5(tensors, path):
    file = h5py.File(path, "w")
    for name, tensor in tensors.items():
        file[name] = tensor.detach().numpy()
    KEPT.append(file)
