# Opens the file anew for each tensor, and so keeps the last.
# expect:
#   questions:
#     save_hdf5: {status: failed, checks: {values: wrong_type}}

import h5py
import torch


def save_hdf5(tensors, path):
    for name, tensor in tensors.items():
        with h5py.File(path, "w") as file:
            file[name] = tensor.detach().numpy()
