# Writes vectors.
# expect:
#   questions:
#     save_hdf5: {status: failed, checks: {values: wrong_shape}}

import h5py
import torch


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().flatten().numpy()
