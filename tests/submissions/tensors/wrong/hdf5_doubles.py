# Writes everything as float64.
# expect:
#   questions:
#     save_hdf5: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

import h5py
import torch


def save_hdf5(tensors, path):
    with h5py.File(path, "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor.detach().double().numpy()
